// What is said differently in SQLite and in PostgreSQL, as a type.

import "server-only";
import { type Kysely, type RawBuilder, type SqlBool } from "kysely";
import { type Tables } from "../tables";

/** A job that the index of words is to find: each of these holds where one of its pieces is in the job's entry. */
export type Term = readonly string[];

export type StoreDialect = {
  isFile: boolean;
  /** Runs one work of this name after the other, in whichever process: what it has read still holds when it writes. */
  serially<T>(database: Kysely<Tables>, name: string, work: (trx: Kysely<Tables>) => Promise<T>): Promise<T>;
  /** The moment that rows of all consoles are compared with, in ms: the database's own where several share it, whose clocks may differ. */
  clock(now: number): RawBuilder<number>;
  /** To select from: a table with the column `value`. */
  rowsOf(texts: readonly string[]): RawBuilder<unknown>;
  /** Whether the text of a column has this text in it. */
  holds(column: RawBuilder<unknown>, text: string): RawBuilder<SqlBool>;
  /** Replaces the entry of a job in the index of words. */
  putWords(trx: Kysely<Tables>, key: bigint, body: string): Promise<void>;
  /** Selects the `key` of each job between two keys that has every one of these terms, and there is one. */
  keysWith(terms: readonly Term[], from: bigint, to: bigint): RawBuilder<unknown>;
};
