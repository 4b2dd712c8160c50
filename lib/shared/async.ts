type SleepOptions = { signal?: AbortSignal; unref?: boolean };

/** Resolves with false if `signal` aborts it. With `unref`, it doesn't keep the process alive. */
export function sleep(ms: number, { signal, unref = false }: SleepOptions = {}): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (isOver: boolean) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      resolve(isOver);
    };
    const abort = () => end(false);
    const timer = setTimeout(() => end(true), ms);
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
    /** Resolves when the loop has ended after `stopping`. */
    ended: async () => loop,
  };
}

export function withTimeout<T, L>(work: Promise<T>, ms: number, onTimeout: () => L): Promise<T | L> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms))).then(onTimeout);
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}

/** One run at a time. Calls during a run share one more run after it, even if the first one fails. */
export function coalesce(work: () => Promise<unknown>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  async function run(): Promise<void> {
    try {
      await work();
    } finally {
      running = undefined;
    }
  }
  function runNext(): Promise<void> {
    next = undefined;
    return (running = run());
  }
  return () => {
    if (next) return next;
    return running ? (next = running.then(runNext, runNext)) : runNext();
  };
}

type SharedCallOptions<V> = {
  /** Results that later calls share too, until `keepMs` after the start of the call. */
  isKept?: (value: V) => boolean;
  keepMs?: number;
  /** The immediate result for a caller that aborts. Without it, that caller waits for the result too. */
  whenLeft?: V;
};

/** Callers with the same key share one call, which is aborted once all of them have aborted. */
export function createSharedCalls<V>({ isKept = () => false, keepMs, whenLeft }: SharedCallOptions<V> = {}) {
  type Call = { result: Promise<V>; waiting: number; leaving: AbortController; forget: () => void };
  const calls = new Map<string, Call>();

  function startCall(key: string, start: (signal: AbortSignal) => Promise<V>): Call {
    const aborter = new AbortController();
    const forget = () => void (calls.get(key) === call && calls.delete(key));
    const call: Call = { result: start(aborter.signal), waiting: 0, leaving: aborter, forget };
    calls.set(key, call);
    if (keepMs !== undefined) setTimeout(forget, keepMs).unref();
    call.result.then((value) => isKept(value) || forget(), forget);
    return call;
  }

  /** Holds a reference to `caller` during the call, because the signal of a freed request does not fire. */
  return (key: string, caller: { signal?: AbortSignal | undefined }, start: (signal: AbortSignal) => Promise<V>): Promise<V> => {
    const call = calls.get(key) ?? startCall(key, start);
    call.waiting += 1;
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        call.waiting -= 1;
        if (call.waiting === 0) {
          call.forget();
          call.leaving.abort();
        }
        if (whenLeft !== undefined) resolve(whenLeft);
      };
      if (caller.signal?.aborted) onAbort();
      else caller.signal?.addEventListener("abort", onAbort, { once: true });
      call.result.finally(() => caller.signal?.removeEventListener("abort", onAbort)).then(resolve, reject);
    });
  };
}

/** `weight`: the part of the limit that the work uses, 1 by default. */
export type Limiter = <T>(work: () => Promise<T>, weight?: number) => Promise<T>;

/** First in, first out, so that heavy work always gets its turn. */
export function createLimiter(max: number): Limiter {
  const waiting: { weight: number; start: () => void }[] = [];
  let usedWeight = 0;
  return async (work, weight = 1) => {
    if (waiting.length > 0 || usedWeight + weight > max) await new Promise<void>((start) => waiting.push({ weight, start }));
    else usedWeight += weight;
    try {
      return await work();
    } finally {
      usedWeight -= weight;
      for (let next = waiting[0]; next && usedWeight + next.weight <= max; next = waiting[0]) {
        waiting.shift();
        usedWeight += next.weight;
        next.start();
      }
    }
  };
}

export function createYieldQueue(): () => Promise<void> {
  const limitToOne = createLimiter(1);
  return () => limitToOne(() => new Promise<void>((resolve) => setImmediate(resolve)));
}

export const yieldInOrder = createYieldQueue();
