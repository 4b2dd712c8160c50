// PostgreSQL's part of the dialect. Its writers do not wait for each other, so work that reads and then writes takes a lock by name.

import "server-only";
import { type RawBuilder, sql } from "kysely";
import { isWholePiece, wholePiecesOf } from "../jobs/ledger-words";
import { type StoreDialect, type Term } from "./dialect-type";

export const postgresDialect: StoreDialect = {
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
