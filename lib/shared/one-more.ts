// Many wishes for the same act, such as reading a list anew after each of three hundred changes, become few acts.
// Guarantees: one runs at a time; a wish that came while one ran is met by one that begins after it. Must never: lose the last wish.

/** Calls that come while the act runs are met together, by one more. */
export function oneMore(act: () => Promise<unknown>): () => Promise<void> {
  let isWished = false;
  let running: Promise<void> | undefined;
  async function run(): Promise<void> {
    do {
      isWished = false;
      await act();
    } while (isWished);
  }
  return () => {
    isWished = true;
    running ??= run().finally(() => (running = undefined));
    return running;
  };
}
