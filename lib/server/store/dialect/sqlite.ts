// SQLite's part of the dialect. Its writers run one after the other: the process has one connection, which a transaction keeps to itself.

import "server-only";
import { sql } from "kysely";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type StoreDialect } from "./dialect-type";

export const sqliteDialect: StoreDialect = {
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
