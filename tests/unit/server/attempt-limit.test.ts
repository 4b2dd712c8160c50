import fc from "fast-check";
import { expect, test } from "vitest";
import { createAttemptLimit } from "@/lib/server/limits/attempt-limit";

test("lets a burst pass, then one each refill, and says how long to wait", async () => {
  let now = 1000;
  const limit = createAttemptLimit({ now: () => now, burst: 3, refillMs: 100 });
  expect([await limit.take("a"), await limit.take("a"), await limit.take("a")]).toEqual([0, 0, 0]);
  expect(await limit.take("a")).toBe(100);
  expect(await limit.take("b")).toBe(0);
  now += 60;
  expect(await limit.take("a")).toBe(40);
  now += 40;
  expect(await limit.take("a")).toBe(0);
  expect(await limit.take("a")).toBe(100);
});

test("one that is given back may be taken again, and never more than the burst at once", async () => {
  const limit = createAttemptLimit({ now: () => 0, burst: 2, refillMs: 100 });
  expect([await limit.take("a"), await limit.take("a"), await limit.take("a")]).toEqual([0, 0, 100]);
  await limit.giveBack("a");
  expect([await limit.take("a"), await limit.take("a")]).toEqual([0, 100]);
  for (let count = 0; count < 9; count += 1) await limit.giveBack("a");
  expect([await limit.take("a"), await limit.take("a"), await limit.take("a")]).toEqual([0, 0, 100]);
});

test("a burst of 0 is no limit", async () => {
  const limit = createAttemptLimit({ now: () => 0, burst: 0, refillMs: 0 });
  expect((await Promise.all(Array.from({ length: 100 }, () => limit.take("a")))).every((wait) => wait === 0)).toBe(true);
});

test("never lets more pass than burst and refills allow, whatever the rhythm", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 200 }), async (steps) => {
      let now = 0;
      const limit = createAttemptLimit({ now: () => now, burst: 4, refillMs: 100 });
      let passed = 0;
      for (const step of steps) {
        now += step;
        if ((await limit.take("a")) === 0) passed += 1;
      }
      expect(passed).toBeLessThanOrEqual(4 + now / 100);
    }),
  );
});
