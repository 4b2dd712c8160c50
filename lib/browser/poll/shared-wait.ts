// The wait before a query is asked again, shared by all parts of a page that show its answer.
// Guarantees: of several waits for one query the earliest counts, and only one part asks; a hidden page asks nothing and goes on waiting;
// the next wait begins after each request, whatever its outcome.
// Must never: believe the browser that there is no network. The console may be on the same machine, and a failed request shows it anyway.

type Ask = () => Promise<unknown>;
type Wait = { asks: Set<Ask>; timer: ReturnType<typeof setTimeout> | undefined; dueMs: number };

const waits = new Map<string, Wait>();

/** Returns how to stop waiting. */
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
      // If the answer was new, the part that shows it has already started the next wait.
      if (wait.asks.size > 0 && wait.dueMs === Number.POSITIVE_INFINITY) arm(query, wait, ms);
    });
  }, ms);
}
