// Checks the installation, files, keys and databases.

import "server-only";
import { execFile } from "node:child_process";
import { existsSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { serviceHistory, tryBlobPlace } from "@/lib/service/index";
import { findUnfinishedCopy, UNFINISHED_COPY } from "@/lib/shared/database/copy-tables";
import { type History, schemaState, tooOld } from "@/lib/shared/database/migrate";
import { type SqliteConnection } from "@/lib/shared/database/sqlite";
import { migrationsOf, openToRead, requireIntegrity } from "@/lib/shared/database/sqlite-copy";
import { requireStores } from "../backup/backup";
import { sealedHosts } from "../embed/hosts";
import { type Env } from "../env";
import { countSealed, openKeyRing, sealedKeys } from "../keys/key-ring";
import { sqliteHistory } from "../store/migrations";
import { openStore } from "../store/store";
import { sealedRequests } from "../tasks/sealed-request";
import { attempt, type Finding, noted, passed, sizeOf, wrong } from "./findings";
import { lookAtConsole, lookAtServer, lookAtService, readIdOn } from "./postgres";

const CHECK = "files";
const remedy = "Set LIGHTDESK_BLOBS to a place that this user or key may read, write and list, or see to that place.";

/** `own`: the id of the service's database, if it has one. */
async function checkFiles({ service: settings }: Pick<Env, "service">, own: string | undefined): Promise<Finding> {
  const { blobs } = settings;
  if (!blobs) return passed(CHECK, "They lie in the data folder.");
  const where = blobs.kind === "folder" ? blobs.path : `s3://${blobs.bucket}/${blobs.prefix}`;
  return attempt(
    CHECK,
    async () => {
      const { isThere, mark, keepsFirst } = await tryBlobPlace(blobs, settings);
      if (!isThere) return noted(CHECK, `${where} is not there yet; the first start makes it.`);
      if (mark !== undefined && own !== undefined && mark !== own)
        return wrong(
          CHECK,
          `${where} holds the files of another database.`,
          "Restore that database from a backup, or set LIGHTDESK_BLOBS to a place of its own.",
        );
      if (keepsFirst === false)
        return noted(
          CHECK,
          `${where} can be read, written and listed; it does not know conditional writes, so that a file may be sent twice.`,
        );
      return passed(CHECK, `${where} can be read, written and listed${keepsFirst ? ", and knows conditional writes" : ""}.`);
    },
    remedy,
  );
}

/** The id in the service's database; undefined if there is none yet, or if it cannot be read (a separate check reports that). */
function readId(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  try {
    const database = openToRead(file);
    try {
      return database.prepare<[], string>("SELECT id FROM store_ids").pluck().get();
    } finally {
      database.close();
    }
  } catch {
    return undefined; // a separate check reports it
  }
}

const LITTLE_ROOM = 1024 ** 3;
const NO_ROOM = 16 * 1024 ** 2;
/** Clocks of one installation differ by less. */
export const CLOCK_MS = 5 * 60_000;

const restore = "Stop the console and restore the data folder from a backup (npm run restore).";

export async function checkStorage(env: Env, now: number): Promise<Finding[]> {
  const { dataDir, databaseUrl } = env;
  const findings = [
    await attempt("data folder", () => checkFolder(dataDir), "LIGHTDESK_DATA_DIR must be a folder that this user can write to."),
    await attempt("disk", () => checkRoom(dataDir)),
    await attempt("file system", () => checkDevices(join(dataDir, "service"))),
  ];
  const server = databaseUrl === undefined ? undefined : await lookAtServer(databaseUrl);
  const ofConsole = databaseUrl === undefined ? await lookAtFile(consoleFile(dataDir)) : await lookAtConsole(databaseUrl);
  const ofService = databaseUrl === undefined ? await lookAtServiceFile(dataDir) : await lookAtService(databaseUrl);
  const looks = [ofConsole, ofService];
  findings.push(...(server?.findings ?? []), ...looks.map(({ finding }) => finding));
  const own = databaseUrl === undefined ? readId(serviceFile(dataDir).file) : await readIdOn(databaseUrl).catch(() => undefined);
  findings.push(await checkFiles(env, own));
  if (looks.every(({ finding }) => finding.state !== "failed"))
    findings.push(await attempt("place of the rows", () => checkPlace(env), ""));
  if (ofConsole.finding.state === "passed") findings.push(await attempt("keys", () => checkKeys(env)));
  if (looks.every(({ finding }) => finding.state !== "failed"))
    findings.push(checkClock(Math.max(0, ...looks.map(({ newest }) => newest ?? 0)), now, server?.time));
  return findings;
}

type DatabaseFile = {
  check: string;
  file: string;
  history: History;
  newest: string;
};

const consoleFile = (dataDir: string): DatabaseFile => ({
  check: "console database",
  file: join(dataDir, "console.sqlite"),
  history: sqliteHistory,
  newest: "SELECT max(at) FROM audit",
});
const serviceFile = (dataDir: string): DatabaseFile => ({
  check: "service database",
  file: join(dataDir, "service", "service.sqlite"),
  history: serviceHistory,
  newest: "SELECT max(update_time) FROM jobs",
});

function checkFolder(dataDir: string): Finding {
  if (!existsSync(dataDir)) return noted("data folder", `${dataDir} is not there yet; the first start makes it.`);
  const probe = join(dataDir, `.doctor-${process.pid}`);
  writeFileSync(probe, "");
  rmSync(probe);
  const open = [dataDir, join(dataDir, "encryption-keys"), join(dataDir, "auth-secret")].find(
    (path) => process.platform !== "win32" && ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0,
  );
  if (open) return wrong("data folder", `${open} can be read by others.`, `Take it away from them: chmod go-rwx ${open}`);
  return passed("data folder", `${dataDir} can be written, and be read by its owner alone.`);
}

function checkRoom(dataDir: string): Finding {
  const folder = existsSync(dataDir) ? dataDir : dirname(dataDir);
  if (!existsSync(folder)) return noted("disk", `${folder} is not there.`);
  const { bavail, bsize } = statfsSync(folder);
  const room = bavail * bsize;
  const free = `${sizeOf(room)} are free`;
  if (room < NO_ROOM) return wrong("disk", `The disk is full: ${free}.`, "Free space there: delete assets, or move the folder.");
  return room < LITTLE_ROOM ? noted("disk", `Hardly any room: ${free}.`, "Free space there soon.") : passed("disk", `${free}.`);
}

/** The thrown error says what to do. */
async function checkPlace(env: Env): Promise<Finding> {
  await requireStores(env);
  return passed("place of the rows", env.databaseUrl === undefined ? "They are in the data folder." : "They are in PostgreSQL.");
}

function checkDevices(service: string): Finding {
  const folders = ["blobs", "tmp", "work", "downloads"].map((name) => join(service, name));
  const devices = new Set(folders.flatMap((folder) => statSync(folder, { throwIfNoEntry: false })?.dev ?? []));
  if (devices.size <= 1) return passed("file system", "Uploads, outputs and stored files lie on one.");
  return wrong(
    "file system",
    `${folders.join(", ")} lie on different ones.`,
    "Put the whole folder on one disk: files are linked, not copied.",
  );
}

export const lookAtServiceFile = (dataDir: string) => lookAtFile(serviceFile(dataDir));

/** `newest`: when the newest row was written, in ms. */
async function lookAtFile(of: DatabaseFile): Promise<{ finding: Finding; newest?: number }> {
  let newest: number | undefined;
  const finding = await attempt(
    of.check,
    () => {
      if (!existsSync(of.file)) return noted(of.check, `${of.file} is not there yet; the first start makes it.`);
      const database = openToRead(of.file);
      try {
        const found = checkFile(database, of);
        if (found.state !== "failed") newest = database.prepare<[], number | null>(of.newest).pluck().get() ?? undefined;
        return found;
      } finally {
        database.close();
      }
    },
    restore,
  );
  return { finding, newest };
}

function checkFile(database: SqliteConnection, { check, file, history }: DatabaseFile): Finding {
  requireIntegrity(database, file);
  if (database.prepare(findUnfinishedCopy.sqlite).get() !== undefined) return wrong(check, UNFINISHED_COPY, "Run it again.");
  const state = schemaState(migrationsOf(database, history.table), history);
  if ("newer" in state)
    return wrong(check, `${file} was written by a newer version (${state.newer}).`, "Start that version, or restore an older backup.");
  if ("isTooOld" in state) return wrong(check, `${file} is from a version before 0.2.0.`, tooOld("The database"));
  const missing = state.missing.length;
  const size = sizeOf(statSync(file).size);
  if (missing > 0)
    return noted(
      check,
      `${file} is of an older version (${size}): ${missing} steps behind.`,
      "Make a backup; the next start brings it up to date.",
    );
  return passed(check, `${file} is whole and of this version (${size}).`);
}

async function checkKeys({ dataDir, encryptionKeys, databaseUrl }: Env): Promise<Finding> {
  const file = join(dataDir, "encryption-keys");
  if (encryptionKeys === undefined && !existsSync(file))
    return wrong(
      "keys",
      `There is no key ring: neither LIGHTDESK_ENCRYPTION_KEYS nor ${file}.`,
      "Put back the one that sealed the stored keys.",
    );
  const ring = openKeyRing(dataDir, encryptionKeys);
  const store = openStore(dataDir, databaseUrl);
  try {
    const counts = [
      await countSealed(sealedKeys(store.keys), ring),
      await countSealed(sealedRequests(store.downloadTasks), ring),
      await countSealed(sealedHosts(store.embedHosts), ring),
    ].flatMap((sealedBy) => [...sealedBy]);
    const all = counts.reduce((sum, [, { count }]) => sum + count, 0);
    const lost = counts.filter(([, { unreadable }]) => unreadable > 0);
    if (lost.length === 0) return passed("keys", `The ring (${[...ring.readable.keys()].join(", ")}) opens all ${all} sealed secrets.`);
    const ids = [...new Set(lost.map(([id]) => id))].join(", ");
    const unreadable = lost.reduce((sum, [, count]) => sum + count.unreadable, 0);
    return wrong(
      "keys",
      `${unreadable} of ${all} sealed secrets do not open; they were sealed by ${ids}.`,
      `Add the key ${ids} to the ring, or enter these API keys again.`,
    );
  } finally {
    await store.close();
  }
}

/** A row must not be from the future. `shared`: the time of a database's clock that other consoles use as well. */
function checkClock(newest: number, now: number, shared: number | undefined): Finding {
  const off = shared === undefined ? 0 : Math.abs(shared - now);
  if (off > CLOCK_MS)
    return wrong(
      "clock",
      `The database's clock and this machine's differ by ${Math.round(off / 60_000)} minutes.`,
      "Set both clocks (NTP).",
    );
  const ahead = newest - now;
  if (ahead <= CLOCK_MS) return passed("clock", `It is ${new Date(now).toISOString()}; nothing stored is younger.`);
  return wrong(
    "clock",
    `Rows are stored that are ${Math.round(ahead / 60_000)} minutes younger than this machine's clock says.`,
    "Set the clock (NTP).",
  );
}

const execute = promisify(execFile);

/** `build`: the folder of the built pages for the configured base path. */
export async function checkProgram({ root, service }: Env, { version, build }: { version: string; build: string }): Promise<Finding[]> {
  const missing = ["dist/console.mjs", "dist/node-worker.mjs", "dist/answer-worker.mjs"].find((file) => !existsSync(join(root, file)));
  return [
    passed("version", `Lightdesk ${version} on Node ${process.versions.node}, ${process.platform} ${process.arch}.`),
    missing
      ? wrong("program", `${missing} is missing.`, "Run npm start, which builds it.")
      : passed("program", "The console, its worker and its threads are built."),
    existsSync(join(root, build, ".lightdesk-built"))
      ? passed("pages", `They are built in ${build}.`)
      : noted("pages", "They are not built for these settings.", "npm start builds them, in about a minute."),
    await attempt("ffmpeg", () => checkFfmpeg(service.ffmpeg), "Set LIGHTDESK_FFMPEG to the path of ffmpeg, or to none."),
  ];
}

async function checkFfmpeg(path: string | undefined): Promise<Finding> {
  if (!path)
    return noted("ffmpeg", "There is none: films and sounds have a placeholder for a thumbnail.", "Install ffmpeg, or leave it so.");
  const { stdout } = await execute(path, ["-version"], { timeout: 10_000 });
  return passed("ffmpeg", stdout.split("\n")[0] ?? path);
}
