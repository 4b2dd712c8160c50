// Backs up a console on PostgreSQL during writes and restores it unchanged into an empty database.
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterAll, expect, inject, test, vi } from "vitest";
import { backUp, restore } from "@/lib/server/backup/backup";
import { readEnv } from "@/lib/server/env";
import { openStore } from "@/lib/server/store/store";
import { SERVICE_SCHEMA } from "@/lib/service/store/baseline";
import { describeInstallation, fillInstallation } from "@/tests/support/installation";
import { createDatabase, queryDatabase } from "@/tests/support/postgres-server";
import { startProcess } from "@/tests/support/start-process";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { until } from "@/tests/support/until";
import { createAppHarness } from "../console/apps/app-harness";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const root = createTemporaryFolder();
const getPath = (name: string) => join(root, name);
const fixture = await createAppHarness();
const installation = await fillInstallation(fixture);
const url = fixture.harness.console.env.databaseUrl ?? "";
const otherDatabase = await createDatabase(inject("postgres"));
afterAll(async () => {
  await fixture.dispose();
  await otherDatabase.drop();
});

const restoreTo = (dataDir: string, database?: string) =>
  restore({
    env: readEnv({ LIGHTDESK_DATA_DIR: dataDir, ...(database !== undefined && { DATABASE_URL: database }) }),
    folder: getPath("backup"),
    logProgress: () => undefined,
  });

const skippedConsoleTables = ["attempts", "kysely_migration", "kysely_migration_lock"];
const skippedServiceTables = [
  "migrations",
  "commits",
  "tag_counts",
  "processes",
  "rounds",
  "turns",
  "long_notices",
  "run_progress",
  "run_files",
];

/** Omits rows that backups skip: sign-in limits, messages between processes that share a database, and tag counts. */
async function readRows(database: string, schema = "public"): Promise<Record<string, unknown[]>> {
  const isConsoleSchema = schema === "public";
  const tables = await queryDatabase<{ name: string }>(
    database,
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = '${schema}' AND tablename NOT IN (${(isConsoleSchema ? skippedConsoleTables : skippedServiceTables).map((name) => `'${name}'`).join(", ")})`,
  );
  const rows: Record<string, unknown[]> = {};
  for (const { name } of tables)
    rows[name] = await queryDatabase(
      database,
      // Counters of zero are not copied.
      `SELECT to_jsonb(one) AS row FROM "${schema}"."${name}" AS one WHERE to_jsonb(one) ->> 'n' IS DISTINCT FROM '0' ORDER BY 1`,
    );
  return rows;
}

test("creates a consistent backup during writes", async () => {
  // Stops the background reader of jobs, which would continue writing.
  const { jobIndex } = fixture.harness.console;
  await jobIndex.reader.stop();
  await jobIndex.flush();
  const before = await readRows(url);
  // Pauses the backup in the middle.
  const lockHolder = new pg.Client({ connectionString: url });
  await lockHolder.connect();
  await lockHolder.query("BEGIN; LOCK TABLE audit");
  const progressLines: string[] = [];
  const { env } = fixture.harness.console;
  const backup = backUp({
    env,
    folder: getPath("backup"),
    withKeys: true,
    version: "0.2.0",
    now: Date.now(),
    logProgress: (text) => progressLines.push(text),
  });
  await until("the backup waits", () => progressLines.some((text) => text.startsWith("archives:")));
  // Changes a table that has been copied and one that hasn't.
  await queryDatabase(
    url,
    "INSERT INTO connections VALUES ('later', 'Later', 'http://127.0.0.1:9', NULL, NULL, 'unknown', 1, 'interface', 1)",
  );
  await queryDatabase(url, "INSERT INTO settings VALUES ('later', 'x')");
  await lockHolder.end();
  const manifest = await backup;
  await queryDatabase(url, "DELETE FROM settings WHERE name = 'later'; DELETE FROM connections WHERE id = 'later'");
  expect(manifest.console?.rows).toMatchObject({ members: before.members?.length, api_keys: before.api_keys?.length });
  expect(statSync(join(getPath("backup"), manifest.console?.file ?? "")).mode & 0o777).toBe(0o600);
  expect(readdirSync(getPath("backup"))).toHaveLength(6);
  await restoreTo(getPath("restored"), otherDatabase.url);
  expect(readdirSync(getPath("restored")).sort()).toEqual(["auth-secret", "encryption-keys", "service"]);
  expect(await readRows(otherDatabase.url)).toEqual(before);
});

test("restores the console's responses, sessions and keys", async () => {
  const before = await describeInstallation(fixture, installation);
  await fixture.harness.console.stop();
  const restoredFixture = await createAppHarness({ dataDir: getPath("restored"), settings: { DATABASE_URL: otherDatabase.url } });
  expect(await describeInstallation(restoredFixture, installation)).toEqual(before);
  await restoredFixture.harness.console.stop();
});

test("rejects restoring into a database that contains a console", async () => {
  await expect(restoreTo(getPath("never"), otherDatabase.url)).rejects.toThrow(/already contains a console/);
  expect(existsSync(getPath("never"))).toBe(false);
});

test("rejects a folder without a console and keeps the earlier backup", async () => {
  const { env } = fixture.harness.console;
  const before = readdirSync(getPath("backup"));
  const otherEnv = { ...env, dataDir: getPath("never") };
  const backup = backUp({
    env: otherEnv,
    folder: getPath("backup"),
    withKeys: false,
    version: "0.2.0",
    now: Date.now(),
    logProgress: () => undefined,
  });
  await expect(backup).rejects.toThrow(/must be a data folder/);
  expect(readdirSync(getPath("backup"))).toEqual(before);
});

test("keeps an earlier backup when a new one fails", async () => {
  const before = readdirSync(getPath("backup"));
  await queryDatabase(url, "CREATE TABLE unfinished_copy (begun bigint)");
  const { env } = fixture.harness.console;
  const failedBackup = backUp({
    env,
    folder: getPath("backup"),
    withKeys: false,
    version: "0.2.0",
    now: Date.now(),
    logProgress: () => undefined,
  });
  await expect(failedBackup).rejects.toThrow(/unfinished `npm run copy-store`/);
  await queryDatabase(url, "DROP TABLE unfinished_copy");
  expect(readdirSync(getPath("backup"))).toEqual(before);
});

test("backs up and restores PostgreSQL rows with their files", async () => {
  const { env } = fixture.harness.console;
  const silent = { logProgress: () => undefined };
  const options = { env, folder: getPath("with-service"), withKeys: true, version: "0.2.0", now: Date.now() };
  const manifest = await backUp({ ...options, ...silent });
  expect(manifest.service).toMatchObject({ blobs: { lost: [] } });
  const target = await createDatabase(inject("postgres"));
  const restoredEnv = readEnv({ LIGHTDESK_DATA_DIR: getPath("restored-service"), DATABASE_URL: target.url });
  await restore({ env: restoredEnv, folder: getPath("with-service"), ...silent });
  expect(readdirSync(join(getPath("restored-service"), "service")).sort()).toEqual(["blobs", "lock.sqlite", "postgresql-store"]);
  expect(await readRows(target.url, SERVICE_SCHEMA)).toEqual(await readRows(url, SERVICE_SCHEMA));
  expect((await readRows(target.url, SERVICE_SCHEMA)).jobs?.length).toBeGreaterThan(0);
  await expect(restore({ env: { ...restoredEnv, dataDir: getPath("never") }, folder: getPath("with-service"), ...silent })).rejects.toThrow(
    /already contains a console/,
  );
  await target.drop();
});

test("restores into the folder without DATABASE_URL", async () => {
  await restoreTo(getPath("in-folder"));
  const store = openStore(getPath("in-folder"));
  expect(await store.members.hasOwner()).toBe(true);
  await store.close();
});

test("backs up the restored console and rejects another database", async () => {
  const settings = { LIGHTDESK_DATA_DIR: getPath("restored"), DATABASE_URL: otherDatabase.url };
  const child = startProcess("dist/backup.mjs", settings, [getPath("second")]);
  expect([await child.exitCode, child.output()]).toEqual([0, expect.stringMatching(/^Backup of .* 5 members/m)]);
  expect(child.output()).not.toContain("secret-word");
  const emptyDatabase = await createDatabase(inject("postgres"));
  const rejectedBackup = startProcess("dist/backup.mjs", { ...settings, DATABASE_URL: emptyDatabase.url }, [getPath("third")]);
  expect([await rejectedBackup.exitCode, rejectedBackup.output()]).toEqual([1, expect.stringContaining("belongs to another database")]);
  await emptyDatabase.drop();
});
