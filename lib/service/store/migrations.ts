import { migratePostgres as migrateOn, migrateSqlite } from "@/lib/shared/database/migrate";
import { type SqliteConnection } from "@/lib/shared/database/sqlite";
import { postgresHistory, sqliteHistory } from "./baseline";

/** Extensions and their functions are in `public`. */
export const SERVICE_SCHEMA = "lightdesk_service";

export function migrate(connection: SqliteConnection, now: () => number): void {
  migrateSqlite(connection, sqliteHistory, now(), "The service's database");
}

export function migratePostgres(url: string, now: () => number): Promise<void> {
  return migrateOn({ url, schema: SERVICE_SCHEMA }, postgresHistory, now());
}
