// The processes of the service that share a database: which of them live, what they tell each other, and what is done by one of them at a time.
// Guarantees: a process that is not listed any more is known to be dead, or to have been given up; it learns so itself as soon as it can.
// On SQLite there is this one alone.

import { randomUUID } from "node:crypto";
import { type RawBuilder, type SqlBool, sql } from "kysely";
import { type Transaction } from "./database";

/** What is told as JSON, of at most so many bytes. */
export const MOST_NOTICE_BYTES = 7_000;

export type Processes = {
  /** Of this process, and another one with each start. */
  readonly id: string;

  /**
   * Tells the other processes. With `tx`: once that commit is durable, and not at all where it fails. Who does not listen at that moment hears
   * nothing, and is told that it may have missed something.
   */
  tell(channel: string, payload: unknown, tx?: Transaction): Promise<void>;
  /** What others tell; never what this one did. `missed`: something may not have been heard, so that all that is remembered may be wrong. */
  listen(channel: string, hear: (payload: unknown, from: string) => void, missed?: () => void): () => void;

  /** The ids of those that live, this one among them, in an order. */
  live(): Promise<string[]>;
  /** So long one that is listed no more may still be in the middle of something: it was cut off, or stood still, and has not ended. */
  readonly lingersMs: number;
  /** As a condition on jobs: whoever held it is dead, or there was nobody. */
  readonly isHolderGone: RawBuilder<SqlBool>;
  /** The same: another process holds it. */
  readonly isHeldElsewhere: RawBuilder<SqlBool>;

  /** True for one process in each such interval: it does what `name` stands for. */
  mayBegin(name: string, everyMs: number): Promise<boolean>;

  /** From now on it is listed, hears, and is heard. */
  start(): Promise<void>;
  watch(on: ProcessEvents): void;
  /** What is told of this process with its lease. */
  describe(facts: ProcessFacts): Promise<void>;
  /**
   * Inside a commit: those that have said nothing for too long are listed no more. Returns the ids of their workers. Who has just come, or come back,
   * waits as long for the others: the database may have been away for all.
   */
  giveUpSilent(tx: Transaction): Promise<string[]>;
  /** It is listed no more. */
  close(): Promise<void>;
};

/** `slots`: of the built-in runner. `workerIds`: by which the queue knows what it has given to this process. */
export type ProcessFacts = { slots: number; workerIds: readonly string[] };

export type ProcessEvents = {
  /** Others have said nothing for too long: what they held may be given back, in a commit that begins with `giveUpSilent`. */
  othersSilent(): void;
  /** This process was given up, and is listed anew: what it held may be another's. */
  wasGivenUp(): void;
};

export function createOnlyProcess(): Processes {
  const id = randomUUID();
  return {
    id,
    tell: () => Promise.resolve(),
    listen: () => () => undefined,
    live: () => Promise.resolve([id]),
    lingersMs: 0,
    isHolderGone: sql<SqlBool>`true`,
    isHeldElsewhere: sql<SqlBool>`false`,
    mayBegin: () => Promise.resolve(true),
    start: () => Promise.resolve(),
    watch: () => undefined,
    describe: () => Promise.resolve(),
    giveUpSilent: () => Promise.resolve([]),
    close: () => Promise.resolve(),
  };
}
