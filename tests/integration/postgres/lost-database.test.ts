// During a database outage, responses report it and members stay signed in. The console recovers without a restart.
import { writeFileSync } from "node:fs";
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { join } from "node:path";
import pg from "pg";
import { afterAll, expect, test } from "vitest";
import { visitorRules } from "@/lib/server/bff/visitor-rules";
import { startComposition } from "@/lib/server/composition";
import { checkNetwork } from "@/lib/server/doctor/network";
import { readEnv } from "@/lib/server/env";
import { openStore } from "@/lib/server/store/store";
import { isStoreUnavailable } from "@/lib/shared/error-codes";
import { createHarness, HOST, PASSWORD } from "@/tests/support/harness";
import { createDatabase, endConnections, queryDatabase, startPostgres } from "@/tests/support/postgres-server";
import { openTestServer } from "@/tests/support/servers";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { until } from "@/tests/support/until";

const KEYS = `one:${Buffer.alloc(32, 1).toString("base64")}`;
const OTHER_KEYS = `two:${Buffer.alloc(32, 2).toString("base64")}`;

const folder = createTemporaryFolder();
const postgres = await startPostgres();
const { url } = await createDatabase(postgres.url);
const harness = await createHarness({
  settings: { DATABASE_URL: url, LIGHTDESK_ENCRYPTION_KEYS: KEYS, LIGHTDESK_BLOBS: join(folder, "bytes") },
});

afterAll(async () => {
  await harness.dispose();
  await postgres.remove();
});

test("reports an outage without signing members out and recovers", async () => {
  const request = (path: string, options = {}) => harness.request(path, { as: "owner", ...options });
  expect((await request("/api/console/members")).status).toBe(200);
  const csrfResponse = await request("/api/auth/csrf");
  const csrfCookies = csrfResponse.headers.getSetCookie().map((line) => line.split(";")[0]);
  const { csrfToken }: { csrfToken: string } = await csrfResponse.json();
  const signIn = { method: "POST", json: { csrfToken, email: "owner@desk.test", password: PASSWORD }, cookie: csrfCookies.join("; ") };
  await postgres.stop();
  const change = { method: "POST", json: { screen: "jobs", name: "Mine", query: "status=failed" } };
  for (const response of [
    await request("/api/console/members"),
    await request("/api/console/views", change),
    await request("/api/auth/callback/credentials", signIn),
    await request("/api/auth/session"),
  ]) {
    expect([response.status, response.headers.get("set-cookie")]).toEqual([503, null]);
    expect(await response.json()).toMatchObject({ code: "SERVICE_UNAVAILABLE", message: expect.stringContaining("database") });
  }
  expect((await request("/api/health")).status).toBe(503);
  const pageHeaders = { host: HOST, cookie: harness.getCookie("owner"), accept: "text/html" };
  const pageRequest = Object.assign(new IncomingMessage(new Socket()), { url: "/jobs", headers: pageHeaders });
  expect(isStoreUnavailable(await visitorRules.isMember(pageRequest).catch((error: unknown) => error))).toBe(true);
  expect(await harness.console.readiness()).toContainEqual({ part: "store", ready: false, reason: "The database is unreachable." });
  await postgres.start();
  await until("the console responds again", async () => ((await request("/api/console/members")).status === 200 ? true : undefined));
  expect(harness.getLog()).not.toContain("secret-word");
});

test("identifies a console by the shared secret", async () => {
  const { headers } = await harness.request("/api/health");
  const server = await openTestServer((_, response) => response.writeHead(200, Object.fromEntries(headers)).end());
  const { memberId } = harness.getViewer("viewer");
  await harness.console.store.connections.create({ name: "A personal service", baseUrl: server.url, memberId, createdAt: 0 });
  // A data folder with the secret of another console.
  const dataDir = createTemporaryFolder();
  writeFileSync(join(dataDir, "auth-secret"), "another secret");
  const settings = { LIGHTDESK_DATA_DIR: dataDir, DATABASE_URL: url, LIGHTDESK_ENCRYPTION_KEYS: KEYS, PORT: new URL(server.url).port };
  const findings = await checkNetwork(readEnv(settings), Date.now);
  expect(findings).toContainEqual(expect.objectContaining({ check: "port", text: expect.stringContaining("This console is running on") }));
  expect(findings).toContainEqual(expect.objectContaining({ check: `service ${server.url}`, state: "passed" }));
});

test("shares the signing secret between consoles and rejects other keys", async () => {
  const first = harness.console;
  const start = (keys: string) =>
    startComposition({
      env: readEnv({
        ...{ LIGHTDESK_DATA_DIR: join(folder, "data"), LIGHTDESK_BLOBS: join(folder, "bytes") },
        ...{ DATABASE_URL: url, LIGHTDESK_ENCRYPTION_KEYS: keys },
      }),
      logDestination: { write: () => undefined },
    });
  const otherConsole = start(OTHER_KEYS);
  await expect(otherConsole.ready).rejects.toThrow(/the same LIGHTDESK_ENCRYPTION_KEYS/);
  await otherConsole.stop();
  const second = start(`${OTHER_KEYS},${KEYS}`);
  await second.ready;
  expect(second.authSecret).toBe(first.authSecret);
  expect(await second.store.members.getByEmail("owner@desk.test")).toBeDefined();
  await second.stop();
});

test.each([
  ["that is unreachable", () => "postgres://postgres:secret-word@127.0.0.1:9/none", /Can't reach the database/],
  ["that rejects the password", () => url.replace("secret-word", "another-word"), /rejected the user or password/],
  ["that doesn't exist", () => url.replace(/[^/]*$/, "nowhere"), /does not exist/],
])("omits the password from the start error of a database %s", async (_, getUrl, pattern) => {
  const store = openStore("", getUrl());
  const failure = await store.migrate().catch((error: unknown) => String(error));
  await store.close();
  expect(failure).toMatch(pattern);
  expect(failure).not.toMatch(/secret-word|another-word/);
});

test("limits connections and replaces those that the server ends", async () => {
  const store = openStore("", url);
  const reads = Array.from({ length: 60 }, () => store.members.list());
  await Promise.all(reads);
  const count = "SELECT count(*)::integer AS n FROM pg_stat_activity WHERE application_name = 'lightdesk' AND datname = current_database()";
  const [row] = await queryDatabase<{ n: number }>(url, count);
  // The connections of a console with its service, and of one more store.
  expect(row?.n).toBeLessThanOrEqual(24 + 10);
  await endConnections(url);
  await until("the store responds again", () => store.members.hasOwner().catch(() => undefined));
  await store.close();
});

test("fails only the transaction whose connection the server ends", async () => {
  const store = openStore("", url);
  const lockHolder = new pg.Client({ connectionString: url });
  await lockHolder.connect();
  await lockHolder.query("BEGIN; LOCK TABLE audit_end");
  const entry = { at: Date.now(), requestId: "r", action: "signIn", status: 200 };
  const blockedWrite = store.audit.add(entry).catch((error: unknown) => error);
  await until("the waiting connection is ended", async () => (await endConnections(url, "wait_event_type = 'Lock'")) > 0);
  expect(isStoreUnavailable(await blockedWrite)).toBe(true);
  await lockHolder.end();
  await store.audit.add(entry);
  expect(await store.audit.verify()).toHaveProperty("last");
  await store.close();
});
