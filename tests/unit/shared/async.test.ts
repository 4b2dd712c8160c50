import { beforeEach, describe, expect, it, test, vi } from "vitest";
import { coalesce, createLimiter, sleep, withTimeout } from "@/lib/shared/async";
import { createLru } from "@/lib/shared/lru";

describe("async", () => {
  beforeEach(() => void vi.useFakeTimers());

  it("sleeps for the full time and resolves with true", async () => {
    const promise = sleep(1_000);
    await vi.advanceTimersByTimeAsync(999);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await promise).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("ends a sleep early when its signal aborts before or during it", async () => {
    const controller = new AbortController();
    const running = sleep(1_000, { signal: controller.signal });
    controller.abort();
    expect([await running, await sleep(1_000, { signal: controller.signal })]).toEqual([false, false]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("returns the value when the work ends in time", async () => {
    expect(await withTimeout(Promise.resolve("done"), 1_000, () => "late")).toBe("done");
    expect(vi.getTimerCount()).toBe(0);
  });

  it("returns or throws the result of onTimeout when the work takes too long", async () => {
    const never = new Promise<string>(() => undefined);
    const latePromise = withTimeout(never, 1_000, () => "late");
    const errorPromise = withTimeout(never, 1_000, () => {
      throw new Error("too late");
    }).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(1_000);
    expect([await latePromise, await errorPromise]).toEqual(["late", new Error("too late")]);
  });
});

test("coalesces calls during a run into one more run", async () => {
  const finishCallbacks: (() => void)[] = [];
  const call = coalesce(() => new Promise<void>((resolve) => finishCallbacks.push(resolve)));
  const first = call();
  const calls = Array.from({ length: 300 }, call);
  expect(finishCallbacks).toHaveLength(1);
  finishCallbacks[0]?.();
  await first;
  await Promise.resolve();
  expect(finishCallbacks).toHaveLength(2);
  // A call during that run does not delay the earlier calls.
  const last = call();
  finishCallbacks[1]?.();
  await Promise.all(calls);
  await Promise.resolve();
  expect(finishCallbacks).toHaveLength(3);
  finishCallbacks[2]?.();
  await last;
});

test("runs again after failures and reports each result", async () => {
  const tasks: { end: () => void; fail: (reason: Error) => void }[] = [];
  const call = coalesce(() => new Promise<void>((end, fail) => tasks.push({ end, fail })));
  const [first, second] = [call(), call()];
  tasks[0]?.fail(new Error("lost"));
  await expect(first).rejects.toThrow("lost");
  await new Promise((resolve) => setImmediate(resolve));
  expect(tasks).toHaveLength(2);
  tasks[1]?.fail(new Error("lost again"));
  await expect(second).rejects.toThrow("lost again");
  const third = call();
  tasks[2]?.end();
  await third;
});

test("runs a call made at the very end of a run", async () => {
  for (let microtaskCount = 0; microtaskCount < 6; microtaskCount++) {
    let count = 0;
    const call = coalesce(async () => void count++);
    const first = call();
    for (let index = 0; index < microtaskCount; index++) await Promise.resolve();
    const second = call();
    await Promise.all([first, second]);
    expect([microtaskCount, count]).toEqual([microtaskCount, 2]);
  }
});

/** Creates tasks that end on demand. */
function createControlledWork() {
  const finishByName = new Map<string, (isGood: boolean) => void>();
  const startedTasks: string[] = [];
  const work = (name: string) => () => {
    startedTasks.push(name);
    return new Promise<string>((resolve, reject) => {
      finishByName.set(name, (isSuccess) => (isSuccess ? resolve(name) : reject(new Error(name))));
    });
  };
  return { work, startedTasks, end: (name: string, isSuccess = true) => finishByName.get(name)?.(isSuccess) };
}

test("limits concurrency and starts waiting calls in order", async () => {
  const runLimited = createLimiter(2);
  const { work, startedTasks, end } = createControlledWork();
  const results = ["a", "b", "c", "d"].map((name) => runLimited(work(name)));
  expect(startedTasks).toEqual(["a", "b"]);
  end("b");
  expect(await results[1]).toBe("b");
  expect(startedTasks).toEqual(["a", "b", "c"]);
  // A new call queues behind waiting ones, although a slot was just handed over.
  const lateTask = runLimited(work("e"));
  end("a");
  end("c");
  await Promise.all([results[0], results[2]]);
  expect(startedTasks).toEqual(["a", "b", "c", "d", "e"]);
  end("d");
  end("e");
  expect(await Promise.all([results[3], lateTask])).toEqual(["d", "e"]);
});

test("frees a slot after a failure and reports it to its caller", async () => {
  const runLimited = createLimiter(1);
  const { work, startedTasks, end } = createControlledWork();
  const [failedTask, nextTask] = [runLimited(work("a")), runLimited(work("b"))];
  end("a", false);
  await expect(failedTask).rejects.toThrow("a");
  expect(startedTasks).toEqual(["a", "b"]);
  end("b");
  expect(await nextTask).toBe("b");
  const thirdTask = runLimited(work("c"));
  end("c");
  expect(await thirdTask).toBe("c");
});

it("evicts the least recently used entry when the limit is exceeded", () => {
  const cache = createLru<string, number>({ max: 2 });
  cache.set("a", 1);
  cache.set("b", 2);
  cache.get("a");
  cache.set("c", 3);
  expect([...cache.entries()]).toEqual([
    ["a", 1],
    ["c", 3],
  ]);
});

it("counts entries by size, and skips an entry larger than the limit", () => {
  const cache = createLru<string, string>({ max: 5, getSize: (text) => text.length });
  cache.set("a", "12");
  cache.set("b", "34");
  cache.set("a", "123");
  expect([...cache.entries()].map(([key]) => key)).toEqual(["b", "a"]);
  cache.set("c", "5");
  expect([...cache.entries()].map(([key]) => key)).toEqual(["a", "c"]);
  cache.set("a", "123456");
  expect([...cache.entries()].map(([key]) => key)).toEqual(["c"]);
});

it("frees capacity when entries are deleted or cleared", () => {
  const cache = createLru<string, string>({ max: 3, getSize: (text) => text.length });
  cache.set("a", "123");
  expect(cache.delete("a")).toBe(true);
  cache.set("b", "123");
  cache.clear();
  cache.set("c", "123");
  expect([cache.size, cache.has("b"), cache.has("c")]).toEqual([1, false, true]);
});

test("starts work by weight, in the order of the calls", async () => {
  const runLimited = createLimiter(3);
  const { work, startedTasks, end } = createControlledWork();
  const promises = [runLimited(work("two"), 2), runLimited(work("three"), 3), runLimited(work("one"), 1)];
  await Promise.resolve();
  // The last task would fit, but the heavier task is first.
  expect(startedTasks).toEqual(["two"]);
  for (const [index, name] of ["two", "three", "one"].entries()) {
    expect(startedTasks).toHaveLength(index + 1);
    end(name);
    await promises[index];
  }
  expect(startedTasks).toEqual(["two", "three", "one"]);
});
