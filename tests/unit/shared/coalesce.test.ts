import { expect, test } from "vitest";
import { coalesce } from "@/lib/shared/async";

test("calls that come while the act runs are met by one more, which begins after it", async () => {
  const ends: (() => void)[] = [];
  const call = coalesce(() => new Promise<void>((resolve) => ends.push(resolve)));
  const first = call();
  for (let count = 0; count < 300; count++) void call();
  expect(ends).toHaveLength(1);
  ends[0]?.();
  await Promise.resolve();
  expect(ends).toHaveLength(2);
  ends[1]?.();
  await first;
  void call();
  expect(ends).toHaveLength(3);
});

test("an act that failed does not stop a later one", async () => {
  let count = 0;
  const call = coalesce(() => (++count === 1 ? Promise.reject(new Error("lost")) : Promise.resolve()));
  await expect(call()).rejects.toThrow("lost");
  await call();
  expect(count).toBe(2);
});

test("a wish that came while an act failed is met by one more, which tells how it went", async () => {
  const acts: { end: () => void; fail: (reason: Error) => void }[] = [];
  const call = coalesce(() => new Promise<void>((end, fail) => acts.push({ end, fail })));
  const first = call();
  const second = call();
  const ended = Promise.all([first, second]);
  acts[0]?.fail(new Error("lost"));
  await new Promise((resolve) => setImmediate(resolve));
  expect(acts).toHaveLength(2);
  acts[1]?.end();
  await ended;
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
