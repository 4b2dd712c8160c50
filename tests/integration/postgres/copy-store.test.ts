// Copies a console's store to PostgreSQL and back, with rows in every table, even after a killed copy.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, expect, inject, test } from "vitest";
import { startComposition } from "@/lib/server/composition";
import { readEnv } from "@/lib/server/env";
import { copyBetween, openStore } from "@/lib/server/store/store";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { createDatabase, queryDatabase } from "@/tests/support/postgres-server";
import { startProcess } from "@/tests/support/start-process";

const ROW_COUNT = 4;
const AUDIT_ENTRY_COUNT = 3000;
const dataDirs = { before: "", after: "" };

const folder = mkdtempSync(join(tmpdir(), "lightdesk-copy-"));
dataDirs.before = mkdtempSync(join(folder, "before-"));
dataDirs.after = join(folder, "after");
const database = await createDatabase(inject("postgres"));
const store = openStore(dataDirs.before);
await store.migrate();
await store.close();
fillDatabase(join(dataDirs.before, "console.sqlite"));

afterAll(async () => {
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

test("blocks a half copied console and completes it on the next run", async () => {
  const settings = { LIGHTDESK_DATA_DIR: dataDirs.before };
  const target = openStore("", database.url);
  await target.migrate();
  await target.close();
  // Pauses the copy in the middle.
  const lockHolder = new pg.Client({ connectionString: database.url });
  await lockHolder.connect();
  await lockHolder.query("BEGIN; LOCK TABLE audit IN SHARE MODE");
  const killedCopy = startProcess("dist/copy-store.mjs", settings, ["--to", database.url]);
  await killedCopy.waitForOutput("archives");
  expect(await killedCopy.stop("SIGKILL")).toBeNull();
  await lockHolder.end();
  const env = readEnv({ LIGHTDESK_DATA_DIR: join(folder, "other"), DATABASE_URL: database.url });
  const earlyConsole = startComposition({ env, logDestination: { write: () => undefined } });
  await expect(earlyConsole.ready).rejects.toThrow(/copy-store/);
  await earlyConsole.stop();
  const secondCopy = startProcess("dist/copy-store.mjs", settings, ["--to", database.url]);
  expect([await secondCopy.exitCode, secondCopy.output()]).toEqual([0, expect.stringContaining("Copied and compared")]);
  expect(secondCopy.output()).not.toContain("secret-word");
  const [counts] = await queryDatabase<{ audit: string; jobs: string; words: string }>(
    database.url,
    "SELECT (SELECT count(*) FROM audit) AS audit, (SELECT count(*) FROM ledger_jobs) AS jobs, (SELECT count(*) FROM ledger_words) AS words",
  );
  expect(counts).toEqual({ audit: String(AUDIT_ENTRY_COUNT), jobs: String(ROW_COUNT), words: String(ROW_COUNT) });
});

test("searches copied rows and continues the numbering", async () => {
  const store = openStore("", database.url);
  const { jobs } = await store.jobIndexStore.search("connections-id-1", {
    words: ["fjord"],
    offset: 0,
    limit: 9,
    sort_by: "create_time",
    sort_order: "desc",
  });
  expect(jobs.map(({ id }) => id)).toEqual(["ledger_jobs-job_id-1"]);
  const connection = await store.connections.create({ name: "New", baseUrl: "http://127.0.0.1:9", createdAt: 1 });
  await store.jobIndexStore.recordJobs(
    connection.id,
    [{ jobId: "j", item: { id: "j", status: "completed" }, createdMs: 5, isExact: true }],
    100,
  );
  expect(
    await queryDatabase(database.url, `SELECT number::integer FROM ledger_connections WHERE connection_id = '${connection.id}'`),
  ).toEqual([{ number: ROW_COUNT + 1 }]);
  await store.connections.remove(connection.id);
  while (await store.jobIndexStore.sweep());
  await store.close();
});

test("restores every row in the folder", async () => {
  const { rows } = await copyBetween({ url: database.url }, { dataDir: await createFolder(dataDirs.after) }, () => undefined);
  expect(rows).toBeGreaterThan(AUDIT_ENTRY_COUNT + 100);
  expect(readRows(dataDirs.after)).toEqual(readRows(dataDirs.before));
  const store = openStore(dataDirs.after);
  const searchResult = await store.jobIndexStore.search("connections-id-2", {
    words: ["fjord"],
    offset: 0,
    limit: 9,
    sort_by: "create_time",
    sort_order: "desc",
  });
  await store.close();
  expect(searchResult.total).toBe(1);
});

test("rejects overwriting an existing console", async () => {
  await expect(copyBetween({ dataDir: dataDirs.before }, { url: database.url }, () => undefined)).rejects.toThrow(
    /already contains a console/,
  );
});

async function createFolder(path: string): Promise<string> {
  const { mkdir } = await import("node:fs/promises");
  await mkdir(path, { recursive: true });
  return path;
}

type ColumnInfo = { name: string; type: string; pk: number };

function listTables(sqlite: SqliteConnection): string[] {
  return sqlite
    .prepare<[], { name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'")
    .all()
    .map(({ name }) => name)
    .filter((name) => !/^(sqlite_|kysely_|ledger_words)/.test(name));
}

/** Fills every table with a distinct value per column. */
function fillDatabase(file: string): void {
  const sqlite = new SqliteConnection(file);
  sqlite.pragma("foreign_keys = OFF");
  for (const table of listTables(sqlite)) {
    if (table === "audit_end" || table === "attempts") continue;
    const columns = sqlite.prepare<[], ColumnInfo>(`PRAGMA table_info("${table}")`).all();
    const references = sqlite.prepare<[], { from: string; table: string; to: string }>(`PRAGMA foreign_key_list("${table}")`).all();
    const insert = sqlite.prepare(`INSERT INTO "${table}" VALUES (${columns.map(() => "?").join(", ")})`);
    for (let row = 1; row <= (table === "audit" ? AUDIT_ENTRY_COUNT : ROW_COUNT); row += 1) {
      insert.run(
        columns.map(({ name, type }) => {
          const reference = references.find(({ from }) => from === name);
          if (reference) return `${reference.table}-${reference.to}-${row}`;
          if (table === "ledger_jobs" && name === "key") return (BigInt(row) << 47n) | 5n;
          if (table === "ledger_jobs" && name === "item") return JSON.stringify({ id: `ledger_jobs-job_id-${row}`, status: "completed" });
          if (table === "ledger_jobs" && name === "inputs") return "A fjord, 松 100%";
          if (/^(integer|bigint)$/i.test(type)) return row;
          return /^double/i.test(type) ? row / 10 : `${table}-${name}-${row}`;
        }),
      );
    }
  }
  sqlite.exec(`UPDATE audit_end SET id = ${AUDIT_ENTRY_COUNT}; UPDATE ledger_connections SET jobs = 1`);
  // The search index isn't filled here. A search compares its results.
  sqlite.close();
}

/** Returns every row of every table. Values are text, because integers may exceed 2^53. */
function readRows(folder: string): Map<string, unknown[]> {
  const sqlite = new SqliteConnection(join(folder, "console.sqlite"), { readOnly: true });
  const rows = new Map(
    listTables(sqlite)
      .filter((table) => table !== "attempts")
      .map((table) => {
        const names = sqlite.prepare<[], string>(`SELECT name FROM pragma_table_info('${table}')`).pluck().all();
        const texts = names.map((name) => `CAST("${name}" AS TEXT) AS "${name}"`).join(", ");
        return [table, sqlite.prepare(`SELECT ${texts} FROM "${table}" ORDER BY 1, 2`).all()];
      }),
  );
  sqlite.close();
  return rows;
}
