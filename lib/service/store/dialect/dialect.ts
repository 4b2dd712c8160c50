// The type of what SQLite and PostgreSQL express differently. A reader has the dialect of its database (`reader.dialect`), and no code asks
// which of the two it is. What both understand is written the same way: `case when` (not `iif`), `true` and `false`, a name for each
// subquery.

import { type CompiledQuery, type RawBuilder, type SqlBool } from "kysely";

export type StoreDialect = {
  /** For `in`: the statement has the same text for any number of values. */
  numbers(values: readonly number[]): RawBuilder<number>;
  texts(values: readonly string[]): RawBuilder<string>;
  /** Rows of a table by their `seq`, in the order of `seqs`. `columns`: as SQL, of this table only. */
  inOrder<R>(columns: string, table: "jobs" | "assets", seqs: readonly number[]): { compile(): CompiledQuery<R> };

  /** What several selections find, for a page in this order that needs at most the first `reach` rows of each. */
  merged(selections: readonly RawBuilder<unknown>[], order: RawBuilder<unknown>, reach: number): RawBuilder<unknown>;
  /** A column that SQLite's planner has to test row by row, without using an index for it. */
  rowByRow(column: string): RawBuilder<unknown>;

  greater(a: RawBuilder<unknown>, b: RawBuilder<unknown>): RawBuilder<number>;
  /** Whether the text of a column contains this text. */
  holds(column: RawBuilder<unknown>, text: string): RawBuilder<SqlBool>;

  /** For a text column, as SQL: whether it is JSON, whether it is a JSON object, and its text as a JSON string. */
  isJson(column: string): string;
  isJsonObject(column: string): string;
  asJson(column: string): string;
  /** For a column that is a JSON object: the same text without one member of one of its members. */
  withoutMember(column: string, member: string, ofMember: string): string;
};
