// A session's lifecycle: started, renewed, ended. The audit log records sign-in and sign-out.
import { join } from "node:path";
import { type AuthAction, type NextAuthOptions } from "next-auth";
import { encode } from "next-auth/jwt";
import { expect, test, vi } from "vitest";
import { createAuthOptions } from "@/lib/server/auth/next-auth";
import { SESSION_COOKIE } from "@/lib/server/cookies";
import { createHarness, HOST, PASSWORD } from "@/tests/support/harness";
import { accept } from "./people-harness";

let now = Date.now();
const harness = await createHarness({ now: () => now, settings: { LIGHTDESK_PUBLIC_URL: `http://${HOST}` } });

type CookieJar = Record<string, string>;
type AuthResponse = { body?: { csrfToken?: string }; cookies?: { name: string; value: string }[] };
type AuthCore = { AuthHandler(request: { req: object; options: NextAuthOptions }): Promise<AuthResponse> };
/** next-auth without Next, since its route handler only accepts Next's requests. */
const nextAuth: AuthCore = await import(join(process.cwd(), "node_modules/next-auth/core/index.js"));
const authEvents: string[] = [];
let requestHeaders: Record<string, string> = {};
const createOptions = () =>
  createAuthOptions(
    harness.console,
    {
      onSuccess: (action, member) => void authEvents.push(`${action} ${member.name}`),
      onRejection: () => undefined,
      onError: (error) => void authEvents.push(String(error)),
    },
    new Headers(requestHeaders),
  );

async function callNextAuth(method: string, action: AuthAction, cookies: CookieJar, body: Record<string, string> = {}) {
  const providerId = action === "callback" ? "credentials" : undefined;
  const req = { method, action, providerId, cookies, body, query: {}, headers: {}, origin: `http://${HOST}` };
  const response = await nextAuth.AuthHandler({ req, options: createOptions() });
  const set: CookieJar = Object.fromEntries((response.cookies ?? []).map(({ name, value }) => [name, value]));
  return { body: response.body, set };
}

async function postAuth(action: AuthAction, fields: Record<string, string>, session = ""): Promise<string> {
  const { body, set } = await callNextAuth("GET", "csrf", {});
  const allFields = { csrfToken: body?.csrfToken ?? "", ...fields };
  const response = await callNextAuth("POST", action, { ...set, [SESSION_COOKIE]: session }, allFields);
  return response.set[SESSION_COOKIE] ?? "";
}

const signIn = () => postAuth("callback", { email: "operator@desk.test", password: PASSWORD });
const getStatusWith = async (token: string) => (await harness.request("/api/jobs", { cookie: `${SESSION_COOKIE}=${token}` })).status;

test("ends the session for its original and renewed cookies", async () => {
  const [firstToken, otherToken] = [await signIn(), await signIn()];
  const renewedToken = (await callNextAuth("GET", "session", { [SESSION_COOKIE]: firstToken })).set[SESSION_COOKIE] ?? "";
  expect(["", firstToken]).not.toContain(renewedToken);
  expect([await getStatusWith(firstToken), await getStatusWith(renewedToken)]).toEqual([200, 200]);
  await postAuth("signout", {}, renewedToken);
  expect([await getStatusWith(firstToken), await getStatusWith(renewedToken), await getStatusWith(otherToken)]).toEqual([401, 401, 200]);
  const after = await callNextAuth("GET", "session", { [SESSION_COOKIE]: firstToken });
  expect([after.body, after.set[SESSION_COOKIE]]).toEqual([{}, ""]);
  expect(authEvents).toEqual(["signIn operator", "signIn operator", "signOut operator"]);
  expect(harness.getLog()).not.toContain('"level":50');
});

test("reports a failed sign-out when the disk is full", async () => {
  const sessionToken = await signIn();
  expect(await getStatusWith(sessionToken)).toBe(200);
  authEvents.length = 0;
  const write = vi.spyOn(harness.console.store.sessions, "end");
  write.mockImplementation((id) => Promise.reject(Object.assign(new Error(`no room for ${id}`), { code: "SQLITE_FULL" })));
  await postAuth("signout", {}, sessionToken);
  write.mockRestore();
  expect(authEvents).toEqual([expect.stringContaining("no room for")]);
});

test("ends an existing session of the same browser on sign-in", async () => {
  const sessionToken = await signIn();
  requestHeaders = { cookie: `${SESSION_COOKIE}=${sessionToken}` };
  const next = await signIn();
  requestHeaders = {};
  expect([await getStatusWith(sessionToken), await getStatusWith(next)]).toEqual([401, 200]);
});

test("removes expired sessions at the next sign-in", async () => {
  const { memberId } = harness.getViewer("operator");
  const countSessions = async () => (await harness.console.store.sessions.list(memberId)).length;
  expect(await countSessions()).toBeGreaterThan(1);
  now += 8 * 24 * 60 * 60_000;
  await signIn();
  expect(await countSessions()).toBe(1);
});

test("logs the first set-up and an accepted invitation", async () => {
  const invitedBy = harness.getViewer("owner").memberId;
  const invitation = { token: "link", email: "nina@desk.test", role: "viewer", invitedBy, expiresAt: now + 1000, createdAt: now } as const;
  await harness.console.store.invitations.create(invitation);
  expect((await accept(harness, "link")).status).toBe(201);
  await harness.console.store.members.remove(invitedBy);
  await harness.console.store.setUpToken.replace("first", now);
  const owner = { token: "first", name: "Otto", email: "otto@desk.test", password: PASSWORD };
  expect((await harness.request("/api/console/set-up", { method: "POST", json: owner })).status).toBe(201);
  expect((await harness.console.store.audit.listNewest(2)).map(({ action, memberName }) => [action, memberName])).toEqual([
    ["setUp", "Otto"],
    ["acceptInvitation", "New"],
  ]);
});

test("rejects expired, unsigned, foreign, truncated and sessionless cookies", async () => {
  const { authSecret } = harness.console;
  const token = { sub: harness.getViewer("admin").memberId, version: 1, sid: "known" };
  const validCookie = (await harness.mintCookie(token)).slice(SESSION_COOKIE.length + 1);
  const encodePart = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const invalidCookies = {
    expired: await encode({ token, secret: authSecret, maxAge: -60 }),
    unsigned: `${encodePart({ alg: "none" })}.${encodePart(token)}.`,
    "unsigned, with five parts": `${encodePart({ alg: "none", enc: "none" })}..${encodePart(token)}..`,
    "signed with another secret": await encode({ token, secret: "another" }),
    "for another purpose": await encode({ token, secret: authSecret, salt: "csrf" }),
    truncated: validCookie.slice(0, -4),
    "of an unknown session": await encode({ token: { ...token, sid: "none" }, secret: authSecret }),
    "without a session id": await encode({ token: { sub: token.sub, version: 1 }, secret: authSecret }),
  };
  expect(await getStatusWith(validCookie)).toBe(200);
  for (const [label, value] of Object.entries(invalidCookies)) expect([label, await getStatusWith(value)]).toEqual([label, 401]);
});

test("rejects a session cookie past its own expiry", async () => {
  const cookie = await harness.mintCookie({ sub: harness.getViewer("admin").memberId, version: 1 });
  const getStatus = async () => (await harness.request("/api/console/account", { cookie })).status;
  expect(await getStatus()).toBe(200);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 31 * 24 * 60 * 60_000 });
  try {
    expect(await getStatus()).toBe(401);
  } finally {
    vi.useRealTimers();
  }
});
