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

export function withTimeout<T, L>(work: Promise<T>, ms: number, onTimeout: () => L): Promise<T | L> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms))).then(onTimeout);
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** One run at a time; calls during a run share one more run after it, even if the first fails. */
export function coalesce(act: () => Promise<unknown>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  async function run(): Promise<void> {
    try {
      await act();
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

export type Limiter = <T>(work: () => Promise<T>) => Promise<T>;

export function createLimiter(atOnce: number): Limiter {
  const waiting: (() => void)[] = [];
  let busy = 0;
  return async (work) => {
    if (busy >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else busy += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else busy -= 1;
    }
  };
}

export function createYieldQueue(): () => Promise<void> {
  const oneByOne = createLimiter(1);
  return () => oneByOne(() => new Promise<void>((resolve) => setImmediate(resolve)));
}

export const yieldInOrder = createYieldQueue();
