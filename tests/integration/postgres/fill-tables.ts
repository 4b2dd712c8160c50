// Fills tables of an SQLite database and reads them, to compare databases after a copy.
import { type SqliteConnection } from "@/lib/shared/database/sqlite";

type Column = { name: string; type: string };
type FillOptions = {
  countRows: (table: string) => number;
  /** Returns the value of a column that isn't arbitrary. */
  createValue?: (column: string, row: number) => string | bigint | undefined;
};

export function listTables(sqlite: SqliteConnection, skippedNames: RegExp): string[] {
  const names = sqlite.prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").pluck().all();
  return names.filter((name) => !skippedNames.test(name));
}

/** Adds rows with a distinct value per column. */
export function fillTables(
  sqlite: SqliteConnection,
  tables: readonly string[],
  { countRows, createValue = () => undefined }: FillOptions,
): void {
  sqlite.pragma("foreign_keys = OFF");
  sqlite.runExclusively(() => {
    for (const table of tables) {
      const columns = sqlite.prepare<[], Column>(`PRAGMA table_info("${table}")`).all();
      const references = sqlite.prepare<[], { from: string; table: string; to: string }>(`PRAGMA foreign_key_list("${table}")`).all();
      const insert = sqlite.prepare(`INSERT INTO "${table}" VALUES (${columns.map(() => "?").join(", ")})`);
      const getValue = ({ name, type }: Column, row: number) => {
        if (/^(integer|bigint)$/i.test(type)) return row;
        if (/^double/i.test(type)) return row / 10;
        const reference = references.find(({ from }) => from === name);
        return reference ? `${reference.table}-${reference.to}-${row}` : `${table}-${name}-${row}`;
      };
      for (let row = 1; row <= countRows(table); row += 1)
        insert.run(columns.map((column) => createValue(`${table}.${column.name}`, row) ?? getValue(column, row)));
    }
  });
}

/** Returns the rows by table. Values are text, because integers may exceed 2^53. */
export function readTables(sqlite: SqliteConnection, tables: readonly string[]): Map<string, unknown[]> {
  const readTable = (table: string): unknown[] => {
    const names = sqlite.prepare<[], string>(`SELECT name FROM pragma_table_info('${table}')`).pluck().all();
    const texts = names.map((name) => `CAST("${name}" AS TEXT) AS "${name}"`).join(", ");
    return sqlite.prepare(`SELECT ${texts} FROM "${table}" ORDER BY 1`).all();
  };
  return new Map(tables.map((table) => [table, readTable(table)]));
}
