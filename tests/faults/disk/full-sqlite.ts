// A full disk for this process's databases: every write of SQLite fails as on such a disk.
import { vi } from "vitest";
import { SqliteConnection } from "@/lib/shared/database/sqlite";

/** It does not affect statements prepared earlier, so those that were used before keep working. `mockRestore` makes room again. */
export function fillForSqlite() {
  const prepare = SqliteConnection.prototype.prepare;
  return vi.spyOn(SqliteConnection.prototype, "prepare").mockImplementation(function (this: SqliteConnection, sql: string) {
    const statement = prepare.call(this, sql);
    if (!/^\s*(with|insert|update|delete|replace|create|drop|alter)\b/i.test(sql)) return statement;
    const refuse = () => {
      throw Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });
    };
    return Object.assign(statement, { run: refuse, all: refuse });
  });
}
