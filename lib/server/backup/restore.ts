// Makes a data folder from a backup and, with DATABASE_URL, the rows of console and service in that database; only in empty places.
// Guarantees: the whole backup is read and compared before anything is written, and the result is checked afterwards; an interrupted
// restore leaves a folder that only another restore accepts. Must never: overwrite an installation.

import "server-only";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkServiceBackup, restoreService } from "@/lib/service/index";
import { openToRead, requireIntegrity } from "@/lib/shared/database/sqlite-copy";
import { copyHashed, hashFile, isOfSize, writeWhole } from "@/lib/shared/files";
import { type Env } from "../env";
import { migrations } from "../store/migrations";
import { UNFINISHED_RESTORE } from "../store/store";
import { copyStores, requireRoomForStores } from "./copy-stores";
import { folderOfBytes, type Manifest, readManifest } from "./manifest";
import { idsIn, readStoredKeys } from "./secrets";

type Asked = { place: string; say(progress: string): void };
type Wanted = Asked & { env: Env };

/** Reads every byte. Throws what is wrong, as a sentence. */
export async function checkBackup({ place, say }: Asked): Promise<Manifest> {
  const manifest = readManifest(place);
  const { console: ofConsole, service, keys } = manifest;
  const foreign = ofConsole?.schema.find((name) => !(name in migrations));
  if (foreign !== undefined)
    throw new Error(`The backup was made by a newer version, ${manifest.version}, which knows ${foreign}. Restore it with that version.`);
  for (const part of [ofConsole, service?.database, service?.userdata, keys]) {
    if (!part) continue;
    const file = join(place, part.file);
    if (!(await isOfSize(file, part.size))) throw new Error(`The backup is not whole: ${file} is missing or cut.`);
    if ((await hashFile(file)).hash !== part.hash) throw new Error(`The backup is damaged: ${file} is not what it was.`);
  }
  if (ofConsole) checkDatabase(join(place, ofConsole.file));
  if (service) await checkServiceBackup({ place, contents: service, say }, { hashes: true });
  return manifest;
}

/** `missing`: ids of keys that sealed stored secrets and are neither in the backup nor in the setting. */
export async function restore({ env, place, say }: Wanted): Promise<{ manifest: Manifest; missing: string[] }> {
  const { dataDir, databaseUrl, encryptionKeys } = env;
  requireEmpty(dataDir);
  if (databaseUrl !== undefined) await requireRoomForStores(databaseUrl);
  const manifest = await checkBackup({ place, say });
  const { console: ofConsole, service } = manifest;
  const blobs = folderOfBytes(env);
  if (service && !service.blobs.elsewhere && blobs === undefined)
    throw new Error("The backup holds the files: restore it without LIGHTDESK_BLOBS, then move them with npm run copy-blobs.");
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const mark = join(dataDir, UNFINISHED_RESTORE);
  writeFileSync(mark, "", { mode: 0o600 });
  const keys = manifest.keys && readStoredKeys(join(place, manifest.keys.file));
  if (keys?.authSecret) await writeWhole(join(dataDir, "auth-secret"), `${keys.authSecret}\n`);
  if (keys?.encryptionKeys && encryptionKeys === undefined) await writeWhole(join(dataDir, "encryption-keys"), `${keys.encryptionKeys}\n`);
  if (service) await restoreService({ place, contents: service, say }, { dataDir: join(dataDir, "service"), blobs: blobs ?? "" });
  if (ofConsole) await copyHashed(join(place, ofConsole.file), join(dataDir, "console.sqlite"), ofConsole.hash);
  if (ofConsole) checkDatabase(join(dataDir, "console.sqlite"));
  if (service) checkDatabase(join(dataDir, "service", "service.sqlite"));
  if (databaseUrl !== undefined) await moveStores(dataDir, databaseUrl, say);
  rmSync(mark);
  const has = new Set(idsIn(encryptionKeys ?? keys?.encryptionKeys ?? null));
  return { manifest, missing: (ofConsole?.keys ?? []).filter((id) => !has.has(id)) };
}

/** The copy compares every row before the files are deleted. */
async function moveStores(dataDir: string, url: string, say: Asked["say"]): Promise<void> {
  await copyStores({ from: { dataDir }, to: { url }, say });
  for (const file of ["console.sqlite", join("service", "service.sqlite")])
    for (const end of ["", "-wal", "-shm"]) rmSync(join(dataDir, file + end), { force: true });
}

function requireEmpty(dataDir: string): void {
  if (!existsSync(dataDir) || existsSync(join(dataDir, UNFINISHED_RESTORE))) return;
  const [found] = readdirSync(dataDir);
  if (found !== undefined)
    throw new Error(
      `${dataDir} is not empty (${found}). Set LIGHTDESK_DATA_DIR to a folder that is empty or not there, or move this one away first.`,
    );
}

function checkDatabase(file: string): void {
  const database = openToRead(file);
  try {
    requireIntegrity(database, file);
  } finally {
    database.close();
  }
}
