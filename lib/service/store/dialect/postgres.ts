// What PostgreSQL expresses in its own way. Its planner knows how many rows there are, and chooses indexes by that.

import { CompiledQuery, sql } from "kysely";
import { type StoreDialect } from "./dialect";

// Arrays instead of JSON: a JSON text could contain a character that PostgreSQL does not accept.
export const postgresDialect: StoreDialect = {
  numbers: (values) => sql`(select unnest(${[...values]}::bigint[]))`,
  texts: (values) => sql`(select unnest(${[...values]}::text[]))`,
  inOrder: <R>(columns: string, table: string, seqs: readonly number[]) => {
    const wanted = "unnest(?::bigint[]) WITH ORDINALITY AS listed (wanted, place)";
    const text = `SELECT ${columns} FROM ${wanted} JOIN ${table} ON seq = wanted ORDER BY place`;
    return { compile: () => CompiledQuery.raw(text, [[...seqs]]) as CompiledQuery<R> }; // the caller declares the columns
  },

  // Without a limit of its own each would be read to its end, and all of it sorted.
  merged(selections, order, reach) {
    const limited = selections.map((selection) => sql`(${selection} ${order} limit ${reach})`);
    return sql`select * from (${sql.join(limited, sql` union all `)}) as merged`;
  },
  rowByRow: (column) => sql`${sql.ref(column)}`,

  greater: (a, b) => sql`greatest(${a}, ${b})`,
  holds: (column, text) => sql`strpos(${column}, ${text}) > 0`,

  isJson: (column) => `is_json(${column})`,
  isJsonObject: (column) => `CASE WHEN is_json(${column}) THEN json_typeof(${column}::json) = 'object' ELSE false END`,
  asJson: (column) => `to_json(${column})::text`,
  withoutMember: (column, member, ofMember) => `without_member(${column}, '${member}', '${ofMember}')`,
};
