// The commands move an installation to PostgreSQL and back. It never starts without its rows, or with stale rows.
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterAll, expect, inject, test, vi } from "vitest";
import { startComposition } from "@/lib/server/composition";
import { readEnv } from "@/lib/server/env";
import { copyBetween } from "@/lib/server/store/store";
import { migratePostgres, SERVICE_SCHEMA } from "@/lib/service/store/baseline";
import { describeInstallation, fillInstallation, submit, waitForJob } from "@/tests/support/installation";
import { createDatabase } from "@/tests/support/postgres-server";
import { startProcess } from "@/tests/support/start-process";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { type AppHarness, createAppHarness } from "../console/apps/app-harness";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const root = createTemporaryFolder();
let before: Record<string, unknown>;

const fixture = await createAppHarness({ settings: { DATABASE_URL: "" } });
const { folder } = fixture.harness;
const installation = await fillInstallation(fixture);
// Waiting jobs move too, with their entries in the queue.
await setRunnerState(fixture, "paused");
const pendingJobId = await submit(fixture, 98);
before = await describeInstallation(fixture, installation);
await fixture.harness.console.stop();
const database = await createDatabase(inject("postgres"));
const olderDatabase = await createDatabase(inject("postgres"));
afterAll(async () => {
  await Promise.all([database.drop(), olderDatabase.drop()]);
  for (const value of [root, folder]) rmSync(value, { recursive: true, force: true });
});

async function setRunnerState({ harness }: AppHarness, state: "paused" | "ready"): Promise<void> {
  const runners = harness.console.serviceRunners();
  const builtIn = (await runners.list()).find(({ address }) => address === null);
  expect((await runners.change(builtIn?.id ?? "", { state })).ok).toBe(true);
}

const createSettings = (dataDir: string, url = "") => ({ LIGHTDESK_DATA_DIR: dataDir, DATABASE_URL: url, PORT: "0" });

/** Returns the error of a console that must not start. */
async function getStartError(dataDir: string, url?: string): Promise<string> {
  const console = startComposition({ env: readEnv(createSettings(dataDir, url)), logDestination: { write: () => undefined } });
  const startError = await console.ready.then(
    () => "",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  await console.stop();
  return startError;
}

async function runCommand(name: string, args: string[], dataDir: string, url?: string) {
  const child = startProcess(`dist/${name}.mjs`, createSettings(dataDir, url), args);
  const code = await child.exitCode;
  expect(child.output()).not.toContain("secret-word");
  return { code, output: child.output() };
}

/** Starts the installation and returns its responses. */
async function describeAt(dataDir: string, url = ""): Promise<Record<string, unknown>> {
  const fixture = await createAppHarness({ dataDir, settings: { DATABASE_URL: url } });
  try {
    return await describeInstallation(fixture, installation);
  } finally {
    await fixture.harness.console.stop();
  }
}

type Command = [name: string, args: string[]];

/** Expects each command to fail with an output that matches the pattern. */
async function expectFailures(commands: Command[], pattern: RegExp, url?: string): Promise<void> {
  for (const [name, args] of commands)
    expect([name, ...args, await runCommand(name, args, folder, url)]).toEqual([
      ...[name, ...args],
      { code: 1, output: expect.stringMatching(pattern) },
    ]);
}

test("rejects a start with DATABASE_URL before the rows are moved", async () => {
  expect(await getStartError(folder, database.url)).toMatch(/console\.sqlite has the rows.* npm run copy-store -- --to postgres:/);
  const commands: Command[] = [
    ["service", []],
    ["service", ["keys", "list"]],
    ["backup", [join(root, "backup")]],
    ["doctor", []],
  ];
  await expectFailures(commands, /\.sqlite has the rows.* npm run copy-store -- --to postgres:/, database.url);
});

test("blocks starts on a half copied service, then compares every row", async () => {
  await migratePostgres(database.url, Date.now);
  const lockHolder = new pg.Client({ connectionString: database.url });
  await lockHolder.connect();
  await lockHolder.query(`BEGIN; LOCK TABLE ${SERVICE_SCHEMA}.job_results IN SHARE MODE`);
  const killedCopy = startProcess("dist/copy-store.mjs", createSettings(folder), ["--to", database.url]);
  await killedCopy.waitForOutput("jobs");
  expect(await killedCopy.stop("SIGKILL")).toBeNull();
  await lockHolder.end();
  expect(await getStartError(folder, database.url)).toMatch(/Run that command again/);
  expect(await runCommand("service", ["keys", "list"], folder, database.url)).toMatchObject({ code: 1 });
  // Works even if DATABASE_URL is already set.
  expect(await runCommand("copy-store", ["--to", database.url], folder, database.url)).toMatchObject({
    code: 0,
    output: expect.stringMatching(/^Copied and compared \d+ rows of \d+ tables/m),
  });
});

test("blocks an accidental start on the old folder", async () => {
  expect(await getStartError(folder)).toMatch(/were moved to PostgreSQL. Set DATABASE_URL .* npm run copy-store -- --to sqlite:/);
  const commands: Command[] = [
    ["service", []],
    ["audit", ["verify"]],
    ["service", ["copy-blobs", "--to", join(root, "bytes")]],
  ];
  await expectFailures(commands, /were moved to PostgreSQL. Set DATABASE_URL .* npm run copy-store -- --to sqlite:/);
});

test("returns the same responses on PostgreSQL", async () => {
  expect(await describeAt(folder, database.url)).toEqual(before);
});

test("binds a folder to one database and requires shared files", async () => {
  const secondFolder = join(root, "second");
  mkdirSync(secondFolder);
  cpSync(join(folder, "encryption-keys"), join(secondFolder, "encryption-keys"));
  expect(await getStartError(secondFolder, database.url)).toMatch(/files of the database .* are in another data folder.*LIGHTDESK_BLOBS/);
  expect(await getStartError(folder, olderDatabase.url)).toMatch(/references no files, but .* contains user files|has the rows/);
});

test("moves later changes back to the folder, which then starts without it", async () => {
  const fixture = await createAppHarness({ dataDir: folder, settings: { DATABASE_URL: database.url } });
  await setRunnerState(fixture, "ready");
  for (const id of [pendingJobId, await submit(fixture, 99)]) expect(await waitForJob(fixture, id)).toBe("completed");
  const expected = await describeInstallation(fixture, installation);
  await fixture.harness.console.stop();
  expect(await runCommand("copy-store", ["--to", `sqlite:${folder}`], folder, database.url)).toMatchObject({ code: 0 });
  expect(await describeAt(folder)).toEqual(expected);
  expect(await getStartError(folder, database.url)).toMatch(
    /service\.sqlite and the database of DATABASE_URL belong to two different services/,
  );
});

test("moves service rows after an earlier version moved the console alone", async () => {
  const olderFolder = join(root, "older");
  cpSync(folder, olderFolder, { recursive: true });
  before = await describeAt(olderFolder);
  // Copies the console like `copy-store` of version 0.2.0.
  await copyBetween({ dataDir: olderFolder }, { url: olderDatabase.url }, () => undefined);
  expect(await getStartError(olderFolder, olderDatabase.url)).toMatch(/service\.sqlite has the rows.* npm run copy-store/);
  expect(await runCommand("copy-store", ["--to", olderDatabase.url], olderFolder)).toMatchObject({
    code: 1,
    output: expect.stringContaining("already contains a console"),
  });
  expect(await runCommand("copy-store", ["--to", olderDatabase.url], olderFolder, olderDatabase.url)).toMatchObject({ code: 0 });
  const fixture = await createAppHarness({ dataDir: olderFolder, settings: { DATABASE_URL: olderDatabase.url } });
  expect(await describeInstallation(fixture, installation)).toEqual(before);
  await fixture.harness.console.stop();
});
