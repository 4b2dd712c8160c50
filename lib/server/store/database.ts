// Opens the console's database and brings it to the newest schema.
// Everything above speaks kysely and awaits, so that another dialect can stand here; only this file knows SQLite.

import "server-only";
import SqliteDatabase from "better-sqlite3";
import { type Compilable, Kysely, Migrator, type SqliteDatabase as Sqlite, SqliteDialect, type SqliteStatement } from "kysely";
import { migrations } from "./migrations";
import { type Tables } from "./tables";

const MOST_STATEMENTS = 200;

export type Database = Kysely<Tables>;

export function openDatabase(file: string): Database {
  const sqlite = new SqliteDatabase(file);
  sqlite.pragma("journal_mode = WAL");
  sqlite.pragma("synchronous = FULL");
  sqlite.pragma("foreign_keys = ON");
  sqlite.pragma("busy_timeout = 5000");
  return new Kysely<Tables>({ dialect: new SqliteDialect({ database: rememberingStatements(sqlite) }) });
}

/** What every request asks: written once, asked with other values. `query` holds as many placeholders, in this order. */
export function prepareOne<Row>(database: Database, query: Compilable<Row>): (...values: string[]) => Promise<Row | undefined> {
  const compiled = query.compile();
  return async (...parameters) => (await database.executeQuery<Row>({ ...compiled, parameters })).rows[0];
}

/** Preparing a statement takes longer than most of them run; lists of ids make many different ones, so the oldest go. */
function rememberingStatements(sqlite: Sqlite): Sqlite {
  const known = new Map<string, SqliteStatement>();
  return {
    close: () => sqlite.close(),
    prepare(sql) {
      const statement = known.get(sql) ?? sqlite.prepare(sql);
      known.delete(sql);
      known.set(sql, statement);
      for (const oldest of known.keys()) {
        if (known.size <= MOST_STATEMENTS) break;
        known.delete(oldest);
      }
      return statement;
    },
  };
}

/** Throws when a migration fails: a console on half a schema must not start. */
export async function migrate(database: Database): Promise<void> {
  const migrator = new Migrator({ db: database, provider: { getMigrations: () => Promise.resolve(migrations) } });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
}
