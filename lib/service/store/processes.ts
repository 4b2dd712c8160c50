// Processes that share a database: liveness and notifications.

import { randomUUID } from "node:crypto";
import { type RawBuilder, sql, type SqlBool } from "kysely";
import { type Transaction } from "./database";

export const MAX_NOTIFICATION_BYTES = 7_000;

export type Processes = {
  readonly id: string;

  /** Notifies other processes, with `tx` once it has committed. A process that isn't listening gets `onMissed` later. */
  notify(channel: string, payload: unknown, tx?: Transaction): Promise<void>;
  /** Receives notifications of other processes. `onMissed` is called when notifications may have been lost. */
  listen(channel: string, onNotification: (payload: unknown, senderId: string) => void, onMissed?: () => void): () => void;

  /** Returns the ids of live processes, including this one, oldest first. */
  listLive(): Promise<string[]>;
  /** Counts the slots of the built-in runner in all live processes, with `ownSlots` for this one. */
  countSlots(ownSlots: number): Promise<number>;
  /** How long a process that is no longer listed may still be working, because it was disconnected or suspended. */
  readonly lingerMs: number;
  readonly isHolderMissing: RawBuilder<SqlBool>;
  readonly isRunElsewhere: RawBuilder<SqlBool>;

  /** Registers this process and starts exchanging notifications. Returns false if another process stores its files differently. */
  start(info: ProcessInfo): Promise<boolean>;
  watch(events: ProcessEvents): void;
  /** Removes expired processes and returns their ids. */
  removeUnresponsive(tx: Transaction): Promise<string[]>;
  close(): Promise<void>;
};

/** `slots` are those of the built-in runner. `hasSharedFiles` means that files are in a shared store, not in the data folder. */
export type ProcessInfo = { slots: number; hasSharedFiles: boolean };

export type ProcessEvents = {
  /** Other processes are unresponsive. Their work may be requeued, in a commit that starts with `removeUnresponsive`. */
  onPeersUnresponsive(): void;
  /** This process had expired and was registered again. Another process may have taken over its work. */
  onAbandoned(): void;
};

export function createSingleProcess(): Processes {
  const id = randomUUID();
  return {
    id,
    notify: () => Promise.resolve(),
    listen: () => () => undefined,
    listLive: () => Promise.resolve([id]),
    countSlots: (ownSlots) => Promise.resolve(ownSlots),
    lingerMs: 0,
    isHolderMissing: sql<SqlBool>`true`,
    isRunElsewhere: sql<SqlBool>`false`,
    start: () => Promise.resolve(true),
    watch: () => undefined,
    removeUnresponsive: () => Promise.resolve([]),
    close: () => Promise.resolve(),
  };
}
