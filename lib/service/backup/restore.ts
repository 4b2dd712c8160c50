// Checks and restores a backup of the service. The database is written last, so that an interrupted restore is not used.

import { mkdir, opendir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { createTooOldMessage, getSchemaState } from "@/lib/shared/database/migrate";
import { type SqliteConnection } from "@/lib/shared/database/sqlite";
import { listMigrations, openReadOnly, requireIntegrity } from "@/lib/shared/database/sqlite-copy";
import { ChangedContentError, copyAndHash, hashFile, hasSize } from "@/lib/shared/files";
import { getBlobPath } from "../assets/blob-store";
import { clearBlobLocation, recordBlobLocation, recordUnknownBucket } from "../assets/blobs/open-blobs";
import { sqliteHistory } from "../store/baseline";

type Restore = { folder: string; contents: ServiceContents; logProgress(progress: string): void };

export async function checkServiceBackup({ folder, contents, logProgress }: Restore, { hashes }: { hashes: boolean }): Promise<void> {
  const state = getSchemaState(contents.schema, sqliteHistory);
  if ("newer" in state)
    throw new Error(`The backup was made by a newer version, with migration ${state.newer}. Restore it with that version.`);
  if ("isTooOld" in state) throw new Error(createTooOldMessage("The backup"));
  const blobs = getBlobsFolder(folder);
  const problems: string[] = [];
  const checkBlob = async ({ hash, size }: BlobRef) => {
    const file = getBlobPath(blobs, hash);
    if (!(await hasSize(file, size))) problems.push(`The backup is incomplete: the file ${hash} is missing or truncated (${file}).`);
    else if (hashes && (await hashFile(file)).hash !== hash)
      problems.push(`The backup is damaged: the file ${hash} has changed (${file}).`);
  };
  const lostHashes = new Set(contents.blobs.lost);
  const database = openReadOnly(join(folder, contents.database.file));
  let checkedCount = 0;
  try {
    if (hashes) requireIntegrity(database, contents.database.file);
    if (listMigrations(database, "migrations").join() !== contents.schema.join())
      throw new Error("The backup's manifest doesn't match its database.");
    for (const batch of contents.blobs.elsewhere ? [] : listBlobs(database)) {
      await runInParallel(
        batch.filter(({ hash }) => !lostHashes.has(hash)),
        checkBlob,
      );
      checkedCount += batch.length;
      logProgress(`${checkedCount} of ${contents.rows.blobs} files checked`);
    }
  } finally {
    database.close();
  }
  // A backup copies only files that are missing or have another size.
  if (problems.length > 0) throw new Error([...problems, "Delete these files from the backup and run the backup again."].join("\n"));
}

export async function restoreService(
  { folder, contents, logProgress }: Restore,
  { dataDir, blobs }: { dataDir: string; blobs: string },
): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const source = join(folder, contents.database.file);
  const database = openReadOnly(source);
  const lostHashes = new Set(contents.blobs.lost);
  let restoredCount = 0;
  await mkdir(blobs, { recursive: true, mode: 0o700 });
  try {
    for (const batch of contents.blobs.elsewhere ? [] : listBlobs(database)) {
      await runInParallel(batch, async ({ hash, size }) => {
        const target = await prepareBlobPath(blobs, hash);
        if (lostHashes.has(hash) || (await hasSize(target, size))) return;
        await copyVerified(getBlobPath(getBlobsFolder(folder), hash), target, hash);
      });
      restoredCount += batch.length;
      logProgress(`${restoredCount} of ${contents.rows.blobs} files`);
    }
  } finally {
    database.close();
  }
  // An interrupted restore of another backup may have recorded its location.
  clearBlobLocation(dataDir);
  if (contents.blobs.elsewhere) await recordUnknownBucket(dataDir);
  else if (!blobs.startsWith(join(dataDir, "/"))) await recordBlobLocation(dataDir, { kind: "folder", path: blobs });
  await copyVerified(source, join(dataDir, "service.sqlite"), contents.database.hash);
}

async function copyVerified(source: string, target: string, hash: string): Promise<void> {
  try {
    await copyAndHash(source, target, hash);
  } catch (error) {
    if (error instanceof ChangedContentError) throw new Error(`The backup is damaged: ${source} has changed.`, { cause: error });
    throw error;
  }
}

export async function sweepServiceBackup(folder: string, contents: ServiceContents | null): Promise<number> {
  const blobs = getBlobsFolder(folder);
  const database = contents && openReadOnly(join(folder, contents.database.file));
  let removedCount = 0;
  try {
    for await (const shard of await opendir(blobs)) {
      if (!/^[0-9a-f]{2}$/.test(shard.name)) continue;
      for await (const { name } of await opendir(join(blobs, shard.name))) {
        const hash = shard.name + name;
        if (database && isReferenced(database, hash)) continue;
        await rm(join(blobs, shard.name, name));
        removedCount += 1;
      }
    }
  } finally {
    database?.close();
  }
  return removedCount;
}

const hashSchema = z.string().regex(/^[0-9a-f]{64}$/);
const countSchema = z.number().int().min(0);

export const storedFileSchema = z.object({ file: z.string().regex(/^[a-z][a-z0-9.-]*$/), size: countSchema, hash: hashSchema });

export const serviceContentsSchema = z.object({
  database: storedFileSchema,
  schema: z.array(z.string()),
  rows: z.record(z.string(), countSchema),
  /** `lost`: missing or damaged when the backup was created. `elsewhere`: in a bucket, not in the backup. */
  blobs: z.object({ count: countSchema, bytes: countSchema, lost: z.array(hashSchema), elsewhere: z.boolean().optional() }),
});
export type ServiceContents = z.output<typeof serviceContentsSchema>;

export type BlobRef = { hash: string; size: number };

const BATCH_SIZE = 1000;

/** Lists a database's blobs in batches. Each batch is read completely, so that a slow caller doesn't block a writer. */
export function* listBlobs(database: SqliteConnection): Generator<BlobRef[]> {
  const statement = database.prepare<[string], BlobRef>(`SELECT hash, size FROM blobs WHERE hash > ? ORDER BY hash LIMIT ${BATCH_SIZE}`);
  for (let batch = statement.all(""); batch.length > 0; batch = statement.all(batch.at(-1)?.hash ?? "")) yield batch;
}

export function isReferenced(database: SqliteConnection, hash: string): boolean {
  return database.prepare("SELECT 1 FROM blobs WHERE hash = ?").get(hash) !== undefined;
}

export const getBlobsFolder = (folder: string) => join(folder, "blobs");

export async function prepareBlobPath(folder: string, hash: string): Promise<string> {
  const file = getBlobPath(folder, hash);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  return file;
}

export async function runInParallel<T>(items: readonly T[], processItem: (item: T) => Promise<void>): Promise<void> {
  const remainingItems = [...items];
  const worker = async () => {
    for (let item = remainingItems.pop(); item !== undefined; item = remainingItems.pop()) await processItem(item);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}
