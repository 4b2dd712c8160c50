// Copies a service's rows to PostgreSQL and back, even after an interruption.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type pg from "pg";
import { expect, test } from "vitest";
import { copyStores } from "@/lib/server/backup/backup";
import { copyServiceStore } from "@/lib/service/index";
import { migrate, migratePostgres, SERVICE_SCHEMA } from "@/lib/service/store/baseline";
import { lockDataFolder } from "@/lib/service/store/data-folder";
import { openPostgres } from "@/lib/service/store/postgres/database";
import { openDatabase } from "@/lib/service/store/sqlite";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { jobTotalsQuery, sortRows, storedCounters } from "@/tests/faults/kill/audit-counters";
import { openTestDatabase } from "@/tests/support/postgres-proxy";
import { inSchema, queryDatabase } from "@/tests/support/postgres-server";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { fillTables, listTables, readTables } from "./fill-tables";

/** More rows than a single read returns. */
const ROW_COUNT = 1200;
const now = () => 1_700_000_000_000;
/** Tables that triggers fill, and tables that only one of the two databases has. */
const skippedTables = /^(sqlite_.*|migrations|asset_search.*|job_counts|asset_counts|user_storage|tag_counts)$/;

const folder = createTemporaryFolder();
const sourceFile = join(folder, "before", "service", "service.sqlite");
const targetFile = join(folder, "after", "service", "service.sqlite");
for (const name of ["before", "after"]) mkdirSync(join(folder, name, "service"), { recursive: true });
const databaseUrl = await openTestDatabase();
await migratePostgres(databaseUrl, now);
fillDatabase(sourceFile);

type ServiceLocation = Parameters<typeof copyServiceStore>[0];
const copyQuietly = (from: ServiceLocation, to: ServiceLocation) => copyServiceStore(from, to, () => undefined);

async function interruptCopy(from: ServiceLocation, to: ServiceLocation): Promise<void> {
  const interruptedCopy = copyServiceStore(from, to, (progress) => {
    if (progress.startsWith("job_results:")) throw new Error("interrupted");
  });
  await expect(interruptedCopy).rejects.toThrow("interrupted");
}

test("resumes an interrupted copy with later changes before a service can start", async () => {
  await interruptCopy({ file: sourceFile }, { url: databaseUrl });
  await expect(openPostgres(databaseUrl, now)).rejects.toThrow(/copy-store/);
  const sqlite = new SqliteConnection(sourceFile);
  sqlite.pragma("foreign_keys = ON");
  sqlite.exec(`
    UPDATE users SET last_number = last_number + 1;
    DELETE FROM jobs WHERE seq IN (3, ${ROW_COUNT});
    UPDATE jobs SET state = 'cancelled' WHERE seq = 7;
    DELETE FROM assets WHERE seq IN (1, 700);
    DELETE FROM user_files WHERE hash NOT IN (SELECT hash FROM assets);
    DELETE FROM blobs WHERE hash NOT IN (SELECT hash FROM assets);`);
  sqlite.close();
  await copyQuietly({ file: sourceFile }, { url: databaseUrl });
  const counts =
    "SELECT (SELECT count(*) FROM jobs)::integer AS jobs, (SELECT sum(n) FROM job_counts WHERE workflow_id = '')::integer AS counted";
  expect(await queryService(counts)).toEqual([{ jobs: ROW_COUNT - 2, counted: ROW_COUNT - 2 }]);
  await (await openPostgres(databaseUrl, now)).close();
});

test("finds a row changed after copying and repeats the copy", async () => {
  const otherUrl = await openTestDatabase();
  await migratePostgres(otherUrl, now);
  const copyPromise = copyServiceStore({ file: sourceFile }, { url: otherUrl }, (progress) => {
    if (progress.startsWith("users:")) changeUsers(1);
  });
  await expect(copyPromise).rejects.toThrow("Rows of users changed during the copy");
  await expect(openPostgres(otherUrl, now)).rejects.toThrow(/copy-store/);
  changeUsers(-1);
  await copyQuietly({ file: sourceFile }, { url: otherUrl });
  await (await openPostgres(otherUrl, now)).close();
});

test("assigns row numbers that were never used", async () => {
  const [row] = await queryService<{ seq: number }>(`
    INSERT INTO jobs (id, user_id, state, number, workflow_id, create_time, update_time, state_time)
    VALUES ('new', 1, 'pending', 1, 'w', 1, 1, 1) RETURNING seq::integer`);
  expect(row?.seq).toBe(ROW_COUNT + 1);
  await queryService("DELETE FROM jobs WHERE id = 'new'");
});

test("restores rows and counters in a folder, even after an interruption", async () => {
  await interruptCopy({ url: databaseUrl }, { file: targetFile });
  await expect(openDatabase(targetFile, now)).rejects.toThrow(/copy-store/);
  await copyQuietly({ url: databaseUrl }, { file: targetFile });
  expect(readRows(targetFile)).toEqual(readRows(sourceFile));
  const store = await openDatabase(targetFile, now);
  await store.close();
  const sqlite = new SqliteConnection(targetFile, { readOnly: true });
  // Ids of deleted jobs are not reused, and assets are in the search index.
  expect(sqlite.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'jobs'").pluck().get()).toBeGreaterThanOrEqual(ROW_COUNT);
  expect(sqlite.prepare("SELECT count(*) FROM asset_search").pluck().get()).toBe(ROW_COUNT - 2);
  sqlite.close();
});

test("rejects overwriting an existing service, even without a console", async () => {
  const copy = copyStores({ from: { dataDir: join(folder, "after") }, to: { url: databaseUrl }, logProgress: () => undefined });
  await expect(copy).rejects.toThrow(/already contains a service/);
});

test("rejects copying a folder in use", async () => {
  const lock = lockDataFolder(join(folder, "after", "service"));
  await expect(copyQuietly({ file: targetFile }, { url: databaseUrl })).rejects.toThrow(/is in use by process/);
  lock.release();
});

function changeUsers(delta: number): void {
  const sqlite = new SqliteConnection(sourceFile);
  sqlite.prepare("UPDATE users SET last_number = last_number + ?").run(delta);
  sqlite.close();
}

async function queryService<Row extends pg.QueryResultRow>(text: string): Promise<Row[]> {
  return queryDatabase<Row>(inSchema(databaseUrl, SERVICE_SCHEMA), text);
}

/** Some values are larger than a single read. */
function fillDatabase(file: string): void {
  const sqlite = new SqliteConnection(file);
  migrate(sqlite, now);
  // Tags are counted by the owner of their assets.
  const tables = listTables(sqlite, skippedTables).sort((table, other) => Number(table === "asset_tags") - Number(other === "asset_tags"));
  fillTables(sqlite, tables, { countRows: () => ROW_COUNT });
  sqlite.prepare("UPDATE job_inputs SET prompt = ? WHERE job_seq IN (5, 6)").run("松".repeat(3 * 1024 ** 2));
  sqlite.exec(`UPDATE jobs SET state = 'completed', has_image = 1 WHERE seq % 2 = 0; UPDATE jobs SET has_image = 0 WHERE seq % 2 = 1`);
  sqlite.close();
}

/** Returns every row of every table, and the counters. */
function readRows(file: string): Map<string, unknown[]> {
  const sqlite = new SqliteConnection(file, { readOnly: true });
  const rows = readTables(sqlite, listTables(sqlite, skippedTables));
  const queries = [jobTotalsQuery, ...Object.values(storedCounters).map(([text]) => text)];
  const counts = queries.map((text): [string, unknown[]] => [text, sortRows(sqlite.prepare<[], object>(text).all())]);
  sqlite.close();
  return new Map([...rows, ...counts]);
}
