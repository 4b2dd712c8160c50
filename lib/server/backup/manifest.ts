// The manifest of a backup, and the encryption keys that its rows need.

import "server-only";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { serviceContentsSchema, storedFileSchema } from "@/lib/service/index";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { getErrorCode } from "@/lib/shared/error-codes";
import { type Env } from "../env";

const FORMAT = 1;
export const MANIFEST = "manifest.json";
const LOCK = "lock.sqlite";
const backupFilePattern =
  /^(manifest\.json|keys-\w+\.json|(console|service)-\w+\.sqlite(-journal|-wal|-shm)?|userdata-\w+\.jsonl|blobs|lock\.sqlite(-journal)?)(\.part)?$/;

const manifestSchema = z.object({
  format: z.literal(FORMAT),
  version: z.string(),
  madeAt: z.iso.datetime(),
  console: storedFileSchema
    .extend({
      schema: z.array(z.string()),
      rows: z.record(z.string(), z.number()),
      /** Ids of the encryption keys that sealed stored secrets. */
      keys: z.array(z.string()),
    })
    .nullable(),
  service: serviceContentsSchema.nullable(),
  keys: storedFileSchema.nullable(),
});
export type Manifest = z.output<typeof manifestSchema>;

export function readManifest(folder: string): Manifest {
  const file = join(folder, MANIFEST);
  if (!existsSync(file)) throw new Error(`${folder} contains no complete backup (${MANIFEST} is missing).`);
  const content = readJson(file);
  const newerManifest = z.object({ format: z.number().gt(FORMAT), version: z.string() }).safeParse(content);
  if (newerManifest.success)
    throw new Error(`The backup was made by a newer version, ${newerManifest.data.version}. Restore it with that version.`);
  const manifest = manifestSchema.safeParse(content);
  if (!manifest.success) throw new Error(`The backup is damaged: ${file} is invalid.`);
  return manifest.data;
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined; // reported by the caller as an invalid manifest
  }
}

export function listBackupFiles(folder: string): string[] {
  return readdirSync(folder).filter((name) => backupFilePattern.test(name));
}

/** Opens or creates a backup folder and locks it until this process ends. */
export function lockBackupFolder(folder: string): SqliteConnection {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const otherFile = readdirSync(folder).find((name) => !backupFilePattern.test(name));
  if (otherFile !== undefined)
    throw new Error(`${folder} contains ${otherFile}, which is not part of a backup. Choose an empty folder or an earlier backup.`);
  const lock = new SqliteConnection(join(folder, LOCK), { timeoutMs: 0 });
  try {
    lock.pragma("journal_mode = MEMORY");
    lock.exec("BEGIN EXCLUSIVE");
    return lock;
  } catch (error) {
    lock.close();
    if (getErrorCode(error) === "SQLITE_BUSY")
      throw new Error(`Another backup is running in ${folder}. Wait until it finishes.`, { cause: error });
    throw error;
  }
}

export function readVersion(root: string): string {
  const packageJson: { version: string } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return packageJson.version;
}

/** The folder of the service's blobs, or undefined if they are in a bucket. */
export function getBlobFolder({ dataDir, service: { blobs } }: Pick<Env, "dataDir" | "service">): string | undefined {
  if (blobs?.kind === "bucket") return undefined;
  return join(blobs?.path ?? join(dataDir, "service", "blobs"), "blake3-v1");
}

const keysSchema = z.object({ encryptionKeys: z.string().nullable(), authSecret: z.string().nullable() });
type Keys = z.output<typeof keysSchema>;

/** Ids of the keys that sealed stored secrets, in any table. */
export function findSealingKeyIds(database: SqliteConnection): string[] {
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

export function readKeys(dataDir: string, configuredKeys: string | undefined): Keys {
  return {
    encryptionKeys: configuredKeys ?? readText(join(dataDir, "encryption-keys")),
    authSecret: readText(join(dataDir, "auth-secret")),
  };
}

export function readStoredKeys(file: string): Keys {
  return keysSchema.parse(JSON.parse(readFileSync(file, "utf8")));
}

export function parseKeyIds(encryptionKeys: string | null): string[] {
  return (encryptionKeys ?? "").split(/[,\s]+/).flatMap((pair) => (pair.includes(":") ? [pair.slice(0, pair.indexOf(":"))] : []));
}

function readText(file: string): string | null {
  return existsSync(file) ? readFileSync(file, "utf8").trim() : null;
}
