// Opens the console's database, SQLite or PostgreSQL, and migrates it to the newest schema.
// Nothing is written to a database that is damaged, from a newer version, or suddenly empty.

import "server-only";
import { existsSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import {
  CamelCasePlugin,
  type Compilable,
  type DeleteResult,
  type InsertResult,
  Kysely,
  OperationNodeTransformer,
  type PluginTransformQueryArgs,
  PostgresDialect,
  type PrimitiveValueListNode,
  type RootOperationNode,
  sql,
  type SqliteDatabase,
  SqliteDialect,
  type SqliteStatement,
  type UnknownRow,
  type UpdateResult,
  type ValueNode,
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

/** Columns that store 0 or 1. */
const flags: ReadonlySet<string> = new Set([
  "disabled",
  "guests",
  "hasAssets",
  "includesPrompts",
  "isBounded",
  "isComplete",
  "isEnabled",
  "isExact",
  "isSuspended",
  "isTeam",
  "keepsMetadata",
  "showsMaker",
  "showsWorkflow",
]);

const toStored = (value: unknown) => (typeof value === "boolean" ? Number(value) : value);

class FlagTransformer extends OperationNodeTransformer {
  protected override transformValue(node: ValueNode): ValueNode {
    return { ...node, value: toStored(node.value) };
  }

  protected override transformPrimitiveValueList(node: PrimitiveValueListNode): PrimitiveValueListNode {
    return { ...node, values: node.values.map(toStored) };
  }
}

/** Columns are memberId in code and member_id in SQL. NULL is read as undefined, and flags are booleans. */
class ColumnPlugin extends CamelCasePlugin {
  readonly #flags = new FlagTransformer();

  override transformQuery(args: PluginTransformQueryArgs): RootOperationNode {
    return this.#flags.transformNode(super.transformQuery(args));
  }

  protected override mapRow(row: UnknownRow): UnknownRow {
    const read = (name: string, value: unknown) => (value !== null && flags.has(name) ? value !== 0 : (value ?? undefined));
    return Object.fromEntries(Object.entries(super.mapRow(row)).map(([name, value]) => [name, read(name, value)]));
  }
}

const columns = new ColumnPlugin({ maintainNestedObjectKeys: true });

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
      plugins: [columns],
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
    const key = keys.find((key) => existsSync(key));
    if (key !== undefined) {
      sqlite.close();
      if (statSync(file).size === 0) rmSync(file);
      throw new Error(
        `The console's database ${file} is empty or missing, though ${key} shows that there was one. Restore it from a backup; to begin anew, take ${key} away first.`,
      );
    }
    // From here on the database counts as initialized, even if this process dies before it creates a table.
    sqlite.pragma("user_version = 1");
  }
  sqlite.pragma("journal_mode = WAL");
  sqlite.pragma("synchronous = FULL");
  sqlite.pragma("foreign_keys = ON");
  sqlite.pragma("cache_size = -16000");
}

/** Prepares a query that is compiled once and run with different values. `query` has as many placeholders, in this order. */
export function prepareOne<Row>(database: Database, query: Compilable<Row>): (...values: string[]) => Promise<Row | undefined> {
  const compiled = query.compile();
  return async (...parameters) => (await database.executeQuery<Row>({ ...compiled, parameters })).rows[0];
}

type WriteResult = InsertResult | UpdateResult | DeleteResult;

/** Whether the statement inserted, updated or deleted a row. */
export async function hasEffect(statement: { executeTakeFirst(): Promise<WriteResult | undefined> }): Promise<boolean> {
  const changed = await statement.executeTakeFirst();
  if (!changed) return false;
  if ("numUpdatedRows" in changed) return changed.numUpdatedRows > 0n;
  return ("numDeletedRows" in changed ? changed.numDeletedRows : (changed.numInsertedOrUpdatedRows ?? 0n)) > 0n;
}

/** Deletes the rows that are older. */
export async function deleteBefore(
  database: Database,
  table: keyof Tables,
  column: "at" | "createdAt" | "expiresAt",
  time: number,
): Promise<void> {
  await sql`delete from ${sql.table(table)} where ${sql.ref(column)} < ${time}`.execute(database);
}

/** Statements that delete, end a session or take a right away: a full disk must not prevent them. */
const makesRoom =
  /^(delete from |insert into "((ended_)?sessions|attempts)"|update "attempts"|update "(members|sessions)"|update "tokens" set "revoked_at")/;

/** Preparing a statement takes longer than running most of them; lists of ids make many different ones, so the oldest are dropped. */
function rememberingStatements(sqlite: SqliteConnection, folder: string): SqliteDatabase {
  const prepare = (sql: string): SqliteStatement => {
    const statement: SqliteStatement = sqlite.prepare(sql);
    if (!makesRoom.test(sql)) return statement;
    // Only single statements are retried: a full disk rolls back a whole transaction.
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
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }), plugins: [columns] });
}

/** Throws if a migration fails: a console must not start on half a schema. Several consoles at once wait for each other. */
export function migratePostgres(url: string): Promise<void> {
  return migrate({ url }, postgresHistory, new Date().toISOString());
}
