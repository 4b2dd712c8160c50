import { mkdir, opendir } from "node:fs/promises";
import { join } from "node:path";
import { openPool } from "@/lib/shared/database/postgres";
import { copyDatabase, countRows, fillDatabase, listMigrations, openReadOnly } from "@/lib/shared/database/sqlite-copy";
import { getErrorCode } from "@/lib/shared/error-codes";
import { ChangedContentError, type Content, copyAndHash, hasSize } from "@/lib/shared/files";
import { getBlobPath } from "../assets/blob-store";
import { SERVICE_SCHEMA } from "../store/baseline";
import { copyServiceSnapshot } from "../store/copy-store";
import { syncFolder } from "../store/data-folder";
import { getBlobsFolder, isReferenced, listBlobs, prepareBlobPath, runInParallel, type ServiceContents } from "./restore";

type LiveDatabase = {
  copyTo(file: string): Promise<Content>;
  isReferenced(hash: string): Promise<boolean>;
  close(): Promise<void>;
};

function openLiveSqlite(file: string): LiveDatabase {
  const database = openReadOnly(file);
  return {
    copyTo: (target) => copyDatabase(file, target),
    isReferenced: async (hash) => isReferenced(database, hash),
    close: async () => void database.close(),
  };
}

const STATEMENT_TIMEOUT_MS = 30_000;

async function openLivePostgres(url: string, logProgress: (progress: string) => void): Promise<LiveDatabase> {
  const pool = await openPool({ url, max: 1, statementMs: STATEMENT_TIMEOUT_MS, schema: SERVICE_SCHEMA });
  return {
    copyTo: (target) => fillDatabase(target, () => copyServiceSnapshot(url, target, logProgress)),
    async isReferenced(hash) {
      const client = await pool.connect();
      try {
        return (await client.query("SELECT 1 FROM blobs WHERE hash = $1", [hash])).rows.length > 0;
      } finally {
        client.release();
      }
    },
    close: () => pool.end(),
  };
}

const MAX_PASSES = 20;
const MAX_LOST_FILES = 1000;
const countedTables = ["users", "jobs", "assets", "user_files", "blobs"] as const;

type Backup = {
  dataDir: string;
  /** The URL of PostgreSQL. Undefined if the database is a file in the folder. */
  databaseUrl: string | undefined;
  blobs: string | undefined;
  folder: string;
  id: string;
  logProgress(progress: string): void;
};

export async function backUpService(backup: Backup): Promise<ServiceContents> {
  const { dataDir, databaseUrl, logProgress } = backup;
  const file = join(dataDir, "service.sqlite");
  const liveDatabase = databaseUrl === undefined ? openLiveSqlite(file) : await openLivePostgres(databaseUrl, logProgress);
  try {
    if (databaseUrl === undefined) await copyReferencedBlobs(backup, file, liveDatabase);
    return await backUpFromDatabase(backup, liveDatabase);
  } finally {
    await liveDatabase.close();
  }
}

async function backUpFromDatabase(backup: Backup, liveDatabase: LiveDatabase): Promise<ServiceContents> {
  const { folder, id } = backup;
  const file = `service-${id}.sqlite`;
  for (let pass = 1; pass <= MAX_PASSES; pass += 1) {
    const content = await liveDatabase.copyTo(join(folder, file));
    const blobs = await copyReferencedBlobs(backup, join(folder, file), liveDatabase);
    if (blobs.deleted > 0) continue;
    await mkdir(getBlobsFolder(folder), { recursive: true, mode: 0o700 });
    await syncFolders(getBlobsFolder(folder));
    const databaseCopy = openReadOnly(join(folder, file));
    try {
      const databaseInfo = { schema: listMigrations(databaseCopy, "migrations"), rows: countRows(databaseCopy, countedTables) };
      return {
        database: { file, ...content },
        ...databaseInfo,
        blobs: { count: blobs.count, bytes: blobs.bytes, lost: blobs.lost, ...(backup.blobs === undefined && { elsewhere: true }) },
      };
    } finally {
      databaseCopy.close();
    }
  }
  throw new Error(`Files were deleted during the backup in each of ${MAX_PASSES} passes. Try again when fewer files are being deleted.`);
}

/** Copies blobs that `database` references and the backup lacks. `deleted` counts blobs that were deleted meanwhile. */
async function copyReferencedBlobs({ blobs: source, folder, logProgress }: Backup, database: string, liveDatabase: LiveDatabase) {
  const databaseCopy = openReadOnly(database);
  const totals = { count: 0, bytes: 0, deleted: 0, lost: new Array<string>() };
  try {
    if (source === undefined) return totals;
    const blobCount = countRows(databaseCopy, ["blobs"]).blobs;
    for (const batch of listBlobs(databaseCopy)) {
      await runInParallel(batch, async ({ hash, size }) => {
        const target = await prepareBlobPath(getBlobsFolder(folder), hash);
        totals.count += 1;
        totals.bytes += size;
        if (await hasSize(target, size)) return;
        const outcome = await copyBlob(getBlobPath(source, hash), target, hash);
        if (outcome === "copied") return;
        totals.count -= 1;
        totals.bytes -= size;
        if (outcome === "damaged" || (await liveDatabase.isReferenced(hash))) totals.lost.push(hash);
        else totals.deleted += 1;
      });
      if (totals.lost.length > MAX_LOST_FILES)
        throw new Error(`More than ${MAX_LOST_FILES} files are missing or damaged in ${source}. Nothing was backed up.`);
      logProgress(`${totals.count} of ${blobCount} files`);
    }
    return totals;
  } finally {
    databaseCopy.close();
  }
}

async function copyBlob(source: string, target: string, hash: string): Promise<"copied" | "damaged" | "missing"> {
  try {
    await copyAndHash(source, target, hash);
    return "copied";
  } catch (error) {
    if (error instanceof ChangedContentError) return "damaged";
    if (isMissing(error)) return "missing";
    throw error;
  }
}

async function syncFolders(blobsFolder: string): Promise<void> {
  for await (const shard of await opendir(blobsFolder)) if (shard.isDirectory()) await syncFolder(join(blobsFolder, shard.name));
  await syncFolder(blobsFolder);
}

function isMissing(error: unknown): boolean {
  return getErrorCode(error) === "ENOENT";
}
