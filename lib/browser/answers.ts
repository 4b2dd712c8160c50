// Announces each answer of the console's API: to the host of an embedded page, and to the read-only notice.

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
