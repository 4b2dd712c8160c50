// Processes that share a database: liveness and notifications.

import { randomUUID } from "node:crypto";
import { type RawBuilder, sql, type SqlBool } from "kysely";
import { type Transaction } from "./database";

export const MAX_NOTICE_BYTES = 7_000;

export type Processes = {
  readonly id: string;

  /** Notifies other processes, with `tx` once it has committed. A process that isn't listening gets `missed` later. */
  notify(channel: string, payload: unknown, tx?: Transaction): Promise<void>;
  /** Receives notices of other processes. `missed` is called when notices may have been lost. */
  listen(channel: string, receive: (payload: unknown, from: string) => void, missed?: () => void): () => void;

  /** The ids of living processes, including this one, oldest first. */
  live(): Promise<string[]>;
  /** The slots of the built-in runner in all living processes, with `own` for this one. */
  slots(own: number): Promise<number>;
  /** How long a process that is no longer listed may still be working, because it was disconnected or suspended. */
  readonly lingersMs: number;
  readonly isHolderGone: RawBuilder<SqlBool>;
  readonly isNotRunHere: RawBuilder<SqlBool>;

  /** Registers this process and starts exchanging notices. False if another process stores its files differently. */
  start(own: ProcessFacts): Promise<boolean>;
  watch(on: ProcessEvents): void;
  /** Removes expired processes. Returns their ids and those of their workers. */
  removeUnresponsive(tx: Transaction): Promise<string[]>;
  close(): Promise<void>;
};

/** `slots`: of the built-in runner. `hasSharedFiles`: files are in a shared store, not in the data folder. */
export type ProcessFacts = { slots: number; hasSharedFiles: boolean };

export type ProcessEvents = {
  /** Other processes are unresponsive. Their work may be requeued, in a commit that starts with `removeUnresponsive`. */
  othersUnresponsive(): void;
  /** This process had expired and was registered again. Another process may have its work. */
  onAbandoned(): void;
};

export function createOnlyProcess(): Processes {
  const id = randomUUID();
  return {
    id,
    notify: () => Promise.resolve(),
    listen: () => () => undefined,
    live: () => Promise.resolve([id]),
    slots: (own) => Promise.resolve(own),
    lingersMs: 0,
    isHolderGone: sql<SqlBool>`true`,
    isNotRunHere: sql<SqlBool>`false`,
    start: () => Promise.resolve(true),
    watch: () => undefined,
    removeUnresponsive: () => Promise.resolve([]),
    close: () => Promise.resolve(),
  };
}
