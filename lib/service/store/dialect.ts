import { CompiledQuery, type RawBuilder, sql, type SqlBool } from "kysely";
import { writeExactJson } from "@/lib/contract/json/exact-json";

export type StoreDialect = {
  /** Values for `in`. The statement has the same text for any number of values. */
  numbers(values: readonly number[]): RawBuilder<number>;
  texts(values: readonly string[]): RawBuilder<string>;
  /** Selects rows of a table in the order of `seqs`. `columns` is SQL and refers only to columns of this table. */
  selectInOrder<R>(columns: string, table: "jobs" | "assets", seqs: readonly number[]): { compile(): CompiledQuery<R> };

  /** Merges selections for a page in this order. The page needs at most the first `maxRows` rows of each. */
  mergeSelections(selections: readonly RawBuilder<unknown>[], order: RawBuilder<unknown>, maxRows: number): RawBuilder<unknown>;
  /** A column that SQLite's planner must test row by row, without an index. */
  rowByRow(column: string): RawBuilder<unknown>;

  greatest(a: RawBuilder<unknown>, b: RawBuilder<unknown>): RawBuilder<number>;
  contains(column: RawBuilder<unknown>, text: string): RawBuilder<SqlBool>;

  /** SQL for a text column: whether it is JSON, whether it is a JSON object, and its text as a JSON string. */
  isJson(column: string): string;
  isJsonObject(column: string): string;
  asJson(column: string): string;
  /** SQL for a column that is a JSON object: its text without `member` in its member `parentMember`. */
  removeMember(column: string, member: string, parentMember: string): string;
};

const selectValues = <T>(values: readonly T[]) => sql<T>`(select value from json_each(${writeExactJson(values)}))`;

export const sqliteDialect: StoreDialect = {
  numbers: selectValues,
  texts: selectValues,
  selectInOrder: <R>(columns: string, table: string, seqs: readonly number[]) => {
    const text = `SELECT ${columns} FROM (SELECT value AS wanted FROM json_each(?)) CROSS JOIN ${table} ON seq = wanted`;
    return { compile: () => CompiledQuery.raw(text, [writeExactJson(seqs)]) as CompiledQuery<R> }; // the caller declares the columns
  },

  // Merges selections that an index returns in order. Limits help with short pages, but would sort many rows twice.
  mergeSelections(selections, order, maxRows) {
    const isShort = maxRows <= 1000 && selections.length > 1;
    const limitedSelections = selections.map((selection) =>
      isShort ? sql`select * from (${selection} ${order} limit ${maxRows})` : selection,
    );
    return sql.join(limitedSelections, sql` union all `);
  },
  rowByRow: (column) => sql`+${sql.ref(column)}`,

  greatest: (a, b) => sql`max(${a}, ${b})`,
  contains: (column, text) => sql`instr(${column}, ${text}) > 0`,

  isJson: (column) => `json_valid(${column})`,
  isJsonObject: (column) => `CASE WHEN json_valid(${column}) THEN json_type(${column}) = 'object' ELSE false END`,
  asJson: (column) => `json_quote(${column})`,
  removeMember: (column, member, parentMember) => `json_remove(${column}, '$.${parentMember}.${member}')`,
};

// Arrays instead of JSON, because a JSON text could contain a character that PostgreSQL rejects.
export const postgresDialect: StoreDialect = {
  numbers: (values) => sql`(select unnest(${[...values]}::bigint[]))`,
  texts: (values) => sql`(select unnest(${[...values]}::text[]))`,
  selectInOrder: <R>(columns: string, table: string, seqs: readonly number[]) => {
    const listedSeqs = "unnest(?::bigint[]) WITH ORDINALITY AS listed (wanted, place)";
    const text = `SELECT ${columns} FROM ${listedSeqs} JOIN ${table} ON seq = wanted ORDER BY place`;
    return { compile: () => CompiledQuery.raw(text, [[...seqs]]) as CompiledQuery<R> }; // the caller declares the columns
  },

  // Without its own limit, each selection would be read to its end and sorted.
  mergeSelections(selections, order, maxRows) {
    const limitedSelections = selections.map((selection) => sql`(${selection} ${order} limit ${maxRows})`);
    return sql`select * from (${sql.join(limitedSelections, sql` union all `)}) as merged`;
  },
  rowByRow: (column) => sql`${sql.ref(column)}`,

  greatest: (a, b) => sql`greatest(${a}, ${b})`,
  contains: (column, text) => sql`strpos(${column}, ${text}) > 0`,

  isJson: (column) => `is_json(${column})`,
  isJsonObject: (column) => `CASE WHEN is_json(${column}) THEN json_typeof(${column}::json) = 'object' ELSE false END`,
  asJson: (column) => `to_json(${column})::text`,
  removeMember: (column, member, parentMember) => `without_member(${column}, '${member}', '${parentMember}')`,
};
