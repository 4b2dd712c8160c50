// A full disk for this process's databases: every write of SQLite fails as on such a disk.
import SqliteDatabase from "better-sqlite3";
import { vi } from "vitest";

/** It does not affect statements prepared earlier, so those that were used before keep working. `mockRestore` makes room again. */
export function fillForSqlite() {
  const prepare = SqliteDatabase.prototype.prepare;
  return vi.spyOn(SqliteDatabase.prototype, "prepare").mockImplementation(function (this: SqliteDatabase.Database, sql: string) {
    const statement = prepare.call(this, sql);
    if (statement.readonly) return statement;
    const refuse = () => {
      throw new SqliteDatabase.SqliteError("database or disk is full", "SQLITE_FULL");
    };
    return Object.assign(statement, { run: refuse, all: refuse });
  });
}
