// Simulates a full disk for this process's databases: every SQLite write fails.
import { existsSync } from "node:fs";
import { vi } from "vitest";
import { SqliteConnection } from "@/lib/shared/database/sqlite";

/**
 * Statements prepared earlier keep working. `mockRestore` frees the disk again, and so does removing the file `ballast`,
 * if one is passed.
 */
export function simulateFullDisk(ballast?: string) {
  const prepare = SqliteConnection.prototype.prepare;
  return vi.spyOn(SqliteConnection.prototype, "prepare").mockImplementation(function (this: SqliteConnection, sql: string) {
    const statement = prepare.call(this, sql);
    if (!/^\s*(with|insert|update|delete|replace|create|drop|alter)\b/i.test(sql)) return statement;
    const throwFullDisk = () => {
      throw Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });
    };
    if (ballast === undefined) return Object.assign(statement, { run: throwFullDisk, all: throwFullDisk });
    const { run, all } = statement;
    return Object.assign(statement, {
      run: (...values: Parameters<typeof run>) => (existsSync(ballast) ? throwFullDisk() : run.apply(statement, values)),
      all: (...values: Parameters<typeof all>) => (existsSync(ballast) ? throwFullDisk() : all.apply(statement, values)),
    });
  });
}
