// The commands move an installation to PostgreSQL and back. It never starts without its rows, or with stale rows.
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterAll, expect, inject, test, vi } from "vitest";
import { startComposition } from "@/lib/server/composition";
import { readEnv } from "@/lib/server/env";
import { copyBetween } from "@/lib/server/store/store";
import { migratePostgres, SERVICE_SCHEMA } from "@/lib/service/store/baseline";
import { describeInstallation, fillInstallation, jobEnded, submit } from "@/tests/support/installation";
import { createDatabase } from "@/tests/support/postgres-server";
import { startProcess } from "@/tests/support/start-process";
import { temporaryFolder } from "@/tests/support/temporary-folder";
import { type AppWorld, createAppWorld } from "../console/apps/app-world";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const root = temporaryFolder();
let before: Record<string, unknown>;

const world = await createAppWorld({ settings: { DATABASE_URL: "" } });
const { folder } = world.harness;
const installation = await fillInstallation(world);
// Waiting jobs move too, with their entries in the queue.
await setRunnerState(world, "paused");
const waits = await submit(world, 98);
before = await describeInstallation(world, installation);
await world.harness.console.stop();
const database = await createDatabase(inject("postgres"));
const older = await createDatabase(inject("postgres"));
afterAll(async () => {
  await Promise.all([database.drop(), older.drop()]);
  for (const value of [root, folder]) rmSync(value, { recursive: true, force: true });
});

async function setRunnerState({ harness }: AppWorld, state: "paused" | "ready"): Promise<void> {
  const runners = harness.console.serviceRunners();
  const builtIn = (await runners.list()).find(({ address }) => address === null);
  expect((await runners.change(builtIn?.id ?? "", { state })).ok).toBe(true);
}

const createSettings = (dataDir: string, url = "") => ({ LIGHTDESK_DATA_DIR: dataDir, DATABASE_URL: url, PORT: "0" });

/** The output of a console that refuses to start there. */
async function refusal(dataDir: string, url?: string): Promise<string> {
  const console = startComposition({ env: readEnv(createSettings(dataDir, url)), logDestination: { write: () => undefined } });
  const refusedWith = await console.ready.then(
    () => "",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  await console.stop();
  return refusedWith;
}

async function command(name: string, args: string[], dataDir: string, url?: string) {
  const process = startProcess(`dist/${name}.mjs`, createSettings(dataDir, url), args);
  const code = await process.ended;
  expect(process.output()).not.toContain("secret-word");
  return { code, output: process.output() };
}

/** The installation's responses when started there. */
async function describeAt(dataDir: string, url = ""): Promise<Record<string, unknown>> {
  const world = await createAppWorld({ dataDir, settings: { DATABASE_URL: url } });
  try {
    return await describeInstallation(world, installation);
  } finally {
    await world.harness.console.stop();
  }
}

type Command = [name: string, args: string[]];

/** The last sentence of each refusal. */
async function expectRefused(commands: Command[], sentence: RegExp, url?: string): Promise<void> {
  for (const [name, args] of commands)
    expect([name, ...args, await command(name, args, folder, url)]).toEqual([
      ...[name, ...args],
      { code: 1, output: expect.stringMatching(sentence) },
    ]);
}

test("refuses to start with DATABASE_URL before the rows are moved", async () => {
  expect(await refusal(folder, database.url)).toMatch(/console\.sqlite has the rows.* npm run copy-store -- --to postgres:/);
  const ofBoth: Command[] = [
    ["service", []],
    ["service", ["keys", "list"]],
    ["backup", [join(root, "backup")]],
    ["doctor", []],
  ];
  await expectRefused(ofBoth, /\.sqlite has the rows.* npm run copy-store -- --to postgres:/, database.url);
});

test("blocks starts on a half copied service, then compares every row", async () => {
  await migratePostgres(database.url, Date.now);
  const holder = new pg.Client({ connectionString: database.url });
  await holder.connect();
  await holder.query(`BEGIN; LOCK TABLE ${SERVICE_SCHEMA}.job_results IN SHARE MODE`);
  const killed = startProcess("dist/copy-store.mjs", createSettings(folder), ["--to", database.url]);
  await killed.printed("jobs");
  expect(await killed.stop("SIGKILL")).toBeNull();
  await holder.end();
  expect(await refusal(folder, database.url)).toMatch(/Run that command again/);
  expect(await command("service", ["keys", "list"], folder, database.url)).toMatchObject({ code: 1 });
  // Also if DATABASE_URL is set already.
  expect(await command("copy-store", ["--to", database.url], folder, database.url)).toMatchObject({
    code: 0,
    output: expect.stringMatching(/^Copied and compared \d+ rows of \d+ tables/m),
  });
});

test("blocks an accidental start on the old folder", async () => {
  expect(await refusal(folder)).toMatch(/were moved to PostgreSQL. Set DATABASE_URL .* npm run copy-store -- --to sqlite:/);
  const commands: Command[] = [
    ["service", []],
    ["audit", ["verify"]],
    ["service", ["copy-blobs", "--to", join(root, "bytes")]],
  ];
  await expectRefused(commands, /were moved to PostgreSQL. Set DATABASE_URL .* npm run copy-store -- --to sqlite:/);
});

test("is the same installation on PostgreSQL", async () => {
  expect(await describeAt(folder, database.url)).toEqual(before);
});

test("binds a folder to one database and requires shared files", async () => {
  const second = join(root, "second");
  mkdirSync(second);
  cpSync(join(folder, "encryption-keys"), join(second, "encryption-keys"));
  expect(await refusal(second, database.url)).toMatch(/files of the database .* are in another data folder.*LIGHTDESK_BLOBS/);
  expect(await refusal(folder, older.url)).toMatch(/knows no file, though .* holds files of users|has the rows/);
});

test("moves later changes back to the folder, which then starts alone", async () => {
  const world = await createAppWorld({ dataDir: folder, settings: { DATABASE_URL: database.url } });
  await setRunnerState(world, "ready");
  for (const id of [waits, await submit(world, 99)]) expect(await jobEnded(world, id)).toBe("completed");
  const later = await describeInstallation(world, installation);
  await world.harness.console.stop();
  expect(await command("copy-store", ["--to", `sqlite:${folder}`], folder, database.url)).toMatchObject({ code: 0 });
  expect(await describeAt(folder)).toEqual(later);
  expect(await refusal(folder, database.url)).toMatch(/service\.sqlite and the database of DATABASE_URL belong to two different services/);
});

test("moves service rows after an earlier version moved the console alone", async () => {
  const olderFolder = join(root, "older");
  cpSync(folder, olderFolder, { recursive: true });
  before = await describeAt(olderFolder);
  // The result of `copy-store` of version 0.2.0.
  await copyBetween({ dataDir: olderFolder }, { url: older.url }, () => undefined);
  expect(await refusal(olderFolder, older.url)).toMatch(/service\.sqlite has the rows.* npm run copy-store/);
  expect(await command("copy-store", ["--to", older.url], olderFolder)).toMatchObject({
    code: 1,
    output: expect.stringContaining("already contains a console"),
  });
  expect(await command("copy-store", ["--to", older.url], olderFolder, older.url)).toMatchObject({ code: 0 });
  const world = await createAppWorld({ dataDir: olderFolder, settings: { DATABASE_URL: older.url } });
  expect(await describeInstallation(world, installation)).toEqual(before);
  await world.harness.console.stop();
});
