// What SQLite expresses in its own way.

import { CompiledQuery, sql } from "kysely";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type StoreDialect } from "./dialect";

const list = <T>(values: readonly T[]) => sql<T>`(select value from json_each(${writeExactJson(values)}))`;

export const sqliteDialect: StoreDialect = {
  numbers: list,
  texts: list,
  inOrder: <R>(columns: string, table: string, seqs: readonly number[]) => {
    const text = `SELECT ${columns} FROM (SELECT value AS wanted FROM json_each(?)) CROSS JOIN ${table} ON seq = wanted`;
    return { compile: () => CompiledQuery.raw(text, [writeExactJson(seqs)]) as CompiledQuery<R> }; // the caller declares the columns
  },

  // Merges selections that an index returns in order. A limit keeps those that have to be sorted short; for many rows it would sort twice.
  merged(selections, order, reach) {
    const isShort = reach <= 1000 && selections.length > 1;
    const limited = selections.map((selection) => (isShort ? sql`select * from (${selection} ${order} limit ${reach})` : selection));
    return sql.join(limited, sql` union all `);
  },
  rowByRow: (column) => sql`+${sql.ref(column)}`,

  greater: (a, b) => sql`max(${a}, ${b})`,
  holds: (column, text) => sql`instr(${column}, ${text}) > 0`,

  isJson: (column) => `json_valid(${column})`,
  isJsonObject: (column) => `CASE WHEN json_valid(${column}) THEN json_type(${column}) = 'object' ELSE false END`,
  asJson: (column) => `json_quote(${column})`,
  withoutMember: (column, member, ofMember) => `json_remove(${column}, '$.${ofMember}.${member}')`,
};
