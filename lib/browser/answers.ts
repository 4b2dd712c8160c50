// Passes on the answers that this page got from the console's API: an embedded page tells its host of jobs and renews its session; every
// page learns whether the console is read-only.
// Must never: store anything; each listener gets each answer once.

/** `isReadOnly`: whether the console is read-only, if the answer says so. */
type Answer = { path: string; method: string; status: number; value?: unknown; isReadOnly?: boolean };
type Listener = (answer: Answer) => void;

const listeners = new Set<Listener>();

export function announceAnswer(answer: Answer): void {
  for (const listener of listeners) listener(answer);
}

export function onAnswer(listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
