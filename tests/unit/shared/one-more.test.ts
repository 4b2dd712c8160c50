import { expect, test } from "vitest";
import { oneMore } from "@/lib/shared/one-more";

test("calls that come while the act runs are met by one more, which begins after it", async () => {
  const ends: (() => void)[] = [];
  const call = oneMore(() => new Promise<void>((resolve) => ends.push(resolve)));
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

test("an act that failed stands in no later one's way", async () => {
  let count = 0;
  const call = oneMore(() => (++count === 1 ? Promise.reject(new Error("lost")) : Promise.resolve()));
  await expect(call()).rejects.toThrow("lost");
  await call();
  expect(count).toBe(2);
});
