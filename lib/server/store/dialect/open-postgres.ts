// Opens the console's database in PostgreSQL, and migrates it to the newest schema.

import "server-only";
import { Kysely, PostgresDialect } from "kysely";
import { migratePostgres as migrate } from "@/lib/shared/database/migrate";
import { openPool, type PostgresPlace } from "@/lib/shared/database/postgres";
import { camelCase, type Database } from "../database";
import { postgresHistory } from "../migrations";
import { type Tables } from "../tables";

const MAX_CONNECTIONS = 10;
const STATEMENT_MS = 30_000;

export function openPostgres(url: string): Database {
  return open({ url, max: MAX_CONNECTIONS, statementMs: STATEMENT_MS });
}

/** Throws if a migration fails: a console must not start on half a schema. Several consoles at once wait for each other. */
export function migratePostgres(url: string): Promise<void> {
  return migrate({ url }, postgresHistory, new Date().toISOString());
}

function open(place: PostgresPlace): Database {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: () => openPool(place) }), plugins: [camelCase] });
}
