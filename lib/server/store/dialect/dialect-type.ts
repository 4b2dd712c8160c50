// The type of what SQLite and PostgreSQL do differently.

import "server-only";
import { type Kysely, type RawBuilder, type SqlBool } from "kysely";
import { type Tables } from "../tables";

/** One condition of a search in the index of words: a job matches if its entry contains at least one of these pieces. */
export type Term = readonly string[];

export type StoreDialect = {
  isFile: boolean;
  /** Runs works of the same name one after the other, across processes: what a work has read is still true when it writes. */
  serially<T>(database: Kysely<Tables>, name: string, work: (trx: Kysely<Tables>) => Promise<T>): Promise<T>;
  /** The current time in ms for comparing rows of all consoles: the database's own if several share it, as their clocks may differ. */
  clock(now: number): RawBuilder<number>;
  /** To select from: a table with the column `value`. */
  rowsOf(texts: readonly string[]): RawBuilder<unknown>;
  /** Whether the column's text contains this text. */
  holds(column: RawBuilder<unknown>, text: string): RawBuilder<SqlBool>;
  /** Replaces a job's entry in the index of words. */
  putWords(trx: Kysely<Tables>, key: bigint, body: string): Promise<void>;
  /** Selects the `key` of each job between two keys that matches all terms; there must be at least one term. */
  keysWith(terms: readonly Term[], from: bigint, to: bigint): RawBuilder<unknown>;
};
