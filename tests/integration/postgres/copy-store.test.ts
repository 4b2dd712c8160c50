// A console's store moves to PostgreSQL and back, with rows in every table, also when the copy is killed.
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

const ROWS = 4;
const ENTRIES = 3000;
const places = { before: "", after: "" };

const folder = mkdtempSync(join(tmpdir(), "lightdesk-copy-"));
places.before = mkdtempSync(join(folder, "before-"));
places.after = join(folder, "after");
const database = await createDatabase(inject("postgres"));
const store = openStore(places.before);
await store.migrate();
await store.close();
fill(join(places.before, "console.sqlite"));

afterAll(async () => {
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

test("blocks a half copied console and completes it on the next run", async () => {
  const settings = { LIGHTDESK_DATA_DIR: places.before };
  const target = openStore("", database.url);
  await target.migrate();
  await target.close();
  // Paused in the middle.
  const holder = new pg.Client({ connectionString: database.url });
  await holder.connect();
  await holder.query("BEGIN; LOCK TABLE audit IN SHARE MODE");
  const killed = startProcess("dist/copy-store.mjs", settings, ["--to", database.url]);
  await killed.printed("archives");
  expect(await killed.stop("SIGKILL")).toBeNull();
  await holder.end();
  const env = readEnv({ LIGHTDESK_DATA_DIR: join(folder, "other"), DATABASE_URL: database.url });
  const early = startComposition({ env, logDestination: { write: () => undefined } });
  await expect(early.ready).rejects.toThrow(/copy-store/);
  await early.stop();
  const secondCopy = startProcess("dist/copy-store.mjs", settings, ["--to", database.url]);
  expect([await secondCopy.ended, secondCopy.output()]).toEqual([0, expect.stringContaining("Copied and compared")]);
  expect(secondCopy.output()).not.toContain("secret-word");
  const [counts] = await queryDatabase<{ audit: string; jobs: string; words: string }>(
    database.url,
    "SELECT (SELECT count(*) FROM audit) AS audit, (SELECT count(*) FROM ledger_jobs) AS jobs, (SELECT count(*) FROM ledger_words) AS words",
  );
  expect(counts).toEqual({ audit: String(ENTRIES), jobs: String(ROWS), words: String(ROWS) });
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
  await store.jobIndexStore.note(connection.id, [{ jobId: "j", item: { id: "j", status: "completed" }, createdMs: 5, isExact: true }], 100);
  expect(
    await queryDatabase(database.url, `SELECT number::integer FROM ledger_connections WHERE connection_id = '${connection.id}'`),
  ).toEqual([{ number: ROWS + 1 }]);
  await store.connections.remove(connection.id);
  while (await store.jobIndexStore.sweep());
  await store.close();
});

test("restores the folder to the last row", async () => {
  const { rows } = await copyBetween({ url: database.url }, { dataDir: await fillStore(places.after) }, () => undefined);
  expect(rows).toBeGreaterThan(ENTRIES + 100);
  expect(readRows(places.after)).toEqual(readRows(places.before));
  const store = openStore(places.after);
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

test("refuses to overwrite an existing console", async () => {
  await expect(copyBetween({ dataDir: places.before }, { url: database.url }, () => undefined)).rejects.toThrow(
    /already contains a console/,
  );
});

async function fillStore(path: string): Promise<string> {
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

/** Some rows in every table, each column with a distinct value. */
function fill(file: string): void {
  const sqlite = new SqliteConnection(file);
  sqlite.pragma("foreign_keys = OFF");
  for (const table of listTables(sqlite)) {
    if (table === "audit_end" || table === "attempts") continue;
    const columns = sqlite.prepare<[], ColumnInfo>(`PRAGMA table_info("${table}")`).all();
    const references = sqlite.prepare<[], { from: string; table: string; to: string }>(`PRAGMA foreign_key_list("${table}")`).all();
    const insert = sqlite.prepare(`INSERT INTO "${table}" VALUES (${columns.map(() => "?").join(", ")})`);
    for (let row = 1; row <= (table === "audit" ? ENTRIES : ROWS); row += 1) {
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
  sqlite.exec(`UPDATE audit_end SET id = ${ENTRIES}; UPDATE ledger_connections SET jobs = 1`);
  // The console's own search index is compared by its results.
  sqlite.close();
}

/** Every row of every table. Values are text, because integers may exceed 2^53. */
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
