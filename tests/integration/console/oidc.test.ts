// Signing in at a provider, without a browser: what a good answer leads to, and that no bad one leads anywhere.
import { join } from "node:path";
import { NextRequest } from "next/server";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type NextAuthOptions } from "next-auth";
import { authOptions } from "@/lib/server/auth/options";
import { type OidcTurn } from "@/lib/server/auth/oidc/turn";
import { unguarded } from "@/lib/server/bff/guard";
import { beginOidc, finishOidc, signOutEverywhere } from "@/lib/server/bff/oidc-route";
import { createHarness, type Harness, HOST, PASSWORD } from "@/tests/support/harness";
import { settingsOf, startTokenIssuer, type TokenIssuer } from "@/tests/support/token-issuer";

type Cookie = { name: string; value: string };
type Answered = { redirect?: string; body?: unknown; cookies?: Cookie[] };
type Core = { AuthHandler(asked: { req: object; options: NextAuthOptions }): Promise<Answered> };
/** next-auth without Next around it: its handler for route files needs a request that Next opened. */
const core: Core = await import(join(process.cwd(), "node_modules/next-auth/core/index.js"));

let now = Date.now();
let acme: TokenIssuer;
let other: TokenIssuer;
let harness: Harness;
beforeAll(async () => {
  [acme, other] = await Promise.all([startTokenIssuer(), startTokenIssuer()]);
  const settings = {
    LIGHTDESK_PUBLIC_URL: `http://${HOST}`,
    LIGHTDESK_OIDC: "acme,other,open",
    ...settingsOf("acme", acme, {
      DOMAINS: "example.com",
      SIGN_UP: "operator",
      ROLE_CLAIM: "realm.groups",
      ROLES: "bosses:admin,*:operator",
    }),
    ...settingsOf("other", other, { DOMAINS: "example.com,desk.test", SIGN_UP: "viewer" }),
    ...settingsOf("open", other, { LINK: "1" }),
  };
  harness = await createHarness({ now: () => now, settings });
});
afterAll(async () => {
  await harness.dispose();
  await Promise.all([acme.stop(), other.stop()]);
});
beforeEach(() => {
  now += 60 * 60_000; // nobody waits for the limit of attempts
  acme.bend({});
  other.bend({});
});

/** A browser: it keeps cookies, and follows the console to the provider and back. */
function browser(jar: Record<string, string> = {}) {
  const cookie = () =>
    Object.entries(jar)
      .map(([name, value]) => `${name}=${value}`)
      .join("; ");
  const take = (answer: Response) => {
    for (const line of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "") delete jar[name];
      else jar[name] = value;
    }
    return answer;
  };
  async function ask(method: string, path: string, fields?: Record<string, string>): Promise<Response> {
    const [, , , action = "", id] = path.split("?")[0]?.split("/") ?? [];
    const headers = { host: HOST, origin: `http://${HOST}`, cookie: cookie(), "x-lightdesk-address": "198.51.100.9" };
    const request = new NextRequest(`http://${HOST}${path}`, { method, headers, ...(fields && { body: new URLSearchParams(fields) }) });
    const handler = unguarded("auth", async (opened) => {
      const events = { changed: () => undefined, refused: () => undefined, failed: () => undefined };
      const run = async (asked: Request, turn?: OidcTurn) => {
        const query = Object.fromEntries(new URL(asked.url).searchParams);
        const body = method === "POST" ? Object.fromEntries(new URLSearchParams(await asked.text())) : {};
        const req = { method, action, providerId: id, cookies: { ...jar }, body, query, headers: {}, origin: `http://${HOST}` };
        return toResponse(await core.AuthHandler({ req, options: authOptions(events, request.headers, turn) }));
      };
      if (action === "signout") return { ok: true, value: await signOutEverywhere(request, () => run(request)) };
      const provider = opened.console.env.oidc.find((one) => one.id === id);
      if (!provider) return { ok: true, value: await run(request) };
      return method === "POST" ? beginOidc(provider, request, run) : finishOidc(provider, opened, run);
    });
    return take(await handler(request, { params: Promise.resolve({}) }));
  }
  async function csrf(): Promise<string> {
    const { csrfToken }: { csrfToken: string } = await (await ask("GET", "/api/auth/csrf")).json();
    return csrfToken;
  }
  return {
    jar,
    ask,
    async begin(id: string, more: Record<string, string> = {}): Promise<string> {
      const fields = { csrfToken: await csrf(), json: "true", callbackUrl: "/jobs", ...more };
      const { url }: { url: string } = await (await ask("POST", `/api/auth/signin/${id}`, fields)).json();
      return url;
    },
    async finish(id: string, query: Record<string, string>) {
      const answer = await ask("GET", `/api/auth/callback/${id}?${new URLSearchParams(query).toString()}`);
      return whereTo(answer.headers.get("location") ?? "");
    },
    async signIn(id: string, issuer: TokenIssuer, more?: Record<string, string>) {
      return this.finish(id, issuer.visit(await this.begin(id, more)));
    },
    async signOut(): Promise<string> {
      const { url }: { url: string } = await (await ask("POST", "/api/auth/signout", { csrfToken: await csrf(), json: "true" })).json();
      return url;
    },
    me: async () =>
      (await harness.request("/api/console/account", { cookie: cookie() })).json() as Promise<{ member?: { email: string; role: string } }>,
  };
}

/** Of a sentence its name, of a page its path. */
function whereTo(location: string): string {
  const { pathname, searchParams } = new URL(location, `http://${HOST}`);
  return searchParams.get("refused") ?? pathname;
}

function toResponse({ redirect, body, cookies = [] }: Answered): Response {
  const headers = new Headers(redirect === undefined ? {} : { location: redirect });
  for (const { name, value } of cookies) headers.append("set-cookie", `${name}=${value}`);
  return Response.json(redirect === undefined ? body : { url: redirect }, { headers });
}

test("whoever the settings let in is made a member at the first sign-in, and is the same member at the next one", async () => {
  const ada = browser();
  const url = new URL(await ada.begin("acme"));
  expect(Object.fromEntries(url.searchParams)).toMatchObject({
    code_challenge_method: "S256",
    scope: "openid email profile",
    response_type: "code",
  });
  expect([url.searchParams.has("nonce"), url.searchParams.has("state")]).toEqual([true, true]);
  expect(await ada.finish("acme", acme.visit(url.href))).toBe("/jobs");
  expect(await ada.me()).toMatchObject({ member: { email: "ada@example.com", role: "operator", name: "Ada Lovelace" } });
  acme.bend({ claims: { email: "ada.king@example.com" } });
  expect(await ada.signIn("acme", acme)).toBe("/jobs");
  const members = await harness.console.store.members.list();
  expect(members.filter(({ email }) => email.startsWith("ada")).map(({ email }) => email)).toEqual(["ada.king@example.com"]);
  const rows = (await harness.console.store.audit.list({}, 10)).map(({ action, memberName, outcome }) => [action, memberName, outcome]);
  expect(rows.slice(0, 2)).toEqual([
    ["signIn", "Ada Lovelace", "Acme: known"],
    ["joinByProvider", "Ada Lovelace", "Acme: made"],
  ]);
});

test("a role follows the groups at each sign-in, up and down, and never touches the owner", async () => {
  const bea = browser();
  const as = (groups: unknown) => acme.bend({ claims: { sub: "bea", email: "bea@example.com", realm: { groups } } });
  as(["staff", "bosses"]);
  await bea.signIn("acme", acme);
  expect(await bea.me()).toMatchObject({ member: { role: "admin" } });
  as(["staff"]);
  const late = browser({ ...bea.jar });
  await browser().signIn("acme", acme);
  expect(await late.me()).toMatchObject({ code: "UNAUTHORIZED" });
  await bea.signIn("acme", acme);
  expect(await bea.me()).toMatchObject({ member: { role: "operator" } });
  const { store } = harness.console;
  await store.identities.link({ issuer: acme.url, subject: "olga", provider: "acme" }, harness.viewerOf("owner").memberId, now);
  acme.bend({ claims: { sub: "olga", email: "owner@example.com", realm: { groups: [] } } });
  const olga = browser();
  expect(await olga.signIn("acme", acme)).toBe("/jobs");
  expect(await olga.me()).toMatchObject({ member: { role: "owner", email: "owner@desk.test" } });
});

const second = Math.floor(Date.now() / 1000);
test.each<[string, Parameters<TokenIssuer["bend"]>[0], string]>([
  ["a signature of another key", { withOtherKey: true }, "untrusted"],
  ["alg none", { algorithm: "none" }, "untrusted"],
  ["alg HS256 with the client's secret", { algorithm: "HS256" }, "untrusted"],
  ["another audience", { claims: { aud: "somebody else" } }, "untrusted"],
  ["several audiences, for another party", { claims: { aud: ["lightdesk", "other"], azp: "other" } }, "untrusted"],
  ["an expired token", { claims: { iat: second - 7200, exp: second - 3600 } }, "untrusted"],
  ["a token that is not valid yet", { claims: { nbf: second + 3600 } }, "untrusted"],
  ["another nonce", { claims: { nonce: "of another sign-in" } }, "untrusted"],
  ["no nonce", { claims: { nonce: undefined } }, "untrusted"],
  ["another issuer", { claims: { iss: "https://evil.example" } }, "untrusted"],
  ["no subject", { claims: { sub: undefined } }, "untrusted"],
  ["an address that is not verified", { claims: { email_verified: false } }, "unverified"],
  ["an address of which nothing is said", { claims: { email_verified: undefined }, userinfo: { sub: "ada" } }, "unverified"],
  ["a word that looks like verified", { claims: { email_verified: "true" } }, "unverified"],
  [
    "an address that only userinfo calls verified, another one",
    { claims: { email_verified: undefined }, userinfo: { sub: "ada", email: "eve@evil.example", email_verified: true } },
    "domain",
  ],
  [
    "userinfo about somebody else",
    { claims: { email: undefined }, userinfo: { sub: "eve", email: "ada@example.com", email_verified: true } },
    "untrusted",
  ],
  ["no address", { claims: { email: undefined } }, "unverified"],
  ["another domain", { claims: { email: "ada@example.org" } }, "domain"],
  ["a domain that ends like it", { claims: { email: "ada@notexample.com" } }, "domain"],
  ["a domain behind two signs", { claims: { email: "ada@example.com@evil.example" } }, "unverified"],
  ["a provider that fails", { status: 503 }, "away"],
])("%s lets nobody in", async (_name, bent, shown) => {
  const eve = browser();
  const query = acme.visit(await eve.begin("acme"));
  acme.bend(bent);
  expect(await eve.finish("acme", query)).toBe(shown);
  expect(eve.jar["lightdesk.session"]).toBeUndefined();
  const [last] = await harness.console.store.audit.list({}, 1);
  expect(last).toMatchObject({ action: "signIn", status: 401, code: "UNAUTHORIZED", memberId: undefined });
});

test("an answer counts once, in the browser that asked, for what was asked", async () => {
  const ada = browser();
  const query = acme.visit(await ada.begin("acme"));
  expect(await browser().finish("acme", query)).toBe("lost");
  expect(await ada.finish("acme", { ...query, state: "of another one" })).toBe("lost");
  const again = browser();
  const kept = acme.visit(await again.begin("acme"));
  const before = { ...again.jar };
  await again.begin("acme");
  expect(await again.finish("acme", kept)).toBe("lost");
  expect(await browser({ ...before }).finish("other", kept)).toBe("lost");
  expect(await browser({ ...before, "next-auth.state": "x" }).finish("acme", kept)).toBe("lost");
  expect(await browser({ ...before }).finish("acme", { state: kept.state ?? "", error: "access_denied" })).toBe("cancelled");
  expect(await browser({ ...before }).finish("acme", { ...kept, iss: "https://evil.example" })).toBe("untrusted");
  expect(await browser({ ...before }).finish("acme", kept)).toBe("/jobs");
  expect(await browser({ ...before }).finish("acme", kept)).toBe("lost");
});

test("nothing that the caller adds reaches the provider", async () => {
  const ada = browser();
  const { csrfToken }: { csrfToken: string } = await (await ada.ask("GET", "/api/auth/csrf")).json();
  const fields = { csrfToken, json: "true", callbackUrl: "https://evil.example/" };
  const answer = await ada.ask("POST", "/api/auth/signin/acme?scope=everything&redirect_uri=https://evil.example", fields);
  const { url }: { url: string } = await answer.json();
  expect([url.includes("evil.example"), new URL(url).searchParams.get("scope")]).toEqual([false, "openid email profile"]);
  expect(await ada.finish("acme", acme.visit(url))).toBe("/");
});

test("a provider that calls itself by another name, or sends keys over the wire in the clear, is not used", async () => {
  for (const configuration of [
    { issuer: "https://evil.example" },
    { token_endpoint: "http://evil.example/token" },
    { jwks_uri: undefined },
  ]) {
    now += 60_000;
    other.bend({ configuration });
    const ada = browser();
    const { csrfToken }: { csrfToken: string } = await (await ada.ask("GET", "/api/auth/csrf")).json();
    const answer = await ada.ask("POST", "/api/auth/signin/other", { csrfToken, json: "true" });
    expect([answer.status, (await answer.json()).code]).toEqual([502, "UPSTREAM_UNREACHABLE"]);
  }
});

test("one address at two providers stays two people, unless it is verified and the settings permit it", async () => {
  other.bend({ claims: { sub: "cora", email: "cora@example.com" } });
  acme.bend({ claims: { sub: "cora-at-acme", email: "cora@example.com" } });
  expect(await browser().signIn("acme", acme)).toBe("/jobs");
  expect(await browser().signIn("other", other)).toBe("stranger");
  other.bend({ claims: { sub: "cora", email: "cora@example.com", email_verified: false } });
  expect(await browser().signIn("open", other)).toBe("unverified");
  other.bend({ claims: { sub: "cora", email: "cora@example.com" } });
  const cora = browser();
  expect(await cora.signIn("open", other)).toBe("/jobs");
  expect(await cora.me()).toMatchObject({ member: { email: "cora@example.com" } });
  other.bend({ claims: { sub: "another cora", email: "cora@example.com" } });
  expect(await browser().signIn("open", other)).toBe("stranger");
});

test("the address of a member with a password leads to nobody by itself", async () => {
  other.bend({ claims: { sub: "viewer", email: "viewer@desk.test" } });
  expect(await browser().signIn("other", other)).toBe("stranger");
  expect(await harness.console.store.identities.list(harness.viewerOf("viewer").memberId)).toEqual([]);
});

test("a suspended member and a removed one stay out, and a member without a password has none that fits", async () => {
  const { store } = harness.console;
  acme.bend({ claims: { sub: "dora", email: "dora@example.com" } });
  const dora = browser();
  await dora.signIn("acme", acme);
  const member = await store.members.getByEmail("dora@example.com");
  const { signIn } = await import("@/lib/server/auth/sign-in");
  for (const password of ["", " ", "undefined", PASSWORD])
    expect(await signIn({ email: "dora@example.com", password, address: "198.51.100.77" })).toMatchObject({
      ok: false,
      failure: { code: "UNAUTHORIZED" },
    });
  await store.members.change(member?.id ?? "", { disabled: true });
  expect(await dora.me()).toMatchObject({ code: "UNAUTHORIZED" });
  expect(await dora.signIn("acme", acme)).toBe("stranger");
  await store.members.remove(member?.id ?? "");
  expect(await dora.signIn("acme", acme)).toBe("stranger");
  expect(await store.members.getByEmail("dora@example.com")).toBeUndefined();
});
