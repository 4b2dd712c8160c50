// Listeners at other processes: whether a user has any, and what is sent to them.
// Guarantees: messages of one process about a job arrive in their order, each at most once. If one may have been lost, that user's
// listeners get the state of the queue again. Nothing is sent for users without listeners at other processes.

export type Elsewhere = {
  /** From now on this process exchanges messages with the others. */
  start(here: Here): void;
  hasListeners(userId: number): boolean;
  /** `listened`: the user has a listener here; resolves once other processes know. `silent`: the user has none any more. */
  listened(userId: number): Promise<void>;
  silent(userId: number): void;
  /** `key`: a message that still waits to be sent is replaced by the next one with the same key. */
  tell(to: Recipients, message: Message, key?: string): void;
  /** The number of jobs left in the user's queue has changed. */
  queueChanged(userId: number): void;
  stop(): void;
};

/** Bytes: a preview, in the family's format. */
export type Message = string | Uint8Array;
export type Recipients = { userId: number; clientId: string | undefined };

/** The listeners of this process. */
export type Here = {
  users(): Iterable<number>;
  deliver(to: Recipients, message: Message): void;
  queueChanged(userId: number): void;
};

export function createNowhereElse(): Elsewhere {
  return {
    start: () => undefined,
    hasListeners: () => false,
    listened: () => Promise.resolve(),
    silent: () => undefined,
    tell: () => undefined,
    queueChanged: () => undefined,
    stop: () => undefined,
  };
}
