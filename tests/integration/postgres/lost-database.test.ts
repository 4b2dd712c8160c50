// A database that goes away and comes back: everyone gets that as the answer, nobody is signed out, and nothing needs a restart.
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startComposition } from "@/lib/server/composition";
import { checkNetwork } from "@/lib/server/doctor/network";
import { checkStorage } from "@/lib/server/doctor/storage";
import { readEnv } from "@/lib/server/env";
import { openStore } from "@/lib/server/store/store";
import { isStoreAway } from "@/lib/shared/error-codes";
import { createHarness, type Harness } from "@/tests/support/harness";
import { ask, createDatabase, type PostgresServer, startPostgres } from "@/tests/support/postgres-server";
import { until } from "@/tests/support/until";

const KEYS = `one:${Buffer.alloc(32, 1).toString("base64")}`;
const OTHER_KEYS = `two:${Buffer.alloc(32, 2).toString("base64")}`;
let server: PostgresServer;
let harness: Harness;
let folder: string;
let url: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "lightdesk-second-"));
  server = await startPostgres();
  ({ url } = await createDatabase(server.url));
  harness = await createHarness({
    settings: { DATABASE_URL: url, LIGHTDESK_ENCRYPTION_KEYS: KEYS, LIGHTDESK_BLOBS: join(folder, "bytes") },
  });
});

afterAll(async () => {
  await harness.dispose();
  await server.remove();
  rmSync(folder, { recursive: true, force: true });
});

test("while the database is away requests say so and sign nobody out; once it is back they are answered again", async () => {
  const ask = (path: string, asking = {}) => harness.request(path, { as: "owner", ...asking });
  expect((await ask("/api/console/members")).status).toBe(200);
  await server.stop();
  const change = { method: "POST", json: { screen: "jobs", name: "Mine", query: "status=failed" } };
  for (const answer of [await ask("/api/console/members"), await ask("/api/console/views", change)]) {
    expect([answer.status, answer.headers.get("set-cookie")]).toEqual([503, null]);
    expect(await answer.json()).toMatchObject({ code: "SERVICE_UNAVAILABLE", message: expect.stringContaining("database") });
  }
  await server.start();
  await until("the console answers again", async () => ((await ask("/api/console/members")).status === 200 ? true : undefined));
  expect(harness.log()).not.toContain("secret-word");
});

test("the doctor knows a console by the secret that all on its database share, and calls an empty database no fault", async () => {
  const { headers } = await harness.request("/api/health");
  const front = createServer((_, response) => response.writeHead(200, Object.fromEntries(headers)).end());
  front.listen(0, "127.0.0.1");
  await once(front, "listening");
  const address = front.address();
  const port = String(typeof address === "object" ? address?.port : address);
  await harness.connect(`http://127.0.0.1:${port}`, "sk-of-a-service");
  // A cookie of another console, made with a secret that is no longer valid.
  const data = join(folder, "third");
  mkdirSync(data);
  writeFileSync(join(data, "auth-secret"), "a secret of its own");
  const of = (databaseUrl: string) =>
    readEnv({ LIGHTDESK_DATA_DIR: data, DATABASE_URL: databaseUrl, LIGHTDESK_ENCRYPTION_KEYS: KEYS, PORT: port });
  const found = await checkNetwork(of(url), Date.now);
  expect(found).toContainEqual(expect.objectContaining({ check: "port", text: expect.stringContaining("This console runs on") }));
  expect(found).toContainEqual(expect.objectContaining({ check: `service http://127.0.0.1:${port}`, state: "passed" }));
  await new Promise((resolve) => front.close(resolve));
  const empty = await createDatabase(server.url);
  expect(await checkStorage(of(empty.url), Date.now())).toContainEqual(
    expect.objectContaining({ check: "console database", state: "noted", text: expect.stringContaining("first start") }),
  );
  await empty.drop();
});

test("a second console on the same database signs with the same secret, and one with other keys does not start", async () => {
  const first = harness.console;
  const start = (keys: string) =>
    startComposition({
      env: readEnv({
        ...{ LIGHTDESK_DATA_DIR: join(folder, "data"), LIGHTDESK_BLOBS: join(folder, "bytes") },
        ...{ DATABASE_URL: url, LIGHTDESK_ENCRYPTION_KEYS: keys },
      }),
      logDestination: { write: () => undefined },
    });
  const stranger = start(OTHER_KEYS);
  await expect(stranger.ready).rejects.toThrow(/the same LIGHTDESK_ENCRYPTION_KEYS/);
  await stranger.stop();
  const second = start(`${OTHER_KEYS},${KEYS}`);
  await second.ready;
  expect(second.authSecret).toBe(first.authSecret);
  expect(await second.store.members.getByEmail("owner@desk.test")).toBeDefined();
  await second.stop();
});

test.each([
  ["that is not there", () => "postgres://postgres:secret-word@127.0.0.1:9/none", /cannot be reached/],
  ["that refuses the password", () => url.replace("secret-word", "another-word"), /refuses its user or password/],
  ["that was never made", () => url.replace(/[^/]*$/, "nowhere"), /does not exist/],
])("a start on a database %s says so, without the password", async (_, address, sentence) => {
  const store = openStore("", address());
  const failure = await store.migrate().catch((error: unknown) => String(error));
  await store.close();
  expect(failure).toMatch(sentence);
  expect(failure).not.toMatch(/secret-word|another-word/);
});

test("connections are bounded, and one that the server ends is replaced", async () => {
  const store = openStore("", url);
  const many = Array.from({ length: 60 }, () => store.members.list());
  await Promise.all(many);
  const count = "SELECT count(*)::integer AS n FROM pg_stat_activity WHERE application_name = 'lightdesk' AND datname = current_database()";
  const [row] = await ask<{ n: number }>(url, count);
  // The connections of a console with its service, and of one more store.
  expect(row?.n).toBeLessThanOrEqual(24 + 10);
  await ask(url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lightdesk'");
  await until("the store answers again", () => store.members.hasOwner().catch(() => undefined));
  await store.close();
});

test("a connection that the server ends in the middle of a transaction fails that one, and nothing else", async () => {
  const store = openStore("", url);
  const holder = new pg.Client({ connectionString: url });
  await holder.connect();
  await holder.query("BEGIN; LOCK TABLE audit_end");
  const entry = { at: Date.now(), requestId: "r", action: "signIn", status: 200 };
  const waiting = store.audit.add(entry).catch((error: unknown) => error);
  const end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lightdesk' AND wait_event_type = 'Lock'";
  await until("it waits, and is ended", async () => (await ask(url, end)).length > 0);
  expect(isStoreAway(await waiting)).toBe(true);
  await holder.end();
  await store.audit.add(entry);
  expect(await store.audit.verify()).toHaveProperty("last");
  await store.close();
});
