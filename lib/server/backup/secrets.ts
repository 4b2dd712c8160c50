// The key ring and the session secret of a backup: a separate file, written only if asked for.
// Must never: be printed; keys are named by their id.

import "server-only";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Database as Connection } from "better-sqlite3";
import { z } from "zod";

const keysSchema = z.object({ encryptionKeys: z.string().nullable(), authSecret: z.string().nullable() });
type Keys = z.output<typeof keysSchema>;

/** Ids of the keys that sealed stored secrets, in any table. */
export function keysNeeded(database: Connection): string[] {
  const columns = database
    .prepare<[], { place: string; name: string }>(
      "SELECT tables.name AS place, columns.name FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns WHERE tables.type = 'table' AND columns.name LIKE '%ring_key_id'",
    )
    .all();
  const ids = columns.flatMap(({ place, name }) =>
    database.prepare<[], string>(`SELECT DISTINCT "${name}" FROM "${place}" WHERE "${name}" IS NOT NULL`).pluck().all(),
  );
  return [...new Set(ids)].sort();
}

export function readKeys(dataDir: string, configured: string | undefined): Keys {
  return { encryptionKeys: configured ?? readText(join(dataDir, "encryption-keys")), authSecret: readText(join(dataDir, "auth-secret")) };
}

export function readStoredKeys(file: string): Keys {
  return keysSchema.parse(JSON.parse(readFileSync(file, "utf8")));
}

/** Ids in a ring, in the form of the setting or of the file. */
export function idsIn(encryptionKeys: string | null): string[] {
  return (encryptionKeys ?? "").split(/[,\s]+/).flatMap((pair) => (pair.includes(":") ? [pair.slice(0, pair.indexOf(":"))] : []));
}

function readText(file: string): string | null {
  return existsSync(file) ? readFileSync(file, "utf8").trim() : null;
}
