// Fills a stopped service's database with many rows, with the real schema and triggers, in one transaction and without waiting for the
// disk. At the end, the counters that triggers maintain are compared with a count.
import { SqliteConnection } from "@/lib/shared/database/sqlite";

/** `indexPattern`: a pattern for the names of the indexes that no trigger reads. */
export function fillDatabase(
  file: string,
  userName: string,
  indexPattern: string,
  work: (database: SqliteConnection, userId: number) => void,
): void {
  const database = new SqliteConnection(file);
  try {
    // Writes every page once, in place. No other process reads it, and after a crash the database is discarded.
    database.pragma("locking_mode = EXCLUSIVE");
    database.pragma("journal_mode = OFF");
    database.pragma("synchronous = OFF");
    database.pragma("foreign_keys = ON");
    database.pragma("cache_size = -1048576");
    const user = database.prepare<[string], { id: number }>("SELECT id FROM users WHERE name = ?").get(userName);
    if (!user) throw new Error(`There is no user ${userName}.`);
    database.runExclusively(() => {
      const indexes = dropIndexes(database, indexPattern);
      work(database, user.id);
      for (const sql of indexes) database.exec(sql);
    });
    database.pragma("journal_mode = WAL");
  } finally {
    database.close();
  }
}

/** Returns the SQL that recreates the indexes: building them from all rows at once is much faster. */
function dropIndexes(database: SqliteConnection, pattern: string): string[] {
  const indexes = database
    .prepare<[string], { name: string; sql: string }>("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND name GLOB ?")
    .all(pattern);
  for (const { name } of indexes) database.exec(`DROP INDEX ${name}`);
  return indexes.map(({ sql }) => sql);
}

/** Prepares an insert by column names. The result returns the new row's id. */
export function prepareInsert<R extends Record<string, string | number | null>>(
  database: SqliteConnection,
  table: string,
  columns: readonly (keyof R & string)[],
) {
  const placeholders = columns.map((column) => `@${column}`).join(", ");
  const statement = database.prepare<[R]>(`INSERT INTO ${table} (${columns.join(", ")}) VALUES (${placeholders})`);
  return (row: R) => Number(statement.run(row).lastInsertRowid);
}

/** Throws unless both queries return the same rows, which means that the triggers maintain correct values. */
export function assertSameRows(database: SqliteConnection, storedQuery: string, countQuery: string): void {
  const difference = database
    .prepare(`SELECT * FROM (${storedQuery} EXCEPT ${countQuery}) UNION ALL SELECT * FROM (${countQuery} EXCEPT ${storedQuery})`)
    .all();
  if (difference.length > 0) throw new Error(`A counter is wrong: ${JSON.stringify(difference.slice(0, 3))}`);
}
