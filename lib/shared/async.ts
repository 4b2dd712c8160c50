type SleepOptions = { signal?: AbortSignal; unref?: boolean };

/** Resolves with false if `signal` aborts it. With `unref`, it doesn't keep the process alive. */
export function sleep(ms: number, { signal, unref = false }: SleepOptions = {}): Promise<boolean> {
  return new Promise((resolve) => {
    const finish = (isElapsed: boolean) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      resolve(isElapsed);
    };
    const abort = () => finish(false);
    const timer = setTimeout(() => finish(true), ms);
    if (unref) timer.unref();
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
  });
}

/** Repeats `step`, which returns the milliseconds until the next one. `wake` ends the current wait, or the next one during a step. */
export function createLoop(step: () => Promise<number>, stopSignal: AbortSignal) {
  let wakeController = new AbortController();
  let loop: Promise<void> | undefined;
  async function run(): Promise<void> {
    while (!stopSignal.aborted) {
      wakeController = new AbortController();
      const waitMs = await step();
      await sleep(waitMs, { signal: AbortSignal.any([stopSignal, wakeController.signal]), unref: true });
    }
  }
  return {
    start: () => void (loop ??= run()),
    wake: () => wakeController.abort(),
    /** Resolves when the loop has ended after `stopSignal`. */
    waitForEnd: async () => loop,
  };
}

export function withTimeout<T, L>(work: Promise<T>, ms: number, onTimeout: () => L): Promise<T | L> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms))).then(onTimeout);
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}

/** Never runs `work` concurrently. Calls during a run share one further run, even if the current one fails. */
export function coalesce(work: () => Promise<unknown>): () => Promise<void> {
  let currentRun: Promise<void> | undefined;
  let nextRun: Promise<void> | undefined;
  async function run(): Promise<void> {
    try {
      await work();
    } finally {
      currentRun = undefined;
    }
  }
  function runNext(): Promise<void> {
    nextRun = undefined;
    return (currentRun = run());
  }
  return () => {
    if (nextRun) return nextRun;
    return currentRun ? (nextRun = currentRun.then(runNext, runNext)) : runNext();
  };
}

type SharedCallOptions<V> = {
  /** Whether later calls share the result too, until `cacheMs` after the call started. */
  shouldCache?: (value: V) => boolean;
  cacheMs?: number;
  /** The immediate result for a caller that aborts. Without it, that caller waits for the result too. */
  abortedResult?: V;
};

/** Callers with the same key share one call, which is aborted once all of them have aborted. */
export function createSharedCalls<V>({ shouldCache = () => false, cacheMs, abortedResult }: SharedCallOptions<V> = {}) {
  type Call = { result: Promise<V>; callerCount: number; abortController: AbortController; remove: () => void };
  const calls = new Map<string, Call>();

  function startCall(key: string, start: (signal: AbortSignal) => Promise<V>): Call {
    const abortController = new AbortController();
    const remove = () => void (calls.get(key) === call && calls.delete(key));
    const call: Call = { result: start(abortController.signal), callerCount: 0, abortController, remove };
    calls.set(key, call);
    if (cacheMs !== undefined) setTimeout(remove, cacheMs).unref();
    call.result.then((value) => shouldCache(value) || remove(), remove);
    return call;
  }

  /** Holds a reference to `caller` during the call, because the signal of a freed request does not fire. */
  return (key: string, caller: { signal?: AbortSignal | undefined }, start: (signal: AbortSignal) => Promise<V>): Promise<V> => {
    const call = calls.get(key) ?? startCall(key, start);
    call.callerCount += 1;
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        call.callerCount -= 1;
        if (call.callerCount === 0) {
          call.remove();
          call.abortController.abort();
        }
        if (abortedResult !== undefined) resolve(abortedResult);
      };
      if (caller.signal?.aborted) onAbort();
      else caller.signal?.addEventListener("abort", onAbort, { once: true });
      call.result.finally(() => caller.signal?.removeEventListener("abort", onAbort)).then(resolve, reject);
    });
  };
}

/** `weight` is how much of the limit the work uses, 1 by default. */
export type Limiter = <T>(work: () => Promise<T>, weight?: number) => Promise<T>;

/** Starts work in the order of the calls, so that heavy work isn't starved. */
export function createLimiter(maxWeight: number): Limiter {
  const queue: { weight: number; start: () => void }[] = [];
  let usedWeight = 0;
  return async (work, weight = 1) => {
    if (queue.length > 0 || usedWeight + weight > maxWeight) await new Promise<void>((start) => queue.push({ weight, start }));
    else usedWeight += weight;
    try {
      return await work();
    } finally {
      usedWeight -= weight;
      for (let nextEntry = queue[0]; nextEntry && usedWeight + nextEntry.weight <= maxWeight; nextEntry = queue[0]) {
        queue.shift();
        usedWeight += nextEntry.weight;
        nextEntry.start();
      }
    }
  };
}

export function createYieldQueue(): () => Promise<void> {
  const limitToOne = createLimiter(1);
  return () => limitToOne(() => new Promise<void>((resolve) => setImmediate(resolve)));
}

export const yieldInOrder = createYieldQueue();
