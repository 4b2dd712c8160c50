// One process at a time on a data folder: two engines would take each other's running jobs.
// The lock is an exclusive transaction on a small SQLite file, so the operating system releases it when the process dies, however it dies.
// The pid file beside it is for the message only and is never believed.

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";

export type DataLock = { release(): void };

export function lockDataFolder(dataDir: string): DataLock {
  const pidFile = join(dataDir, "lock.pid");
  const connection = new Sqlite(join(dataDir, "lock.sqlite"), { timeout: 0 });
  try {
    connection.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    connection.close();
    if (!isBusy(error)) throw error;
    throw new Error(`The data folder ${dataDir} is in use by process ${readPid(pidFile)}. Stop it, or set another LIGHTDESK_DATA_DIR.`);
  }
  try {
    writeFileSync(pidFile, String(process.pid));
  } catch (error) {
    connection.close();
    throw error;
  }
  return {
    release() {
      rmSync(pidFile, { force: true });
      connection.close();
    },
  };
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "SQLITE_BUSY";
}

function readPid(pidFile: string): string {
  try {
    return readFileSync(pidFile, "utf8").trim() || "(unknown)";
  } catch {
    return "(unknown)";
  }
}
