// The commands move an installation to PostgreSQL and back. It never starts without its rows, or with stale rows.
import { cpSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { expect, test, vi } from "vitest";
import { startComposition } from "@/lib/server/composition";
import { readEnv } from "@/lib/server/env";
import { copyBetween } from "@/lib/server/store/store";
import { migratePostgres, SERVICE_SCHEMA } from "@/lib/service/store/baseline";
import { lockDataFolder } from "@/lib/service/store/data-folder";
import { describeInstallation, fillInstallation, submit, waitForJob } from "@/tests/support/installation";
import { openTestDatabase } from "@/tests/support/postgres-proxy";
import { queryDatabase } from "@/tests/support/postgres-server";
import { runProcess, startProcess } from "@/tests/support/start-process";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { type AppHarness, createAppHarness } from "../console/apps/app-harness";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const root = createTemporaryFolder();
const fixture = await createAppHarness({ settings: { DATABASE_URL: "" } });
const { folder } = fixture.harness;
const installation = await fillInstallation(fixture);
// Waiting jobs move too, with their entries in the queue.
await setRunnerState(fixture, "paused");
const pendingJobId = await submit(fixture, 98);
const before = await describeInstallation(fixture, installation);
await fixture.harness.console.stop();
const databaseUrl = await openTestDatabase();

async function setRunnerState({ harness }: AppHarness, state: "paused" | "ready"): Promise<void> {
  const runners = harness.console.serviceRunners();
  const builtIn = (await runners.list()).find(({ address }) => address === null);
  expect((await runners.change(builtIn?.id ?? "", { state })).ok).toBe(true);
}

const createSettings = (dataDir: string, url = "") => ({ LIGHTDESK_DATA_DIR: dataDir, DATABASE_URL: url, PORT: "0" });

/** Returns the error of a console that must not start. */
async function getStartError(dataDir: string, url?: string): Promise<string> {
  const console = startComposition({ env: readEnv(createSettings(dataDir, url)), logDestination: { write: () => undefined } });
  const startError = await console.ready.then(() => "", String);
  await console.stop();
  return startError;
}

async function runCommand(name: string, args: string[], dataDir: string, url?: string) {
  const result = await runProcess(`dist/${name}.mjs`, createSettings(dataDir, url), args);
  expect(result.output).not.toContain("secret-word");
  return result;
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
  expect(await getStartError(folder, databaseUrl)).toMatch(/console\.sqlite has the rows.* npm run copy-store -- --to postgres:/);
  const commands: Command[] = [
    ["service", []],
    ["service", ["keys", "list"]],
    ["backup", [join(root, "backup")]],
    ["doctor", []],
  ];
  await expectFailures(commands, /\.sqlite has the rows.* npm run copy-store -- --to postgres:/, databaseUrl);
});

test("copies nothing while a service uses the folder", async () => {
  const lock = lockDataFolder(join(folder, "service"));
  await expectFailures([["copy-store", ["--to", databaseUrl]]], /is in use by process/);
  lock.release();
  expect(await queryDatabase(databaseUrl, "SELECT 1 FROM pg_tables WHERE tablename = 'members'")).toEqual([]);
});

test("blocks starts on a half copied service, then compares every row", async () => {
  await migratePostgres(databaseUrl, Date.now);
  const lockHolder = new pg.Client({ connectionString: databaseUrl });
  await lockHolder.connect();
  await lockHolder.query(`BEGIN; LOCK TABLE ${SERVICE_SCHEMA}.job_results IN SHARE MODE`);
  const killedCopy = startProcess("dist/copy-store.mjs", createSettings(folder), ["--to", databaseUrl]);
  await killedCopy.waitForOutput("jobs");
  expect(await killedCopy.stop("SIGKILL")).toBeNull();
  await lockHolder.end();
  expect(await getStartError(folder, databaseUrl)).toMatch(/Run that command again/);
  expect(await runCommand("service", ["keys", "list"], folder, databaseUrl)).toMatchObject({ code: 1 });
  // Works even if DATABASE_URL is already set.
  expect(await runCommand("copy-store", ["--to", databaseUrl], folder, databaseUrl)).toMatchObject({
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
  expect(await describeAt(folder, databaseUrl)).toEqual(before);
});

test("moves later changes back to the folder, which then starts without it", async () => {
  const fixture = await createAppHarness({ dataDir: folder, settings: { DATABASE_URL: databaseUrl } });
  await setRunnerState(fixture, "ready");
  for (const id of [pendingJobId, await submit(fixture, 99)]) expect(await waitForJob(fixture, id)).toBe("completed");
  const expected = await describeInstallation(fixture, installation);
  await fixture.harness.console.stop();
  expect(await runCommand("copy-store", ["--to", `sqlite:${folder}`], folder, databaseUrl)).toMatchObject({ code: 0 });
  expect(await describeAt(folder)).toEqual(expected);
  expect(await getStartError(folder, databaseUrl)).toMatch(
    /service\.sqlite and the database of DATABASE_URL belong to two different services/,
  );
});

test("moves service rows after an earlier version moved the console alone", async () => {
  const olderDatabaseUrl = await openTestDatabase();
  const olderFolder = join(root, "older");
  cpSync(folder, olderFolder, { recursive: true });
  const expected = await describeAt(olderFolder);
  // Copies the console like `copy-store` of version 0.2.0.
  await copyBetween({ dataDir: olderFolder }, { url: olderDatabaseUrl }, () => undefined);
  expect(await getStartError(olderFolder, olderDatabaseUrl)).toMatch(/service\.sqlite has the rows.* npm run copy-store/);
  expect(await runCommand("copy-store", ["--to", olderDatabaseUrl], olderFolder)).toMatchObject({
    code: 1,
    output: expect.stringContaining("already contains a console"),
  });
  expect(await runCommand("copy-store", ["--to", olderDatabaseUrl], olderFolder, olderDatabaseUrl)).toMatchObject({ code: 0 });
  expect(await describeAt(olderFolder, olderDatabaseUrl)).toEqual(expected);
});
