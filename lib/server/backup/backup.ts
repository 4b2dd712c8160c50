// Backs up the console and its service to a folder, and restores them.

import "server-only";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import {
  backUpService,
  checkServiceBackup,
  copyServiceStore,
  holdsService,
  isServiceFolderOfDatabase,
  requireEmptyServiceTarget,
  requireServiceRows,
  requireUnusedFolder,
  restoreService,
  sweepServiceBackup,
} from "@/lib/service/index";
import { type CopyResult } from "@/lib/shared/database/copy-tables";
import { createTooOldMessage, getSchemaState } from "@/lib/shared/database/migrate";
import { copyDatabase, countRows, fillDatabase, listMigrations, openReadOnly, requireIntegrity } from "@/lib/shared/database/sqlite-copy";
import { type Content, copyAndHash, hashFile, hasSize, writeAtomically } from "@/lib/shared/files";
import { type Env } from "../env";
import { copySnapshot } from "../store/copy-store";
import { sqliteHistory } from "../store/migrations";
import {
  containsConsole,
  copyBetween,
  isMovedConsole,
  requireConsoleRows,
  requireCopyTarget,
  type StoreLocation,
  UNFINISHED_RESTORE,
} from "../store/store";
import {
  findSealingKeyIds,
  getBlobFolder,
  listBackupFiles,
  lockBackupFolder,
  MANIFEST,
  type Manifest,
  parseKeyIds,
  readKeys,
  readManifest,
  readStoredKeys,
} from "./manifest";

const countedTables = ["members", "connections", "api_keys", "apps"] as const;

type BackupRequest = {
  env: Env;
  folder: string;
  withKeys: boolean;
  version: string;
  now: number;
  logProgress(progress: string): void;
};

export async function backUp({ env, folder, withKeys, version, now, logProgress }: BackupRequest): Promise<Manifest> {
  const { dataDir, databaseUrl } = env;
  if (`${resolve(folder)}${sep}`.startsWith(`${resolve(dataDir)}${sep}`))
    throw new Error(`${folder} is inside the data folder. Choose a folder outside it, on another disk if possible.`);
  await requireStores(env);
  const fileExists = (...path: string[]) => existsSync(join(dataDir, ...path));
  const hasConsole = databaseUrl !== undefined ? await containsConsole({ url: databaseUrl }) : fileExists("console.sqlite");
  const hasService = databaseUrl !== undefined ? await holdsService({ url: databaseUrl }) : fileExists("service", "service.sqlite");
  if (databaseUrl !== undefined && !hasConsole && !hasService)
    throw new Error("The database at DATABASE_URL contains no console and no service.");
  // A wrong folder would replace a complete backup with the PostgreSQL rows alone, without the files.
  const isDataFolder =
    databaseUrl !== undefined && hasService ? await isServiceOfDataFolder(dataDir, databaseUrl) : hasConsole || hasService;
  if (!isDataFolder) throw new Error(`LIGHTDESK_DATA_DIR must be a data folder (${dataDir} is not).`);
  const lock = lockBackupFolder(folder);
  try {
    const id = randomBytes(6).toString("hex");
    const consoleBackup = hasConsole ? await backUpConsole({ env, folder, id, logProgress }) : null;
    const service = hasService
      ? await backUpService({
          dataDir: join(dataDir, "service"),
          databaseUrl,
          blobs: getBlobFolder(env),
          folder,
          id,
          logProgress,
        })
      : null;
    const keys = withKeys ? await writeKeys(env, folder, `keys-${id}.json`) : null;
    if (service) await checkServiceBackup({ folder, contents: service, logProgress }, { hashes: false });
    const manifest: Manifest = { format: 1, version, madeAt: new Date(now).toISOString(), console: consoleBackup, service, keys };
    await writeAtomically(join(folder, MANIFEST), `${writeExactJson(manifest)}\n`);
    await removeEarlierBackup(folder, id, service);
    return manifest;
  } finally {
    lock.close();
  }
}

/** A backup from PostgreSQL is an SQLite file too, so that each backup can be restored into either database. */
async function backUpConsole({
  env,
  folder,
  id,
  logProgress,
}: Pick<BackupRequest, "env" | "folder" | "logProgress"> & { id: string }): Promise<Manifest["console"]> {
  const file = `console-${id}.sqlite`;
  const target = join(folder, file);
  const { dataDir, databaseUrl } = env;
  const content =
    databaseUrl === undefined
      ? await copyDatabase(join(dataDir, "console.sqlite"), target)
      : await fillDatabase(target, () => copySnapshot(databaseUrl, target, logProgress));
  const copy = openReadOnly(target);
  try {
    return {
      file,
      ...content,
      schema: listMigrations(copy, "kysely_migration"),
      rows: countRows(copy, countedTables),
      keys: findSealingKeyIds(copy),
    };
  } finally {
    copy.close();
  }
}

async function writeKeys({ dataDir, encryptionKeys }: Env, folder: string, file: string): Promise<Content & { file: string }> {
  return { file, ...(await writeAtomically(join(folder, file), `${writeExactJson(readKeys(dataDir, encryptionKeys))}\n`)) };
}

async function removeEarlierBackup(folder: string, id: string, service: Manifest["service"]): Promise<void> {
  for (const name of listBackupFiles(folder)) {
    const shouldKeep = [MANIFEST, "lock.sqlite", "blobs"].includes(name) || name.includes(`-${id}.`);
    if (!shouldKeep) rmSync(join(folder, name), { force: true });
  }
  if (existsSync(join(folder, "blobs"))) await sweepServiceBackup(folder, service);
}

type BackupSource = { folder: string; logProgress(progress: string): void };
type RestoreRequest = BackupSource & { env: Env };

export async function checkBackup({ folder, logProgress }: BackupSource): Promise<Manifest> {
  const manifest = readManifest(folder);
  const { console: consoleBackup, service, keys } = manifest;
  const state = consoleBackup ? getSchemaState(consoleBackup.schema, sqliteHistory) : {};
  if ("newer" in state)
    throw new Error(
      `The backup was made by a newer version, ${manifest.version}, with migration ${state.newer}. Restore it with that version.`,
    );
  if ("isTooOld" in state) throw new Error(createTooOldMessage("The backup"));
  for (const storedFile of [consoleBackup, service?.database, keys]) {
    if (!storedFile) continue;
    const file = join(folder, storedFile.file);
    if (!(await hasSize(file, storedFile.size))) throw new Error(`The backup is incomplete: ${file} is missing or truncated.`);
    if ((await hashFile(file)).hash !== storedFile.hash) throw new Error(`The backup is damaged: ${file} has changed.`);
  }
  if (consoleBackup) checkDatabase(join(folder, consoleBackup.file));
  if (service) await checkServiceBackup({ folder, contents: service, logProgress }, { hashes: true });
  return manifest;
}

/** `missingKeyIds`: ids of keys that sealed stored secrets and are in neither the backup nor the settings. */
export async function restore({ env, folder, logProgress }: RestoreRequest): Promise<{ manifest: Manifest; missingKeyIds: string[] }> {
  const { dataDir, databaseUrl, encryptionKeys } = env;
  requireEmptyFolder(dataDir);
  if (databaseUrl !== undefined) await requireEmptyTargets(databaseUrl);
  const manifest = await checkBackup({ folder, logProgress });
  const { console: consoleBackup, service } = manifest;
  const blobs = getBlobFolder(env);
  if (service && !service.blobs.elsewhere && blobs === undefined)
    throw new Error("The backup contains the files. Restore it without LIGHTDESK_BLOBS, then move them with npm run copy-blobs.");
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const markerFile = join(dataDir, UNFINISHED_RESTORE);
  writeFileSync(markerFile, "", { mode: 0o600 });
  const keys = manifest.keys && readStoredKeys(join(folder, manifest.keys.file));
  if (keys?.authSecret) await writeAtomically(join(dataDir, "auth-secret"), `${keys.authSecret}\n`);
  if (keys?.encryptionKeys && encryptionKeys === undefined)
    await writeAtomically(join(dataDir, "encryption-keys"), `${keys.encryptionKeys}\n`);
  if (service) await restoreService({ folder, contents: service, logProgress }, { dataDir: join(dataDir, "service"), blobs: blobs ?? "" });
  if (consoleBackup) await copyAndHash(join(folder, consoleBackup.file), join(dataDir, "console.sqlite"), consoleBackup.hash);
  if (consoleBackup) checkDatabase(join(dataDir, "console.sqlite"));
  if (service) checkDatabase(join(dataDir, "service", "service.sqlite"));
  if (databaseUrl !== undefined) await moveStores(dataDir, databaseUrl, logProgress);
  rmSync(markerFile);
  const availableKeys = new Set(parseKeyIds(encryptionKeys ?? keys?.encryptionKeys ?? null));
  return { manifest, missingKeyIds: (consoleBackup?.keys ?? []).filter((id) => !availableKeys.has(id)) };
}

async function moveStores(dataDir: string, url: string, logProgress: BackupSource["logProgress"]): Promise<void> {
  await copyStores({ from: { dataDir }, to: { url }, logProgress });
  for (const file of ["console.sqlite", join("service", "service.sqlite")])
    for (const suffix of ["", "-wal", "-shm"]) rmSync(join(dataDir, file + suffix), { force: true });
}

function requireEmptyFolder(dataDir: string): void {
  if (!existsSync(dataDir) || existsSync(join(dataDir, UNFINISHED_RESTORE))) return;
  const [firstEntry] = readdirSync(dataDir);
  if (firstEntry !== undefined)
    throw new Error(
      `${dataDir} is not empty (${firstEntry}). Set LIGHTDESK_DATA_DIR to an empty or new folder, or move this one away first.`,
    );
}

function checkDatabase(file: string): void {
  const database = openReadOnly(file);
  try {
    requireIntegrity(database, file);
  } finally {
    database.close();
  }
}

/** `isMoved`: an earlier version has already moved the console's rows, but not the service's. */
type CopyOptions = { from: StoreLocation; to: StoreLocation; isMoved?: boolean; logProgress(progress: string): void };

/** Throws if DATABASE_URL, or its absence, contradicts the stores that the data folder belongs to. */
export async function requireStores({ dataDir, databaseUrl }: Pick<Env, "dataDir" | "databaseUrl">): Promise<void> {
  await requireConsoleRows(dataDir, databaseUrl);
  await requireServiceRows(join(dataDir, "service"), databaseUrl);
}

async function requireEmptyTargets(url: string): Promise<void> {
  await requireCopyTarget(url);
  await requireEmptyServiceTarget({ url });
}

const isServiceOfDataFolder = (dataDir: string, url: string) => isServiceFolderOfDatabase(join(dataDir, "service"), url);

/** Returns the number of copied tables and rows. */
export async function copyStores({ from, to, isMoved = false, logProgress }: CopyOptions): Promise<CopyResult> {
  const [source, target] = [toServiceLocation(from), toServiceLocation(to)];
  const total = { tables: 0, rows: 0 };
  const addToTotal = ({ tables, rows }: CopyResult) => {
    total.tables += tables;
    total.rows += rows;
  };
  // A folder whose rows were moved to this database still contains their earlier state.
  const isReturning = "url" in source && "file" in target && (await isServiceFolderOfDatabase(dirname(target.file), source.url));
  const prepareService = async (isResuming: boolean) => {
    if (!isResuming && !isReturning) await requireEmptyServiceTarget(target);
    return async () => addToTotal(await copyServiceStore(source, target, logProgress));
  };
  const hasService = await holdsService(source);
  if (hasService && to.dataDir !== undefined) mkdirSync(join(to.dataDir, "service"), { recursive: true, mode: 0o700 });
  // The console is copied before the service, so a service in use must be refused first.
  if (hasService) for (const location of [source, target]) requireUnusedFolder(location);
  const hasConsole = (await containsConsole(from)) && !(isMoved && (await isMovedConsole(from, to)));
  if (hasConsole)
    addToTotal(await copyBetween(from, to, logProgress, { canOverwrite: isReturning, prepare: hasService ? prepareService : undefined }));
  else if (hasService) await (await prepareService(false))();
  return total;
}

function toServiceLocation({ dataDir = "", url }: StoreLocation): { file: string } | { url: string } {
  return url === undefined ? { file: join(dataDir, "service", "service.sqlite") } : { url };
}
