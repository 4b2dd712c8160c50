// A full disk for the databases of this process: every write of SQLite is refused as such a disk refuses it.
import SqliteDatabase from "better-sqlite3";
import { vi } from "vitest";

/** Statements that were prepared before are not known to it: what is asked often was. `mockRestore` makes room again. */
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
