// Opens the console's database, SQLite or PostgreSQL, and migrates it to the newest schema.
// Guarantees: a database that is damaged, from a newer version, or suddenly empty is reported with its file and
// what to do; nothing is written to it.

import "server-only";
import { existsSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import {
  CamelCasePlugin,
  type Compilable,
  Kysely,
  PostgresDialect,
  type SqliteDatabase,
  SqliteDialect,
  type SqliteStatement,
} from "kysely";
import { retryWithReserve } from "@/lib/shared/database/disk-reserve";
import { migratePostgres as migrate, migrateSqlite } from "@/lib/shared/database/migrate";
import { openPool } from "@/lib/shared/database/postgres";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { isFullDisk } from "@/lib/shared/error-codes";
import { createLru } from "@/lib/shared/lru";
import { postgresHistory, sqliteHistory } from "./migrations";
import { type Tables } from "./tables";

const MAX_STATEMENTS = 200;

export type Database = Kysely<Tables>;

/** Columns are memberId in code and member_id in SQL. */
const camelCase = new CamelCasePlugin({ maintainNestedObjectKeys: true });

/** `migrate` throws on failure, because a console must not start on a partial schema. */
export type OpenedDatabase = { database: Database; migrate(): Promise<void> };

/** `keys`: files that only a console with data has beside it; if one exists, an empty database is not accepted as a new one. */
export function openDatabase(file: string, keys: readonly string[] = []): OpenedDatabase {
  try {
    return open(file, keys);
  } catch (error) {
    // The index of the WAL needs disk space, unless no other process may open the database: then it is kept in memory.
    if (isFullDisk(error)) return open(file, keys, "EXCLUSIVE");
    throw asStartFailure(error, file);
  }
}

function open(file: string, keys: readonly string[], locking = "NORMAL"): OpenedDatabase {
  const sqlite = new SqliteConnection(file);
  try {
    prepareConnection(sqlite, file, keys, locking);
  } catch (error) {
    sqlite.close();
    throw error;
  }
  return {
    database: new Kysely<Tables>({
      dialect: new SqliteDialect({ database: rememberingStatements(sqlite, dirname(file)) }),
      plugins: [camelCase],
    }),
    async migrate() {
      try {
        migrateSqlite(sqlite, sqliteHistory, new Date().toISOString(), `The console's database ${file}`);
      } catch (error) {
        throw asStartFailure(error, file);
      }
    },
  };
}

function prepareConnection(sqlite: SqliteConnection, file: string, keys: readonly string[], locking: string): void {
  sqlite.pragma(`locking_mode = ${locking}`);
  const isEmpty = sqlite.prepare("SELECT 1 FROM sqlite_master LIMIT 1").get() === undefined;
  if (isEmpty && sqlite.pragma("user_version") === 0) {
    const key = keys.find((one) => existsSync(one));
    if (key !== undefined) {
      sqlite.close();
      if (statSync(file).size === 0) rmSync(file);
      throw new Error(
        `The console's database ${file} is empty or missing, though ${key} shows that there was one. Restore it from a backup; to begin anew, take ${key} away first.`,
      );
    }
    // From now on the database counts as begun, even if this process dies before there is a table.
    sqlite.pragma("user_version = 1");
  }
  sqlite.pragma("journal_mode = WAL");
  sqlite.pragma("synchronous = FULL");
  sqlite.pragma("foreign_keys = ON");
  sqlite.pragma("cache_size = -16000");
}

/** For queries of every request: compiled once, run with other values. `query` has as many placeholders, in this order. */
export function prepareOne<Row>(database: Database, query: Compilable<Row>): (...values: string[]) => Promise<Row | undefined> {
  const compiled = query.compile();
  return async (...parameters) => (await database.executeQuery<Row>({ ...compiled, parameters })).rows[0];
}

/** Statements that delete, end a session or take a right away: a full disk must not prevent them. */
const makesRoom =
  /^(delete from |insert into "((ended_)?sessions|attempts)"|update "attempts"|update "(members|sessions)"|update "tokens" set "revoked_at")/;

/** Preparing a statement takes longer than running most of them; lists of ids make many different ones, so the oldest are dropped. */
function rememberingStatements(sqlite: SqliteConnection, folder: string): SqliteDatabase {
  const prepare = (sql: string): SqliteStatement => {
    const statement: SqliteStatement = sqlite.prepare(sql);
    if (!makesRoom.test(sql)) return statement;
    // A full disk undoes a whole transaction: only a single statement is tried again.
    const spend = <T>(work: () => T) => (sqlite.inTransaction ? work() : retryWithReserve(folder, work));
    return {
      reader: statement.reader,
      all: (values) => spend(() => statement.all(values)),
      run: (values) => spend(() => statement.run(values)),
      iterate: (values) => statement.iterate(values),
    };
  };
  const statements = createLru<string, SqliteStatement>({ max: MAX_STATEMENTS });
  return {
    close: () => sqlite.close(),
    prepare(sql) {
      const statement = statements.get(sql) ?? prepare(sql);
      statements.set(sql, statement);
      return statement;
    },
  };
}

/** Explains the error for the person at the terminal. */
function asStartFailure(error: unknown, file: string): unknown {
  if (!(error instanceof Error)) return error;
  const code = "code" in error ? String(error.code) : "";
  if (/^SQLITE_(CORRUPT.*|NOTADB)$/.test(code))
    return new Error(`The console's database ${file} is damaged (${error.message}). Restore the data folder from a backup.`, {
      cause: error,
    });
  return error;
}

const MAX_CONNECTIONS = 10;
const STATEMENT_MS = 30_000;

export function openPostgres(url: string): Database {
  const pool = () => openPool({ url, max: MAX_CONNECTIONS, statementMs: STATEMENT_MS });
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }), plugins: [camelCase] });
}

/** Throws if a migration fails: a console must not start on half a schema. Several consoles at once wait for each other. */
export function migratePostgres(url: string): Promise<void> {
  return migrate({ url }, postgresHistory, new Date().toISOString());
}
