// Sign-in by a reverse proxy's header: trusted addresses, the member it identifies, and its limits.
import { once } from "node:events";
import { createServer, get } from "node:http";
import { type AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readViewer, recordViewerUse } from "@/lib/server/auth/viewer";
import { PROXY_EMAIL_HEADER } from "@/lib/server/cookies";
import { readEnv } from "@/lib/server/env";
import { getSignInMethods } from "@/lib/server/queries/members";
import { applyProxyHeader } from "@/lib/server/sign-in-settings";
import { createHarness, PASSWORD } from "@/tests/support/harness";
import { accept, DAY_MS, invite } from "./people-harness";

const settings = { LIGHTDESK_AUTH_HEADER: "X-Forwarded-Email", LIGHTDESK_AUTH_HEADER_FROM: "127.0.0.1, 10.0.0.0/8" };

describe("the header", () => {
  const { proxySignIn } = readEnv(settings, "/root");
  const server = createServer((request, response) => {
    const refused = applyProxyHeader(request, request.url === "/off" ? undefined : proxySignIn);
    response.end(JSON.stringify(refused ?? { vouched: request.headers[PROXY_EMAIL_HEADER] ?? null }));
  });
  beforeAll(async () => {
    server.listen(0, "0.0.0.0");
    await once(server, "listening");
  });
  afterAll(() => void server.close());

  async function sendFrom(from: string, headers: Record<string, string>, path = "/"): Promise<unknown> {
    const { port } = server.address() as AddressInfo;
    const request = get({ host: "127.0.0.1", port, path, localAddress: from, headers, agent: false });
    const [response] = await once(request, "response");
    let text = "";
    for await (const chunk of response) text += String(chunk);
    return JSON.parse(text);
  }

  test("is accepted only from a trusted address", async () => {
    const emailHeader = { "x-forwarded-email": "ana@desk.test" };
    expect(await sendFrom("127.0.0.1", emailHeader)).toEqual({ vouched: "ana@desk.test" });
    const forwardingHeaders: Record<string, string>[] = [
      {},
      { "x-forwarded-for": "127.0.0.1" },
      { forwarded: "for=127.0.0.1" },
      { "x-real-ip": "10.0.0.1" },
    ];
    for (const extra of forwardingHeaders)
      expect(await sendFrom("127.0.0.2", { ...emailHeader, ...extra })).toMatchObject({
        status: 403,
        message: /only accepted from the reverse proxy/,
      });
    expect(await sendFrom("127.0.0.2", {})).toEqual({ vouched: null });
  });

  test("cannot be set by clients when the console sets it", async () => {
    for (const [from, path] of [
      ["127.0.0.1", "/"],
      ["127.0.0.2", "/"],
      ["127.0.0.1", "/off"],
    ] as const)
      expect(await sendFrom(from, { [PROXY_EMAIL_HEADER]: "ana@desk.test" }, path)).toEqual({ vouched: null });
    expect(await sendFrom("127.0.0.2", { "x-forwarded-email": "ana@desk.test" }, "/off")).toEqual({ vouched: null });
  });
});

test.each([
  [{ LIGHTDESK_AUTH_HEADER: "x-forwarded-email" }, /LIGHTDESK_AUTH_HEADER_FROM must be set together/],
  [{ LIGHTDESK_AUTH_HEADER_FROM: "127.0.0.1" }, /must be set together/],
  [{ ...settings, LIGHTDESK_AUTH_HEADER: "cookie" }, /LIGHTDESK_AUTH_HEADER must be/],
  [{ ...settings, LIGHTDESK_AUTH_HEADER: "x-lightdesk-vouched" }, /LIGHTDESK_AUTH_HEADER must be/],
  [{ ...settings, LIGHTDESK_AUTH_HEADER_FROM: "proxy.local" }, /LIGHTDESK_AUTH_HEADER_FROM must be/],
  [{ ...settings, LIGHTDESK_AUTH_HEADER_FROM: "10.0.0.0/33" }, /LIGHTDESK_AUTH_HEADER_FROM must be/],
  [{ ...settings, LIGHTDESK_AUTH_HEADER_SIGN_UP: "owner" }, /LIGHTDESK_AUTH_HEADER_SIGN_UP must be/],
  [{ ...settings, LIGHTDESK_AUTH_HEADER_SIGN_UP: "viewer" }, /LIGHTDESK_AUTH_HEADER_DOMAINS must be set/],
])("rejects the settings %j with the reason", (env, message) => {
  expect(() => readEnv(env, "/root")).toThrow(message);
});

describe("the named user", async () => {
  let now = Date.now();
  const signUpSettings = { LIGHTDESK_AUTH_HEADER_SIGN_UP: "viewer", LIGHTDESK_AUTH_HEADER_DOMAINS: "desk.test,studio.test" };
  const harness = await createHarness({ now: () => now, settings: { ...settings, ...signUpSettings } });

  const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
  const createHeaders = (email: string, extra: Record<string, string> = {}) => ({
    headers: { [PROXY_EMAIL_HEADER]: email, "user-agent": firefox, ...extra },
  });
  const getAccount = async (options: object) => {
    const response = await harness.request("/api/console/account", options);
    return response.ok ? (await response.json()).member.email : response.status;
  };

  test("takes precedence over a cookie of another member", async () => {
    expect(await getAccount(createHeaders("Operator@Desk.test"))).toBe("operator@desk.test");
    expect(await getAccount({ ...createHeaders("operator@desk.test"), as: "owner" })).toBe("operator@desk.test");
    expect(await getAccount({ ...createHeaders("nobody@else.test"), as: "owner" })).toBe(401);
    for (const header of ["", "operator", "operator@desk.test, owner@desk.test", "a@desk.test\u0000", `${"a".repeat(300)}@desk.test`])
      expect([header, await getAccount({ headers: { [PROXY_EMAIL_HEADER]: header.replace("\u0000", "%00") } })]).toEqual([header, 401]);
  });

  test("becomes a member once with the configured role, which is logged", async () => {
    const accounts = await Promise.all([getAccount(createHeaders("ana@studio.test")), getAccount(createHeaders("ana@studio.test"))]);
    expect(accounts).toEqual(["ana@studio.test", "ana@studio.test"]);
    expect(await harness.console.store.members.getByEmail("ana@studio.test")).toMatchObject({ role: "viewer", name: "ana" });
    const joinEntries = (await harness.console.store.audit.listNewest(20)).filter(({ action }) => action === "joinThroughProxy");
    expect(joinEntries).toMatchObject([
      { target: "ana <ana@studio.test>", outcome: expect.stringContaining('{"role":{"to":"viewer"},"signUp":true}') },
    ]);
    expect(await getAccount(createHeaders("eve@elsewhere.test"))).toBe(401);
    expect(await harness.console.store.members.getByEmail("eve@elsewhere.test")).toBeUndefined();
  });

  test("has one session per browser while the proxy confirms it", async () => {
    const listSessions = async (options: object) =>
      (await (await harness.request("/api/console/account/sessions", options)).json()).sessions;
    await getAccount(createHeaders("viewer@desk.test", { "user-agent": "curl/8.0" }));
    const sessions = await listSessions(createHeaders("viewer@desk.test"));
    expect(sessions.map(({ browser, method, current }: Record<string, unknown>) => [browser, method, current])).toEqual(
      expect.arrayContaining([
        ["Firefox · Linux", "proxy", true],
        ["curl", "proxy", false],
        ["Firefox · Linux", "password", false],
      ]),
    );
    expect(await listSessions(createHeaders("viewer@desk.test"))).toHaveLength(3);
    now += 8 * DAY_MS;
    expect(await getAccount(createHeaders("viewer@desk.test"))).toBe("viewer@desk.test");
  });

  test("extends a session while a stream is open, but never an ended one", async () => {
    const { console } = harness;
    const headers = new Headers(createHeaders("zoe@studio.test").headers);
    const viewer = await readViewer(console, headers);
    if (!viewer) throw new Error("no viewer");
    const [session] = await console.store.sessions.list(viewer.memberId);
    now += 10 * 60_000;
    await recordViewerUse({ composition: console, viewer }, headers);
    expect(await console.store.sessions.list(viewer.memberId)).toEqual([{ ...session, usedAt: now }]);
    await console.store.sessions.end(viewer.credential.id);
    await recordViewerUse({ composition: console, viewer }, headers);
    expect(await console.store.sessions.list(viewer.memberId)).toEqual([]);
  });

  test("signs in once for many parallel requests, with one session and one log row", async () => {
    const listSignIns = async () =>
      (await harness.console.store.audit.listNewest(200)).filter(
        ({ action, target }) => action === "signIn" && target === "mia@studio.test",
      );
    const requestMany = () => Promise.all(Array.from({ length: 20 }, () => getAccount(createHeaders("mia@studio.test"))));
    expect(new Set(await requestMany())).toEqual(new Set(["mia@studio.test"]));
    expect(await listSignIns()).toHaveLength(1);
    // The session has been idle for too long, so a new one starts.
    now += 8 * DAY_MS;
    expect(new Set(await requestMany())).toEqual(new Set(["mia@studio.test"]));
    expect(await listSignIns()).toHaveLength(2);
    const mia = await harness.console.store.members.getByEmail("mia@studio.test");
    expect(await harness.console.store.sessions.list(mia?.id ?? "")).toHaveLength(1);
  });

  test("cannot change the address that the proxy signs in with", async () => {
    const json = { email: "operator2@desk.test", currentPassword: PASSWORD };
    const refusal = await harness.request("/api/console/account", { ...createHeaders("viewer@desk.test"), method: "PUT", json });
    const details = [{ path: "email", message: expect.stringMatching(/can't be changed here.* Ask an admin to invite/) }];
    expect([refusal.status, (await refusal.json()).details]).toEqual([400, details]);
    expect(await getSignInMethods(harness.getContext("viewer"))).toMatchObject({ hasFixedAddress: true });
  });

  test("never needs a password, as the proxy confirms each request", async () => {
    const inviteMember = (email: string) => invite(harness, email, "viewer", createHeaders("admin@desk.test"));
    expect((await inviteMember("one@desk.test")).token).not.toBe("");
    now += 60 * 60_000;
    expect((await inviteMember("two@desk.test")).token).not.toBe("");
  });

  test("is rejected when suspended and gets a lowered role immediately", async () => {
    const { store } = harness.console;
    const id = harness.getViewer("operator").memberId;
    await store.members.change(id, { role: "viewer" });
    const submit = { ...createHeaders("operator@desk.test"), method: "POST", json: { prompt: {} } };
    expect((await harness.request("/api/prompt", submit)).status).toBe(403);
    await store.members.change(id, { disabled: true });
    expect(await getAccount(createHeaders("operator@desk.test"))).toBe(401);
  });

  test("stays out after removal until invited, and lists no proxy sign-in", async () => {
    const asAdmin = createHeaders("admin@desk.test");
    expect(await getAccount(createHeaders("leo@studio.test"))).toBe("leo@studio.test");
    const { store } = harness.console;
    const id = (await store.members.getByEmail("leo@studio.test"))?.id ?? "";
    expect((await harness.request(`/api/console/members/${id}`, { ...asAdmin, method: "DELETE" })).status).toBe(204);
    expect(await getAccount(createHeaders("leo@studio.test"))).toBe(401);
    expect(await store.members.getByEmail("leo@studio.test")).toBeUndefined();
    const { token } = await invite(harness, "leo@studio.test", "viewer", asAdmin);
    expect((await accept(harness, token)).status).toBe(201);
    expect(await getAccount(createHeaders("leo@studio.test"))).toBe("leo@studio.test");
    expect(await store.identities.list()).toEqual([]);
  });

  test("is ignored when the setting is off", async () => {
    const harnessWithoutProxy = await createHarness();
    const response = await harnessWithoutProxy.request("/api/console/account", createHeaders("owner@desk.test"));
    expect(response.status).toBe(401);
  });
});
