// During a database outage, every response reports it, no one is signed out, and no restart is needed.
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import pg from "pg";
import { afterAll, expect, test } from "vitest";
import { startComposition } from "@/lib/server/composition";
import { checkNetwork } from "@/lib/server/doctor/network";
import { checkStorage } from "@/lib/server/doctor/storage";
import { readEnv } from "@/lib/server/env";
import { openStore } from "@/lib/server/store/store";
import { isStoreAway } from "@/lib/shared/error-codes";
import { createHarness } from "@/tests/support/harness";
import { createDatabase, endConnections, queryDatabase, startPostgres } from "@/tests/support/postgres-server";
import { temporaryFolder } from "@/tests/support/temporary-folder";
import { until } from "@/tests/support/until";

const KEYS = `one:${Buffer.alloc(32, 1).toString("base64")}`;
const OTHER_KEYS = `two:${Buffer.alloc(32, 2).toString("base64")}`;

const folder = temporaryFolder();
const server = await startPostgres();
const { url } = await createDatabase(server.url);
const harness = await createHarness({
  settings: { DATABASE_URL: url, LIGHTDESK_ENCRYPTION_KEYS: KEYS, LIGHTDESK_BLOBS: join(folder, "bytes") },
});

afterAll(async () => {
  await harness.dispose();
  await server.remove();
});

test("reports an outage without signing anybody out and recovers", async () => {
  const request = (path: string, asking = {}) => harness.request(path, { as: "owner", ...asking });
  expect((await request("/api/console/members")).status).toBe(200);
  await server.stop();
  const change = { method: "POST", json: { screen: "jobs", name: "Mine", query: "status=failed" } };
  for (const response of [await request("/api/console/members"), await request("/api/console/views", change)]) {
    expect([response.status, response.headers.get("set-cookie")]).toEqual([503, null]);
    expect(await response.json()).toMatchObject({ code: "SERVICE_UNAVAILABLE", message: expect.stringContaining("database") });
  }
  await server.start();
  await until("the console answers again", async () => ((await request("/api/console/members")).status === 200 ? true : undefined));
  expect(harness.log()).not.toContain("secret-word");
});

test("identifies a console by the shared secret and accepts an empty database", async () => {
  const { headers } = await harness.request("/api/health");
  const front = createServer((_, response) => response.writeHead(200, Object.fromEntries(headers)).end());
  front.listen(0, "127.0.0.1");
  await once(front, "listening");
  const address = front.address();
  const port = String(typeof address === "object" ? address?.port : address);
  await harness.connect(`http://127.0.0.1:${port}`, "sk-of-a-service");
  // A cookie of another console, made with an invalid secret.
  const data = join(folder, "third");
  mkdirSync(data);
  writeFileSync(join(data, "auth-secret"), "a secret of its own");
  const openFor = (databaseUrl: string) =>
    readEnv({ LIGHTDESK_DATA_DIR: data, DATABASE_URL: databaseUrl, LIGHTDESK_ENCRYPTION_KEYS: KEYS, PORT: port });
  const findings = await checkNetwork(openFor(url), Date.now);
  expect(findings).toContainEqual(expect.objectContaining({ check: "port", text: expect.stringContaining("This console is running on") }));
  expect(findings).toContainEqual(expect.objectContaining({ check: `service http://127.0.0.1:${port}`, state: "passed" }));
  await new Promise((resolve) => front.close(resolve));
  const empty = await createDatabase(server.url);
  expect(await checkStorage(openFor(empty.url), Date.now())).toContainEqual(
    expect.objectContaining({ check: "console database", state: "noted", text: expect.stringContaining("first start") }),
  );
  await empty.drop();
});

test("shares the signing secret between consoles and refuses other keys", async () => {
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
  ["that is not there", () => "postgres://postgres:secret-word@127.0.0.1:9/none", /Can't reach the database/],
  ["that refuses the password", () => url.replace("secret-word", "another-word"), /refused the user or password/],
  ["that was never made", () => url.replace(/[^/]*$/, "nowhere"), /does not exist/],
])("reports a start on a database %s without the password", async (_, address, sentence) => {
  const store = openStore("", address());
  const failure = await store.migrate().catch((error: unknown) => String(error));
  await store.close();
  expect(failure).toMatch(sentence);
  expect(failure).not.toMatch(/secret-word|another-word/);
});

test("limits connections and replaces one the server ends", async () => {
  const store = openStore("", url);
  const reads = Array.from({ length: 60 }, () => store.members.list());
  await Promise.all(reads);
  const count = "SELECT count(*)::integer AS n FROM pg_stat_activity WHERE application_name = 'lightdesk' AND datname = current_database()";
  const [row] = await queryDatabase<{ n: number }>(url, count);
  // The connections of a console with its service, and of one more store.
  expect(row?.n).toBeLessThanOrEqual(24 + 10);
  await endConnections(url);
  await until("the store answers again", () => store.members.hasOwner().catch(() => undefined));
  await store.close();
});

test("fails only the transaction whose connection the server ends", async () => {
  const store = openStore("", url);
  const holder = new pg.Client({ connectionString: url });
  await holder.connect();
  await holder.query("BEGIN; LOCK TABLE audit_end");
  const entry = { at: Date.now(), requestId: "r", action: "signIn", status: 200 };
  const waiting = store.audit.add(entry).catch((error: unknown) => error);
  await until("it waits, and is ended", async () => (await endConnections(url, "wait_event_type = 'Lock'")) > 0);
  expect(isStoreAway(await waiting)).toBe(true);
  await holder.end();
  await store.audit.add(entry);
  expect(await store.audit.verify()).toHaveProperty("last");
  await store.close();
});
