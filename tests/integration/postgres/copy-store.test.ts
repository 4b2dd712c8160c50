// Copies a console's store to PostgreSQL and back, with rows in every table, even after a killed copy.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { expect, test } from "vitest";
import { startComposition } from "@/lib/server/composition";
import { readEnv } from "@/lib/server/env";
import { copyBetween, openStore, type Store } from "@/lib/server/store/store";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { openTestDatabase } from "@/tests/support/postgres-proxy";
import { queryDatabase } from "@/tests/support/postgres-server";
import { runProcess, startProcess } from "@/tests/support/start-process";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { fillTables, listTables, readTables } from "./fill-tables";

const ROW_COUNT = 4;
const AUDIT_ENTRY_COUNT = 3000;

const folder = createTemporaryFolder();
const dataDirs = { before: join(folder, "before"), after: join(folder, "after") };
for (const dataDir of Object.values(dataDirs)) mkdirSync(dataDir);
const databaseUrl = await openTestDatabase();
await migrate(openStore(dataDirs.before));
fillDatabase(join(dataDirs.before, "console.sqlite"));

async function migrate(store: Store): Promise<void> {
  await store.migrate();
  await store.close();
}

const searchFjord = (store: Store, connectionId: string) =>
  store.jobIndexStore.search(connectionId, { words: ["fjord"], offset: 0, limit: 9, sort_by: "create_time", sort_order: "desc" });

test("blocks a half copied console and completes it on the next run", async () => {
  const settings = { LIGHTDESK_DATA_DIR: dataDirs.before };
  await migrate(openStore("", databaseUrl));
  // Pauses the copy in the middle.
  const lockHolder = new pg.Client({ connectionString: databaseUrl });
  await lockHolder.connect();
  await lockHolder.query("BEGIN; LOCK TABLE audit IN SHARE MODE");
  const killedCopy = startProcess("dist/copy-store.mjs", settings, ["--to", databaseUrl]);
  await killedCopy.waitForOutput("archives");
  expect(await killedCopy.stop("SIGKILL")).toBeNull();
  await lockHolder.end();
  const env = readEnv({ LIGHTDESK_DATA_DIR: join(folder, "other"), DATABASE_URL: databaseUrl });
  const earlyConsole = startComposition({ env, logDestination: { write: () => undefined } });
  await expect(earlyConsole.ready).rejects.toThrow(/copy-store/);
  await earlyConsole.stop();
  const secondCopy = await runProcess("dist/copy-store.mjs", settings, ["--to", databaseUrl]);
  expect(secondCopy).toEqual({ code: 0, output: expect.stringContaining("Copied and compared") });
  expect(secondCopy.output).not.toContain("secret-word");
  const [counts] = await queryDatabase<{ audit: string; jobs: string; words: string }>(
    databaseUrl,
    "SELECT (SELECT count(*) FROM audit) AS audit, (SELECT count(*) FROM ledger_jobs) AS jobs, (SELECT count(*) FROM ledger_words) AS words",
  );
  expect(counts).toEqual({ audit: String(AUDIT_ENTRY_COUNT), jobs: String(ROW_COUNT), words: String(ROW_COUNT) });
});

test("searches copied rows and continues the numbering", async () => {
  const store = openStore("", databaseUrl);
  const { jobs } = await searchFjord(store, "connections-id-1");
  expect(jobs.map(({ id }) => id)).toEqual(["ledger_jobs-job_id-1"]);
  const connection = await store.connections.create({ name: "New", baseUrl: "http://127.0.0.1:9", createdAt: 1 });
  await store.jobIndexStore.recordJobs(
    connection.id,
    [{ jobId: "j", item: { id: "j", status: "completed" }, createdMs: 5, isExact: true }],
    100,
  );
  expect(
    await queryDatabase(databaseUrl, `SELECT number::integer FROM ledger_connections WHERE connection_id = '${connection.id}'`),
  ).toEqual([{ number: ROW_COUNT + 1 }]);
  await store.connections.remove(connection.id);
  while (await store.jobIndexStore.sweep());
  await store.close();
});

test("restores every row in the folder", async () => {
  const { rows } = await copyBetween({ url: databaseUrl }, { dataDir: dataDirs.after }, () => undefined);
  expect(rows).toBeGreaterThan(AUDIT_ENTRY_COUNT + 100);
  expect(readRows(dataDirs.after)).toEqual(readRows(dataDirs.before));
  const store = openStore(dataDirs.after);
  const { total } = await searchFjord(store, "connections-id-2");
  await store.close();
  expect(total).toBe(1);
});

function fillDatabase(file: string): void {
  const sqlite = new SqliteConnection(file);
  fillTables(sqlite, listTables(sqlite, /^(sqlite_|kysely_|ledger_words|audit_end$|attempts$)/), {
    countRows: (table) => (table === "audit" ? AUDIT_ENTRY_COUNT : ROW_COUNT),
    createValue(column, row) {
      if (column === "ledger_jobs.key") return (BigInt(row) << 47n) | 5n;
      if (column === "ledger_jobs.item") return JSON.stringify({ id: `ledger_jobs-job_id-${row}`, status: "completed" });
      return column === "ledger_jobs.inputs" ? "A fjord, 松 100%" : undefined;
    },
  });
  // The search index isn't filled here. A search compares its results.
  sqlite.exec(`UPDATE audit_end SET id = ${AUDIT_ENTRY_COUNT}; UPDATE ledger_connections SET jobs = 1`);
  sqlite.close();
}

function readRows(folder: string): Map<string, unknown[]> {
  const sqlite = new SqliteConnection(join(folder, "console.sqlite"), { readOnly: true });
  const rows = readTables(sqlite, listTables(sqlite, /^(sqlite_|kysely_|ledger_words|attempts$)/));
  sqlite.close();
  return rows;
}
