// Filling a stopped service's database with many rows: through the real schema with its triggers, in one transaction, without waiting
// for the disk. What the triggers keep is checked against a count in the end.
import Sqlite, { type Database } from "better-sqlite3";

/** `sorting`: the indexes, as a pattern of their names, that no trigger reads. */
export function fill(file: string, userName: string, sorting: string, work: (database: Database, userId: number) => void): void {
  const database = new Sqlite(file);
  try {
    // Every page is written once, in place: nobody else looks, and what a crash leaves is thrown away.
    database.pragma("locking_mode = EXCLUSIVE");
    database.pragma("journal_mode = OFF");
    database.pragma("synchronous = OFF");
    database.pragma("foreign_keys = ON");
    database.pragma("cache_size = -1048576");
    const user = database.prepare<[string], { id: number }>("SELECT id FROM users WHERE name = ?").get(userName);
    if (!user) throw new Error(`There is no user ${userName}.`);
    database.transaction(() => {
      const indexes = dropIndexes(database, sorting);
      work(database, user.id);
      for (const sql of indexes) database.exec(sql);
    })();
    database.pragma("journal_mode = WAL");
  } finally {
    database.close();
  }
}

/** Made again from all rows at once they are the same, and cost a fraction. */
function dropIndexes(database: Database, pattern: string): string[] {
  const indexes = database
    .prepare<[string], { name: string; sql: string }>("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND name GLOB ?")
    .all(pattern);
  for (const { name } of indexes) database.exec(`DROP INDEX ${name}`);
  return indexes.map(({ sql }) => sql);
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
