// Fills a stopped service's database with many rows: through the real schema with its triggers, in one transaction, without waiting
// for the disk. At the end, the values that triggers maintain are compared with a count.
import { SqliteConnection } from "@/lib/shared/database/sqlite";

/** `sorting`: a pattern for the names of the indexes that no trigger reads. */
export function fill(file: string, userName: string, sorting: string, work: (database: SqliteConnection, userId: number) => void): void {
  const database = new SqliteConnection(file);
  try {
    // Write every page once, in place: no other process reads it, and after a crash the database is thrown away.
    database.pragma("locking_mode = EXCLUSIVE");
    database.pragma("journal_mode = OFF");
    database.pragma("synchronous = OFF");
    database.pragma("foreign_keys = ON");
    database.pragma("cache_size = -1048576");
    const user = database.prepare<[string], { id: number }>("SELECT id FROM users WHERE name = ?").get(userName);
    if (!user) throw new Error(`There is no user ${userName}.`);
    database.exclusively(() => {
      const indexes = dropIndexes(database, sorting);
      work(database, user.id);
      for (const sql of indexes) database.exec(sql);
    });
    database.pragma("journal_mode = WAL");
  } finally {
    database.close();
  }
}

/** Indexes rebuilt from all rows at once are the same and cost a fraction. */
function dropIndexes(database: SqliteConnection, pattern: string): string[] {
  const indexes = database
    .prepare<[string], { name: string; sql: string }>("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND name GLOB ?")
    .all(pattern);
  for (const { name } of indexes) database.exec(`DROP INDEX ${name}`);
  return indexes.map(({ sql }) => sql);
}

/** An insert by column names. */
export function inserter<R extends Record<string, string | number | null>>(
  database: SqliteConnection,
  table: string,
  columns: readonly (keyof R & string)[],
) {
  const marks = columns.map((column) => `@${column}`).join(", ");
  const statement = database.prepare<[R]>(`INSERT INTO ${table} (${columns.join(", ")}) VALUES (${marks})`);
  return (row: R) => Number(statement.run(row).lastInsertRowid);
}

/** Fails unless both queries return the same rows: otherwise the triggers maintain wrong values. */
export function requireSame(database: SqliteConnection, storedQuery: string, counted: string): void {
  const difference = database
    .prepare(`SELECT * FROM (${storedQuery} EXCEPT ${counted}) UNION ALL SELECT * FROM (${counted} EXCEPT ${storedQuery})`)
    .all();
  if (difference.length > 0) throw new Error(`A counter is wrong: ${JSON.stringify(difference.slice(0, 3))}`);
}
