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
    copyTo: (to) => copyDatabase(file, to),
    isReferenced: async (hash) => isReferenced(database, hash),
    close: async () => void database.close(),
  };
}

const STATEMENT_TIMEOUT_MS = 30_000;

async function openLivePostgres(url: string, logProgress: (progress: string) => void): Promise<LiveDatabase> {
  const pool = await openPool({ url, max: 1, statementMs: STATEMENT_TIMEOUT_MS, schema: SERVICE_SCHEMA });
  return {
    copyTo: (to) => fillDatabase(to, () => copyServiceSnapshot(url, to, logProgress)),
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

async function backUpFromDatabase(backup: Backup, live: LiveDatabase): Promise<ServiceContents> {
  const { folder, id } = backup;
  const file = `service-${id}.sqlite`;
  for (let pass = 1; pass <= MAX_PASSES; pass += 1) {
    const content = await live.copyTo(join(folder, file));
    const blobs = await copyReferencedBlobs(backup, join(folder, file), live);
    if (blobs.deleted > 0) continue;
    await mkdir(getBlobsFolder(folder), { recursive: true, mode: 0o700 });
    await syncFolders(getBlobsFolder(folder));
    const copy = openReadOnly(join(folder, file));
    try {
      const databaseInfo = { schema: listMigrations(copy, "migrations"), rows: countRows(copy, countedTables) };
      return {
        database: { file, ...content },
        ...databaseInfo,
        blobs: { count: blobs.count, bytes: blobs.bytes, lost: blobs.lost, ...(backup.blobs === undefined && { elsewhere: true }) },
      };
    } finally {
      copy.close();
    }
  }
  throw new Error(`Files were deleted during the backup in each of ${MAX_PASSES} passes. Try again when fewer files are being deleted.`);
}

/** Copies blobs that `database` references and the backup lacks. `deleted` counts blobs that were deleted meanwhile. */
async function copyReferencedBlobs({ blobs: source, folder, logProgress }: Backup, database: string, live: LiveDatabase) {
  const copy = openReadOnly(database);
  const totals = { count: 0, bytes: 0, deleted: 0, lost: new Array<string>() };
  try {
    if (source === undefined) return totals;
    const blobCount = countRows(copy, ["blobs"]).blobs;
    for (const batch of listBlobs(copy)) {
      await runInParallel(batch, async ({ hash, size }) => {
        const to = await prepareBlobPath(getBlobsFolder(folder), hash);
        totals.count += 1;
        totals.bytes += size;
        if (await hasSize(to, size)) return;
        const outcome = await copyBlob(getBlobPath(source, hash), to, hash);
        if (outcome === "copied") return;
        totals.count -= 1;
        totals.bytes -= size;
        if (outcome === "damaged" || (await live.isReferenced(hash))) totals.lost.push(hash);
        else totals.deleted += 1;
      });
      if (totals.lost.length > MAX_LOST_FILES)
        throw new Error(`More than ${MAX_LOST_FILES} files are missing or damaged below ${source}. Nothing was backed up.`);
      logProgress(`${totals.count} of ${blobCount} files`);
    }
    return totals;
  } finally {
    copy.close();
  }
}

async function copyBlob(from: string, to: string, hash: string): Promise<"copied" | "damaged" | "missing"> {
  try {
    await copyAndHash(from, to, hash);
    return "copied";
  } catch (error) {
    if (error instanceof ChangedContentError) return "damaged";
    if (isMissing(error)) return "missing";
    throw error;
  }
}

async function syncFolders(blobs: string): Promise<void> {
  for await (const shard of await opendir(blobs)) if (shard.isDirectory()) await syncFolder(join(blobs, shard.name));
  await syncFolder(blobs);
}

function isMissing(error: unknown): boolean {
  return getErrorCode(error) === "ENOENT";
}
