// Copies all blobs to another store and verifies them there. Can be repeated, and never changes the old store.

import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { Blake3Hasher } from "@napi-rs/blake-hash";
import { createLimiter } from "@/lib/shared/async";
import { type BlobBackend } from "./assets/blob-store";
import { claimBackend, createFolderBackend } from "./assets/blobs/folder-backend";
import { clearBlobLocation, openSharedBackend } from "./assets/blobs/open-blobs";
import { createFolders } from "./assets/folders";
import { type BlobSetting, blobSettingFormat, blobSettingSchema } from "./blob-setting";
import { type ServiceLog } from "./options";
import { toErrorBody } from "./service-error";
import { type ServiceSettings } from "./settings";
import { type DataLock, lockDataFolder } from "./store/data-folder";
import { query, type Reader } from "./store/database";
import { openPostgres } from "./store/postgres/database";
import { listLiveProcesses } from "./store/postgres/processes";
import { openDatabase } from "./store/sqlite";
import { ensureStoreId, getDatabasePath, requireRows } from "./store/store-location";

type BlobCopyOptions = {
  dataDir: string;
  settings: Pick<ServiceSettings, "blobs" | "bucketKeys" | "blobCacheBytes"> & { databaseUrl?: string };
  to: string;
  log: ServiceLog;
  onProgress?(doneCount: number, totalCount: number): void;
};
type BlobRow = { hash: string; size: number };
export type BlobCopyResult = { files: number; copied: number; missing: string[]; damaged: string[]; nextStep?: string };

const MAX_CONCURRENT = 4;
const PAGE_SIZE = 500;

export async function copyBlobs({ dataDir, settings, to: targetText, log, onProgress }: BlobCopyOptions): Promise<BlobCopyResult> {
  const parsedSetting = targetText === "data-folder" ? undefined : blobSettingSchema.safeParse(targetText);
  if (parsedSetting && !parsedSetting.success) throw new Error(`The target must be ${blobSettingFormat}, or data-folder.`);
  const targetSetting = parsedSetting?.data;
  if (isDeepStrictEqual(targetSetting, settings.blobs)) throw new Error("The target must differ from LIGHTDESK_BLOBS.");
  const { databaseUrl } = settings;
  const databasePath = getDatabasePath(dataDir);
  if (databaseUrl === undefined && !existsSync(databasePath))
    throw new Error(`LIGHTDESK_DATA_DIR must be the data folder of a service (${dataDir} contains no service.sqlite).`);
  await requireRows(dataDir, databaseUrl);
  const folders = createFolders(dataDir);
  const database = await (databaseUrl === undefined ? openDatabase(databasePath, Date.now) : openPostgres(databaseUrl, Date.now));
  // In a separate folder, because a running service evicts files from its own.
  const blobCopies = await mkdtemp(join(folders.temp, "copies-"));
  const openBackend = async (setting: BlobSetting | undefined) =>
    setting
      ? openSharedBackend(setting, { settings, folders: { ...folders, blobCopies }, now: Date.now, log })
      : createFolderBackend(folders.blobs);
  try {
    const [source, target] = [await openBackend(settings.blobs), await openBackend(targetSetting)];
    if (targetSetting) await claimBackend(target, await ensureStoreId(database));
    const hasOtherProcesses = async () => databaseUrl !== undefined && (await listLiveProcesses(database)).length > 0;
    const copyAll = () => copyAllBlobs(database, source, target, onProgress ?? (() => undefined));
    return await (targetSetting ? copyAll() : copyToDataFolder(dataDir, copyAll, hasOtherProcesses));
  } finally {
    await database.close();
    await rm(blobCopies, { recursive: true, force: true });
  }
}

/** Allows a start without LIGHTDESK_BLOBS only if all files were copied, and no process can add more to the old store. */
async function copyToDataFolder(
  dataDir: string,
  copyAll: () => Promise<BlobCopyResult>,
  hasOtherProcesses: () => Promise<boolean>,
): Promise<BlobCopyResult> {
  const lock = tryLock(dataDir);
  try {
    const hadOtherProcesses = await hasOtherProcesses();
    const result = await copyAll();
    if (result.missing.length + result.damaged.length > 0)
      return { ...result, nextStep: "Restore these files from a backup, or delete them in the console. Then run this again." };
    if (typeof lock === "string")
      return { ...result, nextStep: `${lock} Files may still be added to the old store. Stop that service, then run this again.` };
    if (hadOtherProcesses || (await hasOtherProcesses()))
      return {
        ...result,
        nextStep: "Another service on this database may still store files in the old store. Stop it, then run this again.",
      };
    clearBlobLocation(dataDir);
    return result;
  } finally {
    if (typeof lock !== "string") lock.release();
  }
}

function tryLock(dataDir: string): DataLock | string {
  try {
    return lockDataFolder(dataDir);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function copyAllBlobs(
  database: Reader,
  source: BlobBackend,
  target: BlobBackend,
  onProgress: (doneCount: number, totalCount: number) => void,
) {
  const result: BlobCopyResult = { files: 0, copied: 0, missing: [], damaged: [] };
  const totalCount = (await database.row(query.selectFrom("blobs").select(({ fn }) => fn.countAll<number>().as("count"))))?.count ?? 0;
  // Files that users delete during the copy are neither missing nor damaged.
  const isReferenced = async (hash: string) =>
    (await database.row(query.selectFrom("blobs").select("hash").where("hash", "=", hash))) !== undefined;

  async function copyBlob(blob: BlobRow): Promise<void> {
    const { hash, size } = blob;
    if (!(await isComplete(target, blob))) {
      if (!(await isComplete(source, blob))) return void ((await isReferenced(hash)) && result.missing.push(hash));
      await source.withFiles([hash], (getPath) => target.adopt({ path: getPath(hash), hash, size }));
      result.copied += 1;
    }
    if ((await hashBlob(target, blob)) !== hash && (await isReferenced(hash))) result.damaged.push(hash);
  }

  await forEachBlob(database, async (blob) => {
    await copyBlob(blob);
    onProgress((result.files += 1), totalCount);
  });
  return result;
}

/** Stops at the first failure, after the running calls have ended. */
async function forEachBlob(database: Reader, processBlob: (blob: BlobRow) => Promise<void>): Promise<void> {
  const limit = createLimiter(MAX_CONCURRENT);
  let hasFailed = false;
  const recordFailure = (error: unknown): never => {
    hasFailed = true;
    throw error;
  };
  for (let lastHash: string | undefined = ""; lastHash !== undefined;) {
    const page: BlobRow[] = await database.rows(
      query.selectFrom("blobs").select(["hash", "size"]).where("hash", ">", lastHash).orderBy("hash").limit(PAGE_SIZE),
    );
    const outcomes = await Promise.allSettled(
      page.map((blob) => limit(async () => (hasFailed ? undefined : processBlob(blob).catch(recordFailure)))),
    );
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
    lastHash = page.at(-1)?.hash;
  }
}

async function isComplete(backend: BlobBackend, { hash, size }: BlobRow): Promise<boolean> {
  return (
    (await ignoreMissing(async () => {
      const bytes = await backend.open(hash, size);
      try {
        await bytes.check?.();
        return bytes.size === size;
      } finally {
        await bytes.close();
      }
    })) === true
  );
}

async function hashBlob(backend: BlobBackend, { hash, size }: BlobRow): Promise<string | undefined> {
  return ignoreMissing(async () => {
    const bytes = await backend.open(hash, size);
    const hasher = new Blake3Hasher();
    if (size === 0) {
      await bytes.check?.();
      await bytes.close();
    } else for await (const chunk of await bytes.read(0, size - 1)) if (chunk instanceof Uint8Array) hasher.update(chunk);
    return hasher.digest("hex");
  });
}

/** Returns undefined if the store reports that bytes are missing. */
async function ignoreMissing<T>(readBytes: () => Promise<T>): Promise<T | undefined> {
  try {
    return await readBytes();
  } catch (error) {
    if (toErrorBody(error)) return undefined;
    throw error;
  }
}
