// A console on PostgreSQL is backed up during writes and restored into an empty database, unchanged.
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
import { temporaryFolder } from "@/tests/support/temporary-folder";
import { until } from "@/tests/support/until";
import { createAppWorld } from "../console/apps/app-world";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const root = temporaryFolder();
const at = (name: string) => join(root, name);
const world = await createAppWorld();
const installation = await fillInstallation(world);
const url = world.harness.console.env.databaseUrl ?? "";
const otherDatabase = await createDatabase(inject("postgres"));
afterAll(async () => {
  await world.dispose();
  await otherDatabase.drop();
});

const restoreTo = (dataDir: string, database?: string) =>
  restore({
    env: readEnv({ LIGHTDESK_DATA_DIR: dataDir, ...(database !== undefined && { DATABASE_URL: database }) }),
    folder: at("backup"),
    logProgress: () => undefined,
  });

const ofConsoles = ["attempts", "kysely_migration", "kysely_migration_lock"];
const ofServices = ["migrations", "commits", "tag_counts", "processes", "rounds", "turns", "long_notices", "run_progress", "run_files"];

/** Not copied: limits of sign-in, messages between processes that share a database, and the numbers of counted tags. */
async function readRows(database: string, schema = "public"): Promise<Record<string, unknown[]>> {
  const isOfConsole = schema === "public";
  const tables = await queryDatabase<{ name: string }>(
    database,
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = '${schema}' AND tablename NOT IN (${(isOfConsole ? ofConsoles : ofServices).map((name) => `'${name}'`).join(", ")})`,
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

test("is consistent at one moment during writes", async () => {
  // The background reader of jobs would continue writing.
  const { jobIndex } = world.harness.console;
  await jobIndex.reader.stop();
  await jobIndex.settled();
  const before = await readRows(url);
  // Paused in the middle.
  const holder = new pg.Client({ connectionString: url });
  await holder.connect();
  await holder.query("BEGIN; LOCK TABLE audit");
  const printed: string[] = [];
  const { env } = world.harness.console;
  const backup = backUp({
    env,
    folder: at("backup"),
    withKeys: true,
    version: "0.2.0",
    now: Date.now(),
    logProgress: (text) => printed.push(text),
  });
  await until("it waits", () => printed.some((text) => text.startsWith("archives:")));
  // One change in a table that has been copied, one in a table that has not.
  await queryDatabase(
    url,
    "INSERT INTO connections VALUES ('later', 'Later', 'http://127.0.0.1:9', NULL, NULL, 'unknown', 1, 'interface', 1)",
  );
  await queryDatabase(url, "INSERT INTO settings VALUES ('later', 'x')");
  await holder.end();
  const manifest = await backup;
  await queryDatabase(url, "DELETE FROM settings WHERE name = 'later'; DELETE FROM connections WHERE id = 'later'");
  expect(manifest.console?.rows).toMatchObject({ members: before.members?.length, api_keys: before.api_keys?.length });
  expect(statSync(join(at("backup"), manifest.console?.file ?? "")).mode & 0o777).toBe(0o600);
  expect(readdirSync(at("backup"))).toHaveLength(6);
  await restoreTo(at("restored"), otherDatabase.url);
  expect(readdirSync(at("restored")).sort()).toEqual(["auth-secret", "encryption-keys", "service"]);
  expect(await readRows(otherDatabase.url)).toEqual(before);
});

test("restores the console's responses, sessions and keys", async () => {
  const before = await describeInstallation(world, installation);
  await world.harness.console.stop();
  const restored = await createAppWorld({ dataDir: at("restored"), settings: { DATABASE_URL: otherDatabase.url } });
  expect(await describeInstallation(restored, installation)).toEqual(before);
  await restored.harness.console.stop();
});

test("refuses to overwrite a database with a console", async () => {
  await expect(restoreTo(at("never"), otherDatabase.url)).rejects.toThrow(/already contains a console/);
  expect(existsSync(at("never"))).toBe(false);
});

test("refuses a folder that is not a console's and keeps the backup", async () => {
  const { env } = world.harness.console;
  const before = readdirSync(at("backup"));
  const otherEnv = { ...env, dataDir: at("never") };
  const backup = backUp({
    env: otherEnv,
    folder: at("backup"),
    withKeys: false,
    version: "0.2.0",
    now: Date.now(),
    logProgress: () => undefined,
  });
  await expect(backup).rejects.toThrow(/must be a data folder/);
  expect(readdirSync(at("backup"))).toEqual(before);
});

test("leaves an earlier backup alone when it fails", async () => {
  const before = readdirSync(at("backup"));
  await queryDatabase(url, "CREATE TABLE unfinished_copy (begun bigint)");
  const { env } = world.harness.console;
  const failed = backUp({ env, folder: at("backup"), withKeys: false, version: "0.2.0", now: Date.now(), logProgress: () => undefined });
  await expect(failed).rejects.toThrow(/unfinished `npm run copy-store`/);
  await queryDatabase(url, "DROP TABLE unfinished_copy");
  expect(readdirSync(at("backup"))).toEqual(before);
});

test("backs up and restores PostgreSQL rows with their files", async () => {
  const { env } = world.harness.console;
  const silent = { logProgress: () => undefined };
  const options = { env, folder: at("with-service"), withKeys: true, version: "0.2.0", now: Date.now() };
  const manifest = await backUp({ ...options, ...silent });
  expect(manifest.service).toMatchObject({ blobs: { lost: [] } });
  const target = await createDatabase(inject("postgres"));
  const restored = readEnv({ LIGHTDESK_DATA_DIR: at("restored-service"), DATABASE_URL: target.url });
  await restore({ env: restored, folder: at("with-service"), ...silent });
  expect(readdirSync(join(at("restored-service"), "service")).sort()).toEqual(["blobs", "lock.sqlite", "postgresql-store"]);
  expect(await readRows(target.url, SERVICE_SCHEMA)).toEqual(await readRows(url, SERVICE_SCHEMA));
  expect((await readRows(target.url, SERVICE_SCHEMA)).jobs?.length).toBeGreaterThan(0);
  await expect(restore({ env: { ...restored, dataDir: at("never") }, folder: at("with-service"), ...silent })).rejects.toThrow(
    /already contains a console/,
  );
  await target.drop();
});

test("restores into the folder without DATABASE_URL", async () => {
  await restoreTo(at("in-folder"));
  const store = openStore(at("in-folder"));
  expect(await store.members.hasOwner()).toBe(true);
  await store.close();
});

test("names the console's new store and refuses a foreign database", async () => {
  const settings = { LIGHTDESK_DATA_DIR: at("restored"), DATABASE_URL: otherDatabase.url };
  const child = startProcess("dist/backup.mjs", settings, [at("second")]);
  expect([await child.ended, child.output()]).toEqual([0, expect.stringMatching(/^Backup of .* 5 members/m)]);
  expect(child.output()).not.toContain("secret-word");
  const empty = await createDatabase(inject("postgres"));
  const refused = startProcess("dist/backup.mjs", { ...settings, DATABASE_URL: empty.url }, [at("third")]);
  expect([await refused.ended, refused.output()]).toEqual([1, expect.stringContaining("belongs to another database")]);
  await empty.drop();
});
