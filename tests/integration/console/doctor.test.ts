// `npm run doctor` on a healthy installation, next to a running console, and with each problem.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmodSync, readdirSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { type Finding } from "@/lib/server/doctor/findings";
import { checkNetwork, checkOidc } from "@/lib/server/doctor/network";
import { checkStorage } from "@/lib/server/doctor/storage";
import { readEnv } from "@/lib/server/env";
import { openServiceStore } from "@/lib/service/index";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { findFreePort } from "@/tests/support/free-port";
import { createGpuClasses } from "@/tests/support/gpu-classes";
import { createHarness } from "@/tests/support/harness";
import { startRunnerServer, startStrictS3 } from "@/tests/support/servers";
import { startProcess } from "@/tests/support/start-process";
import { testKeys } from "@/tests/support/strict-s3";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { CLIENT, createSettings, startTokenIssuer } from "@/tests/support/token-issuer";

describe("doctor", async () => {
  const harness = await createHarness();
  const folder = harness.folder;
  const front = await listen((path) => harness.request(path));
  await harness.connect(`http://127.0.0.1:${front.port}`, "sk-of-another-service");
  afterAll(() => front.close());

  /** Starts a server with the listener `respond`. */
  async function listen(respond: (path: string) => Promise<Response>) {
    const server = createServer((_, response) => {
      void respond("/api/health").then(async (health) => {
        response.writeHead(health.status, Object.fromEntries(health.headers)).end(await health.text());
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    return { port, close: () => new Promise((resolve) => server.close(resolve)) };
  }

  const readSettings = (extra: Record<string, string> = {}) => readEnv({ LIGHTDESK_DATA_DIR: folder, PORT: "0", ...extra });
  const runStorageChecks = (extra?: Record<string, string>, now = Date.now()) => checkStorage(readSettings(extra), now);
  const runNetworkChecks = (extra?: Record<string, string>, now = Date.now) => checkNetwork(readSettings(extra), now);
  const getStates = (findings: readonly Finding[]) => Object.fromEntries(findings.map(({ check, state }) => [check, state]));
  const filterFailed = (findings: readonly Finding[]) => findings.filter(({ state }) => state === "failed");

  test("prints a line per check, exits with 0 or 1, and supports JSON", async () => {
    const doctor = startProcess("dist/doctor.mjs", { LIGHTDESK_DATA_DIR: folder, PORT: "0" });
    expect([await doctor.exitCode, doctor.output()]).toEqual([0, expect.stringContaining("All checks passed.")]);
    for (const check of ["settings", "version", "program", "disk", "console database", "service database", "keys", "clock", "port"])
      expect(doctor.output()).toMatch(new RegExp(`^ok    ${check}: `, "m"));
    expect(doctor.output()).not.toContain(harness.console.authSecret);
    expect(doctor.output()).not.toContain(harness.console.keyRing.encryptionKey.secret.toString("base64"));
    const bad = startProcess("dist/doctor.mjs", { LIGHTDESK_DATA_DIR: folder, PORT: "high" }, ["--json"]);
    expect(await bad.exitCode).toBe(1);
    const finding = { check: "settings", state: "failed", text: expect.stringContaining("PORT must be") };
    expect(JSON.parse(bad.output())).toMatchObject({ ok: false, findings: [finding] });
  });

  test("reports a missing key, readable files and future rows with remedies", async () => {
    const { id } = harness.console.keyRing.encryptionKey;
    const otherFindings = await runStorageChecks({ LIGHTDESK_ENCRYPTION_KEYS: `young:${randomBytes(32).toString("base64")}` });
    expect(filterFailed(otherFindings)).toMatchObject([
      { check: "keys", text: expect.stringContaining(`sealed with ${id}`), remedy: expect.stringContaining(`Add key ${id}`) },
    ]);
    const ring = join(folder, "encryption-keys");
    renameSync(ring, `${ring}.away`);
    expect(filterFailed(await runStorageChecks())).toMatchObject([{ check: "keys", text: expect.stringContaining("No key ring") }]);
    renameSync(`${ring}.away`, ring);
    chmodSync(ring, 0o644);
    const remedy = expect.stringContaining("chmod go-rwx");
    expect(filterFailed(await runStorageChecks())).toMatchObject([{ check: "data folder", remedy }]);
    chmodSync(ring, 0o600);
    const invitation = { email: "new@desk.test", role: "viewer" };
    const inviteResponse = await harness.request("/api/console/members/invitations", { as: "owner", method: "POST", json: invitation });
    expect(inviteResponse.status).toBe(201);
    expect(filterFailed(await runStorageChecks({}, Date.now() - 24 * 3_600_000))).toMatchObject([
      { check: "clock", remedy: expect.stringContaining("NTP") },
    ]);
    expect(filterFailed(await runStorageChecks())).toEqual([]);
  });

  test("distinguishes damaged, newer and older databases and a missing folder", async () => {
    const ownFolder = createTemporaryFolder();
    const env = { LIGHTDESK_DATA_DIR: ownFolder };
    const states = getStates(await runStorageChecks({ LIGHTDESK_DATA_DIR: join(ownFolder, "later") }));
    expect(states).toMatchObject({ "data folder": "noted", "console database": "noted" });
    const file = join(ownFolder, "console.sqlite");
    const copy = new SqliteConnection(join(folder, "console.sqlite"), { readOnly: true });
    await copy.backup(file);
    copy.close();
    const database = new SqliteConnection(file);
    database.pragma("journal_mode = DELETE");
    database.exec("DELETE FROM kysely_migration; INSERT INTO kysely_migration (name, timestamp) VALUES ('0035-reruns', '')");
    expect(getStates(await runStorageChecks(env))).toMatchObject({ "console database": "noted" });
    database.exec("INSERT INTO kysely_migration (name, timestamp) VALUES ('9999-later', '')");
    expect(filterFailed(await runStorageChecks(env))).toMatchObject([
      { check: "console database", text: expect.stringContaining("newer version (9999-later)") },
    ]);
    database.close();
    truncateSync(file, 20_000);
    expect(filterFailed(await runStorageChecks(env))).toMatchObject([
      { check: "console database", remedy: expect.stringContaining("from a backup") },
    ]);
  });

  test("tests file storage in the data folder, a separate folder and a bucket", async () => {
    const checkFiles = async (extra: Record<string, string>) => (await runStorageChecks(extra)).find(({ check }) => check === "files");
    expect(await checkFiles({})).toMatchObject({ state: "passed", text: expect.stringContaining("In the data folder") });
    const ownFolder = createTemporaryFolder();
    expect(await checkFiles({ LIGHTDESK_BLOBS: join(ownFolder, "later") })).toMatchObject({ state: "noted" });
    expect(await checkFiles({ LIGHTDESK_BLOBS: ownFolder })).toMatchObject({ state: "passed" });
    expect(readdirSync(ownFolder)).toEqual([]);
    writeFileSync(join(ownFolder, "lightdesk-store"), "of another database");
    const database = new SqliteConnection(join(folder, "service", "service.sqlite"));
    database.exec("INSERT OR IGNORE INTO store_ids (id) VALUES ('ours')");
    database.close();
    const text = expect.stringContaining("another database");
    expect(await checkFiles({ LIGHTDESK_BLOBS: ownFolder })).toMatchObject({ state: "failed", text });
    rmSync(ownFolder, { recursive: true });

    const s3 = await startStrictS3();
    const inBucket = {
      LIGHTDESK_BLOBS: s3.address("here"),
      LIGHTDESK_S3_ACCESS_KEY_ID: testKeys.accessKeyId,
      LIGHTDESK_S3_SECRET_ACCESS_KEY: testKeys.secretAccessKey,
    };
    expect(await checkFiles(inBucket)).toMatchObject({ state: "passed", text: expect.stringContaining(", with conditional writes") });
    s3.state.supportsConditions = false;
    expect(await checkFiles(inBucket)).toMatchObject({ state: "noted", text: expect.stringContaining("without conditional writes") });
    expect(s3.objects.size).toBe(0);
    const wrongKey = await checkFiles({ ...inBucket, LIGHTDESK_S3_SECRET_ACCESS_KEY: "another-secret" });
    expect(wrongKey).toMatchObject({ state: "failed", text: expect.stringContaining("SignatureDoesNotMatch") });
    expect(wrongKey?.text).not.toContain("another-secret");
    await s3.close();
    expect(await checkFiles(inBucket)).toMatchObject({ state: "failed", text: expect.stringContaining("ECONNREFUSED") });
  });

  test("checks whether the port and public address are this console's", async () => {
    const { port } = front;
    const url = `http://127.0.0.1:${port}`;
    const healthyFindings = await runNetworkChecks({ PORT: String(port), LIGHTDESK_PUBLIC_URL: url });
    expect(filterFailed(healthyFindings)).toEqual([]);
    const text = expect.stringContaining("This console is running on");
    expect(healthyFindings).toContainEqual(expect.objectContaining({ check: "port", text }));
    const otherListener = await listen(() => Promise.resolve(new Response("{}", { headers: { "lightdesk-installation": "another" } })));
    const program = await listen(() => Promise.resolve(new Response("hello")));
    for (const [server, message] of [
      [otherListener, "a console with other data"],
      [program, "another program"],
    ] as const) {
      const settings = { PORT: String(server.port), LIGHTDESK_PUBLIC_URL: `http://127.0.0.1:${server.port}` };
      const findings = filterFailed(await runNetworkChecks(settings));
      expect(findings).toMatchObject([{ check: "port", text: expect.stringContaining(message) }, { check: "public address" }]);
    }
    await Promise.all([otherListener.close(), program.close()]);
    expect(filterFailed(await runNetworkChecks({ LIGHTDESK_PUBLIC_URL: `http://127.0.0.1:${otherListener.port}` }))).toMatchObject([
      { text: expect.stringContaining("does not respond") },
    ]);
  });

  test("compares the proxy's headers with settings and reports clock skew", async () => {
    expect(filterFailed(await runNetworkChecks({ LIGHTDESK_TRUST_PROXY: "1" }))).toMatchObject([{ check: "reverse proxy" }]);
    const settings = { LIGHTDESK_TRUST_PROXY: "1", LIGHTDESK_PUBLIC_URL: `http://127.0.0.1:${front.port}` };
    const findings = await runNetworkChecks(settings, () => Date.now() + 600_000);
    expect(getStates(findings)).toMatchObject({
      "reverse proxy": "passed",
      "public address": "passed",
      [`service http://127.0.0.1:${front.port}`]: "failed",
    });
  });

  test("reports runners as ready, failing with a remedy, or paused", async () => {
    const ownFolder = createTemporaryFolder();
    const server = await startRunnerServer({ objectInfo: createGpuClasses(["one.safetensors"]) });
    const [unreachableAddress, pausedAddress] = [`http://127.0.0.1:${await findFreePort()}`, `http://127.0.0.1:${await findFreePort()}`];
    const store = await openServiceStore(join(ownFolder, "service"), { concurrency: 1 });
    await store.runners.add({ address: server.address, label: "Answers" });
    await store.runners.add({ address: unreachableAddress, label: "Away", keep: true });
    const paused = await store.runners.add({ address: pausedAddress, label: "Later", keep: true });
    await store.runners.change(paused.ok ? paused.value.id : "", { state: "paused" });
    await store.close();
    const findings = await runNetworkChecks({ LIGHTDESK_DATA_DIR: ownFolder });
    expect(findings.filter(({ check }) => check.startsWith("runner "))).toMatchObject([
      { check: "runner Answers", state: "passed", text: `${server.address} is ready.` },
      {
        check: "runner Away",
        state: "failed",
        text: `${unreachableAddress} is unreachable: No server responds there.`,
        remedy: "Fix that server, then resume it under Settings, Runners.",
      },
      { check: "runner Later", state: "noted", text: `${pausedAddress} is paused.` },
    ]);
    await server.close();
  });
});

describe("doctor oidc", async () => {
  const PUBLIC_URL = "https://desk.example.com";
  const REDIRECT = `${PUBLIC_URL}/api/auth/callback/acme`;
  const acme = await startTokenIssuer();
  beforeEach(() => acme.setOverrides({ redirect: REDIRECT }));

  const check = (extra: Record<string, string> = {}) =>
    checkOidc(readEnv({ LIGHTDESK_OIDC: "acme", LIGHTDESK_PUBLIC_URL: PUBLIC_URL, ...createSettings("acme", acme), ...extra }), Date.now);
  const findProblems = async (extra?: Record<string, string>) => (await check(extra)).filter(({ state }) => state !== "passed");

  test("accepts a provider that is configured correctly", async () => {
    const findings = await check();
    expect(findings.map(({ check: name, state }) => [name, state])).toEqual(Array.from({ length: 3 }, () => ["sign-in acme", "passed"]));
    expect(JSON.stringify(findings)).not.toContain(CLIENT.secret);
    expect(await checkOidc(readEnv({}), Date.now)).toEqual([]);
  });

  test("reports an unregistered redirect URL or client with the URL to register", async () => {
    acme.setOverrides({ redirect: "https://old.example.com/api/auth/callback/acme" });
    const remedy = expect.stringContaining(`Register ${REDIRECT}`);
    const refusal = { state: "failed", text: expect.stringContaining("status 400"), remedy };
    expect(await findProblems()).toMatchObject([refusal]);
    acme.setOverrides({ redirect: REDIRECT });
    expect(await findProblems({ LIGHTDESK_OIDC_ACME_CLIENT_ID: "mistyped" })).toMatchObject([refusal]);
  });

  test("requires a public URL for the redirect URL", async () => {
    const text = expect.stringContaining("http://127.0.0.1:3000/api/auth/callback/acme");
    expect(await findProblems({ LIGHTDESK_PUBLIC_URL: "" })).toMatchObject([{ state: "noted", text }]);
  });

  test.each([
    ["another name", { configuration: { issuer: "https://idp.example.com" } }, "its issuer is https://idp.example.com"],
    ["a document without endpoints", { configuration: { token_endpoint: undefined } }, "discovery document is invalid"],
    ["an error", { status: 503 }, "responds with status 503"],
  ])("reports a provider with %s", async (_, change, text) => {
    acme.setOverrides(change);
    expect(await findProblems()).toMatchObject([
      { state: "failed", text: expect.stringContaining(text), remedy: expect.stringContaining("_ISSUER") },
    ]);
  });

  test("reports an unresponsive provider", async () => {
    const text = "http://127.0.0.1:9/.well-known/openid-configuration does not respond.";
    expect(await findProblems({ LIGHTDESK_OIDC_ACME_ISSUER: "http://127.0.0.1:9" })).toMatchObject([{ state: "failed", text }]);
  });

  test.each([
    ["ahead of", 5 * 60_000],
    ["behind", -5 * 60_000],
  ])("reports a clock that is %s this one", async (direction, aheadMs) => {
    acme.setOverrides({ redirect: REDIRECT, aheadMs });
    expect(await findProblems()).toMatchObject([
      { state: "failed", text: expect.stringMatching(new RegExp(`clock is (299|300|301) s ${direction}`)) },
    ]);
  });
});
