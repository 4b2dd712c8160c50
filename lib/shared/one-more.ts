// Many requests for the same act become few acts: for example, reading a list again after each of three hundred changes.
// Guarantees: one runs at a time; a request that comes while one runs is met by another that begins after it, even if the first one failed
// (then only the outcome of the later one is reported). Must never: lose the last request.

/** Calls that come while the act runs are met together, by one more run. */
export function oneMore(act: () => Promise<unknown>): () => Promise<void> {
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
