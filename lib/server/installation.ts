// The name of this installation, and the lock on its data folder.

import "server-only";
import { createHmac } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { codeOf } from "@/lib/shared/error-codes";

export const INSTALLATION_HEADER = "lightdesk-installation";

export function nameInstallation(authSecret: string): string {
  return createHmac("sha256", authSecret).update("installation").digest("hex").slice(0, 16);
}

/** Undefined before the first start. */
export function authSecretOf(dataDir: string): string | undefined {
  const file = join(dataDir, "auth-secret");
  return existsSync(file) ? readFileSync(file, "utf8").trim() : undefined;
}

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
