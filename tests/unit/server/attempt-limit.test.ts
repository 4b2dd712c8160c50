import fc from "fast-check";
import { expect, test } from "vitest";
import { createAttemptLimit } from "@/lib/server/limits/attempt-limit";

test("lets a burst pass, then one each refill, and says how long to wait", () => {
  let now = 1000;
  const limit = createAttemptLimit({ now: () => now, burst: 3, refillMs: 100 });
  expect([limit.take("a"), limit.take("a"), limit.take("a")]).toEqual([0, 0, 0]);
  expect(limit.take("a")).toBe(100);
  expect(limit.take("b")).toBe(0);
  now += 60;
  expect(limit.take("a")).toBe(40);
  now += 40;
  expect(limit.take("a")).toBe(0);
  expect(limit.take("a")).toBe(100);
  limit.reset("a");
  expect(limit.take("a")).toBe(0);
});

test("one that is given back may be taken again, and never more than the burst at once", () => {
  const limit = createAttemptLimit({ now: () => 0, burst: 2, refillMs: 100 });
  expect([limit.take("a"), limit.take("a"), limit.take("a")]).toEqual([0, 0, 100]);
  limit.giveBack("a");
  expect([limit.take("a"), limit.take("a")]).toEqual([0, 100]);
  for (let count = 0; count < 9; count += 1) limit.giveBack("a");
  expect([limit.take("a"), limit.take("a"), limit.take("a")]).toEqual([0, 0, 100]);
});

test("a burst of 0 is no limit", () => {
  const limit = createAttemptLimit({ now: () => 0, burst: 0, refillMs: 0 });
  expect(Array.from({ length: 100 }, () => limit.take("a")).every((wait) => wait === 0)).toBe(true);
});

test("never lets more pass than burst and refills allow, whatever the rhythm", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 200 }), (steps) => {
      let now = 0;
      const limit = createAttemptLimit({ now: () => now, burst: 4, refillMs: 100 });
      let passed = 0;
      for (const step of steps) {
        now += step;
        if (limit.take("a") === 0) passed += 1;
      }
      expect(passed).toBeLessThanOrEqual(4 + now / 100);
    }),
  );
});
