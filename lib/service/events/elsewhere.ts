// Listeners at other processes: whether a user has any, and what is told to them.
// Guarantees: what one process tells of a job arrives in its order, and once or never; where something may not have arrived, the listeners of that
// user are told the state of the queue anew. Nothing is sent for users who are listened to at no other process.

export type Elsewhere = {
  /** From now on others are heard, and hear. */
  start(here: Here): void;
  isHeard(userId: number): boolean;
  /** A user has a listener here, resolved once that is told; or has none any more. */
  listened(userId: number): Promise<void>;
  silent(userId: number): void;
  /** `key`: while it waits to be sent, the next one of the same key takes its place. */
  tell(to: Recipients, message: Message, key?: string): void;
  /** How much is left of the user's queue has changed. */
  queueChanged(userId: number): void;
  stop(): void;
};

/** Bytes: a preview, as the family sends it. */
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
    isHeard: () => false,
    listened: () => Promise.resolve(),
    silent: () => undefined,
    tell: () => undefined,
    queueChanged: () => undefined,
    stop: () => undefined,
  };
}
