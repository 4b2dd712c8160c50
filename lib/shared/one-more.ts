// Many requests for the same act, such as reading a list again after each of three hundred changes, become few acts.
// Guarantees: one runs at a time; a request that came while one ran is met by one that begins after it, also where that one failed (then it
// is the next one that tells how it went). Must never: lose the last request.

/** Calls that come while the act runs are met together, by one more. */
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
      // In the same turn as the last check: a request that comes later starts it again.
      isRunning = false;
    }
  }
  return () => {
    isWished = true;
    if (!isRunning) running = run();
    return running;
  };
}
