import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { getErrorCode, isFullDisk } from "@/lib/shared/error-codes";

export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Creates a folder and its missing parents, each synced into its parent. Used at startup, before requests are accepted. */
export function createSyncedFolder(path: string): void {
  // Not `recursive`, because Node's recursive mkdir never ends on some file systems.
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory()) return;
  if (stats) throw new Error(`${path} is not a folder`);
  const parent = dirname(path);
  if (parent !== path) createSyncedFolder(parent);
  mkdirSync(path, { mode: 0o700 });
  const handle = openSync(parent, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

export function createDataFolder(path: string): void {
  try {
    createSyncedFolder(path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`LIGHTDESK_DATA_DIR must be a writable folder (${reason}).`);
  }
}

/** With an empty database, startup would remove all blobs, because no row refers to them. */
export function requireDatabase({ database, blobs }: { database: string; blobs: string }): void {
  const hasContent = [database, `${database}-wal`].some((file) => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0);
  if (!hasContent) requireNoFiles(blobs, `The service's database ${database} is empty or missing`);
}

export function requireNoFiles(blobs: string, reason: string): void {
  if (readdirSync(blobs).length === 0) return;
  throw new Error(
    `${reason}, but ${blobs} contains user files. Restore the database from a backup. To start with an empty one, move that folder away first.`,
  );
}

export type DataLock = { release(): void };

export function lockDataFolder(dataDir: string): DataLock {
  const pidFile = join(dataDir, "lock.pid");
  const lockFile = join(dataDir, "lock.sqlite");
  let connection: SqliteConnection;
  try {
    connection = acquireLock(lockFile);
  } catch (error) {
    if (getErrorCode(error) === "SQLITE_BUSY")
      throw new Error(
        `The data folder ${dataDir} is in use by process ${readPid(pidFile)}. Stop that process, or set another LIGHTDESK_DATA_DIR.`,
      );
    if (getErrorCode(error) !== "SQLITE_NOTADB") throw error;
    // The lock is taken before the file is read, so the file is stale.
    rmSync(lockFile);
    connection = acquireLock(lockFile);
  }
  try {
    writeFileSync(pidFile, String(process.pid));
  } catch (error) {
    // Without the pid file, a second service cannot name this process in its error message.
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

function acquireLock(file: string): SqliteConnection {
  const connection = new SqliteConnection(file, { timeoutMs: 0 });
  try {
    // The file stays empty. A journal on disk would only fail if the disk is full.
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
