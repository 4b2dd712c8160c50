// Checks the databases of the console and its service, SQLite or PostgreSQL, and the server of DATABASE_URL. Never writes.

import "server-only";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { serviceDatabaseSchema, serviceHistory, servicePostgresHistory } from "@/lib/service/index";
import { findUnfinishedCopy, UNFINISHED_COPY } from "@/lib/shared/database/copy-tables";
import { createTooOldMessage, getSchemaState, type History } from "@/lib/shared/database/migrate";
import { isMissingTable, queryPostgres, type QueryRows, requireSupportedVersion, toStartupError } from "@/lib/shared/database/postgres";
import { openReadOnly, requireIntegrity } from "@/lib/shared/database/sqlite-copy";
import { formatCount } from "@/lib/shared/text";
import { type Env } from "../env";
import { postgresHistory, sqliteHistory } from "../store/migrations";
import { failed, type Finding, formatBytes, pass, runSafely, warn } from "./findings";

export const STATEMENT_TIMEOUT_MS = 10_000;
/** The maximum number of connections that one console with its service opens. */
const MAX_CONNECTIONS = 24;
const LONG_WAIT_SECONDS = 10;

const restoreRemedy = "Stop the console and restore the data folder from a backup (npm run restore).";
const postgresRemedy = "Start PostgreSQL, or correct DATABASE_URL.";

/** `time` is the server's clock in ms, undefined if it is unreachable. Waits for a lock beyond `longWaitSeconds` are reported. */
export async function inspectServer(url: string, longWaitSeconds = LONG_WAIT_SECONDS): Promise<{ findings: Finding[]; time?: number }> {
  return queryPostgres({ url, statementMs: STATEMENT_TIMEOUT_MS }, async (queryRows) => {
    const finding = await runSafely("database server", () => checkServer(queryRows), postgresRemedy);
    if (finding.state === "failed") return { findings: [finding] };
    const [clock] = await queryRows<{ time: number }>("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS time");
    return { findings: [finding, await runSafely("database locks", () => checkLocks(queryRows, longWaitSeconds))], time: clock?.time };
  });
}

type CheckedDatabase = { check: string; path: string; schema?: string; history: Record<Dialect, History>; newestQuery: string };
/** `newestMs` is when the newest row was written. `id` is the service database's id, which its blob storage stores too. */
type DatabaseCheck = { finding: Finding; newestMs?: number; id?: string };

const consoleDatabase: CheckedDatabase = {
  check: "console database",
  path: "console.sqlite",
  history: { sqlite: sqliteHistory, postgres: postgresHistory },
  newestQuery: "SELECT max(at) AS at FROM audit",
};
const serviceDatabase: CheckedDatabase = {
  check: "service database",
  path: join("service", "service.sqlite"),
  schema: serviceDatabaseSchema,
  history: { sqlite: serviceHistory, postgres: servicePostgresHistory },
  newestQuery: "SELECT max(update_time) AS at FROM jobs",
};

type Location = Pick<Env, "dataDir" | "databaseUrl">;

export const checkConsoleDatabase = (location: Location) => inspectDatabase(location, consoleDatabase);
export const checkServiceDatabase = (location: Location) => inspectDatabase(location, serviceDatabase);

async function inspectDatabase(location: Location, database: CheckedDatabase): Promise<DatabaseCheck> {
  const { check } = database;
  const details: Omit<DatabaseCheck, "finding"> = {};
  const readDatabase: ReadDatabase = async (queryRows, subject, dialect) => {
    const finding = await checkSchema(queryRows, subject, database, dialect);
    if (finding.state === "failed") return finding;
    details.newestMs = (await readRowsIfTableExists(queryRows<{ at: number | null }>(database.newestQuery)))[0]?.at ?? undefined;
    if (database === serviceDatabase) details.id = (await queryRows<{ id: string }>("SELECT id FROM store_ids").catch(() => []))[0]?.id;
    return finding;
  };
  const { dataDir, databaseUrl: url } = location;
  const finding = await (url === undefined
    ? runSafely(check, () => readSqliteFile(join(dataDir, database.path), check, readDatabase), restoreRemedy)
    : runSafely(
        check,
        () =>
          queryPostgres({ url, statementMs: STATEMENT_TIMEOUT_MS, schema: database.schema }, (queryRows) =>
            readDatabase(queryRows, "The PostgreSQL schema", "postgres"),
          ),
        postgresRemedy,
      ));
  return { finding, ...details };
}

type Dialect = "sqlite" | "postgres";
type ReadDatabase = (queryRows: QueryRows, subject: string, dialect: Dialect) => Promise<Finding>;

async function readSqliteFile(file: string, check: string, readDatabase: ReadDatabase): Promise<Finding> {
  if (!existsSync(file)) return warn(check, `${file} does not exist yet. The first start creates it.`);
  const database = openReadOnly(file);
  try {
    requireIntegrity(database, file);
    const queryRows = <Row>(text: string) => Promise.resolve(database.prepare<[], Row>(text).all());
    return await readDatabase(queryRows, `${file} (${formatBytes(statSync(file).size)})`, "sqlite");
  } finally {
    database.close();
  }
}

async function checkServer(queryRows: QueryRows): Promise<Finding> {
  const check = "database server";
  try {
    await requireSupportedVersion(async (text) => ({ rows: await queryRows(text) }));
  } catch (error) {
    throw toStartupError(error);
  }
  const [row] = await queryRows<{ version: string; maxConnections: number; used: number }>(`
    SELECT current_setting('server_version') AS version,
      current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer AS "maxConnections",
      (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()) AS used`);
  if (!row) throw new Error("the database returned no version");
  const { version, maxConnections, used } = row;
  const text = `PostgreSQL ${version}; ${used} of ${maxConnections} connections in use.`;
  if (maxConnections - used >= MAX_CONNECTIONS) return pass(check, text);
  return warn(check, text, `A console with its service needs up to ${MAX_CONNECTIONS}. Raise max_connections, or close other connections.`);
}

async function checkSchema(queryRows: QueryRows, subject: string, { check, history }: CheckedDatabase, dialect: Dialect): Promise<Finding> {
  if ((await queryRows(findUnfinishedCopy[dialect])).length > 0) return failed(check, UNFINISHED_COPY, "Run it again.");
  const rows = await readRowsIfTableExists(queryRows<{ name: string }>(`SELECT name FROM ${history[dialect].table} ORDER BY name`));
  if (rows.length === 0) return warn(check, `${subject} has no tables yet. The first start creates them.`);
  const state = getSchemaState(
    rows.map(({ name }) => name),
    history[dialect],
  );
  if ("newer" in state)
    return failed(check, `${subject} was written by a newer version (${state.newer}).`, "Start that version, or restore an older backup.");
  if ("isTooOld" in state) return failed(check, `${subject} is from a version before 0.2.0.`, createTooOldMessage("The database"));
  const missingCount = state.missing.length;
  return missingCount === 0
    ? pass(check, `${subject} is up to date.`)
    : warn(check, `${subject} is ${formatCount(missingCount, "migration")} behind.`, "Back up first. The next start migrates it.");
}

/** Reports the process id of the session that blocks others. */
async function checkLocks(queryRows: QueryRows, seconds: number): Promise<Finding> {
  const check = "database locks";
  const waitingStatements = await queryRows<{ holders: string; seconds: number }>(`
    SELECT array_to_string(pg_blocking_pids(pid), ', ') AS holders, extract(epoch FROM clock_timestamp() - query_start)::integer AS seconds
    FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
      AND query_start < clock_timestamp() - interval '${seconds} seconds' ORDER BY query_start`);
  const [longestWait] = waitingStatements;
  if (!longestWait) return pass(check, `No statement has waited ${seconds} s for a lock.`);
  return failed(
    check,
    `${formatCount(waitingStatements.length, "statement is", "statements are")} waiting for a lock, the longest for ${longestWait.seconds} s. Database process ${longestWait.holders} holds it.`,
    "Look up that process in pg_stat_activity, then end it with pg_terminate_backend.",
  );
}

async function readRowsIfTableExists<Row>(rowsPromise: Promise<Row[]>): Promise<Row[]> {
  return rowsPromise.catch((error: unknown) => {
    if (isMissingTable(error)) return [];
    throw error;
  });
}
