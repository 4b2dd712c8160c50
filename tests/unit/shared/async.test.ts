import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { sleep, withTimeout } from "@/lib/shared/async";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("sleeps for the full time and resolves with true", async () => {
  const slept = sleep(1_000);
  await vi.advanceTimersByTimeAsync(999);
  expect(vi.getTimerCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(await slept).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

it.each([
  ["before", (abort: () => void) => abort(), () => undefined],
  ["while", () => undefined, (abort: () => void) => abort()],
])("ends a sleep early when its signal aborts %s the sleep", async (_when, before, during) => {
  const controller = new AbortController();
  before(() => controller.abort());
  const slept = sleep(1_000, { signal: controller.signal });
  during(() => controller.abort());
  expect(await slept).toBe(false);
  expect(vi.getTimerCount()).toBe(0);
});

it("returns the value when work ends in time", async () => {
  expect(await withTimeout(Promise.resolve("done"), 1_000, () => "late")).toBe("done");
  expect(vi.getTimerCount()).toBe(0);
});

it("returns or throws the result of onTimeout when work takes too long", async () => {
  const never = new Promise<string>(() => undefined);
  const late = withTimeout(never, 1_000, () => "late");
  const thrown = withTimeout(never, 1_000, () => {
    throw new Error("too late");
  }).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(1_000);
  expect([await late, await thrown]).toEqual(["late", new Error("too late")]);
});
