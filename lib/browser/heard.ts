// Passes on what the console's API answered in this page: an embedded page tells its host of jobs, and renews its session; every page
// hears whether the console is read-only.
// Must never: hold anything; each listener gets each answer once.

/** `isReadOnly`: whether the console is, where the answer says so. */
type Heard = { path: string; method: string; status: number; value?: unknown; isReadOnly?: boolean };
type Listener = (heard: Heard) => void;

const listeners = new Set<Listener>();

export function tellHeard(heard: Heard): void {
  for (const listener of listeners) listener(heard);
}

export function onHeard(listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
