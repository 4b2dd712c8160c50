// Backs up a console on PostgreSQL during writes and restores it unchanged into an empty database.
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { expect, test, vi } from "vitest";
import { backUp, restore } from "@/lib/server/backup/backup";
import { readEnv } from "@/lib/server/env";
import { openStore } from "@/lib/server/store/store";
import { SERVICE_SCHEMA } from "@/lib/service/store/baseline";
import { describeInstallation, fillInstallation } from "@/tests/support/installation";
import { openTestDatabase } from "@/tests/support/postgres-proxy";
import { queryDatabase } from "@/tests/support/postgres-server";
import { runProcess } from "@/tests/support/start-process";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { until } from "@/tests/support/until";
import { createAppHarness } from "../console/apps/app-harness";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const root = createTemporaryFolder();
const getPath = (name: string) => join(root, name);
const otherDatabaseUrl = await openTestDatabase();
const fixture = await createAppHarness();
const installation = await fillInstallation(fixture);
const { env } = fixture.harness.console;
const url = env.databaseUrl ?? "";

type BackupOptions = { dataDir?: string; logProgress?: (text: string) => void };
const runBackup = (name: string, { dataDir = env.dataDir, logProgress = () => undefined }: BackupOptions = {}) =>
  backUp({ env: { ...env, dataDir }, folder: getPath(name), withKeys: true, version: "0.2.0", now: Date.now(), logProgress });

const restoreTo = (name: string, { from = "backup", database }: { from?: string; database?: string } = {}) =>
  restore({
    env: readEnv({ LIGHTDESK_DATA_DIR: getPath(name), ...(database !== undefined && { DATABASE_URL: database }) }),
    folder: getPath(from),
    logProgress: () => undefined,
  });

const skippedTables = {
  console: ["attempts", "kysely_migration", "kysely_migration_lock"],
  service: ["migrations", "commits", "tag_counts", "processes", "rounds", "turns", "long_notices", "run_progress", "run_files"],
};

/** Omits rows that backups skip: sign-in limits, messages between processes that share a database, and tag counts. */
async function readRows(database: string, schema = "public"): Promise<Record<string, unknown[]>> {
  const skippedNames = skippedTables[schema === "public" ? "console" : "service"].map((name) => `'${name}'`).join(", ");
  const tables = await queryDatabase<{ name: string }>(
    database,
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = '${schema}' AND tablename NOT IN (${skippedNames})`,
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
  const backup = runBackup("backup", { logProgress: (text) => void progressLines.push(text) });
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
  await restoreTo("restored", { database: otherDatabaseUrl });
  expect(readdirSync(getPath("restored")).sort()).toEqual(["auth-secret", "encryption-keys", "service"]);
  expect(await readRows(otherDatabaseUrl)).toEqual(before);
});

test("restores the console's responses, sessions and keys", async () => {
  const before = await describeInstallation(fixture, installation);
  await fixture.harness.console.stop();
  const restoredFixture = await createAppHarness({ dataDir: getPath("restored"), settings: { DATABASE_URL: otherDatabaseUrl } });
  expect(await describeInstallation(restoredFixture, installation)).toEqual(before);
  await restoredFixture.harness.console.stop();
});

test("rejects restoring into a database that contains a console", async () => {
  await expect(restoreTo("never", { database: otherDatabaseUrl })).rejects.toThrow(/already contains a console/);
  expect(existsSync(getPath("never"))).toBe(false);
});

test("keeps an earlier backup when a new one fails", async () => {
  const before = readdirSync(getPath("backup"));
  await expect(runBackup("backup", { dataDir: getPath("never") })).rejects.toThrow(/must be a data folder/);
  await queryDatabase(url, "CREATE TABLE unfinished_copy (begun bigint)");
  await expect(runBackup("backup")).rejects.toThrow(/unfinished `npm run copy-store`/);
  await queryDatabase(url, "DROP TABLE unfinished_copy");
  expect(readdirSync(getPath("backup"))).toEqual(before);
});

test("backs up and restores PostgreSQL rows with their files", async () => {
  expect((await runBackup("with-service")).service).toMatchObject({ blobs: { lost: [] } });
  const database = await openTestDatabase();
  await restoreTo("restored-service", { from: "with-service", database });
  expect(readdirSync(join(getPath("restored-service"), "service")).sort()).toEqual(["blobs", "lock.sqlite", "postgresql-store"]);
  const rows = await readRows(database, SERVICE_SCHEMA);
  expect(rows).toEqual(await readRows(url, SERVICE_SCHEMA));
  expect(rows.jobs?.length).toBeGreaterThan(0);
});

test("restores into the folder without DATABASE_URL", async () => {
  await restoreTo("in-folder");
  const store = openStore(getPath("in-folder"));
  expect(await store.members.hasOwner()).toBe(true);
  await store.close();
});

test("backs up the restored console and rejects another database", async () => {
  const runCommand = (name: string, database: string) =>
    runProcess("dist/backup.mjs", { LIGHTDESK_DATA_DIR: getPath("restored"), DATABASE_URL: database }, [getPath(name)]);
  const { code, output } = await runCommand("second", otherDatabaseUrl);
  expect([code, output]).toEqual([0, expect.stringMatching(/^Backup of .* members: 5/m)]);
  expect(output).not.toContain("secret-word");
  const rejection = { code: 1, output: expect.stringContaining("belongs to another database") };
  expect(await runCommand("third", await openTestDatabase())).toEqual(rejection);
});
