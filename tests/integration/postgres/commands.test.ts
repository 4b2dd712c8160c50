// Every command with DATABASE_URL, next to a running console: it reads the database and never prints the password.
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterAll, afterEach, beforeEach, describe, expect, inject, test, vi } from "vitest";
import { inspectServer } from "@/lib/server/doctor/databases";
import { checkStorage } from "@/lib/server/doctor/storage";
import { readEnv } from "@/lib/server/env";
import { openStore } from "@/lib/server/store/store";
import { migratePostgres, SERVICE_SCHEMA } from "@/lib/service/store/baseline";
import { gpuClasses } from "@/tests/support/gpu-classes";
import { createDatabase, queryDatabase, type TestDatabase } from "@/tests/support/postgres-server";
import { startRunnerServer } from "@/tests/support/servers";
import { httpClient, startServiceProcess } from "@/tests/support/service-process";
import { startProcess } from "@/tests/support/start-process";
import { temporaryFolder } from "@/tests/support/temporary-folder";
import { until } from "@/tests/support/until";
import { createAppWorld } from "../console/apps/app-world";
import { canvas, submit, waitForEnd } from "../service/support";

describe("commands", async () => {
  vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

  const root = temporaryFolder();
  const database = await createDatabase(inject("postgres"));
  const world = await createAppWorld({ settings: { DATABASE_URL: database.url } });
  afterAll(async () => {
    await world.dispose();
    await database.drop();
  });

  /** The command's output; its exit code is 0. */
  async function run(name: string, args: string[] = [], settings: Record<string, string> = {}): Promise<string> {
    const env = { LIGHTDESK_DATA_DIR: world.harness.folder, DATABASE_URL: database.url, PORT: "0" };
    const started = startProcess(`dist/${name}.mjs`, { ...env, ...settings }, args);
    const code = await started.ended;
    expect(started.output()).not.toContain("secret-word");
    expect([name, ...args, code], started.output()).toEqual([name, ...args, 0]);
    return started.output();
  }

  test("manages keys and users of the service", async () => {
    const [, prefix = ""] = /^Key (\S+) for grace/m.exec(await run("service", ["keys", "create", "--user", "grace"])) ?? [];
    expect(await run("service", ["keys", "list"])).toContain(`${prefix}  grace (active)`);
    expect(await run("service", ["users", "set-status", "grace", "waitlisted"])).toContain("grace is waitlisted.");
    expect(await run("service", ["keys", "revoke", prefix])).toContain("Revoked");
    expect(await run("service", ["keys", "list"])).toMatch(/grace \(waitlisted\) .* revoked/);
  });

  test("runners", async () => {
    const runner = await startRunnerServer({ objectInfo: gpuClasses(["one.safetensors"]) });
    expect(await run("service", ["runners", "add", runner.address, "--label", "GPU 1"])).toMatch(/^Added GPU 1 with \d+ node classes/);
    expect(await run("service", ["runners", "pause", "GPU 1"])).toContain("GPU 1 is paused.");
    expect(await run("service", ["runners", "list"])).toMatch(new RegExp(`GPU 1 +${runner.address} +paused`));
    expect(await run("service", ["runners", "remove", "GPU 1"])).toContain("Removed GPU 1.");
  });

  test("lists members, shows the audit log and rotates keys", async () => {
    expect(await run("members", ["reset-link", "owner@desk.test"])).toMatch(/http:\S+token=/);
    expect(await run("audit", ["verify"])).toMatch(/^\d+ rows, each as it was written/);
    expect(await run("rotate-keys")).toMatch(/^0 keys resealed/);
  });

  test("shares rows and files between two services and refuses one without files", async () => {
    const database = await createDatabase(inject("postgres"));
    const settings = { DATABASE_URL: database.url, LIGHTDESK_BLOBS: join(root, "shared") };
    const folders = ["one", "two", "three"].map((name) => join(root, name));
    const [first = "", two = "", three = ""] = folders;
    const key = (await run("service", ["keys", "create", "--user", "ada"], { ...settings, LIGHTDESK_DATA_DIR: first }))
      .trim()
      .split("\n")
      .at(-1);
    const services = [await startServiceProcess(first, settings), await startServiceProcess(two, settings)];
    const [firstClient, secondClient] = services.map(({ url }) => httpClient(url, key ?? ""));
    if (!firstClient || !secondClient) throw new Error("there are two");
    const id = await submit(firstClient, canvas());
    const { outputs } = await waitForEnd(secondClient, id);
    const [, filename] = /"filename":"([^"]+)"/.exec(JSON.stringify(outputs)) ?? [];
    for (const client of [firstClient, secondClient])
      expect((await client.raw("GET", `/api/view?filename=${filename}&type=output`)).status).toBe(200);
    const third = startProcess("dist/service.mjs", { DATABASE_URL: database.url, LIGHTDESK_DATA_DIR: three, PORT: "0" });
    expect([await third.ended, third.output()]).toEqual([1, expect.stringMatching(/are in another data folder .* set LIGHTDESK_BLOBS/)]);
    for (const service of services) expect(await service.stop()).toBe(0);
    await database.drop();
  });

  test("copies files to a shared store that another folder can join", async () => {
    const bytes = join(root, "bytes");
    mkdirSync(bytes);
    expect(await run("service", ["copy-blobs", "--to", bytes])).toMatch(/^\d+ files, \d+ copied now/);
    expect(readdirSync(bytes).sort()).toEqual(["blake3-v1", "lightdesk-store"]);
  });
});

describe("doctor", () => {
  const MINUTE_MS = 60_000;
  let folder: string;
  let database: TestDatabase;
  beforeEach(async () => {
    folder = temporaryFolder();
    database = await createDatabase(inject("postgres"));
  });
  afterEach(() => database.drop());

  /** The results by check. */
  async function findings(url = database.url, now = Date.now()): Promise<Record<string, string>> {
    const findings = await checkStorage(readEnv({ LIGHTDESK_DATA_DIR: folder, DATABASE_URL: url }), now);
    const lines = findings.map(({ check, state, text, remedy }) => [check, `${state}: ${text}${remedy ? ` ${remedy}` : ""}`]);
    expect(JSON.stringify(lines)).not.toContain("secret-word");
    return Object.fromEntries(lines);
  }

  async function makeBoth(): Promise<void> {
    const store = openStore("", database.url);
    await store.migrate();
    await store.close();
    await migratePostgres(database.url, Date.now);
  }

  test("accepts an empty database and reports version and connections", async () => {
    expect(await findings()).toMatchObject({
      "console database": expect.stringMatching(/^noted: .*no tables yet/),
      "service database": expect.stringMatching(/^noted: .*no tables yet/),
    });
    await makeBoth();
    expect(await findings()).toMatchObject({
      "database server": expect.stringMatching(/: PostgreSQL \d+.*; \d+ of \d+ connections in use/),
      "database locks": expect.stringMatching(/^passed/),
      "console database": expect.stringMatching(/^passed: .*schema is up to date/),
      "service database": expect.stringMatching(/^passed: .*schema is up to date/),
      clock: expect.stringMatching(/^passed/),
    });
  });

  test("names a newer version and an unfinished copy with a remedy", async () => {
    await makeBoth();
    await queryDatabase(database.url, `INSERT INTO ${SERVICE_SCHEMA}.migrations VALUES ('999-of-later', 0)`);
    await queryDatabase(database.url, "CREATE TABLE unfinished_copy (begun bigint)");
    expect(await findings()).toMatchObject({
      "console database": expect.stringMatching(/^failed: .*copy-store.*Run it again/),
      "service database": expect.stringMatching(/^failed: .*newer version \(999-of-later\)/),
    });
  });

  test("reports an unreachable database once with a remedy", async () => {
    expect(await findings("postgres://postgres:secret-word@127.0.0.1:9/none")).toMatchObject({
      "database server": expect.stringMatching(/^failed: Can't reach the database.*Start PostgreSQL/),
      "console database": expect.stringMatching(/^failed/),
    });
  });

  test("reports clock skew and future rows", async () => {
    await makeBoth();
    expect((await findings(undefined, Date.now() - 10 * MINUTE_MS)).clock).toMatch(
      /^failed: The clocks of the database and this machine differ by 10 minutes/,
    );
    await queryDatabase(
      database.url,
      `INSERT INTO audit (id, at, request_id, action, status) VALUES (1, ${Date.now() + 20 * MINUTE_MS}, 'r', 'a', 200)`,
    );
    expect((await findings()).clock).toMatch(/^failed: The newest stored row is (19|20) minutes ahead/);
  });

  test("names the session that blocks others", async () => {
    await makeBoth();
    const [holder, waiter] = [1, 2].map(() => new pg.Client({ connectionString: database.url }));
    await Promise.all([holder?.connect(), waiter?.connect()]);
    await holder?.query("BEGIN; LOCK TABLE audit");
    const pid = (await holder?.query<{ pid: number }>("SELECT pg_backend_pid() AS pid"))?.rows[0]?.pid;
    const waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    const waits = waiter?.query("SELECT count(*) FROM audit");
    await until("it waits", async () => (await queryDatabase(database.url, waiting)).length > 0);
    const { findings } = await inspectServer(database.url, 0);
    expect(findings.find(({ check }) => check === "database locks")).toMatchObject({
      state: "failed",
      text: expect.stringMatching(new RegExp(`^1 statements are waiting for a lock, .* Database process ${pid} holds it`)),
    });
    await holder?.end();
    await waits;
    await waiter?.end();
  });
});
