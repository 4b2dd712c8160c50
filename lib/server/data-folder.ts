// Keeps a second console off the data folder: on SQLite, jobs that wait are in one process's memory, and two processes would run them twice.
// Guarantees: the operating system frees the folder when the process ends, however it ends. Commands such as backup may run beside it.

import "server-only";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { codeOf } from "@/lib/shared/code-of";

const FILE = "running.sqlite";
/** On `globalThis`, so that the lock is never collected as garbage. */
const kept = Symbol.for("lightdesk.data-folder");

/** Throws if another process holds the folder. */
export function holdDataFolder(dataDir: string): void {
  let lock: Sqlite.Database | undefined;
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    lock = new Sqlite(join(dataDir, FILE), { timeout: 0 });
    lock.exec("BEGIN EXCLUSIVE");
    Reflect.set(globalThis, kept, lock);
  } catch (error) {
    lock?.close();
    // A folder that cannot be written is reported by the store itself.
    if (!String(codeOf(error)).startsWith("SQLITE_BUSY")) return;
    throw new Error(`LIGHTDESK_DATA_DIR must be a folder of its own: another Lightdesk runs with ${dataDir}. Stop it first.`, {
      cause: error,
    });
  }
}
