// A console's rows in PostgreSQL at one moment, as an SQLite file: for backups, while consoles go on writing.
// Guarantees: one transaction reads everything, and every row of the file is compared; a database of another version is refused.
// Must never: write to the database.

import "server-only";
import { sql } from "kysely";
import { requireCurrent } from "@/lib/shared/database/migrate";
import { isNoTable } from "@/lib/shared/database/postgres";
import { copyStore, requireFinished } from "./copy-store";
import { type Database, openDatabase } from "./database";
import { openPostgres } from "./dialect/open-postgres";
import { postgresHistory } from "./migrations";

/** `file`: a new file. */
export async function copySnapshot(url: string, file: string, say: (progress: string) => void): Promise<void> {
  const source = openPostgres(url);
  const { database: target, migrate } = openDatabase(file);
  try {
    await requireThisVersion(source);
    await requireFinished(source);
    await migrate();
    const snapshot = source.transaction().setIsolationLevel("repeatable read").setAccessMode("read only");
    await snapshot.execute((from) => copyStore({ from, to: target, say }));
  } finally {
    await Promise.all([source.destroy(), target.destroy()]);
  }
}

async function requireThisVersion(database: Database): Promise<void> {
  const { rows } = await sql<{ name: string }>`SELECT name FROM kysely_migration`.execute(database).catch((error: unknown) => {
    if (isNoTable(error)) throw new Error("DATABASE_URL leads to a database without a console.", { cause: error });
    throw error;
  });
  requireCurrent(
    rows.map(({ name }) => name),
    postgresHistory,
    "console's",
  );
}
