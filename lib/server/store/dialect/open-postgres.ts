// Opens the console's database in PostgreSQL, and migrates it to the newest schema.

import "server-only";
import { Kysely, Migrator, PostgresDialect, sql } from "kysely";
import { asStartFailure, openPool, type PostgresPlace, requireVersion } from "@/lib/shared/database/postgres";
import { type Database } from "../database";
import { postgresMigrations } from "../migrations";
import { type Tables } from "../tables";

const MOST_CONNECTIONS = 10;
const STATEMENT_MS = 30_000;
const MIGRATION_MS = 60 * 60_000;

export function openPostgres(url: string): Database {
  return open({ url, max: MOST_CONNECTIONS, statementMs: STATEMENT_MS });
}

/** Throws if a migration fails: a console must not start on half a schema. Several consoles at once wait for each other. */
export async function migratePostgres(url: string): Promise<void> {
  const database = open({ url, max: 1, statementMs: MIGRATION_MS });
  try {
    await requireVersion((text) => sql.raw<{ number: number; name: string }>(text).execute(database));
    const migrator = new Migrator({ db: database, provider: { getMigrations: () => Promise.resolve(postgresMigrations) } });
    const { error } = await migrator.migrateToLatest();
    if (error !== undefined) throw error;
    await compareTextsByBytes(database);
  } catch (error) {
    throw asStartFailure(error);
  } finally {
    await database.destroy();
  }
}

/** Texts compare by bytes, as in SQLite: new columns have the database's collation until then. Others' tables are not changed. */
async function compareTextsByBytes(database: Database): Promise<void> {
  await sql`
    DO $$ DECLARE found record; BEGIN
      PERFORM pg_advisory_xact_lock(hashtextextended('lightdesk texts', 0));
      FOR found IN SELECT table_name, column_name FROM information_schema.columns
        WHERE table_schema = current_schema() AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'
          AND table_name IN (SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tableowner = current_user)
      LOOP
        EXECUTE format('ALTER TABLE %I ALTER COLUMN %I TYPE text COLLATE "C"', found.table_name, found.column_name);
      END LOOP;
    END $$`.execute(database);
}

function open(place: PostgresPlace): Database {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: () => openPool(place) }) });
}
