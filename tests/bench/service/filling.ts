// Filling a stopped service's database with many rows: through the real schema with its triggers, in one transaction, without waiting
// for the disk. What the triggers keep is checked against a count in the end.
import Sqlite, { type Database } from "better-sqlite3";

export function fill(file: string, userName: string, work: (database: Database, userId: number) => void): void {
  const database = new Sqlite(file);
  try {
    database.pragma("synchronous = OFF");
    database.pragma("foreign_keys = ON");
    database.pragma("cache_size = -1048576");
    const user = database.prepare<[string], { id: number }>("SELECT id FROM users WHERE name = ?").get(userName);
    if (!user) throw new Error(`There is no user ${userName}.`);
    database.transaction(() => work(database, user.id))();
    database.pragma("wal_checkpoint(TRUNCATE)");
  } finally {
    database.close();
  }
}

/** An insert by names of columns. */
export function inserter<R extends Record<string, string | number | null>>(
  database: Database,
  table: string,
  columns: readonly (keyof R & string)[],
) {
  const marks = columns.map((column) => `@${column}`).join(", ");
  const statement = database.prepare<R>(`INSERT INTO ${table} (${columns.join(", ")}) VALUES (${marks})`);
  return (row: R) => Number(statement.run(row).lastInsertRowid);
}

/** Both queries answer the same rows, or what the triggers keep is wrong. */
export function requireSame(database: Database, kept: string, counted: string): void {
  const difference = database
    .prepare(`SELECT * FROM (${kept} EXCEPT ${counted}) UNION ALL SELECT * FROM (${counted} EXCEPT ${kept})`)
    .all();
  if (difference.length > 0) throw new Error(`A counter is wrong: ${JSON.stringify(difference.slice(0, 3))}`);
}
