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
import { ANOTHER_KEY, describeInstallation, fillInstallation, jobEnded, submit, upload } from "@/tests/support/installation";
import { startProcess } from "@/tests/support/start-process";
import { temporaryFolder } from "@/tests/support/temporary-folder";
import { createAppWorld } from "./apps/app-world";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const logProgress = () => undefined;
const root = temporaryFolder();
const at = (name: string) => join(root, name);
const world = await createAppWorld();
const installation = await fillInstallation(world);

const folder = () => world.harness.folder;
const runBackup = (folder: string, withKeys = false): Promise<Manifest> =>
  backUp({ env: world.harness.console.env, folder, withKeys, version: "0.2.0", now: Date.now(), logProgress });
const restoreTo = (folder: string, dataDir: string) => restore({ env: readEnv({ LIGHTDESK_DATA_DIR: dataDir }), folder, logProgress });
async function command(name: string, args: string[], settings: Record<string, string> = {}) {
  const child = startProcess(`dist/${name}.mjs`, settings, args);
  return { code: await child.ended, output: child.output() };
}

/** Every row of every table, except the tables behind a search index. */
function readRows(file: string): Record<string, unknown[]> {
  const database = new SqliteConnection(file, { readOnly: true });
  const tables = database.prepare<[], string>(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name",
  );
  const rows = tables
    .pluck()
    .all()
    .map((table) => [table, database.prepare(`SELECT * FROM "${table}"`).all()] as const);
  database.close();
  return Object.fromEntries(rows);
}

test("backs up a running installation consistently, with all acknowledged data", async () => {
  let isOver = false;
  const loads = [1, 2].map(async (lane) => {
    for (let round = 0; !isOver; round += 1) {
      const color = lane * 1000 + round;
      if (lane === 1) await submit(world, color, 0.1);
      const { id } = await upload(world, "/api/assets", {
        file: new Blob([`${lane} ${round} `.repeat(2000)]),
        name: `${color}.txt`,
        tags: "[]",
      });
      if (round % 2 === 0) await world.ask(`/api/assets/${id}`, { as: "operator", method: "DELETE" });
    }
  });
  const before = await submit(world, 5, 0);
  const { code, output } = await command("backup", [at("live")], { LIGHTDESK_DATA_DIR: folder() });
  isOver = true;
  await Promise.all(loads);
  expect([code, output]).toEqual([0, expect.stringMatching(/^Backup of .* by version .*\nThe backup does not contain the keys k-\w+\./m)]);
  expect(await command("restore", [at("live"), "--check"])).toMatchObject({
    code: 0,
    output: expect.stringContaining("Every file is intact."),
  });

  const { manifest, missing } = await restoreTo(at("live"), at("from-live"));
  expect(missing).toEqual(manifest.console?.keys);
  expect(manifest.service?.blobs.lost).toEqual([]);
  const { jobs } = readRows(join(at("from-live"), "service", "service.sqlite"));
  expect(jobs).toContainEqual(expect.objectContaining({ id: before }));
  expect(readdirSync(at("from-live")).sort()).toEqual(["console.sqlite", "service"]);
});

test("restores every row, byte, session and key", async () => {
  const { body } = await world.ask("/api/jobs?status=pending,in_progress&limit=1000", { as: "viewer" });
  for (const { id } of body.jobs) await jobEnded(world, id);
  const before = await describeInstallation(world, installation);
  expect(before.keys).toContain(ANOTHER_KEY);
  await world.harness.console.stop();
  const inode = statSync(join(at("live"), "blobs")).ino;
  const manifest = await runBackup(at("live"), true);
  expect(statSync(join(at("live"), "blobs")).ino).toBe(inode);
  for (const part of [manifest.keys, manifest.console, manifest.service?.database])
    expect(statSync(join(at("live"), part?.file ?? "")).mode & 0o777, part?.file).toBe(0o600);
  expect(readdirSync(at("live"))).toHaveLength(6);

  const { missing } = await restoreTo(at("live"), at("restored"));
  expect(missing).toEqual([]);
  for (const file of ["console.sqlite", "service/service.sqlite"])
    expect(readRows(join(at("restored"), file))).toEqual(readRows(join(folder(), file)));
  const restored = await createAppWorld({ dataDir: at("restored") });
  expect(await describeInstallation(restored, installation)).toEqual(before);
  expect(await jobEnded(restored, await submit(restored, 9))).toBe("completed");
  await restored.harness.console.stop();
});

test("backs up only new data the second time and drops deleted data", async () => {
  const liveFolder = at("live");
  const { service } = readManifest(liveFolder);
  const blobs = join(liveFolder, "blobs");
  const files = readdirSync(blobs, { recursive: true, encoding: "utf8" }).filter((name) => name.length > 60);
  const times = new Map(files.map((name) => [name, statSync(join(blobs, name)).mtimeMs]));
  writeFileSync(join(blobs, "aa.part"), "of a backup that was broken off");
  const next = await runBackup(liveFolder);
  expect(next.service?.blobs).toEqual(service?.blobs);
  expect(next.keys).toBeNull();
  for (const [name, time] of times) expect(statSync(join(blobs, name)).mtimeMs).toBe(time);
  expect(readdirSync(liveFolder).filter((name) => name.startsWith("keys"))).toEqual([]);
});

const damages: [what: string, sentence: RegExp, damage: (folder: string, manifest: Manifest) => void][] = [
  ["a missing file", /incomplete: the file \w{64} is missing/, (folder) => rmSync(someBlob(folder))],
  ["a flipped byte in a file", /damaged: the file \w{64} has changed/, (folder) => flip(someBlob(folder))],
  [
    "a cut database",
    /incomplete: .*service-\w+\.sqlite is missing or truncated/,
    (folder, { service }) => truncateSync(join(folder, service?.database.file ?? ""), 5000),
  ],
  ["a flipped byte in a database", /damaged: .*console-\w+\.sqlite/, (folder, { console }) => flip(join(folder, console?.file ?? ""))],
  ["no manifest", /contains no complete backup/, (folder) => rmSync(join(folder, MANIFEST))],
  ["half a manifest", /damaged: .*manifest\.json/, (folder) => truncateSync(join(folder, MANIFEST), 100)],
  ["a newer format", /newer version, 9\.0\.0/, (folder) => change(folder, { format: 2, version: "9.0.0" })],
  [
    "a newer schema",
    /newer version, .*9999-later/,
    (folder, { console }) => change(folder, { console: { ...console, schema: ["9999-later"] } }),
  ],
];

test.each(damages)("refuses a backup with %s and writes nothing", async (label, sentence, damage) => {
  const damagedFolder = at("damaged");
  rmSync(damagedFolder, { recursive: true, force: true });
  cpSync(at("live"), damagedFolder, { recursive: true });
  damage(damagedFolder, readManifest(damagedFolder));
  await expect(restoreTo(damagedFolder, at("never")), label).rejects.toThrow(sentence);
  expect(existsSync(at("never"))).toBe(false);
});

test("refuses to overwrite an installation, and resumes only its own restore", async () => {
  await expect(restoreTo(at("live"), folder())).rejects.toThrow(/is not empty .* Set LIGHTDESK_DATA_DIR to a folder that is empty/);
  expect(await command("restore", [at("live")], { LIGHTDESK_DATA_DIR: folder() })).toMatchObject({
    code: 1,
    output: expect.stringContaining("is not empty"),
  });
  const half = at("half");
  cpSync(at("restored"), half, { recursive: true });
  for (const name of ["console.sqlite", "encryption-keys", "auth-secret"]) rmSync(join(half, name), { force: true });
  writeFileSync(join(half, "restore-unfinished"), "");
  expect(() => openStore(half)).toThrow("restore-unfinished");
  await restoreTo(at("live"), half);
  expect(readdirSync(half)).not.toContain("restore-unfinished");
  await checkBackup({ folder: at("live"), logProgress });
});

test("refuses a backup folder that is inside the data, in use or not empty", async () => {
  await expect(runBackup(join(folder(), "backups"))).rejects.toThrow("inside the data folder");
  await expect(runBackup(root)).rejects.toThrow(/which is not part of a backup/);
  const otherConnection = new SqliteConnection(join(at("live"), "lock.sqlite"));
  otherConnection.exec("BEGIN EXCLUSIVE");
  await expect(runBackup(at("live"))).rejects.toThrow("Another backup is being made");
  otherConnection.close();
  expect(await command("backup", [])).toMatchObject({ code: 1, output: expect.stringContaining("Usage:") });
});

test("backs up a separate file folder, skips a bucket and reports it", async () => {
  const { env } = world.harness.console;
  const backupOptions = { version: "0.2.0", now: Date.now(), logProgress, withKeys: false };
  const path = at("bytes");
  cpSync(join(folder(), "service", "blobs"), path, { recursive: true });
  const otherEnv = { ...env, service: { ...env.service, blobs: { kind: "folder" as const, path } } };
  const { service } = await backUp({ ...backupOptions, env: otherEnv, folder: at("of-folder") });
  expect(service?.blobs).toMatchObject({ count: service?.rows.blobs, lost: [] });
  const blobs = { kind: "bucket" as const, bucket: "bytes", prefix: "", region: "us-east-1", isPathStyle: true };
  const inBucket = { ...env, service: { ...env.service, blobs } };
  const without = await backUp({ ...backupOptions, env: inBucket, folder: at("of-bucket") });
  expect(without.service?.blobs).toEqual({ count: 0, bytes: 0, lost: [], elsewhere: true });
  await restoreTo(at("of-bucket"), at("from-bucket"));
  expect(() => requireLocalBlobs(join(at("from-bucket"), "service"))).toThrow(
    /are in the bucket of the service that was backed up\. Restore the earlier LIGHTDESK_BLOBS/,
  );
  await expect(restore({ env: { ...inBucket, dataDir: at("never") }, folder: at("of-folder"), logProgress })).rejects.toThrow(
    "restore it without LIGHTDESK_BLOBS",
  );
});

test("reports a corrupt file, leaves it out and restores the rest", async () => {
  const corruptFile = someBlob(join(folder(), "service"), "blobs/blake3-v1");
  flip(corruptFile);
  rmSync(join(at("live"), "blobs", ...corruptFile.split(/[\\/]/).slice(-2)));
  const { code, output } = await command("backup", [at("live")], { LIGHTDESK_DATA_DIR: folder() });
  expect([code, output]).toEqual([
    2,
    expect.stringContaining("1 files are missing or damaged on the service's disk and not in the backup, such as"),
  ]);
  await restoreTo(at("live"), at("without"));
});

function someBlob(folder: string, prefix = "blobs"): string {
  const blobs = join(folder, prefix);
  return join(blobs, readdirSync(blobs, { recursive: true, encoding: "utf8" }).find((name) => /^..[\\/]\w{62}$/.test(name)) ?? "");
}

function flip(file: string): void {
  const bytes = readFileSync(file);
  const middle = bytes.length >> 1;
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  writeFileSync(file, bytes);
}

function change(folder: string, changes: object): void {
  writeFileSync(join(folder, MANIFEST), JSON.stringify({ ...readManifest(folder), ...changes }));
}
