// Passes on the answers that this page got from the console's API: an embedded page tells its host of jobs and renews its session; every
// page learns whether the console is read-only.
// Must never: store anything; each listener gets each answer once.

/** `isReadOnly`: whether the console is read-only, if the answer says so. */
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
