// A full disk for this process's databases: every write of SQLite fails as on such a disk.
import { existsSync } from "node:fs";
import { vi } from "vitest";
import { SqliteConnection } from "@/lib/shared/database/sqlite";

/**
 * It does not affect statements prepared earlier, so those that were used before keep working. `mockRestore` makes room again, as does the
 * removal of the file `ballast`, if one is named.
 */
export function fillForSqlite(ballast?: string) {
  const prepare = SqliteConnection.prototype.prepare;
  return vi.spyOn(SqliteConnection.prototype, "prepare").mockImplementation(function (this: SqliteConnection, sql: string) {
    const statement = prepare.call(this, sql);
    if (!/^\s*(with|insert|update|delete|replace|create|drop|alter)\b/i.test(sql)) return statement;
    const refuse = () => {
      throw Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });
    };
    if (ballast === undefined) return Object.assign(statement, { run: refuse, all: refuse });
    const { run, all } = statement;
    return Object.assign(statement, {
      run: (...values: Parameters<typeof run>) => (existsSync(ballast) ? refuse() : run.apply(statement, values)),
      all: (...values: Parameters<typeof all>) => (existsSync(ballast) ? refuse() : all.apply(statement, values)),
    });
  });
}
