// SQL that differs between SQLite and PostgreSQL in the console's queries.

import "server-only";
import { type Kysely, PostgresAdapter, type RawBuilder, sql, type SqlBool } from "kysely";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { isWholePiece, wholePiecesOf } from "./jobs/ledger-words";
import { type Tables } from "./tables";

/** One condition of a search in the index of words: a job matches if its entry contains at least one of these pieces. */
export type Term = readonly string[];

type StoreDialect = {
  isFile: boolean;
  /** Runs works of the same name one after the other, across processes: what a work has read is still true when it writes. */
  serially<T>(database: Kysely<Tables>, name: string, work: (trx: Kysely<Tables>) => Promise<T>): Promise<T>;
  /** The current time in ms for comparing rows of all consoles: the database's own if several share it, as their clocks may differ. */
  clock(now: number): RawBuilder<number>;
  /** To select from: a table with the column `value`. */
  rowsOf(texts: readonly string[]): RawBuilder<unknown>;
  holds(column: RawBuilder<unknown>, text: string): RawBuilder<SqlBool>;
  putWords(trx: Kysely<Tables>, key: bigint, body: string): Promise<void>;
  /** Selects the `key` of each job between two keys that matches all terms; there must be at least one term. */
  keysWith(terms: readonly Term[], from: bigint, to: bigint): RawBuilder<unknown>;
};

const sqliteDialect: StoreDialect = {
  isFile: true,
  serially: (database, _name, work) => database.transaction().execute(work),
  clock: (now) => sql`${now}`,
  rowsOf: (texts) => sql`json_each(${writeExactJson(texts)})`,
  holds: (column, text) => sql`instr(${column}, ${text}) > 0`,

  async putWords(trx, key, body) {
    await sql`DELETE FROM ledger_words WHERE rowid = ${key}`.execute(trx);
    await sql`INSERT INTO ledger_words (rowid, body) VALUES (${key}, ${body})`.execute(trx);
  },

  keysWith(terms, from, to) {
    const match = terms.map((pieces) => `(${pieces.map(quoted).join(" OR ")})`).join(" AND ");
    return sql`SELECT rowid AS key FROM ledger_words WHERE ledger_words MATCH ${match} AND rowid >= ${from} AND rowid < ${to}`;
  },
};

const quoted = (piece: string) => `"${piece.replaceAll('"', '""')}"`;

const postgresDialect: StoreDialect = {
  isFile: false,
  serially: (database, name, work) =>
    database.transaction().execute(async (trx) => {
      // Released with the transaction.
      await sql`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(trx);
      return work(trx);
    }),
  clock: () => sql`(extract(epoch FROM statement_timestamp()) * 1000)::bigint`,
  // An array and not JSON: a JSON text could name a character that PostgreSQL does not accept.
  rowsOf: (texts) => sql`unnest(${[...texts]}::text[]) AS texts (value)`,
  holds: (column, text) => sql`strpos(${column}, ${text}) > 0`,

  async putWords(trx, key, body) {
    await sql`
      INSERT INTO ledger_words (key, marks, body) VALUES (${key}, ${wholePiecesOf(body)}, ${body})
      ON CONFLICT (key) DO UPDATE SET marks = excluded.marks, body = excluded.body`.execute(trx);
  },

  keysWith(terms, from, to) {
    const conditions = [sql`key >= ${from} AND key < ${to}`, ...terms.map(conditionOf)];
    return sql`SELECT key FROM ledger_words WHERE ${sql.join(conditions, sql` AND `)}`;
  },
};

function conditionOf(pieces: Term): RawBuilder<unknown> {
  const whole = pieces.filter(isWholePiece);
  const others = pieces.filter((piece) => !isWholePiece(piece)).map((piece) => sql`body LIKE ${`%${piece.replace(/[\\%_]/g, "\\$&")}%`}`);
  return sql`(${sql.join([...(whole.length > 0 ? [sql`marks && ${whole}::text[]`] : []), ...others], sql` OR `)})`;
}

export function dialectOf(database: Kysely<Tables>): StoreDialect {
  return database.getExecutor().adapter instanceof PostgresAdapter ? postgresDialect : sqliteDialect;
}

/** For `column in`: one bound value for any number of texts, so that the statement stays the same. */
export function oneOf(database: Kysely<Tables>, texts: readonly string[]): RawBuilder<string> {
  return sql<string>`(SELECT value FROM ${dialectOf(database).rowsOf(texts)})`;
}
