// A console's rows in PostgreSQL at one moment, as an SQLite file: for backups, while consoles go on writing.
// Guarantees: one transaction reads everything, and every row of the file is compared; a database of another version is refused.
// Must never: write to the database.

import "server-only";
import { sql } from "kysely";
import { isNoTable } from "@/lib/shared/database/postgres";
import { copyStore, requireFinished } from "./copy-store";
import { type Database, migrate, openDatabase } from "./database";
import { openPostgres } from "./dialect/open-postgres";
import { postgresMigrations } from "./migrations";

/** `file`: a new file. */
export async function copySnapshot(url: string, file: string, say: (progress: string) => void): Promise<void> {
  const source = openPostgres(url);
  const target = openDatabase(file);
  try {
    await requireThisVersion(source);
    await requireFinished(source);
    await migrate(target, file);
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
  const applied = new Set(rows.map(({ name }) => name));
  const known = Object.keys(postgresMigrations);
  if (known.some((name) => !applied.has(name)))
    throw new Error("The console's database is of an older version. Back it up with that version, or start this one first.");
  if (applied.size > known.length) throw new Error("The console's database is of a newer version. Back it up with that version.");
}
