// Checks the installation, files, keys and databases.

import "server-only";
import { execFile } from "node:child_process";
import { existsSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { tryBlobBackend } from "@/lib/service/index";
import { formatCount } from "@/lib/shared/text";
import { requireStores } from "../backup/backup";
import { type Env } from "../env";
import { countSecrets, openKeyRing } from "../keys/key-ring";
import { openStore } from "../store/store";
import { checkConsoleDatabase, checkServiceDatabase, inspectServer } from "./databases";
import { failed, type Finding, formatBytes, pass, runSafely, warn } from "./findings";

const FILES_CHECK = "files";
const blobsRemedy = "Set LIGHTDESK_BLOBS to a location this user or key can read, write and list.";

/** `databaseId`: the id of the service's database, if it has one. */
async function checkFiles({ service: settings }: Pick<Env, "service">, databaseId: string | undefined): Promise<Finding> {
  const { blobs } = settings;
  if (!blobs) return pass(FILES_CHECK, "In the data folder.");
  const location = blobs.kind === "folder" ? blobs.path : `s3://${blobs.bucket}/${blobs.prefix}`;
  return runSafely(
    FILES_CHECK,
    async () => {
      const { isReachable, storeId, hasConditionalWrites } = await tryBlobBackend(blobs, settings);
      if (!isReachable) return warn(FILES_CHECK, `${location} does not exist yet. The first start creates it.`);
      if (storeId !== undefined && databaseId !== undefined && storeId !== databaseId)
        return failed(
          FILES_CHECK,
          `${location} contains the files of another database.`,
          "Restore that database from a backup, or set LIGHTDESK_BLOBS to another location.",
        );
      if (hasConditionalWrites === false)
        return warn(FILES_CHECK, `${location} is readable, writable and listable, without conditional writes: files may be sent twice.`);
      return pass(FILES_CHECK, `${location} is readable, writable and listable${hasConditionalWrites ? ", with conditional writes" : ""}.`);
    },
    blobsRemedy,
  );
}

const LOW_SPACE_BYTES = 1024 ** 3;
const MIN_SPACE_BYTES = 16 * 1024 ** 2;
/** Larger differences between the clocks of one installation are reported. */
export const MAX_CLOCK_DIFFERENCE_MS = 5 * 60_000;

export async function checkStorage(env: Env, now: number): Promise<Finding[]> {
  const { dataDir, databaseUrl } = env;
  const findings = [
    await runSafely("data folder", () => checkFolder(dataDir), "Set LIGHTDESK_DATA_DIR to a folder this user can write to."),
    await runSafely("disk", () => checkFreeSpace(dataDir)),
    await runSafely("file system", () => checkDevices(join(dataDir, "service"))),
  ];
  const server = databaseUrl === undefined ? undefined : await inspectServer(databaseUrl);
  const consoleCheck = await checkConsoleDatabase(env);
  const serviceCheck = await checkServiceDatabase(env);
  const databaseChecks = [consoleCheck, serviceCheck];
  findings.push(...(server?.findings ?? []), ...databaseChecks.map(({ finding }) => finding));
  findings.push(await checkFiles(env, serviceCheck.id));
  if (databaseChecks.every(({ finding }) => finding.state !== "failed"))
    findings.push(await runSafely("database location", () => checkLocation(env), ""));
  if (consoleCheck.finding.state === "passed") findings.push(await runSafely("keys", () => checkKeys(env)));
  if (databaseChecks.every(({ finding }) => finding.state !== "failed"))
    findings.push(checkClock(Math.max(0, ...databaseChecks.map(({ newestMs }) => newestMs ?? 0)), now, server?.time));
  return findings;
}

function checkFolder(dataDir: string): Finding {
  if (!existsSync(dataDir)) return warn("data folder", `${dataDir} does not exist yet. The first start creates it.`);
  const probeFile = join(dataDir, `.doctor-${process.pid}`);
  writeFileSync(probeFile, "");
  rmSync(probeFile);
  const exposedPath = [dataDir, join(dataDir, "encryption-keys"), join(dataDir, "auth-secret")].find(
    (path) => process.platform !== "win32" && ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0,
  );
  if (exposedPath) return failed("data folder", `${exposedPath} is readable by other users.`, `Run chmod go-rwx ${exposedPath}`);
  return pass("data folder", `${dataDir} is writable, and only its owner can read it.`);
}

function checkFreeSpace(dataDir: string): Finding {
  const folder = existsSync(dataDir) ? dataDir : dirname(dataDir);
  if (!existsSync(folder)) return warn("disk", `${folder} does not exist.`);
  const { bavail, bsize } = statfsSync(folder);
  const freeBytes = bavail * bsize;
  const freeText = `${formatBytes(freeBytes)} free`;
  if (freeBytes < MIN_SPACE_BYTES)
    return failed("disk", `The disk is full: ${freeText}.`, "Delete assets, or move the folder to a larger disk.");
  return freeBytes < LOW_SPACE_BYTES ? warn("disk", `Low disk space: ${freeText}.`, "Free space soon.") : pass("disk", `${freeText}.`);
}

/** The thrown error contains the remedy. */
async function checkLocation(env: Env): Promise<Finding> {
  await requireStores(env);
  return pass("database location", env.databaseUrl === undefined ? "In the data folder." : "In PostgreSQL.");
}

function checkDevices(serviceFolder: string): Finding {
  const folders = ["blobs", "tmp", "work", "downloads"].map((name) => join(serviceFolder, name));
  const devices = new Set(folders.flatMap((folder) => statSync(folder, { throwIfNoEntry: false })?.dev ?? []));
  if (devices.size <= 1) return pass("file system", "Uploads, outputs and stored files share one file system.");
  return failed(
    "file system",
    `${folders.join(", ")} are on different file systems.`,
    "Put the whole folder on one file system: files are hard-linked, not copied.",
  );
}

async function checkKeys({ dataDir, encryptionKeys, databaseUrl }: Env): Promise<Finding> {
  const file = join(dataDir, "encryption-keys");
  if (encryptionKeys === undefined && !existsSync(file))
    return failed(
      "keys",
      `No key ring: neither LIGHTDESK_ENCRYPTION_KEYS nor ${file} exists.`,
      "Restore the key ring that sealed the stored keys.",
    );
  const { keyRing } = openKeyRing(dataDir, encryptionKeys);
  const store = openStore(dataDir, databaseUrl);
  try {
    const { count, unreadable, sealingKeyIds } = await countSecrets(Object.values(store.sealed), keyRing);
    if (unreadable === 0)
      return pass("keys", `Key ring ${[...keyRing.decryptionKeys.keys()].join(", ")} opens all ${count} sealed secrets.`);
    const ids = sealingKeyIds.join(", ");
    return failed(
      "keys",
      `${unreadable} of ${count} sealed secrets can't be opened; they were sealed with ${ids}.`,
      `Add key ${ids} to the key ring, or enter those API keys again.`,
    );
  } finally {
    await store.close();
  }
}

/** Rows must not be from the future. `databaseNowMs` is the clock of a database that several consoles use. */
function checkClock(newestMs: number, now: number, databaseNowMs: number | undefined): Finding {
  const differenceMs = databaseNowMs === undefined ? 0 : Math.abs(databaseNowMs - now);
  if (differenceMs > MAX_CLOCK_DIFFERENCE_MS)
    return failed(
      "clock",
      `The clocks of the database and this machine differ by ${formatCount(Math.round(differenceMs / 60_000), "minute")}.`,
      "Set both clocks (NTP).",
    );
  const leadMs = newestMs - now;
  if (leadMs <= MAX_CLOCK_DIFFERENCE_MS) return pass("clock", `${new Date(now).toISOString()}; no stored row is newer.`);
  return failed(
    "clock",
    `The newest stored row is ${formatCount(Math.round(leadMs / 60_000), "minute")} ahead of this machine's clock.`,
    "Set the clock (NTP).",
  );
}

const execFileAsync = promisify(execFile);

/** `build`: the folder of the built pages for the configured base path. */
export async function checkProgram({ root, service }: Env, { version, build }: { version: string; build: string }): Promise<Finding[]> {
  const missingFile = ["dist/console.mjs", "dist/node-worker.mjs", "dist/response-worker.mjs"].find(
    (file) => !existsSync(join(root, file)),
  );
  return [
    pass("version", `Lightdesk ${version} on Node ${process.versions.node}, ${process.platform} ${process.arch}.`),
    missingFile
      ? failed("program", `${missingFile} is missing.`, "Run npm start to build it.")
      : pass("program", "Console and workers are built."),
    existsSync(join(root, build, ".lightdesk-built"))
      ? pass("pages", `Built in ${build}.`)
      : warn("pages", "Not built for these settings.", "Run npm start to build them; it takes about a minute."),
    await runSafely("ffmpeg", () => checkFfmpeg(service.ffmpeg), "Set LIGHTDESK_FFMPEG to the path of ffmpeg, or to none."),
  ];
}

async function checkFfmpeg(path: string | undefined): Promise<Finding> {
  if (!path) return warn("ffmpeg", "Not found: video and audio files get a placeholder thumbnail.", "Install ffmpeg for real thumbnails.");
  const { stdout } = await execFileAsync(path, ["-version"], { timeout: 10_000 });
  return pass("ffmpeg", stdout.split("\n")[0] ?? path);
}
