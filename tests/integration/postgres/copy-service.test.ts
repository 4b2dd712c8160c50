// Copies a service's rows to PostgreSQL and back, even after an interruption.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type pg from "pg";
import { afterAll, expect, inject, test } from "vitest";
import { copyStores } from "@/lib/server/backup/backup";
import { openStore } from "@/lib/server/store/store";
import { copyServiceStore } from "@/lib/service/index";
import { migrate, migratePostgres, SERVICE_SCHEMA } from "@/lib/service/store/baseline";
import { lockDataFolder } from "@/lib/service/store/data-folder";
import { openPostgres } from "@/lib/service/store/postgres/database";
import { openDatabase } from "@/lib/service/store/sqlite";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { createDatabase, inSchema, queryDatabase } from "@/tests/support/postgres-server";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";

/** More rows than a single read returns. */
const ROW_COUNT = 1200;
const now = () => 1_700_000_000_000;
/** Tables that triggers fill, and tables that only one of the two databases has. */
const skippedTables = /^(sqlite_.*|migrations|asset_search.*|job_counts|asset_counts|user_storage|tag_counts)$/;
const counters = {
  job_counts: "SELECT user_id, workflow_id, state, has_image, n FROM job_counts WHERE n <> 0 ORDER BY 1, 2, 3, 4",
  asset_counts: "SELECT owner_id, n FROM asset_counts WHERE n <> 0 ORDER BY 1",
  user_storage: "SELECT owner_id, bytes FROM user_storage WHERE bytes <> 0 ORDER BY 1",
  tag_counts: "SELECT owner_id, tag, n FROM tag_counts WHERE n <> 0 ORDER BY 1, 2",
};

const folder = createTemporaryFolder();
const sourceFile = join(folder, "before", "service", "service.sqlite");
const targetFile = join(folder, "after", "service", "service.sqlite");
for (const name of ["before", "after"]) mkdirSync(join(folder, name, "service"), { recursive: true });
const database = await createDatabase(inject("postgres"));
await migratePostgres(database.url, now);
fillDatabase(sourceFile);

afterAll(() => database.drop());

test("resumes an interrupted copy with later changes before a service can start", async () => {
  const interruptedCopy = copyServiceStore({ file: sourceFile }, { url: database.url }, (progress) => {
    if (progress.startsWith("job_results:")) throw new Error("interrupted");
  });
  await expect(interruptedCopy).rejects.toThrow("interrupted");
  await expect(openPostgres(database.url, now)).rejects.toThrow(/copy-store/);
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
  await copyServiceStore({ file: sourceFile }, { url: database.url }, () => undefined);
  const counts =
    "SELECT (SELECT count(*) FROM jobs)::integer AS jobs, (SELECT sum(n) FROM job_counts WHERE workflow_id = '')::integer AS counted";
  expect(await queryService(counts)).toEqual([{ jobs: ROW_COUNT - 2, counted: ROW_COUNT - 2 }]);
  await (await openPostgres(database.url, now)).close();
});

test("finds a row changed after copying and repeats the copy", async () => {
  const otherDatabase = await createDatabase(inject("postgres"));
  await migratePostgres(otherDatabase.url, now);
  const disturbedCopy = copyServiceStore({ file: sourceFile }, { url: otherDatabase.url }, (progress) => {
    if (progress.startsWith("users:")) changeUsers(1);
  });
  await expect(disturbedCopy).rejects.toThrow("Rows of users changed during the copy");
  await expect(openPostgres(otherDatabase.url, now)).rejects.toThrow(/copy-store/);
  changeUsers(-1);
  await copyServiceStore({ file: sourceFile }, { url: otherDatabase.url }, () => undefined);
  await (await openPostgres(otherDatabase.url, now)).close();
  await otherDatabase.drop();
});

test("assigns row numbers that were never used", async () => {
  const [row] = await queryService<{ seq: number }>(`
    INSERT INTO jobs (id, user_id, state, number, workflow_id, create_time, update_time, state_time)
    VALUES ('new', 1, 'pending', 1, 'w', 1, 1, 1) RETURNING seq::integer`);
  expect(row?.seq).toBe(ROW_COUNT + 1);
  await queryService("DELETE FROM jobs WHERE id = 'new'");
});

test("restores rows and counters in a folder, even after an interruption", async () => {
  const interruptedCopy = copyServiceStore({ url: database.url }, { file: targetFile }, (progress) => {
    if (progress.startsWith("job_results:")) throw new Error("interrupted");
  });
  await expect(interruptedCopy).rejects.toThrow("interrupted");
  await expect(openDatabase(targetFile, now)).rejects.toThrow(/copy-store/);
  await copyServiceStore({ url: database.url }, { file: targetFile }, () => undefined);
  expect(readRows(targetFile)).toEqual(readRows(sourceFile));
  const store = await openDatabase(targetFile, now);
  await store.close();
  const sqlite = new SqliteConnection(targetFile, { readOnly: true });
  // Ids of deleted jobs are not reused, and assets are in the search index.
  expect(sqlite.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'jobs'").pluck().get()).toBeGreaterThanOrEqual(ROW_COUNT);
  expect(sqlite.prepare("SELECT count(*) FROM asset_search").pluck().get()).toBe(ROW_COUNT - 2);
  sqlite.close();
});

test("copies console and service together and blocks starts until done", async () => {
  const database = await createDatabase(inject("postgres"));
  const sourceFolder = join(folder, "before");
  const consoleStore = openStore(sourceFolder);
  await consoleStore.migrate();
  await consoleStore.members.create({ name: "Ada", email: "ada@example.com", role: "owner", passwordHash: "h", createdAt: 1 });
  await consoleStore.close();
  const copy = (logProgress: (progress: string) => void) =>
    copyStores({ from: { dataDir: sourceFolder }, to: { url: database.url }, logProgress });
  const interruptedCopy = copy((progress) => {
    if (progress.startsWith("jobs:")) throw new Error("interrupted");
  });
  await expect(interruptedCopy).rejects.toThrow("interrupted");
  const targetStore = openStore("", database.url);
  await expect(targetStore.migrate()).rejects.toThrow(/copy-store/);
  const { tables } = await copy(() => undefined);
  expect(tables).toBeGreaterThan(40);
  await targetStore.migrate();
  await targetStore.close();
  await expect(copy(() => undefined)).rejects.toThrow(/already contains a console/);
  await database.drop();
});

test("rejects overwriting an existing service, even without a console", async () => {
  const copy = copyStores({ from: { dataDir: join(folder, "after") }, to: { url: database.url }, logProgress: () => undefined });
  await expect(copy).rejects.toThrow(/already contains a service/);
});

test("rejects copying a folder in use", async () => {
  const lock = lockDataFolder(join(folder, "after", "service"));
  await expect(copyServiceStore({ file: targetFile }, { url: database.url }, () => undefined)).rejects.toThrow(/is in use by process/);
  lock.release();
});

function changeUsers(delta: number): void {
  const sqlite = new SqliteConnection(sourceFile);
  sqlite.prepare("UPDATE users SET last_number = last_number + ?").run(delta);
  sqlite.close();
}

async function queryService<Row extends pg.QueryResultRow>(text: string): Promise<Row[]> {
  return queryDatabase<Row>(inSchema(database.url, SERVICE_SCHEMA), text);
}

type ColumnInfo = { name: string; type: string };

function listTables(sqlite: SqliteConnection): string[] {
  const names = sqlite.prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").pluck().all();
  return names.filter((name) => !skippedTables.test(name));
}

/** Fills every table with a distinct value per column. Some values are larger than a single read. */
function fillDatabase(file: string): void {
  const sqlite = new SqliteConnection(file);
  migrate(sqlite, now);
  sqlite.pragma("foreign_keys = OFF");
  sqlite.runExclusively(() => {
    // Tags are counted by the owner of their assets.
    for (const table of listTables(sqlite).sort((value, other) => Number(value === "asset_tags") - Number(other === "asset_tags"))) {
      const columns = sqlite.prepare<[], ColumnInfo>(`PRAGMA table_info("${table}")`).all();
      const references = sqlite.prepare<[], { from: string; table: string; to: string }>(`PRAGMA foreign_key_list("${table}")`).all();
      const insert = sqlite.prepare(`INSERT INTO "${table}" VALUES (${columns.map(() => "?").join(", ")})`);
      for (let row = 1; row <= ROW_COUNT; row += 1)
        insert.run(
          columns.map(({ name, type }) => {
            if (type === "INTEGER") return row;
            const reference = references.find(({ from }) => from === name);
            return reference ? `${reference.table}-${reference.to}-${row}` : `${table}-${name}-${row}`;
          }),
        );
    }
    sqlite.prepare("UPDATE job_inputs SET prompt = ? WHERE job_seq IN (5, 6)").run("松".repeat(3 * 1024 ** 2));
    sqlite.exec(`UPDATE jobs SET state = 'completed', has_image = 1 WHERE seq % 2 = 0; UPDATE jobs SET has_image = 0 WHERE seq % 2 = 1`);
  });
  sqlite.close();
}

/** Returns every row of every table. */
function readRows(file: string): Map<string, unknown[]> {
  const sqlite = new SqliteConnection(file, { readOnly: true });
  const rows = listTables(sqlite).map((table): [string, unknown[]] => [table, sqlite.prepare(`SELECT * FROM "${table}" ORDER BY 1`).all()]);
  const counts = Object.entries(counters).map(([table, text]): [string, unknown[]] => [table, sqlite.prepare(text).all()]);
  sqlite.close();
  return new Map([...rows, ...counts]);
}
