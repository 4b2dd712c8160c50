// Opens the console's database and brings it to the newest schema.
// Everything above speaks kysely and awaits, so that another dialect can stand here; only this file knows SQLite.

import "server-only";
import SqliteDatabase from "better-sqlite3";
import { Kysely, Migrator, SqliteDialect } from "kysely";
import { migrations } from "./migrations";
import { type Tables } from "./tables";

export type Database = Kysely<Tables>;

export function openDatabase(file: string): Database {
  const sqlite = new SqliteDatabase(file);
  sqlite.pragma("journal_mode = WAL");
  sqlite.pragma("synchronous = FULL");
  sqlite.pragma("foreign_keys = ON");
  sqlite.pragma("busy_timeout = 5000");
  return new Kysely<Tables>({ dialect: new SqliteDialect({ database: sqlite }) });
}

/** Throws when a migration fails: a console on half a schema must not start. */
export async function migrate(database: Database): Promise<void> {
  const migrator = new Migrator({ db: database, provider: { getMigrations: () => Promise.resolve(migrations) } });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
}
