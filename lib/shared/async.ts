// Waiting, time limits and limits on work at the same time.

type SleepOptions = { signal?: AbortSignal; unref?: boolean };

/** False if `signal` ended it early. `unref`: it does not keep the process alive. */
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

/** The value of `work`, or of `onTimeout` if `work` takes longer. */
export function withTimeout<T, L>(work: Promise<T>, ms: number, onTimeout: () => L): Promise<T | L> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms))).then(onTimeout);
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/**
 * Many calls become few: one runs at a time, and calls that come meanwhile share one more run that begins after it, even if the first one
 * failed. Then only the outcome of the later one is reported.
 */
export function coalesce(act: () => Promise<unknown>): () => Promise<void> {
  let isWished = false;
  let isRunning = false;
  let running = Promise.resolve();
  async function run(): Promise<void> {
    isRunning = true;
    try {
      do {
        isWished = false;
        try {
          await act();
        } catch (error) {
          if (!isWished) throw error;
        }
      } while (isWished);
    } finally {
      // In the same turn as the last check, so that a later request starts it again.
      isRunning = false;
    }
  }
  return () => {
    isWished = true;
    if (!isRunning) running = run();
    return running;
  };
}

export type Limiter = <T>(work: () => Promise<T>) => Promise<T>;

/** Runs at most `atOnce` pieces of work at the same time, in the order of their calls. */
export function createLimiter(atOnce: number): Limiter {
  const waiting: (() => void)[] = [];
  let busy = 0;
  return async (work) => {
    // A finished piece hands its place to the next in line, so that no other one overtakes it.
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

/** Lets other work run first: one waiting task continues in each turn of the event loop. Queues do not wait for each other. */
export function createYieldQueue(): () => Promise<void> {
  const oneByOne = createLimiter(1);
  return () => oneByOne(() => new Promise<void>((resolve) => setImmediate(resolve)));
}

export const yieldInOrder = createYieldQueue();
