// Runs every command with DATABASE_URL next to a running console. Commands use the database and never print its password.
import { readdirSync } from "node:fs";
import pg from "pg";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { inspectServer } from "@/lib/server/doctor/databases";
import { checkStorage } from "@/lib/server/doctor/storage";
import { readEnv } from "@/lib/server/env";
import { openStore } from "@/lib/server/store/store";
import { migratePostgres, SERVICE_SCHEMA } from "@/lib/service/store/baseline";
import { createGpuClasses } from "@/tests/support/gpu-classes";
import { openTestDatabase } from "@/tests/support/postgres-proxy";
import { queryDatabase } from "@/tests/support/postgres-server";
import { startRunnerServer } from "@/tests/support/servers";
import { runProcess } from "@/tests/support/start-process";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { until } from "@/tests/support/until";
import { createAppHarness } from "../console/apps/app-harness";

describe("commands", async () => {
  vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

  const { env } = (await createAppHarness()).harness.console;

  /** Runs a command, expects exit code 0 and returns the output. */
  async function runCommand(name: string, ...args: string[]): Promise<string> {
    const settings = { LIGHTDESK_DATA_DIR: env.dataDir, DATABASE_URL: env.databaseUrl ?? "", PORT: "0" };
    const { code, output } = await runProcess(`dist/${name}.mjs`, settings, args);
    expect(output).not.toContain("secret-word");
    expect([name, ...args, code], output).toEqual([name, ...args, 0]);
    return output;
  }

  test("manages keys and users of the service", async () => {
    const [, prefix = ""] = /^Key (\S+) for grace/m.exec(await runCommand("service", "keys", "create", "--user", "grace")) ?? [];
    expect(await runCommand("service", "keys", "list")).toContain(`${prefix}  grace (active)`);
    expect(await runCommand("service", "users", "set-status", "grace", "waitlisted")).toContain("grace is waitlisted.");
    expect(await runCommand("service", "keys", "revoke", prefix)).toContain("Revoked");
    expect(await runCommand("service", "keys", "list")).toMatch(/grace \(waitlisted\) .* revoked/);
  });

  test("adds, pauses, lists and removes a runner", async () => {
    const runner = await startRunnerServer({ objectInfo: createGpuClasses(["one.safetensors"]) });
    expect(await runCommand("service", "runners", "add", runner.address, "--label", "GPU 1")).toMatch(/^Added GPU 1 with \d+ node classes/);
    expect(await runCommand("service", "runners", "pause", "GPU 1")).toContain("GPU 1 is paused.");
    expect(await runCommand("service", "runners", "list")).toMatch(new RegExp(`GPU 1 +${runner.address} +paused`));
    expect(await runCommand("service", "runners", "remove", "GPU 1")).toContain("Removed GPU 1.");
  });

  test("lists members, shows the audit log and rotates keys", async () => {
    expect(await runCommand("members", "reset-link", "owner@desk.test")).toMatch(/http:\S+token=/);
    expect(await runCommand("audit", "verify")).toMatch(/^\d+ rows verified, no changes found/);
    expect(await runCommand("rotate-keys")).toMatch(/^0 keys resealed/);
  });

  test("copies files to a shared store that another folder can join", async () => {
    const blobsFolder = createTemporaryFolder();
    expect(await runCommand("service", "copy-blobs", "--to", blobsFolder)).toMatch(/^\d+ files, \d+ copied now/);
    expect(readdirSync(blobsFolder).sort()).toEqual(["blake3-v1", "lightdesk-store"]);
  });
});

describe("doctor", () => {
  const MINUTE_MS = 60_000;
  let folder: string;
  let databaseUrl: string;
  beforeEach(async () => {
    folder = createTemporaryFolder();
    databaseUrl = await openTestDatabase();
  });

  /** Returns the findings by check. */
  async function checkDatabase(url = databaseUrl, now = Date.now()): Promise<Record<string, string>> {
    const findings = await checkStorage(readEnv({ LIGHTDESK_DATA_DIR: folder, DATABASE_URL: url }), now);
    const lines = findings.map(({ check, state, text, remedy }) => [check, `${state}: ${text}${remedy ? ` ${remedy}` : ""}`]);
    expect(JSON.stringify(lines)).not.toContain("secret-word");
    return Object.fromEntries(lines);
  }

  async function migrateBoth(): Promise<void> {
    const store = openStore("", databaseUrl);
    await store.migrate();
    await store.close();
    await migratePostgres(databaseUrl, Date.now);
  }

  test("accepts an empty database and reports version and connections", async () => {
    expect(await checkDatabase()).toMatchObject({
      "console database": expect.stringMatching(/^noted: .*no tables yet/),
      "service database": expect.stringMatching(/^noted: .*no tables yet/),
    });
    await migrateBoth();
    expect(await checkDatabase()).toMatchObject({
      "database server": expect.stringMatching(/: PostgreSQL \d+.*; \d+ of \d+ connections in use/),
      "database locks": expect.stringMatching(/^passed/),
      "console database": expect.stringMatching(/^passed: .*schema is up to date/),
      "service database": expect.stringMatching(/^passed: .*schema is up to date/),
      clock: expect.stringMatching(/^passed/),
    });
  });

  test("reports a newer version and an unfinished copy with a remedy", async () => {
    await migrateBoth();
    await queryDatabase(databaseUrl, `INSERT INTO ${SERVICE_SCHEMA}.migrations VALUES ('999-of-later', 0)`);
    await queryDatabase(databaseUrl, "CREATE TABLE unfinished_copy (begun bigint)");
    expect(await checkDatabase()).toMatchObject({
      "console database": expect.stringMatching(/^failed: .*copy-store.*Run it again/),
      "service database": expect.stringMatching(/^failed: .*newer version \(999-of-later\)/),
    });
  });

  test("reports an unreachable database once with a remedy", async () => {
    expect(await checkDatabase("postgres://postgres:secret-word@127.0.0.1:9/none")).toMatchObject({
      "database server": expect.stringMatching(/^failed: Can't reach the database.*Start PostgreSQL/),
      "console database": expect.stringMatching(/^failed/),
    });
  });

  test("reports clock skew and future rows", async () => {
    await migrateBoth();
    expect((await checkDatabase(undefined, Date.now() - 10 * MINUTE_MS)).clock).toMatch(
      /^failed: The clocks of the database and this machine differ by 10 minutes/,
    );
    await queryDatabase(
      databaseUrl,
      `INSERT INTO audit (id, at, request_id, action, status) VALUES (1, ${Date.now() + 20 * MINUTE_MS}, 'r', 'a', 200)`,
    );
    expect((await checkDatabase()).clock).toMatch(/^failed: The newest stored row is (19|20) minutes ahead/);
  });

  test("names the database process that blocks others", async () => {
    await migrateBoth();
    const [lockHolder, waiter] = [1, 2].map(() => new pg.Client({ connectionString: databaseUrl }));
    await Promise.all([lockHolder?.connect(), waiter?.connect()]);
    await lockHolder?.query("BEGIN; LOCK TABLE audit");
    const pid = (await lockHolder?.query<{ pid: number }>("SELECT pg_backend_pid() AS pid"))?.rows[0]?.pid;
    const lockWaitQuery = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    const blockedQuery = waiter?.query("SELECT count(*) FROM audit");
    await until("the query waits", async () => (await queryDatabase(databaseUrl, lockWaitQuery)).length > 0);
    const { findings } = await inspectServer(databaseUrl, 0);
    expect(findings.find(({ check }) => check === "database locks")).toMatchObject({
      state: "failed",
      text: expect.stringMatching(new RegExp(`^1 statement is waiting for a lock, .* Database process ${pid} holds it`)),
    });
    await lockHolder?.end();
    await blockedQuery;
    await waiter?.end();
  });
});
