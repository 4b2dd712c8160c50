import { expect, test } from "vitest";
import { coalesce } from "@/lib/shared/async";

test("calls that come while the act runs are met by one more, which begins after it", async () => {
  const ends: (() => void)[] = [];
  const call = coalesce(() => new Promise<void>((resolve) => ends.push(resolve)));
  const first = call();
  const others = Array.from({ length: 300 }, call);
  expect(ends).toHaveLength(1);
  ends[0]?.();
  await first;
  await Promise.resolve();
  expect(ends).toHaveLength(2);
  // A call during that run does not delay those before it.
  const last = call();
  ends[1]?.();
  await Promise.all(others);
  await Promise.resolve();
  expect(ends).toHaveLength(3);
  ends[2]?.();
  await last;
});

test("an act that failed does not stop a later one", async () => {
  let count = 0;
  const call = coalesce(() => (++count === 1 ? Promise.reject(new Error("lost")) : Promise.resolve()));
  await expect(call()).rejects.toThrow("lost");
  await call();
  expect(count).toBe(2);
});

test("a call while an act fails is met by one more, and each reports its own act", async () => {
  const acts: { end: () => void; fail: (reason: Error) => void }[] = [];
  const call = coalesce(() => new Promise<void>((end, fail) => acts.push({ end, fail })));
  const first = call();
  const second = call();
  acts[0]?.fail(new Error("lost"));
  await expect(first).rejects.toThrow("lost");
  await new Promise((resolve) => setImmediate(resolve));
  expect(acts).toHaveLength(2);
  acts[1]?.end();
  await second;
});

test("a wish of the very moment after the last act is met", async () => {
  for (let turns = 0; turns < 6; turns++) {
    let count = 0;
    const call = coalesce(async () => void count++);
    const first = call();
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    const second = call();
    await Promise.all([first, second]);
    expect([turns, count]).toEqual([turns, 2]);
  }
});
