// One process at a time on a data folder: two engines would take each other's running jobs.
// The lock is an exclusive transaction on a small SQLite file, so the operating system releases it when the process dies, however it dies.
// The pid file beside it is for the message only and is never trusted.

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isFullDisk } from "@/lib/shared/database/disk-reserve";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { codeOf } from "@/lib/shared/error-codes";

export type DataLock = { release(): void };

export function lockDataFolder(dataDir: string): DataLock {
  const pidFile = join(dataDir, "lock.pid");
  const lockFile = join(dataDir, "lock.sqlite");
  let connection: SqliteConnection;
  try {
    connection = takeLock(lockFile);
  } catch (error) {
    if (codeOf(error) === "SQLITE_BUSY")
      throw new Error(`The data folder ${dataDir} is in use by process ${readPid(pidFile)}. Stop it, or set another LIGHTDESK_DATA_DIR.`);
    if (codeOf(error) !== "SQLITE_NOTADB") throw error;
    // The lock is taken before the file is read: so it is free, and the file has nothing to lose.
    rmSync(lockFile);
    connection = takeLock(lockFile);
  }
  try {
    writeFileSync(pidFile, String(process.pid));
  } catch (error) {
    // Without the pid file, only a second service's refusal says less.
    if (!isFullDisk(error)) {
      connection.close();
      throw error;
    }
  }
  return {
    release() {
      rmSync(pidFile, { force: true });
      connection.close();
    },
  };
}

function takeLock(file: string): SqliteConnection {
  const connection = new SqliteConnection(file, { timeoutMs: 0 });
  try {
    // Nothing is ever stored in it: a journal on the disk would only need room when the disk is full.
    connection.pragma("journal_mode = MEMORY");
    connection.exec("BEGIN EXCLUSIVE");
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

function readPid(pidFile: string): string {
  try {
    return readFileSync(pidFile, "utf8").trim() || "(unknown)";
  } catch {
    return "(unknown)";
  }
}
