// `npm run doctor` and sign-in providers: reports what would break a sign-in, and what to do.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { checkOidc } from "@/lib/server/doctor/oidc";
import { readEnv } from "@/lib/server/env";
import { CLIENT, settingsOf, startTokenIssuer, type TokenIssuer } from "@/tests/support/token-issuer";

const PUBLIC_URL = "https://desk.example.com";
const REDIRECT = `${PUBLIC_URL}/api/auth/callback/acme`;
let acme: TokenIssuer;
beforeAll(async () => {
  acme = await startTokenIssuer();
});
afterAll(() => acme.stop());
beforeEach(() => acme.bend({ redirect: REDIRECT }));

const check = (more: Record<string, string> = {}) =>
  checkOidc(readEnv({ LIGHTDESK_OIDC: "acme", LIGHTDESK_PUBLIC_URL: PUBLIC_URL, ...settingsOf("acme", acme), ...more }), Date.now);
const faults = async (more?: Record<string, string>) => (await check(more)).filter(({ state }) => state !== "passed");

test("finds nothing wrong with a provider that is set up", async () => {
  const found = await check();
  expect(found.map(({ check: name, state }) => [name, state])).toEqual(Array.from({ length: 3 }, () => ["sign-in acme", "passed"]));
  expect(JSON.stringify(found)).not.toContain(CLIENT.secret);
  expect(await checkOidc(readEnv({}), Date.now)).toEqual([]);
});

test("reports a redirect address or a client that is not registered, with the address to register", async () => {
  acme.bend({ redirect: "https://old.example.com/api/auth/callback/acme" });
  const refused = { state: "failed", text: expect.stringContaining("status 400"), remedy: expect.stringContaining(`Register ${REDIRECT}`) };
  expect(await faults()).toMatchObject([refused]);
  acme.bend({ redirect: REDIRECT });
  expect(await faults({ LIGHTDESK_OIDC_ACME_CLIENT_ID: "mistyped" })).toMatchObject([refused]);
});

test("reports a public address that is not set, since the redirect address follows it", async () => {
  expect(await faults({ LIGHTDESK_PUBLIC_URL: "" })).toMatchObject([
    { state: "noted", text: expect.stringContaining("http://127.0.0.1:3000/api/auth/callback/acme") },
  ]);
});

test.each([
  ["another name", { configuration: { issuer: "https://idp.example.com" } }, "it calls itself https://idp.example.com"],
  ["a document without addresses", { configuration: { token_endpoint: undefined } }, "discovery document cannot be used"],
  ["an error", { status: 503 }, "answers with status 503"],
])("reports a provider with %s", async (_, bent, text) => {
  acme.bend(bent);
  expect(await faults()).toMatchObject([
    { state: "failed", text: expect.stringContaining(text), remedy: expect.stringContaining("_ISSUER") },
  ]);
});

test("reports a provider that does not answer", async () => {
  expect(await faults({ LIGHTDESK_OIDC_ACME_ISSUER: "http://127.0.0.1:9" })).toMatchObject([
    { state: "failed", text: "http://127.0.0.1:9/.well-known/openid-configuration does not answer." },
  ]);
});

test.each([
  ["ahead of", 5 * 60_000],
  ["behind", -5 * 60_000],
])("reports a clock that is %s this one", async (direction, aheadMs) => {
  acme.bend({ redirect: REDIRECT, aheadMs });
  expect(await faults()).toMatchObject([
    { state: "failed", text: expect.stringMatching(new RegExp(`clock is (299|300|301) s ${direction}`)) },
  ]);
});
