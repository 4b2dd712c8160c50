// What is said differently in SQLite and in PostgreSQL: every store asks for it here, and none asks which of the two it has.

import "server-only";
import { type Kysely, PostgresAdapter, type RawBuilder, sql } from "kysely";
import { type Tables } from "../tables";
import { type StoreDialect } from "./dialect-type";
import { postgresDialect } from "./postgres";
import { sqliteDialect } from "./sqlite";

export function dialectOf(database: Kysely<Tables>): StoreDialect {
  return database.getExecutor().adapter instanceof PostgresAdapter ? postgresDialect : sqliteDialect;
}

/** For `column in`: one value, of however many texts, so that the statement is the same for all. */
export function oneOf(database: Kysely<Tables>, texts: readonly string[]): RawBuilder<string> {
  return sql<string>`(SELECT value FROM ${dialectOf(database).rowsOf(texts)})`;
}
