// What is said differently in SQLite and in PostgreSQL, as a type. A reader has the dialect of its database (`reader.dialect`), and none asks
// which of the two it is. What both understand is said the same way: `case when` (not `iif`), `true` and `false`, a name for each subquery.

import { type CompiledQuery, type RawBuilder, type SqlBool } from "kysely";

export type StoreDialect = {
  /** For `in`: one text of a statement for however many there are. */
  numbers(values: readonly number[]): RawBuilder<number>;
  texts(values: readonly string[]): RawBuilder<string>;
  /** Rows of a table by their `seq`, in the order of the numbers. `columns` as SQL says them, of the table alone. */
  inOrder<R>(columns: string, table: "jobs" | "assets", seqs: readonly number[]): { compile(): CompiledQuery<R> };

  /** The table, in SQLite walked along this index: its planner knows nothing of how many rows there are. */
  along(table: string, index: string): RawBuilder<unknown>;
  /** `join`, in SQLite from the left side to the right one. */
  joinFromLeft: RawBuilder<unknown>;
  /** A column that SQLite's planner shall look at row by row, and take no index for. */
  rowByRow(column: string): RawBuilder<unknown>;

  greater(a: RawBuilder<unknown>, b: RawBuilder<unknown>): RawBuilder<number>;
  /** Whether the text of a column has this text in it. */
  holds(column: RawBuilder<unknown>, text: string): RawBuilder<SqlBool>;

  /** Of a column of text, as SQL: whether it is JSON, whether it is a JSON object, and its text as JSON writes it. */
  isJson(column: string): string;
  isJsonObject(column: string): string;
  asJson(column: string): string;
  /** Of a column that is a JSON object: the same text without one of the members of a member. */
  withoutMember(column: string, member: string, ofMember: string): string;
};
