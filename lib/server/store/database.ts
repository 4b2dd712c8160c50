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
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDialect,
  type SqliteStatement,
  type UnknownRow,
  type UpdateResult,
  type ValueNode,
} from "kysely";
import { ensureReserve, releaseReserve, retryWithReserve } from "@/lib/shared/database/disk-reserve";
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
const booleanColumns: ReadonlySet<string> = new Set([
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

const toStoredValue = (value: unknown) => (typeof value === "boolean" ? Number(value) : value);

class BooleanTransformer extends OperationNodeTransformer {
  protected override transformValue(node: ValueNode): ValueNode {
    return { ...node, value: toStoredValue(node.value) };
  }

  protected override transformPrimitiveValueList(node: PrimitiveValueListNode): PrimitiveValueListNode {
    return { ...node, values: node.values.map(toStoredValue) };
  }
}

/** Maps member_id in SQL to memberId in code, NULL to undefined, and flags to booleans. */
class ColumnPlugin extends CamelCasePlugin {
  readonly #flags = new BooleanTransformer();

  override transformQuery(args: PluginTransformQueryArgs): RootOperationNode {
    return this.#flags.transformNode(super.transformQuery(args));
  }

  protected override mapRow(row: UnknownRow): UnknownRow {
    const read = (name: string, value: unknown) => (value !== null && booleanColumns.has(name) ? value !== 0 : (value ?? undefined));
    return Object.fromEntries(Object.entries(super.mapRow(row)).map(([name, value]) => [name, read(name, value)]));
  }
}

const columnPlugin = new ColumnPlugin({ maintainNestedObjectKeys: true });

/** `migrate` throws on failure, because a console must not start with a partial schema. */
export type OpenedDatabase = { database: Database; migrate(): Promise<void> };

/** `keys` are files that exist only next to a console with data. If one exists, an empty database is not accepted as a new one. */
export function openDatabase(file: string, keys: readonly string[] = []): OpenedDatabase {
  try {
    return openFile(file, keys);
  } catch (error) {
    // The WAL index needs disk space, except with exclusive locking, which keeps it in memory.
    if (isFullDisk(error)) return openFile(file, keys, "EXCLUSIVE");
    throw toStartFailure(error, file);
  }
}

function openFile(file: string, keys: readonly string[], locking = "NORMAL"): OpenedDatabase {
  const sqlite = new SqliteConnection(file);
  try {
    prepareConnection(sqlite, file, keys, locking);
  } catch (error) {
    sqlite.close();
    throw error;
  }
  return {
    database: new Kysely<Tables>({
      dialect: new ReserveDialect(sqlite, dirname(file)),
      plugins: [columnPlugin],
    }),
    async migrate() {
      try {
        migrateSqlite(sqlite, sqliteHistory, new Date().toISOString(), `The console's database ${file}`);
      } catch (error) {
        throw toStartFailure(error, file);
      }
    },
  };
}

function prepareConnection(sqlite: SqliteConnection, file: string, keys: readonly string[], locking: string): void {
  sqlite.pragma(`locking_mode = ${locking}`);
  const isEmpty = sqlite.prepare("SELECT 1 FROM sqlite_master LIMIT 1").get() === undefined;
  if (isEmpty && sqlite.pragma("user_version") === 0) {
    const key = keys.find((keyFile) => existsSync(keyFile));
    if (key !== undefined) {
      sqlite.close();
      if (statSync(file).size === 0) rmSync(file);
      throw new Error(
        `The console's database ${file} is empty or missing, though ${key} shows that there was one. Restore it from a backup. To start with an empty database, remove ${key} first.`,
      );
    }
    // Marks the database as initialized, even if this process dies before it creates a table.
    sqlite.pragma("user_version = 1");
  }
  sqlite.pragma("journal_mode = WAL");
  sqlite.pragma("synchronous = FULL");
  sqlite.pragma("foreign_keys = ON");
  sqlite.pragma("cache_size = -16000");
}

/** Compiles a query once to run it with different values, which replace its placeholders in order. */
export function prepareQuery<Row>(database: Database, query: Compilable<Row>): (...values: string[]) => Promise<Row | undefined> {
  const compiledQuery = query.compile();
  return async (...parameters) => (await database.executeQuery<Row>({ ...compiledQuery, parameters })).rows[0];
}

type WriteResult = InsertResult | UpdateResult | DeleteResult;

/** True if the statement inserted, updated or deleted a row. */
export async function hasEffect(statement: { executeTakeFirst(): Promise<WriteResult | undefined> }): Promise<boolean> {
  const result = await statement.executeTakeFirst();
  if (!result) return false;
  if ("numUpdatedRows" in result) return result.numUpdatedRows > 0n;
  return ("numDeletedRows" in result ? result.numDeletedRows : (result.numInsertedOrUpdatedRows ?? 0n)) > 0n;
}

/** Deletes rows whose time in `column` is before `time`. */
export async function deleteBefore(
  database: Database,
  table: keyof Tables,
  column: "at" | "createdAt" | "expiresAt",
  time: number,
): Promise<void> {
  await sql`delete from ${sql.table(table)} where ${sql.ref(column)} < ${time}`.execute(database);
}

class ReserveAdapter extends SqliteAdapter {
  constructor(readonly folder: string) {
    super();
  }
}

class ReserveDialect extends SqliteDialect {
  readonly #folder: string;

  constructor(sqlite: SqliteConnection, folder: string) {
    super({ database: createStatementCache(sqlite, folder) });
    this.#folder = folder;
  }

  override createAdapter(): SqliteAdapter {
    return new ReserveAdapter(this.#folder);
  }
}

/** Runs a transaction that a full disk must not prevent. If the disk is full, runs it again in the reserved space. */
export async function transactWithReserve<T>(database: Database, task: (transaction: Database) => Promise<T>): Promise<T> {
  const { adapter } = database.getExecutor();
  try {
    return await database.transaction().execute(task);
  } catch (error) {
    if (!isFullDisk(error) || !(adapter instanceof ReserveAdapter)) throw error;
  }
  // Other statements wait for the connection, so they can't use the reserve or restore it too early.
  return database.connection().execute(async (connection) => {
    releaseReserve(adapter.folder);
    try {
      return await connection.transaction().execute(task);
    } finally {
      ensureReserve(adapter.folder);
    }
  });
}

/** Single statements that delete, end a session or revoke access. A full disk must not prevent them. */
const reserveStatements =
  /^(delete from |insert into "((ended_)?sessions|attempts|identities)"|update "attempts"|update "(members|sessions)"|update "tokens" set "revoked_at")/;

const NO_OP = "select 1";

/** Caches statements, because preparing one takes longer than running it. The cache is bounded, because lists of ids vary the SQL. */
function createStatementCache(sqlite: SqliteConnection, folder: string): SqliteDatabase {
  const prepare = (sql: string): SqliteStatement => {
    const statement: SqliteStatement = sqlite.prepare(sql);
    if (!reserveStatements.test(sql)) return statement;
    // Only single statements are retried, because a full disk rolls back a whole transaction.
    const runWithReserve = <T>(work: () => T) => (sqlite.inTransaction ? work() : retryWithReserve(folder, work));
    return {
      reader: statement.reader,
      all: (values) => runWithReserve(() => statement.all(values)),
      run: (values) => runWithReserve(() => statement.run(values)),
      iterate: (values) => statement.iterate(values),
    };
  };
  const statements = createLru<string, SqliteStatement>({ max: MAX_STATEMENTS });
  return {
    close: () => sqlite.close(),
    prepare(requestedSql) {
      // A full disk has already rolled the transaction back. Rolling it back again would fail and hide the error.
      const sql = requestedSql === "rollback" && !sqlite.inTransaction ? NO_OP : requestedSql;
      const statement = statements.get(sql) ?? prepare(sql);
      statements.set(sql, statement);
      return statement;
    },
  };
}

function toStartFailure(error: unknown, file: string): unknown {
  if (!(error instanceof Error)) return error;
  const code = "code" in error ? String(error.code) : "";
  if (/^SQLITE_(CORRUPT.*|NOTADB)$/.test(code))
    return new Error(`The console's database ${file} is damaged (${error.message}). Restore the data folder from a backup.`, {
      cause: error,
    });
  return error;
}

const MAX_CONNECTIONS = 10;
const STATEMENT_TIMEOUT_MS = 30_000;

export function openPostgres(url: string): Database {
  const pool = () => openPool({ url, max: MAX_CONNECTIONS, statementMs: STATEMENT_TIMEOUT_MS });
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }), plugins: [columnPlugin] });
}

/** Throws if a migration fails, because a console must not start with a partial schema. Concurrent consoles wait for each other. */
export function migratePostgres(url: string): Promise<void> {
  return migrate({ url }, postgresHistory, new Date().toISOString());
}
