// Copies the service's rows between SQLite and PostgreSQL. Triggers rebuild the counters, and the copy compares them.

import { randomUUID } from "node:crypto";
import { dirname } from "node:path";
import { Kysely, PostgresDialect, sql, SqliteDialect } from "kysely";
import { type CopyResult, copyTables, type Counter, isUnfinishedCopy, UNFINISHED_COPY } from "@/lib/shared/database/copy-tables";
import { requireCurrentSchema } from "@/lib/shared/database/migrate";
import { openPool } from "@/lib/shared/database/postgres";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { migrate, migratePostgres, postgresHistory, SERVICE_SCHEMA } from "./baseline";
import { lockDataFolder } from "./data-folder";
import { type Tables } from "./schema";
import { inspectLocation, removeMarker, type ServiceLocation, writeMarker } from "./store-location";

type ServiceDatabase = Kysely<Tables>;
type LogProgress = (progress: string) => void;

const MAX_CONNECTIONS = 4;
/** Enough for one batch of a table, and for counting a million rows. */
const STATEMENT_TIMEOUT_MS = 10 * 60_000;

/** Not copied, because SQLite triggers rebuild the asset search and process tables exist only in PostgreSQL. */
const excludedTables = /^(migrations|commits|processes|turns|long_notices|run_progress|run_files|asset_search.*)$/;
const counters: readonly Counter[] = [
  { table: "job_counts", keyColumns: ["user_id", "workflow_id", "state", "has_image", "has_video", "has_audio"], count: "n" },
  { table: "asset_counts", keyColumns: ["owner_id"], count: "n" },
  { table: "user_storage", keyColumns: ["owner_id"], count: "bytes" },
  { table: "tag_counts", keyColumns: ["owner_id", "tag"], count: "n" },
];

/** Throws if a service uses the location's data folder. */
export function requireUnusedFolder(location: ServiceLocation): void {
  if ("file" in location) lockDataFolder(dirname(location.file)).release();
}

/** Copies between a file and a PostgreSQL database. No service may use either. Deletes rows that only the target has. */
export async function copyServiceStore(source: ServiceLocation, target: ServiceLocation, logProgress: LogProgress): Promise<CopyResult> {
  const locks = [source, target].flatMap((location) => ("file" in location ? [lockDataFolder(dirname(location.file))] : []));
  try {
    for (const location of [source, target]) if ("url" in location) await migratePostgres(location.url, Date.now);
    const [sourceDatabase, targetDatabase] = [openLocation(source), openLocation(target)];
    try {
      return await copyAll(sourceDatabase, targetDatabase, logProgress, () => writeStoreMarker(targetDatabase, source, target));
    } finally {
      await Promise.all([sourceDatabase.destroy(), targetDatabase.destroy()]);
    }
  } finally {
    for (const lock of locks) lock.release();
  }
}

/** Reads in one transaction. Rows of an earlier copy in the file are reused. */
export async function copyServiceSnapshot(url: string, file: string, logProgress: LogProgress): Promise<void> {
  const [source, target] = [openLocation({ url }), openLocation({ file })];
  try {
    await requireCurrentVersion(source);
    if (await isUnfinishedCopy(source)) throw new Error(UNFINISHED_COPY);
    const snapshot = source.transaction().setIsolationLevel("repeatable read").setAccessMode("read only");
    await snapshot.execute((snapshotSource) => copyAll(snapshotSource, target, logProgress));
  } finally {
    await Promise.all([source.destroy(), target.destroy()]);
  }
}

/** Throws if a service has used this database, unless it is an unfinished copy. Creates no tables. */
export async function requireEmptyTarget(location: ServiceLocation): Promise<void> {
  const { hasUsers, isUnfinished } = await inspectLocation(location);
  if (hasUsers && !isUnfinished) throw new Error("The target already contains a service. Choose an empty database or folder.");
}

function copyAll(
  source: ServiceDatabase,
  target: ServiceDatabase,
  logProgress: LogProgress,
  beforeEnd?: () => Promise<void>,
): Promise<CopyResult> {
  return copyTables({ from: source, to: target, logProgress, isExcluded: (table) => excludedTables.test(table), counters, beforeEnd });
}

/** Writes the marker into the data folder, because its files belong to these rows. */
async function writeStoreMarker(database: ServiceDatabase, source: ServiceLocation, target: ServiceLocation): Promise<void> {
  if ("file" in target) return removeMarker(dirname(target.file));
  if (!("file" in source)) return;
  const storeId = await database.selectFrom("store_ids").select("id").executeTakeFirst();
  const id = storeId?.id ?? randomUUID();
  if (!storeId) await database.insertInto("store_ids").values({ id }).execute();
  await writeMarker(dirname(source.file), id);
}

async function requireCurrentVersion(database: ServiceDatabase): Promise<void> {
  const { rows } = await sql<{ name: string }>`SELECT name FROM migrations`.execute(database);
  requireCurrentSchema(
    rows.map(({ name }) => name),
    postgresHistory,
    "service's",
  );
}

function openLocation(location: ServiceLocation): ServiceDatabase {
  if ("url" in location) {
    const pool = { url: location.url, max: MAX_CONNECTIONS, statementMs: STATEMENT_TIMEOUT_MS, schema: SERVICE_SCHEMA };
    return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: () => openPool(pool) }) });
  }
  const connection = new SqliteConnection(location.file);
  try {
    for (const setting of ["journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"]) connection.pragma(setting);
    migrate(connection, Date.now);
  } catch (error) {
    connection.close();
    throw error;
  }
  return new Kysely<Tables>({ dialect: new SqliteDialect({ database: connection }) });
}
