// Locks the data folder against a second console: with SQLite, each process keeps pending jobs in memory, so two would run them twice.
// Guarantees: the operating system releases the lock when the process ends, for any reason. Commands such as backup may run meanwhile.

import "server-only";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { codeOf } from "@/lib/shared/error-codes";

const FILE = "running.sqlite";
/** On `globalThis`, so that the lock is never garbage-collected. */
const lockKey = Symbol.for("lightdesk.data-folder");

/** Throws if another process has locked the folder. */
export function holdDataFolder(dataDir: string): void {
  let lock: SqliteConnection | undefined;
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    lock = new SqliteConnection(join(dataDir, FILE), { timeoutMs: 0 });
    lock.exec("BEGIN EXCLUSIVE");
    Reflect.set(globalThis, lockKey, lock);
  } catch (error) {
    lock?.close();
    // The store itself reports a folder that is not writable.
    if (!String(codeOf(error)).startsWith("SQLITE_BUSY")) return;
    throw new Error(`LIGHTDESK_DATA_DIR must be a folder of its own: another Lightdesk runs with ${dataDir}. Stop it first.`, {
      cause: error,
    });
  }
}
