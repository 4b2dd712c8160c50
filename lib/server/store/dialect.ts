// SQL that differs between SQLite and PostgreSQL in the console's queries.

import "server-only";
import { type Kysely, PostgresAdapter, type RawBuilder, sql, type SqlBool } from "kysely";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { findIndexTokens, isIndexToken } from "./jobs/index-words";
import { type Tables } from "./tables";

/** One condition of a search in the word index. A job matches if its entry contains at least one of these strings. */
export type Term = readonly string[];

type StoreDialect = {
  isSqlite: boolean;
  /** Runs tasks of the same name sequentially across processes, so that what a task reads cannot change before it writes. */
  runExclusive<T>(database: Kysely<Tables>, name: string, task: (trx: Kysely<Tables>) => Promise<T>): Promise<T>;
  /** The current time in ms. On PostgreSQL it is the database's, because the clocks of several consoles may differ. */
  selectCurrentTime(now: number): RawBuilder<number>;
  /** A table expression with the column `value`. */
  selectTextRows(texts: readonly string[]): RawBuilder<unknown>;
  contains(column: RawBuilder<unknown>, text: string): RawBuilder<SqlBool>;
  writeWords(trx: Kysely<Tables>, key: bigint, body: string): Promise<void>;
  /** Selects the keys of jobs that match all terms, from `from` up to but excluding `to`. Needs at least one term. */
  selectMatchingKeys(terms: readonly Term[], from: bigint, to: bigint): RawBuilder<unknown>;
};

const sqliteDialect: StoreDialect = {
  isSqlite: true,
  runExclusive: (database, _name, task) => database.transaction().execute(task),
  selectCurrentTime: (now) => sql`${now}`,
  selectTextRows: (texts) => sql`json_each(${writeExactJson(texts)})`,
  contains: (column, text) => sql`instr(${column}, ${text}) > 0`,

  async writeWords(trx, key, body) {
    await sql`DELETE FROM ledger_words WHERE rowid = ${key}`.execute(trx);
    await sql`INSERT INTO ledger_words (rowid, body) VALUES (${key}, ${body})`.execute(trx);
  },

  selectMatchingKeys(terms, from, to) {
    const ftsExpression = terms.map((pieces) => `(${pieces.map(quote).join(" OR ")})`).join(" AND ");
    return sql`SELECT rowid AS key FROM ledger_words WHERE ledger_words MATCH ${ftsExpression} AND rowid >= ${from} AND rowid < ${to}`;
  },
};

const quote = (piece: string) => `"${piece.replaceAll('"', '""')}"`;

const postgresDialect: StoreDialect = {
  isSqlite: false,
  runExclusive: (database, name, task) =>
    database.transaction().execute(async (trx) => {
      // The lock ends with the transaction.
      await sql`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(trx);
      return task(trx);
    }),
  selectCurrentTime: () => sql`(extract(epoch FROM statement_timestamp()) * 1000)::bigint`,
  // Not JSON, because a JSON escape can represent a character that PostgreSQL rejects.
  selectTextRows: (texts) => sql`unnest(${[...texts]}::text[]) AS texts (value)`,
  contains: (column, text) => sql`strpos(${column}, ${text}) > 0`,

  async writeWords(trx, key, body) {
    await sql`
      INSERT INTO ledger_words (key, marks, body) VALUES (${key}, ${findIndexTokens(body)}, ${body})
      ON CONFLICT (key) DO UPDATE SET marks = excluded.marks, body = excluded.body`.execute(trx);
  },

  selectMatchingKeys(terms, from, to) {
    const conditions = [sql`key >= ${from} AND key < ${to}`, ...terms.map(toCondition)];
    return sql`SELECT key FROM ledger_words WHERE ${sql.join(conditions, sql` AND `)}`;
  },
};

function toCondition(pieces: Term): RawBuilder<unknown> {
  const indexTokens = pieces.filter(isIndexToken);
  const substringConditions = pieces
    .filter((piece) => !isIndexToken(piece))
    .map((piece) => sql`body LIKE ${`%${piece.replace(/[\\%_]/g, "\\$&")}%`}`);
  return sql`(${sql.join([...(indexTokens.length > 0 ? [sql`marks && ${indexTokens}::text[]`] : []), ...substringConditions], sql` OR `)})`;
}

export function getDialect(database: Kysely<Tables>): StoreDialect {
  return database.getExecutor().adapter instanceof PostgresAdapter ? postgresDialect : sqliteDialect;
}

/** For `column in`: binds any number of texts as one value, so that the SQL text doesn't vary. */
export function selectTexts(database: Kysely<Tables>, texts: readonly string[]): RawBuilder<string> {
  return sql<string>`(SELECT value FROM ${getDialect(database).selectTextRows(texts)})`;
}
