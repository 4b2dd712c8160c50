// Backups of a running console: content, restored state and refusals.
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { backUp, checkBackup, restore } from "@/lib/server/backup/backup";
import { MANIFEST, type Manifest, readManifest } from "@/lib/server/backup/manifest";
import { readEnv } from "@/lib/server/env";
import { openStore } from "@/lib/server/store/store";
import { requireLocalBlobs } from "@/lib/service/assets/blobs/open-blobs";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { ANOTHER_KEY, describeInstallation, fillInstallation, submit, upload, waitForJob } from "@/tests/support/installation";
import { startProcess } from "@/tests/support/start-process";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { createAppHarness } from "./apps/app-harness";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const logProgress = () => undefined;
const root = createTemporaryFolder();
const getPath = (name: string) => join(root, name);
const apps = await createAppHarness();
const installation = await fillInstallation(apps);

const getDataFolder = () => apps.harness.folder;
const runBackup = (folder: string, withKeys = false): Promise<Manifest> =>
  backUp({ env: apps.harness.console.env, folder, withKeys, version: "0.2.0", now: Date.now(), logProgress });
const restoreTo = (folder: string, dataDir: string) => restore({ env: readEnv({ LIGHTDESK_DATA_DIR: dataDir }), folder, logProgress });
async function runCommand(name: string, args: string[], settings: Record<string, string> = {}) {
  const child = startProcess(`dist/${name}.mjs`, settings, args);
  return { code: await child.exitCode, output: child.output() };
}

/** Every row of every table, except the tables behind a search index. */
function readRows(file: string): Record<string, unknown[]> {
  const database = new SqliteConnection(file, { readOnly: true });
  const listSql = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name";
  const tables = database.prepare<[], string>(listSql).pluck().all();
  const rows = tables.map((table) => [table, database.prepare(`SELECT * FROM "${table}"`).all()] as const);
  database.close();
  return Object.fromEntries(rows);
}

test("backs up a running installation with all acknowledged data", async () => {
  let isDone = false;
  const loads = [1, 2].map(async (worker) => {
    for (let round = 0; !isDone; round += 1) {
      const color = worker * 1000 + round;
      if (worker === 1) await submit(apps, color, 0.1);
      const file = new Blob([`${worker} ${round} `.repeat(2000)]);
      const { id } = await upload(apps, "/api/assets", { file, name: `${color}.txt`, tags: "[]" });
      if (round % 2 === 0) await apps.requestJson(`/api/assets/${id}`, { as: "operator", method: "DELETE" });
    }
  });
  const before = await submit(apps, 5, 0);
  const { code, output } = await runCommand("backup", [getPath("live")], { LIGHTDESK_DATA_DIR: getDataFolder() });
  isDone = true;
  await Promise.all(loads);
  expect([code, output]).toEqual([0, expect.stringMatching(/^Backup of .* by version .*\nThe backup does not contain the keys k-\w+\./m)]);
  const intactReport = expect.stringContaining("Every file is intact.");
  expect(await runCommand("restore", [getPath("live"), "--check"])).toMatchObject({ code: 0, output: intactReport });

  const { manifest, missingKeyIds } = await restoreTo(getPath("live"), getPath("from-live"));
  expect(missingKeyIds).toEqual(manifest.console?.keys);
  expect(manifest.service?.blobs.lost).toEqual([]);
  const { jobs } = readRows(join(getPath("from-live"), "service", "service.sqlite"));
  expect(jobs).toContainEqual(expect.objectContaining({ id: before }));
  expect(readdirSync(getPath("from-live")).sort()).toEqual(["console.sqlite", "service"]);
});

test("restores every row, byte, session and key", async () => {
  const { body } = await apps.requestJson("/api/jobs?status=pending,in_progress&limit=1000", { as: "viewer" });
  for (const { id } of body.jobs) await waitForJob(apps, id);
  const before = await describeInstallation(apps, installation);
  expect(before.keys).toContain(ANOTHER_KEY);
  await apps.harness.console.stop();
  const inode = statSync(join(getPath("live"), "blobs")).ino;
  const manifest = await runBackup(getPath("live"), true);
  expect(statSync(join(getPath("live"), "blobs")).ino).toBe(inode);
  for (const part of [manifest.keys, manifest.console, manifest.service?.database])
    expect(statSync(join(getPath("live"), part?.file ?? "")).mode & 0o777, part?.file).toBe(0o600);
  expect(readdirSync(getPath("live"))).toHaveLength(6);

  const { missingKeyIds } = await restoreTo(getPath("live"), getPath("restored"));
  expect(missingKeyIds).toEqual([]);
  for (const file of ["console.sqlite", "service/service.sqlite"])
    expect(readRows(join(getPath("restored"), file))).toEqual(readRows(join(getDataFolder(), file)));
  const restored = await createAppHarness({ dataDir: getPath("restored") });
  expect(await describeInstallation(restored, installation)).toEqual(before);
  expect(await waitForJob(restored, await submit(restored, 9))).toBe("completed");
  await restored.harness.console.stop();
});

test("backs up only new data the second time and drops deleted data", async () => {
  const liveFolder = getPath("live");
  const { service } = readManifest(liveFolder);
  const blobs = join(liveFolder, "blobs");
  const files = readdirSync(blobs, { recursive: true, encoding: "utf8" }).filter((name) => name.length > 60);
  const times = new Map(files.map((name) => [name, statSync(join(blobs, name)).mtimeMs]));
  writeFileSync(join(blobs, "aa.part"), "partial file of an interrupted backup");
  const next = await runBackup(liveFolder);
  expect(next.service?.blobs).toEqual(service?.blobs);
  expect(next.keys).toBeNull();
  for (const [name, time] of times) expect(statSync(join(blobs, name)).mtimeMs).toBe(time);
  expect(readdirSync(liveFolder).filter((name) => name.startsWith("keys"))).toEqual([]);
});

const damages: [what: string, sentence: RegExp, damage: (folder: string, manifest: Manifest) => void][] = [
  ["a missing file", /incomplete: the file \w{64} is missing/, (folder) => rmSync(findBlob(folder))],
  ["a flipped byte in a file", /damaged: the file \w{64} has changed/, (folder) => flipByte(findBlob(folder))],
  [
    "a cut database",
    /incomplete: .*service-\w+\.sqlite is missing or truncated/,
    (folder, { service }) => truncateSync(join(folder, service?.database.file ?? ""), 5000),
  ],
  ["a flipped byte in a database", /damaged: .*console-\w+\.sqlite/, (folder, { console }) => flipByte(join(folder, console?.file ?? ""))],
  ["no manifest", /contains no complete backup/, (folder) => rmSync(join(folder, MANIFEST))],
  ["half a manifest", /damaged: .*manifest\.json/, (folder) => truncateSync(join(folder, MANIFEST), 100)],
  ["a newer format", /newer version, 9\.0\.0/, (folder) => changeManifest(folder, { format: 2, version: "9.0.0" })],
  [
    "a newer schema",
    /newer version, .*9999-later/,
    (folder, { console }) => changeManifest(folder, { console: { ...console, schema: ["9999-later"] } }),
  ],
];

test.each(damages)("refuses a backup with %s and writes nothing", async (label, message, damage) => {
  const damagedFolder = getPath("damaged");
  rmSync(damagedFolder, { recursive: true, force: true });
  cpSync(getPath("live"), damagedFolder, { recursive: true });
  damage(damagedFolder, readManifest(damagedFolder));
  await expect(restoreTo(damagedFolder, getPath("never")), label).rejects.toThrow(message);
  expect(existsSync(getPath("never"))).toBe(false);
});

test("refuses to overwrite an installation, and resumes only its own restore", async () => {
  const output = expect.stringMatching(/is not empty .* Set LIGHTDESK_DATA_DIR to an empty or new folder/);
  expect(await runCommand("restore", [getPath("live")], { LIGHTDESK_DATA_DIR: getDataFolder() })).toMatchObject({ code: 1, output });
  const unfinishedFolder = getPath("half");
  cpSync(getPath("restored"), unfinishedFolder, { recursive: true });
  for (const name of ["console.sqlite", "encryption-keys", "auth-secret"]) rmSync(join(unfinishedFolder, name), { force: true });
  writeFileSync(join(unfinishedFolder, "restore-unfinished"), "");
  expect(() => openStore(unfinishedFolder)).toThrow("restore-unfinished");
  await restoreTo(getPath("live"), unfinishedFolder);
  expect(readdirSync(unfinishedFolder)).not.toContain("restore-unfinished");
  await checkBackup({ folder: getPath("live"), logProgress });
});

test("refuses a backup folder that is inside the data, in use or not empty", async () => {
  await expect(runBackup(join(getDataFolder(), "backups"))).rejects.toThrow("inside the data folder");
  await expect(runBackup(root)).rejects.toThrow(/which is not part of a backup/);
  const otherConnection = new SqliteConnection(join(getPath("live"), "lock.sqlite"));
  otherConnection.exec("BEGIN EXCLUSIVE");
  await expect(runBackup(getPath("live"))).rejects.toThrow("Another backup is running");
  otherConnection.close();
  expect(await runCommand("backup", [])).toMatchObject({ code: 1, output: expect.stringContaining("Usage:") });
});

test("backs up a separate file folder, skips a bucket and reports it", async () => {
  const { env } = apps.harness.console;
  const backupOptions = { version: "0.2.0", now: Date.now(), logProgress, withKeys: false };
  const path = getPath("bytes");
  cpSync(join(getDataFolder(), "service", "blobs"), path, { recursive: true });
  const otherEnv = { ...env, service: { ...env.service, blobs: { kind: "folder" as const, path } } };
  const { service } = await backUp({ ...backupOptions, env: otherEnv, folder: getPath("of-folder") });
  expect(service?.blobs).toMatchObject({ count: service?.rows.blobs, lost: [] });
  const blobs = { kind: "bucket" as const, bucket: "bytes", prefix: "", region: "us-east-1", isPathStyle: true };
  const bucketEnv = { ...env, service: { ...env.service, blobs } };
  const bucketManifest = await backUp({ ...backupOptions, env: bucketEnv, folder: getPath("of-bucket") });
  expect(bucketManifest.service?.blobs).toEqual({ count: 0, bytes: 0, lost: [], elsewhere: true });
  await restoreTo(getPath("of-bucket"), getPath("from-bucket"));
  const message = /are in the bucket of the service that was backed up\. Restore the earlier LIGHTDESK_BLOBS/;
  expect(() => requireLocalBlobs(join(getPath("from-bucket"), "service"))).toThrow(message);
  await expect(restore({ env: { ...bucketEnv, dataDir: getPath("never") }, folder: getPath("of-folder"), logProgress })).rejects.toThrow(
    "Restore it without LIGHTDESK_BLOBS",
  );
});

test("names every damaged file and copies them again when they are deleted", async () => {
  const folder = getPath("live");
  const damagedFiles = listBlobs(folder).slice(0, 2);
  for (const file of damagedFiles) flipByte(file);
  await runBackup(folder);
  const { code, output } = await runCommand("restore", [folder, "--check"]);
  expect(code).toBe(1);
  for (const text of [...damagedFiles, "Delete these files from the backup and run the backup again."]) expect(output).toContain(text);
  for (const file of damagedFiles) rmSync(file);
  await runBackup(folder);
  await checkBackup({ folder, logProgress });
});

test("reports a corrupt file, leaves it out and restores the rest", async () => {
  const corruptFile = findBlob(join(getDataFolder(), "service"), "blobs/blake3-v1");
  flipByte(corruptFile);
  rmSync(join(getPath("live"), "blobs", ...corruptFile.split(/[\\/]/).slice(-2)));
  const { code, output } = await runCommand("backup", [getPath("live")], { LIGHTDESK_DATA_DIR: getDataFolder() });
  const warning = "1 file is missing or damaged on the service's disk and not in the backup, such as";
  expect([code, output]).toEqual([2, expect.stringContaining(warning)]);
  await restoreTo(getPath("live"), getPath("without"));
});

function findBlob(folder: string, prefix = "blobs"): string {
  return listBlobs(folder, prefix)[0] ?? "";
}

function listBlobs(folder: string, prefix = "blobs"): string[] {
  const blobs = join(folder, prefix);
  const names = readdirSync(blobs, { recursive: true, encoding: "utf8" }).filter((name) => /^..[\\/]\w{62}$/.test(name));
  return names.map((name) => join(blobs, name));
}

function flipByte(file: string): void {
  const bytes = readFileSync(file);
  const middle = bytes.length >> 1;
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  writeFileSync(file, bytes);
}

function changeManifest(folder: string, changes: object): void {
  writeFileSync(join(folder, MANIFEST), JSON.stringify({ ...readManifest(folder), ...changes }));
}
