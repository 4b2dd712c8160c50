// Opens the configured blob store, and checks that all processes use the same one.

import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { link, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { type BlobSetting } from "@/lib/service/blob-setting";
import { type ServiceLog } from "@/lib/service/options";
import { toStorageFailure } from "@/lib/service/service-error";
import { type ServiceSettings } from "@/lib/service/settings";
import { createSyncedFolder } from "@/lib/service/store/data-folder";
import { type Database, query } from "@/lib/service/store/database";
import { type Processes } from "@/lib/service/store/processes";
import { ensureStoreId } from "@/lib/service/store/store-location";
import { PUBLIC_OWNER } from "@/lib/service/users/keys";
import { writeAtomically } from "@/lib/shared/files";
import { type BlobStore, createBlobStore, createLocalHolds, type FindReferenced } from "../blob-store";
import { findExistingHashes } from "../change-asset";
import { type Folders } from "../folders";
import { type Bucket, isBucketError, openBucket } from "./bucket";
import { createBucketBackend, MARKER_KEY, readBlob } from "./bucket-backend";
import { claimBackend, createFolderBackend, createGuardedBackend, ForeignBackendError, type SharedBackend } from "./folder-backend";
import { createLeases, removeDeadLeases } from "./leases";
import { createLocalCopies } from "./local-copies";

const getLocationPath = (dataDir: string) => join(dataDir, "bytes-elsewhere");

function readRecordedLocation(dataDir: string): string | undefined {
  return existsSync(getLocationPath(dataDir)) ? readFileSync(getLocationPath(dataDir), "utf8").trim() : undefined;
}

export async function recordBlobLocation(dataDir: string, blobs: BlobSetting): Promise<void> {
  const location = blobs.kind === "folder" ? blobs.path : `s3://${blobs.bucket}/${blobs.prefix}`;
  if (readRecordedLocation(dataDir) !== location) await writeAtomically(getLocationPath(dataDir), `${location}\n`);
}

/** A backup doesn't contain the bucket's location. The first start with LIGHTDESK_BLOBS records it. */
export async function recordUnknownBucket(dataDir: string): Promise<void> {
  await writeAtomically(getLocationPath(dataDir), "the bucket of the service that was backed up\n");
}

export function clearBlobLocation(dataDir: string): void {
  rmSync(getLocationPath(dataDir), { force: true });
}

export function requireLocalBlobs(dataDir: string): void {
  const location = readRecordedLocation(dataDir);
  if (location !== undefined)
    throw new Error(
      `The files of ${dataDir} are in ${location}. Restore the earlier LIGHTDESK_BLOBS. To move the files to the data folder, run npm run copy-blobs -- --to data-folder with that setting.`,
    );
}

export function createBlobStoreMismatchError(blobs: BlobSetting | undefined): Error {
  return new Error(
    blobs
      ? "Another service on the database of DATABASE_URL stores its files in its own data folder. Stop it, copy its files to a shared store (npm run copy-blobs), and start both with the same LIGHTDESK_BLOBS."
      : "Another service on the database of DATABASE_URL uses LIGHTDESK_BLOBS. Start this one with the same LIGHTDESK_BLOBS.",
  );
}

type Settings = Pick<ServiceSettings, "blobs" | "bucketKeys" | "blobCacheBytes"> & Partial<Pick<ServiceSettings, "presignedSeconds">>;
type OpenBlobsOptions = {
  settings: Settings;
  folders: Folders;
  database: Database;
  processes: Processes;
  now: () => number;
  log: ServiceLog;
};

export async function openBlobs({ settings, folders, database, processes, now, log }: OpenBlobsOptions): Promise<BlobStore> {
  const findReferenced: FindReferenced = (hashes) => findExistingHashes(database, hashes);
  const { blobs } = settings;
  if (!blobs) {
    requireLocalBlobs(folders.root);
    return createBlobStore(createFolderBackend(folders.blobs), createLocalHolds(findReferenced), findReferenced);
  }
  const backend = await openSharedBackend(blobs, { settings, folders, now, log });
  const id = await ensureStoreId(database);
  const claimOnce = memoizeSuccess(async () => {
    await requireFilesCopied(backend, database);
    await claimBackend(backend, id);
    // The store works without this file, and the next start tries again.
    await recordBlobLocation(folders.root, blobs).catch((error: unknown) => log.error({ err: error }, "blob location write failed"));
  });
  await claimOnce().catch((error: unknown) => {
    if (!isOutage(error)) throw toUnusableError(error);
    log.error({ err: error }, "blob store unavailable");
  });
  await removeDeadLeases({ database, processes, now });
  return createBlobStore(
    createGuardedBackend(backend, claimOnce),
    createLeases({ database, processes, findReferenced: findExistingHashes, now, log }),
    findReferenced,
  );
}

/** Throws if the store lacks this database's files. A store without a marker has none of them. */
async function requireFilesCopied(backend: SharedBackend, database: Database): Promise<void> {
  if ((await backend.readStoreId()) !== undefined) return;
  const userAssets = query.selectFrom("assets").select("seq").where("owner_id", "<>", PUBLIC_OWNER).limit(1);
  if (((await database.row(userAssets)) ?? (await database.row(query.selectFrom("user_files").select("path").limit(1)))) === undefined)
    return;
  throw new ForeignBackendError(
    "LIGHTDESK_BLOBS names a store without this service's files. With the earlier setting, run npm run copy-blobs -- --to STORE, then start with the new one.",
  );
}

export async function openSharedBackend(
  setting: BlobSetting,
  { settings, folders, now, log }: Omit<OpenBlobsOptions, "database" | "processes">,
): Promise<SharedBackend> {
  try {
    if (setting.kind === "folder") {
      const folder = join(setting.path, "blake3-v1");
      createSyncedFolder(folder);
      return createFolderBackend(folder);
    }
    const bucket = await openBucket(setting, settings.bucketKeys);
    createSyncedFolder(folders.blobCopies);
    const fetch = (hash: string) => readBlob(bucket, hash);
    const copies = createLocalCopies({ folder: folders.blobCopies, temp: folders.temp, maxBytes: settings.blobCacheBytes, fetch, log });
    return createBucketBackend({ bucket, copies, presignedSeconds: settings.presignedSeconds, now });
  } catch (error) {
    throw toUnusableError(error);
  }
}

/** True for errors that a retry may solve. A wrong name or key is not one of them. */
function isOutage(error: unknown): boolean {
  if (!isBucketError(error)) return toStorageFailure(error) !== undefined;
  return error.reason !== "CredentialsProviderError" && (error.status === undefined || error.status === 429 || error.status >= 500);
}

function toUnusableError(error: unknown): Error {
  if (error instanceof ForeignBackendError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new Error(`LIGHTDESK_BLOBS must be a location this service can read and write. ${reason}`);
}

function memoizeSuccess(work: () => Promise<void>): () => Promise<void> {
  let pendingRun: Promise<void> | undefined;
  return () => {
    pendingRun ??= work().catch((error: unknown) => {
      pendingRun = undefined;
      throw error;
    });
    return pendingRun;
  };
}

/** `storeId` is the id of the store's database. */
export type BackendCheck = { isReachable: boolean; storeId?: string; hasConditionalWrites?: boolean };

/** Throws an error about the step that failed. */
export async function tryBlobBackend(setting: BlobSetting, { bucketKeys }: Pick<ServiceSettings, "bucketKeys">): Promise<BackendCheck> {
  if (setting.kind === "folder") return tryFolder(setting.path);
  return tryBucket(await openBucket(setting, bucketKeys));
}

async function tryFolder(path: string): Promise<BackendCheck> {
  if (!existsSync(path)) return { isReachable: false };
  const storeId = await createFolderBackend(join(path, "blake3-v1")).readStoreId();
  const probe = join(path, createProbeName());
  const linkedProbe = `${probe}-2`;
  try {
    const file = await open(probe, "wx", 0o600);
    await file.sync().finally(() => file.close());
    await link(probe, linkedProbe);
    return { isReachable: true, storeId };
  } finally {
    for (const probePath of [probe, linkedProbe]) await rm(probePath, { force: true });
  }
}

async function tryBucket(bucket: Bucket): Promise<BackendCheck> {
  const marker = await bucket.get(MARKER_KEY);
  const storeId = (await marker?.Body?.transformToString())?.trim();
  const key = createProbeName();
  const bytes = Buffer.from(key);
  try {
    const isStored = await putIfAbsent(bucket, key, bytes);
    if (!isStored) await bucket.put(key, bytes, false);
    const content = await (await bucket.get(key))?.Body?.transformToString();
    if (content !== key) throw new Error("The object store returned different bytes than it stored.");
    if (!(await isListed(bucket, key))) throw new Error("The object store doesn't list a stored object.");
    return { isReachable: true, storeId, hasConditionalWrites: isStored && !(await putIfAbsent(bucket, key, bytes)) };
  } finally {
    // If the write was rejected, there is nothing to remove, and the first error is the one to report.
    await bucket.remove(key).catch(() => undefined);
  }
}

async function putIfAbsent(bucket: Bucket, key: string, bytes: Uint8Array): Promise<boolean> {
  try {
    await bucket.put(key, bytes, true);
    return true;
  } catch (error) {
    if (isBucketError(error) && (error.status === 412 || error.status === 501)) return false;
    throw error;
  }
}

async function isListed(bucket: Bucket, key: string): Promise<boolean> {
  for await (const listedKey of bucket.listKeys(key)) if (listedKey === key) return true;
  return false;
}

const createProbeName = () => `lightdesk-doctor-${randomUUID()}`;
