// The console's database as an earlier version made it: its tables, all empty.
import { Kysely, Migrator, SqliteDialect } from "kysely";
import { expect } from "vitest";
import { migrations } from "@/lib/server/store/migrations";
import { SqliteConnection } from "@/lib/shared/database/sqlite";

/** `version`: the newest migration that it knew. The caller closes it. */
export async function createOlderDatabase(file: string, version: string): Promise<SqliteConnection> {
  const known = Object.fromEntries(Object.entries(migrations).filter(([name]) => name <= version));
  const database = new Kysely<unknown>({ dialect: new SqliteDialect({ database: new SqliteConnection(file) }) });
  const migrator = new Migrator({ db: database, provider: { getMigrations: () => Promise.resolve(known) } });
  expect((await migrator.migrateToLatest()).error).toBeUndefined();
  await database.destroy();
  return new SqliteConnection(file);
}
