// When each failed path is asked again, for all parts of a page that show it: the latest failure decides.
// Guarantees: an earlier failure's timer never asks sooner than a later one allows; a wait that a service asked for is kept even after a
// sleep.
// Must never: delay a path that has answered.

type Wait = { atMs: number; isNamed: boolean; wake: () => void };

const ofCaches = new WeakMap<object, Map<string, Wait>>();

/** `cache` is SWR's: parts that share answers share waits. */
function waitsOf(cache: object): Map<string, Wait> {
  const waits = ofCaches.get(cache) ?? new Map<string, Wait>();
  ofCaches.set(cache, waits);
  return waits;
}

/** After a failure. `isNamed`: the service gave the wait. `ask` is not called if the path has answered in the meantime. */
export function retryIn(cache: object, path: string, { waitMs, isNamed }: { waitMs: number; isNamed: boolean }, ask: () => void): void {
  const waits = waitsOf(cache);
  let isOver = false;
  const wake = () => {
    if (isOver) return;
    isOver = true;
    ask();
  };
  waits.set(path, { atMs: Date.now() + waitMs, isNamed, wake });
  const look = () => {
    const wait = waits.get(path);
    if (isOver) return;
    const restMs = wait ? wait.atMs - Date.now() : 0;
    if (restMs > 0) setTimeout(look, restMs);
    else if (wait) wake();
  };
  setTimeout(look, waitMs);
}

/** After an answer. If the path had failed before, its connection is back: all other paths of that connection are asked now. */
export function endRetries(cache: object, path: string): void {
  const waits = waitsOf(cache);
  if (!waits.delete(path)) return;
  for (const [other, { isNamed, wake }] of [...waits]) if (!isNamed && connectionOf(other) === connectionOf(path)) wake();
}

function connectionOf(path: string): string {
  return /[?&]connection=([^&#]*)/.exec(path)?.[1] ?? "";
}

/** The one path that is requested after the session has ended, as signing in elsewhere makes it succeed again. */
export const SESSION_PATH = "/api/console/session";
let hasSessionEnded = false;

/** Set by the banner that says so. While true, nothing else is requested by itself. Returns whether the session is back. */
export function setSessionEnded(hasEnded: boolean): boolean {
  const isBack = hasSessionEnded && !hasEnded;
  hasSessionEnded = hasEnded;
  return isBack;
}

export function isSessionOver(): boolean {
  return hasSessionEnded;
}

/** The service asked to wait, and the wait is not over; or the session has ended. */
export function mustWait(cache: object, path: string): boolean {
  if (hasSessionEnded && path !== SESSION_PATH) return true;
  const wait = waitsOf(cache).get(path);
  return wait !== undefined && wait.isNamed && wait.atMs > Date.now();
}
