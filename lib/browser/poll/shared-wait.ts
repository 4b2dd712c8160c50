// The wait before a query is asked again, one for all parts of a page that show its answer.
// Guarantees: of several who wait for the same query the earliest moment counts and one of them asks; a hidden page
// asks nothing and goes on waiting; whatever became of an asking, the next wait begins after it.
// Must never: believe the browser that there is no network. It cannot know of a console on the same machine, and an asking that fails says so.

type Ask = () => Promise<unknown>;
type Wait = { asks: Set<Ask>; timer: ReturnType<typeof setTimeout> | undefined; dueMs: number };

const waits = new Map<string, Wait>();

/** Returns how to wait no longer. */
export function waitTogether(query: string, ms: number, ask: Ask): () => void {
  const wait: Wait = waits.get(query) ?? { asks: new Set(), timer: undefined, dueMs: Number.POSITIVE_INFINITY };
  waits.set(query, wait);
  wait.asks.add(ask);
  if (Date.now() + ms < wait.dueMs) arm(query, wait, ms);
  return () => {
    wait.asks.delete(ask);
    if (wait.asks.size > 0) return;
    clearTimeout(wait.timer);
    if (waits.get(query) === wait) waits.delete(query);
  };
}

function arm(query: string, wait: Wait, ms: number): void {
  clearTimeout(wait.timer);
  wait.dueMs = Date.now() + ms;
  wait.timer = setTimeout(() => {
    wait.dueMs = Number.POSITIVE_INFINITY;
    const [ask] = wait.asks;
    const isSeen = document.visibilityState !== "hidden";
    const asked = isSeen && ask ? ask() : Promise.resolve();
    void asked.finally(() => {
      // Where the answer was new, the part that shows it has started the next wait already.
      if (wait.asks.size > 0 && wait.dueMs === Number.POSITIVE_INFINITY) arm(query, wait, ms);
    });
  }, ms);
}
