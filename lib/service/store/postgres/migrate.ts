// Brings the service's PostgreSQL database to the newest schema. Its tables are in a schema of their own, so that the console's tables may
// be beside them.
// All missing steps are one transaction: processes that start together wait for each other, and a failure leaves nothing behind.

import { asStartFailure, openPool, type PostgresPlace, requireVersion } from "@/lib/shared/database/postgres";
import { postgresMigrations } from "../migrations";

/** Extensions and their functions are in `public`. */
export const SERVICE_SCHEMA = "lightdesk_service";
const MIGRATION_MS = 60 * 60_000;

export async function migratePostgres(url: string, now: () => number): Promise<void> {
  const place: PostgresPlace = { url, max: 1, statementMs: MIGRATION_MS, schema: SERVICE_SCHEMA };
  const pool = await openPool(place);
  try {
    const client = await pool.connect();
    const run = (text: string, values: readonly unknown[] = []) => client.query<{ name: string }>(text, values);
    try {
      await requireVersion((text) => client.query(text, []));
      await run("BEGIN");
      await run("SELECT pg_advisory_xact_lock(hashtextextended('lightdesk service migrations', 0))");
      await run(`CREATE SCHEMA IF NOT EXISTS ${SERVICE_SCHEMA}`);
      await run('CREATE TABLE IF NOT EXISTS migrations (name text COLLATE "C" PRIMARY KEY, applied_at bigint NOT NULL)');
      const { rows } = await run("SELECT name FROM migrations");
      const applied = new Set(rows.map(({ name }) => name));
      for (const name of applied)
        if (!postgresMigrations.some((migration) => migration.name === name)) throw new Error(`corrupted migrations: ${name}`);
      for (const { name, sql } of postgresMigrations.filter((migration) => !applied.has(migration.name))) {
        await run(sql);
        await run("INSERT INTO migrations (name, applied_at) VALUES ($1, $2)", [name, now()]);
      }
      await run("COMMIT");
    } finally {
      // Anything it began ends with the connection.
      client.release();
    }
  } catch (error) {
    throw asStartFailure(error);
  } finally {
    await pool.end();
  }
}
