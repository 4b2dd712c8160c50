// What SQLite and PostgreSQL do differently: stores get it here and never ask which of the two they have.

import "server-only";
import { type Kysely, PostgresAdapter, type RawBuilder, sql } from "kysely";
import { type Tables } from "../tables";
import { type StoreDialect } from "./dialect-type";
import { postgresDialect } from "./postgres";
import { sqliteDialect } from "./sqlite";

export function dialectOf(database: Kysely<Tables>): StoreDialect {
  return database.getExecutor().adapter instanceof PostgresAdapter ? postgresDialect : sqliteDialect;
}

/** For `column in`: one bound value for any number of texts, so that the statement stays the same. */
export function oneOf(database: Kysely<Tables>, texts: readonly string[]): RawBuilder<string> {
  return sql<string>`(SELECT value FROM ${dialectOf(database).rowsOf(texts)})`;
}
