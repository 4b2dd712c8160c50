// OIDC sign-in without a browser: valid responses sign in, invalid ones have no effect.
import { beforeEach, expect, test } from "vitest";
import { type AuditPage } from "@/lib/contract/audit/audit";
import { disableReadOnly, enableReadOnly } from "@/lib/server/auth/read-only";
import { createHarness, HOST } from "@/tests/support/harness";
import { createOidcBrowser } from "@/tests/support/oidc-browser";
import { createSettings, startTokenIssuer, type TokenIssuer } from "@/tests/support/token-issuer";
import { invite } from "./people-harness";

let now = Date.now();
const [acme, otherIssuer] = await Promise.all([startTokenIssuer(), startTokenIssuer()]);
const settings = {
  LIGHTDESK_PUBLIC_URL: `http://${HOST}`,
  LIGHTDESK_OIDC: "acme,other,open",
  ...createSettings("acme", acme, {
    DOMAINS: "example.com",
    SIGN_UP: "operator",
    ROLE_CLAIM: "realm.groups",
    ROLES: "bosses:admin,*:operator",
  }),
  ...createSettings("other", otherIssuer, { DOMAINS: "example.com,desk.test", SIGN_UP: "viewer" }),
  ...createSettings("open", otherIssuer, { LINK: "1" }),
};
const harness = await createHarness({ now: () => now, settings });
beforeEach(() => {
  now += 60 * 60_000; // resets the limit of attempts
  acme.setOverrides({});
  otherIssuer.setOverrides({});
});

async function readAudit(query: string): Promise<AuditPage> {
  await harness.renewCookies();
  return (await harness.request(`/api/console/audit?${query}`, { as: "owner" })).json();
}

const browser = (jar?: Record<string, string>) => createOidcBrowser(harness, jar);

test("creates a permitted member at the first sign-in and reuses it later", async () => {
  const ada = browser();
  const url = new URL(await ada.startSignIn("acme"));
  expect(Object.fromEntries(url.searchParams)).toMatchObject({
    code_challenge_method: "S256",
    scope: "openid email profile",
    response_type: "code",
  });
  expect([url.searchParams.has("nonce"), url.searchParams.has("state")]).toEqual([true, true]);
  expect(await ada.finishSignIn("acme", acme.visit(url.href))).toBe("/jobs");
  expect(await ada.fetchAccount()).toMatchObject({ member: { email: "ada@example.com", role: "operator", name: "Ada Lovelace" } });
  acme.setOverrides({ claims: { email: "ada.king@example.com" } });
  expect(await ada.signIn("acme", acme)).toBe("/jobs");
  const members = await harness.console.store.members.list();
  expect(members.filter(({ email }) => email.startsWith("ada")).map(({ email }) => email)).toEqual(["ada.king@example.com"]);
  const { entries } = await readAudit("");
  expect(entries.slice(0, 2)).toMatchObject([
    { action: "signIn", member: { name: "Ada Lovelace" }, outcome: "Acme: known" },
    {
      action: "joinByProvider",
      target: "Ada Lovelace <ada@example.com>",
      change: { role: { to: "operator" }, provider: "Acme", groups: ["*"] },
    },
  ]);
});

test("updates a role from groups at each sign-in, but never the owner's", async () => {
  const bea = browser();
  const setGroups = (groups: unknown) => acme.setOverrides({ claims: { sub: "bea", email: "bea@example.com", realm: { groups } } });
  setGroups(["staff", "bosses"]);
  await bea.signIn("acme", acme);
  expect(await bea.fetchAccount()).toMatchObject({ member: { role: "admin" } });
  setGroups(["staff"]);
  const lateBrowser = browser({ ...bea.jar });
  await browser().signIn("acme", acme);
  expect(await lateBrowser.fetchAccount()).toMatchObject({ code: "UNAUTHORIZED" });
  await bea.signIn("acme", acme);
  expect(await bea.fetchAccount()).toMatchObject({ member: { role: "operator" } });
  const { store } = harness.console;
  await store.identities.link({ issuer: acme.url, subject: "olga", provider: "acme" }, harness.getViewer("owner").memberId, now);
  acme.setOverrides({ claims: { sub: "olga", email: "owner@example.com", realm: { groups: [] } } });
  const olga = browser();
  expect(await olga.signIn("acme", acme)).toBe("/jobs");
  expect(await olga.fetchAccount()).toMatchObject({ member: { role: "owner", email: "owner@desk.test" } });
});

const nowSeconds = Math.floor(Date.now() / 1000);
const verifiedAda = { sub: "ada", email: "ada@example.com", email_verified: true };
const verifiedEve = { ...verifiedAda, email: "eve@evil.example" };
/** Invalid responses of a provider with the code of the refusal. */
const invalidProviderResponses: [string, Parameters<TokenIssuer["setOverrides"]>[0], string][] = [
  ["a signature by another key", { withOtherKey: true }, "untrusted"],
  ["alg none", { algorithm: "none" }, "untrusted"],
  ["alg HS256 with the client's secret", { algorithm: "HS256" }, "untrusted"],
  ["another audience", { claims: { aud: "somebody else" } }, "untrusted"],
  ["several audiences with another authorized party", { claims: { aud: ["lightdesk", "other"], azp: "other" } }, "untrusted"],
  ["an expired token", { claims: { iat: nowSeconds - 7200, exp: nowSeconds - 3600 } }, "untrusted"],
  ["a token that is not valid yet", { claims: { nbf: nowSeconds + 3600 } }, "untrusted"],
  ["a token that was issued in the future", { claims: { iat: nowSeconds + 3600, exp: nowSeconds + 7200 } }, "untrusted"],
  ["an issue time beyond every valid date", { claims: { iat: 1e300, exp: nowSeconds + 7200 } }, "untrusted"],
  ["another nonce", { claims: { nonce: "of another sign-in" } }, "untrusted"],
  ["no nonce", { claims: { nonce: undefined } }, "untrusted"],
  ["another issuer", { claims: { iss: "https://evil.example" } }, "untrusted"],
  ["no subject", { claims: { sub: undefined } }, "untrusted"],
  ["an unverified email address", { claims: { email_verified: false } }, "unverified"],
  ["an email address without a verified claim", { claims: { email_verified: undefined }, userinfo: { sub: "ada" } }, "unverified"],
  ["a verified claim that is a string", { claims: { email_verified: "true" } }, "unverified"],
  ["another address in userinfo", { claims: { email_verified: undefined }, userinfo: verifiedEve }, "domain"],
  ["another subject's userinfo", { claims: { email: undefined }, userinfo: { ...verifiedAda, sub: "eve" } }, "untrusted"],
  ["no email address", { claims: { email: undefined } }, "unverified"],
  ["another domain", { claims: { email: "ada@example.org" } }, "domain"],
  ["a domain with the same ending", { claims: { email: "ada@notexample.com" } }, "domain"],
  ["an address with two @ signs", { claims: { email: "ada@example.com@evil.example" } }, "unverified"],
  ["a provider that fails", { status: 503 }, "away"],
];

test.each(invalidProviderResponses)("rejects a sign-in: %s", async (_name, change, expected) => {
  const eve = browser();
  const query = acme.visit(await eve.startSignIn("acme"));
  acme.setOverrides(change);
  expect(await eve.finishSignIn("acme", query)).toBe(expected);
  expect(eve.jar["lightdesk.session"]).toBeUndefined();
  const [last] = await harness.console.store.audit.list({}, 1);
  expect(last).toMatchObject({ action: "signIn", status: 401, code: "UNAUTHORIZED", memberId: undefined });
});

test("accepts a response only in the requesting browser and for its purpose", async () => {
  const ada = browser();
  const query = acme.visit(await ada.startSignIn("acme"));
  expect(await browser().finishSignIn("acme", query)).toBe("lost");
  expect(await ada.finishSignIn("acme", { ...query, state: "another state" })).toBe("lost");
  const secondBrowser = browser();
  const storedVisit = acme.visit(await secondBrowser.startSignIn("acme"));
  const jarBefore = { ...secondBrowser.jar };
  await secondBrowser.startSignIn("acme");
  expect(await secondBrowser.finishSignIn("acme", storedVisit)).toBe("lost");
  expect(await browser({ ...jarBefore }).finishSignIn("other", storedVisit)).toBe("lost");
  expect(await browser({ ...jarBefore }).finishSignIn("acme", storedVisit)).toBe("/jobs");
});

test.each([
  ["a cookie that was changed", { "lightdesk.state": "x" }, {}, "lost"],
  ["an error of the provider", {}, { error: "access_denied" }, "cancelled"],
  ["a response of another issuer", {}, { iss: "https://evil.example" }, "untrusted"],
  ["a sign-in", {}, {}, "/jobs"],
])("rejects a replayed response after %s, even if the provider accepts the code", async (_name, jar, overrides, expected) => {
  acme.setOverrides({ reusesCodes: true });
  const ada = browser();
  const query = acme.visit(await ada.startSignIn("acme"));
  const jarBefore = { ...ada.jar };
  expect(await browser({ ...jarBefore, ...jar }).finishSignIn("acme", { ...query, ...overrides })).toBe(expected);
  expect(await browser({ ...jarBefore }).finishSignIn("acme", query)).toBe("lost");
});

test("accepts one of two parallel responses with one state", async () => {
  acme.setOverrides({ reusesCodes: true });
  const ada = browser();
  const query = acme.visit(await ada.startSignIn("acme"));
  const responses = await Promise.all([1, 2, 3].map(() => browser({ ...ada.jar }).finishSignIn("acme", query)));
  expect(responses.sort()).toEqual(["/jobs", "lost", "lost"]);
});

test("forwards no extra parameters to the provider", async () => {
  const ada = browser();
  const { csrfToken }: { csrfToken: string } = await (await ada.request("GET", "/api/auth/csrf")).json();
  const fields = { csrfToken, json: "true", callbackUrl: "https://evil.example/" };
  const response = await ada.request("POST", "/api/auth/signin/acme?scope=everything&redirect_uri=https://evil.example", fields);
  const { url }: { url: string } = await response.json();
  expect([url.includes("evil.example"), new URL(url).searchParams.get("scope")]).toEqual([false, "openid email profile"]);
  expect(await ada.finishSignIn("acme", acme.visit(url))).toBe("/");
});

test("rejects a provider with a wrong issuer or keys over plain http", async () => {
  for (const configuration of [
    { issuer: "https://evil.example" },
    { token_endpoint: "http://evil.example/token" },
    { jwks_uri: undefined },
  ]) {
    now += 60_000;
    otherIssuer.setOverrides({ configuration });
    const ada = browser();
    const { csrfToken }: { csrfToken: string } = await (await ada.request("GET", "/api/auth/csrf")).json();
    const response = await ada.request("POST", "/api/auth/signin/other", { csrfToken, json: "true" });
    expect([response.status, (await response.json()).code]).toEqual([502, "UPSTREAM_UNREACHABLE"]);
  }
});

test("keeps one address at two providers apart unless verified and permitted", async () => {
  otherIssuer.setOverrides({ claims: { sub: "cora", email: "cora@example.com" } });
  acme.setOverrides({ claims: { sub: "cora-at-acme", email: "cora@example.com" } });
  expect(await browser().signIn("acme", acme)).toBe("/jobs");
  expect(await browser().signIn("other", otherIssuer)).toBe("unlinked");
  otherIssuer.setOverrides({ claims: { sub: "cora", email: "cora@example.com", email_verified: false } });
  expect(await browser().signIn("open", otherIssuer)).toBe("unverified");
  otherIssuer.setOverrides({ claims: { sub: "cora", email: "cora@example.com" } });
  const cora = browser();
  expect(await cora.signIn("open", otherIssuer)).toBe("/jobs");
  expect(await cora.fetchAccount()).toMatchObject({ member: { email: "cora@example.com" } });
  otherIssuer.setOverrides({ claims: { sub: "another cora", email: "cora@example.com" } });
  expect(await browser().signIn("open", otherIssuer)).toBe("other");
  otherIssuer.setOverrides({ claims: { sub: "viewer", email: "viewer@desk.test" } });
  expect(await browser().signIn("other", otherIssuer)).toBe("unlinked");
  expect(await harness.console.store.identities.list(harness.getViewer("viewer").memberId)).toEqual([]);
});

const listOutcomes = async () => (await harness.console.store.audit.list({}, 1)).map(({ action, outcome }) => [action, outcome]);
const disconnectAcme = ({ jar }: ReturnType<typeof browser>) =>
  harness.request("/api/console/account/methods/acme", {
    cookie: `lightdesk.session=${jar["lightdesk.session"] ?? ""}`,
    method: "DELETE",
  });

test("connects a provider for a signed-in member after confirmation", async () => {
  const { store } = harness.console;
  await harness.renewCookies();
  const ola = browser({ "lightdesk.session": harness.getCookie("operator").split("=")[1] ?? "" });
  acme.setOverrides({ claims: { sub: "ola", email: "ola@example.com" } });
  expect(await ola.signIn("acme", acme, { purpose: "link", callbackUrl: "/settings/account" })).toBe("/settings/account");
  expect(await listOutcomes()).toEqual([["linkProvider", "Acme: linked"]]);
  expect(await ola.fetchAccount()).toMatchObject({ member: { email: "operator@desk.test" } });
  // The session continues; after 15 minutes it requires confirmation again.
  now += 16 * 60_000;
  const signInBody = await (await ola.request("POST", "/api/auth/signin/other", { csrfToken: "", purpose: "link" })).json();
  expect(signInBody).toMatchObject({ code: "SIGN_IN_AGAIN" });

  const url = await ola.startSignIn("acme", { purpose: "confirm", callbackUrl: "/confirmed" });
  expect(Object.fromEntries(new URL(url).searchParams)).toMatchObject({ prompt: "login", max_age: "0" });
  const authTime = Math.floor(now / 1000);
  acme.setOverrides({ claims: { sub: "ola", email: "ola@example.com", auth_time: authTime - 3600 } });
  expect(await ola.finishSignIn("acme", acme.visit(url))).toBe("stale");
  acme.setOverrides({ claims: { sub: "somebody else", email: "ola@example.com", auth_time: authTime } });
  expect(await ola.signIn("acme", acme, { purpose: "confirm" })).toBe("other");
  expect((await disconnectAcme(ola)).status).toBe(403);
  acme.setOverrides({ claims: { sub: "ola", email: "ola@example.com", auth_time: authTime } });
  expect(await ola.signIn("acme", acme, { purpose: "confirm", callbackUrl: "/confirmed" })).toBe("/confirmed");
  expect(await listOutcomes()).toEqual([["confirmSession", "Acme: known"]]);
  expect((await disconnectAcme(ola)).status).toBe(204);
  expect(await store.identities.list(harness.getViewer("operator").memberId)).toEqual([]);
});

test("keeps a member's last sign-in method and ignores an old provider sign-in", async () => {
  acme.setOverrides({ claims: { sub: "ida", email: "ida@example.com", auth_time: Math.floor(now / 1000) - 3600 } });
  const ida = browser();
  expect(await ida.signIn("acme", acme)).toBe("/jobs");
  expect(await (await disconnectAcme(ida)).json()).toMatchObject({ code: "SIGN_IN_AGAIN" });
  acme.setOverrides({ claims: { sub: "ida", email: "ida@example.com" } });
  expect(await ida.signIn("acme", acme)).toBe("/jobs");
  expect(await (await disconnectAcme(ida)).json()).toMatchObject({ code: "SIGN_IN_AGAIN" });
  // Without the time of the sign-in, the provider's response confirms nothing.
  const url = new URL(await ida.startSignIn("acme", { purpose: "confirm" }));
  expect(JSON.parse(url.searchParams.get("claims") ?? "{}")).toEqual({ id_token: { auth_time: { essential: true } } });
  expect(await ida.finishSignIn("acme", acme.visit(url.href))).toBe("undated");
  expect(harness.getLog()).toContain("LIGHTDESK_OIDC_ACME_UNDATED=1");
  expect(await (await disconnectAcme(ida)).json()).toMatchObject({ code: "SIGN_IN_AGAIN" });
  acme.setOverrides({ claims: { sub: "ida", email: "ida@example.com", auth_time: Math.floor(now / 1000) } });
  expect(await ida.signIn("acme", acme, { purpose: "confirm" })).toBe("/jobs");
  expect(await (await disconnectAcme(ida)).json()).toMatchObject({ code: "CONFLICT" });
});

test("ends the provider's session and stores the ID token encrypted", async () => {
  acme.setOverrides({ claims: { sub: "sid", email: "sid@example.com" } });
  now += 11 * 60_000;
  const sid = browser();
  await sid.signIn("acme", acme);
  const { sessions, members, identities } = harness.console.store;
  const [{ id } = { id: "" }] = await sessions.list((await members.getByEmail("sid@example.com"))?.id ?? "");
  const session = await identities.findSession(id);
  expect(session).toMatchObject({ provider: "acme" });
  const url = new URL(await sid.signOut());
  expect([url.origin + url.pathname, url.searchParams.get("tenant")]).toEqual([`${acme.url}/bye`, "1"]);
  expect(url.searchParams.get("post_logout_redirect_uri")).toBe(`http://${HOST}/sign-in`);
  const hint = url.searchParams.get("id_token_hint") ?? "";
  expect([hint.split(".").length, session?.sealedHint?.includes(hint.slice(0, 40))]).toEqual([3, false]);
  expect(await sid.fetchAccount()).toMatchObject({ code: "UNAUTHORIZED" });
  expect(await identities.findSession(id)).toBeUndefined();
  expect(harness.getLog()).not.toContain(hint.slice(0, 40));
});

test("blocks joining, linking and promotions in read-only mode, but not demotions", async () => {
  const { store } = harness.console;
  const setGroups = (...groups: string[]) => acme.setOverrides({ claims: { sub: "rea", email: "rea@example.com", realm: { groups } } });
  setGroups("staff");
  const rea = browser();
  await rea.signIn("acme", acme);
  await enableReadOnly(harness.console, "Olga Owner", undefined);
  try {
    setGroups("bosses");
    expect(await rea.signIn("acme", acme)).toBe("/jobs");
    expect(await rea.fetchAccount()).toMatchObject({ member: { role: "operator" } });
    acme.setOverrides({ claims: { sub: "tea", email: "tea@example.com" } });
    expect(await browser().signIn("acme", acme)).toBe("read-only");
    expect(await store.members.getByEmail("tea@example.com")).toBeUndefined();
    otherIssuer.setOverrides({ claims: { sub: "rea at other", email: "rea@example.com" } });
    expect(await browser().signIn("open", otherIssuer)).toBe("read-only");
    const member = await store.members.getByEmail("rea@example.com");
    await store.members.change(member?.id ?? "", { role: "admin" });
    setGroups("staff");
    expect(await rea.signIn("acme", acme)).toBe("/jobs");
    expect(await rea.fetchAccount()).toMatchObject({ member: { role: "operator" } });
  } finally {
    await disableReadOnly(harness.console);
  }
});

test("accepts an invitation once, at a provider with its verified address", async () => {
  await harness.renewCookies();
  const { token } = await invite(harness, "Jo@desk.test", "viewer", { as: "owner" });
  const join = { purpose: "join", token };
  otherIssuer.setOverrides({ claims: { sub: "jo", email: "mo@desk.test" } });
  expect(await browser().signIn("open", otherIssuer, join)).toBe("invited");
  otherIssuer.setOverrides({ claims: { sub: "jo", email: "jo@desk.test" } });
  expect(await browser().signIn("open", otherIssuer, { ...join, token: "guess" })).toBe("invitation");
  expect(await browser().signIn("open", otherIssuer)).toBe("stranger");
  const jo = browser();
  expect(await jo.signIn("open", otherIssuer, join)).toBe("/jobs");
  expect((await readAudit("")).entries[0]).toMatchObject({
    action: "acceptInvitation",
    change: { role: { to: "viewer" }, provider: "Open", invitedBy: "Olga Owner <owner@desk.test>" },
  });
  expect(await jo.fetchAccount()).toMatchObject({ member: { role: "viewer", email: "jo@desk.test" } });
  otherIssuer.setOverrides({ claims: { sub: "another jo", email: "jo@desk.test" } });
  expect(await browser().signIn("open", otherIssuer, join)).toBe("invitation");
});
