// Migrates a store's database to the newest schema in one transaction. Processes that start together wait for each other.

import { openPool, type PostgresLocation, requireSupportedVersion, toStartupError } from "./postgres";
import { type SqliteConnection } from "./sqlite";

export type Migration = { name: string; sql: string };

export type History = {
  table: "kysely_migration" | "migrations";
  columns: string;
  baseline: Migration;
  /** The SQL to reach the baseline from earlier schemas, by the name of their last migration. Other schemas are rejected. */
  older: Readonly<Record<string, string>>;
  later: readonly Migration[];
};

export const createTooOldMessage = (database: string) =>
  `${database} is older than the last commit of version 0.2.0. Start that commit (docs/admin/backup.md) with it once, then this version.`;

type SchemaState = { missing: Migration[] } | { newer: string } | { isTooOld: true };

export function getSchemaState(appliedNames: readonly string[], { baseline, older, later }: History): SchemaState {
  const lastName = [...appliedNames].sort().at(-1);
  if (lastName === undefined) return { missing: [baseline, ...later] };
  const newerName = appliedNames.find((name) => name > baseline.name && !later.some((migration) => migration.name === name));
  if (newerName !== undefined) return { newer: newerName };
  if (appliedNames.includes(baseline.name)) return { missing: later.filter(({ name }) => !appliedNames.includes(name)) };
  const sql = new Map(Object.entries(older)).get(lastName);
  return sql === undefined ? { isTooOld: true } : { missing: [{ name: baseline.name, sql }, ...later] };
}

export function requireCurrentSchema(appliedNames: readonly string[], history: History, name: string): void {
  const state = getSchemaState(appliedNames, history);
  if ("newer" in state) throw new Error(`The ${name} database has a newer version. Back it up with that version.`);
  if (!("missing" in state) || state.missing.length > 0)
    throw new Error(`The ${name} database has an older version. Back it up with that version, or start this version first.`);
}

function listMissingMigrations(appliedNames: readonly string[], history: History, database: string): Migration[] {
  const state = getSchemaState(appliedNames, history);
  if ("newer" in state)
    throw new Error(`${database} was written by a newer version (${state.newer}). Start that version, or use another database.`);
  if ("isTooOld" in state) throw new Error(createTooOldMessage(database));
  return state.missing;
}

export function migrateSqlite(connection: SqliteConnection, history: History, time: string | number, database: string): void {
  const { table, columns } = history;
  connection.runExclusively(() => {
    connection.exec(`CREATE TABLE IF NOT EXISTS ${table} (${columns})`);
    const appliedNames = connection.prepare<[], string>(`SELECT name FROM ${table}`).pluck().all();
    for (const { name, sql } of listMissingMigrations(appliedNames, history, database)) {
      connection.exec(sql);
      connection.prepare(`INSERT INTO ${table} VALUES (?, ?)`).run(name, time);
    }
  });
}

const MIGRATION_TIMEOUT_MS = 60 * 60_000;

export async function migratePostgres(
  location: Pick<PostgresLocation, "url" | "schema">,
  history: History,
  time: string | number,
): Promise<void> {
  const { table, columns } = history;
  const pool = await openPool({ ...location, max: 1, statementMs: MIGRATION_TIMEOUT_MS });
  try {
    const client = await pool.connect();
    const run = (text: string, values: readonly unknown[] = []) => client.query<{ name: string }>(text, values);
    try {
      await requireSupportedVersion((text) => client.query(text, []));
      await run("BEGIN");
      await run(`SELECT pg_advisory_xact_lock(hashtextextended('lightdesk ${location.schema ?? "console"} migrations', 0))`);
      if (location.schema !== undefined) await run(`CREATE SCHEMA IF NOT EXISTS ${location.schema}`);
      await run(`CREATE TABLE IF NOT EXISTS ${table} (${columns})`);
      const { rows } = await run(`SELECT name FROM ${table}`);
      for (const { name, sql } of listMissingMigrations(
        rows.map((row) => row.name),
        history,
        "The database of DATABASE_URL",
      )) {
        if (sql !== "") await run(sql);
        await run(`INSERT INTO ${table} VALUES ($1, $2)`, [name, time]);
      }
      await run("COMMIT");
    } finally {
      client.release();
    }
  } catch (error) {
    throw toStartupError(error);
  } finally {
    await pool.end();
  }
}

export function setByteCollation(sql: string): string {
  return sql.replaceAll(/(?<=^|[ (,\n])("?\w+"?) text\b(?!\[)/g, '$1 text COLLATE "C"');
}
