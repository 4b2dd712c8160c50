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
