// What the doctor reports about a PostgreSQL database: its installation, version, connections and clock, and what waits for a lock.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterEach, beforeEach, expect, inject, test } from "vitest";
import { lookAtServer } from "@/lib/server/doctor/postgres";
import { checkStorage } from "@/lib/server/doctor/storage";
import { readEnv } from "@/lib/server/env";
import { openStore } from "@/lib/server/store/store";
import { migratePostgres, SERVICE_SCHEMA } from "@/lib/service/store/baseline";
import { ask, createDatabase, type OwnDatabase } from "@/tests/support/postgres-server";
import { until } from "@/tests/support/until";

const MINUTE_MS = 60_000;
let folder: string;
let database: OwnDatabase;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "lightdesk-doctor-"));
  database = await createDatabase(inject("postgres"));
});
afterEach(async () => {
  await database.drop();
  rmSync(folder, { recursive: true });
});

/** The results by check. */
async function findings(url = database.url, now = Date.now()): Promise<Record<string, string>> {
  const found = await checkStorage(readEnv({ LIGHTDESK_DATA_DIR: folder, DATABASE_URL: url }), now);
  const lines = found.map(({ check, state, text, remedy }) => [check, `${state}: ${text}${remedy ? ` ${remedy}` : ""}`]);
  expect(JSON.stringify(lines)).not.toContain("secret-word");
  return Object.fromEntries(lines);
}

async function makeBoth(): Promise<void> {
  const store = openStore("", database.url);
  await store.migrate();
  await store.close();
  await migratePostgres(database.url, Date.now);
}

test("an empty database is no fault; one of this version is reported with the server's version and connections", async () => {
  expect(await findings()).toMatchObject({
    "console database": expect.stringMatching(/^noted: .*has no tables yet/),
    "service database": expect.stringMatching(/^noted: .*has no tables yet/),
  });
  await makeBoth();
  expect(await findings()).toMatchObject({
    "database server": expect.stringMatching(/: PostgreSQL \d+.*; \d+ of its \d+ connections are in use/),
    "database locks": expect.stringMatching(/^passed/),
    "console database": expect.stringMatching(/^passed: .*of this version/),
    "service database": expect.stringMatching(/^passed: .*of this version/),
    clock: expect.stringMatching(/^passed/),
  });
});

test("a newer version's, and a copy that has not ended, are named with what to do", async () => {
  await makeBoth();
  await ask(database.url, `INSERT INTO ${SERVICE_SCHEMA}.migrations VALUES ('999-of-later', 0)`);
  await ask(database.url, "CREATE TABLE unfinished_copy (begun bigint)");
  expect(await findings()).toMatchObject({
    "console database": expect.stringMatching(/^failed: .*copy-store.*Run it again/),
    "service database": expect.stringMatching(/^failed: .*newer version \(999-of-later\)/),
  });
});

test("a database that is away is reported once, with what to do", async () => {
  expect(await findings("postgres://postgres:secret-word@127.0.0.1:9/none")).toMatchObject({
    "database server": expect.stringMatching(/^failed: .*cannot be reached.*Start PostgreSQL/),
    "console database": expect.stringMatching(/^failed/),
  });
});

test("a clock that is not the database's, and rows of tomorrow, are reported", async () => {
  await makeBoth();
  expect((await findings(undefined, Date.now() - 10 * MINUTE_MS)).clock).toMatch(/^failed: The database's clock .* differ by 10 minutes/);
  await ask(
    database.url,
    `INSERT INTO audit (id, at, request_id, action, status) VALUES (1, ${Date.now() + 20 * MINUTE_MS}, 'r', 'a', 200)`,
  );
  expect((await findings()).clock).toMatch(/^failed: Rows are stored that are (19|20) minutes younger/);
});

test("who holds what others wait for is named", async () => {
  await makeBoth();
  const [holder, waiter] = [1, 2].map(() => new pg.Client({ connectionString: database.url }));
  await Promise.all([holder?.connect(), waiter?.connect()]);
  await holder?.query("BEGIN; LOCK TABLE audit");
  const pid = (await holder?.query<{ pid: number }>("SELECT pg_backend_pid() AS pid"))?.rows[0]?.pid;
  const waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
  const waits = waiter?.query("SELECT count(*) FROM audit");
  await until("it waits", async () => (await ask(database.url, waiting)).length > 0);
  const { findings: found } = await lookAtServer(database.url, 0);
  expect(found.find(({ check }) => check === "database locks")).toMatchObject({
    state: "failed",
    text: expect.stringMatching(new RegExp(`^Statements that wait for a lock: 1, .* process ${pid} of the database holds it`)),
  });
  await holder?.end();
  await waits;
  await waiter?.end();
});
