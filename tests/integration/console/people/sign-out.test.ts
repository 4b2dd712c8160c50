// A session's lifecycle: started, renewed, ended. The audit log records sign-in and sign-out.
import { join } from "node:path";
import { type AuthAction, type NextAuthOptions } from "next-auth";
import { encode } from "next-auth/jwt";
import { expect, test, vi } from "vitest";
import { authOptions } from "@/lib/server/auth/next-auth";
import { SESSION_COOKIE } from "@/lib/server/cookies";
import { createHarness, HOST, PASSWORD } from "@/tests/support/harness";

let now = Date.now();
const harness = await createHarness({ now: () => now, settings: { LIGHTDESK_PUBLIC_URL: `http://${HOST}` } });

type Jar = Record<string, string>;
type AuthResponse = { body?: { csrfToken?: string }; cookies?: { name: string; value: string }[] };
type AuthCore = { AuthHandler(request: { req: object; options: NextAuthOptions }): Promise<AuthResponse> };
/** next-auth without Next, since its route handler only accepts Next's requests. */
const core: AuthCore = await import(join(process.cwd(), "node_modules/next-auth/core/index.js"));
const changes: string[] = [];
let requestHeaders: Record<string, string> = {};
const options = () =>
  authOptions(
    harness.console,
    {
      changed: (action, member) => void changes.push(`${action} ${member.name}`),
      refused: () => undefined,
      failed: (error) => void changes.push(String(error)),
    },
    new Headers(requestHeaders),
  );

async function auth(method: string, action: AuthAction, cookies: Jar, body: Record<string, string> = {}) {
  const providerId = action === "callback" ? "credentials" : undefined;
  const req = { method, action, providerId, cookies, body, query: {}, headers: {}, origin: `http://${HOST}` };
  const response = await core.AuthHandler({ req, options: options() });
  const set: Jar = Object.fromEntries((response.cookies ?? []).map(({ name, value }) => [name, value]));
  return { body: response.body, set };
}

async function post(action: AuthAction, fields: Record<string, string>, session = ""): Promise<string> {
  const { body, set } = await auth("GET", "csrf", {});
  const response = await auth("POST", action, { ...set, [SESSION_COOKIE]: session }, { csrfToken: body?.csrfToken ?? "", ...fields });
  return response.set[SESSION_COOKIE] ?? "";
}

const signIn = () => post("callback", { email: "operator@desk.test", password: PASSWORD });
const getStatusWith = async (token: string) => (await harness.request("/api/jobs", { cookie: `${SESSION_COOKIE}=${token}` })).status;

test("ends the session for its cookie and for renewed ones", async () => {
  const [firstToken, otherToken] = [await signIn(), await signIn()];
  const renewed = (await auth("GET", "session", { [SESSION_COOKIE]: firstToken })).set[SESSION_COOKIE] ?? "";
  expect([renewed !== "" && renewed !== firstToken, await getStatusWith(firstToken), await getStatusWith(renewed)]).toEqual([
    true,
    200,
    200,
  ]);
  await post("signout", {}, renewed);
  expect([await getStatusWith(firstToken), await getStatusWith(renewed), await getStatusWith(otherToken)]).toEqual([401, 401, 200]);
  const after = await auth("GET", "session", { [SESSION_COOKIE]: firstToken });
  expect([after.body, after.set[SESSION_COOKIE]]).toEqual([{}, ""]);
  expect(changes).toEqual(["signIn operator", "signIn operator", "signOut operator"]);
  expect(harness.log()).not.toContain('"level":50');
});

test("reports a failed sign-out when the disk refuses it", async () => {
  const sessionToken = await signIn();
  expect(await getStatusWith(sessionToken)).toBe(200);
  changes.length = 0;
  const write = vi.spyOn(harness.console.store.sessions, "end");
  write.mockImplementation((id) => Promise.reject(Object.assign(new Error(`no room for ${id}`), { code: "SQLITE_FULL" })));
  await post("signout", {}, sessionToken);
  write.mockRestore();
  expect(changes).toEqual([expect.stringContaining("no room for")]);
});

test("ends an existing session of the same browser on sign-in", async () => {
  const sessionToken = await signIn();
  requestHeaders = { cookie: `${SESSION_COOKIE}=${sessionToken}` };
  const next = await signIn();
  requestHeaders = {};
  expect([await getStatusWith(sessionToken), await getStatusWith(next)]).toEqual([401, 200]);
});

test("removes expired sessions at the next sign-in", async () => {
  const { memberId } = harness.viewerOf("operator");
  const count = async () => (await harness.console.store.sessions.list(memberId)).length;
  expect(await count()).toBeGreaterThan(1);
  now += 8 * 24 * 60 * 60_000;
  await signIn();
  expect(await count()).toBe(1);
});

test("logs the first set-up and an accepted invitation", async () => {
  const json = { token: "link", name: "Nina New", password: PASSWORD };
  const invitedBy = harness.viewerOf("owner").memberId;
  const invitation = { token: "link", email: "nina@desk.test", role: "viewer", invitedBy, expiresAt: now + 1000, createdAt: now } as const;
  await harness.console.store.invitations.create(invitation);
  expect((await harness.request("/api/console/members/invitations/accept", { method: "POST", json })).status).toBe(201);
  await harness.console.store.members.remove(invitedBy);
  await harness.console.store.setUpToken.replace("first", now);
  const owner = { ...json, token: "first", name: "Otto", email: "otto@desk.test" };
  expect((await harness.request("/api/console/set-up", { method: "POST", json: owner })).status).toBe(201);
  expect((await harness.console.store.audit.listNewest(2)).map(({ action, memberName }) => [action, memberName])).toEqual([
    ["setUp", "Otto"],
    ["acceptInvitation", "Nina New"],
  ]);
});

test("refuses expired, unsigned, foreign, truncated and sessionless cookies", async () => {
  const { authSecret } = harness.console;
  const token = { sub: harness.viewerOf("admin").memberId, version: 1, sid: "known" };
  const good = (await harness.mintCookie(token)).slice(SESSION_COOKIE.length + 1);
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const wrongCookies = {
    expired: await encode({ token, secret: authSecret, maxAge: -60 }),
    unsigned: `${part({ alg: "none" })}.${part(token)}.`,
    "unsigned, of five parts": `${part({ alg: "none", enc: "none" })}..${part(token)}..`,
    "of another secret": await encode({ token, secret: "another" }),
    "for another purpose": await encode({ token, secret: authSecret, salt: "csrf" }),
    cut: good.slice(0, -4),
    "of no session": await encode({ token: { ...token, sid: "none" }, secret: authSecret }),
    "from before sessions were kept": await encode({ token: { sub: token.sub, version: 1 }, secret: authSecret }),
  };
  expect(await getStatusWith(good)).toBe(200);
  for (const [label, value] of Object.entries(wrongCookies)) expect([label, await getStatusWith(value)]).toEqual([label, 401]);
});

test("keeps an earlier session's own expiry", async () => {
  const cookie = await harness.mintCookie({ sub: harness.viewerOf("admin").memberId, version: 1 });
  const status = async () => (await harness.request("/api/console/account", { cookie })).status;
  expect(await status()).toBe(200);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 31 * 24 * 60 * 60_000 });
  try {
    expect(await status()).toBe(401);
  } finally {
    vi.useRealTimers();
  }
});
