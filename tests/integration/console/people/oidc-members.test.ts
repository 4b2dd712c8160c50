// Signing in at a provider: removed members stay out, and sign-ins from one address are limited.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createHarness, type Harness, HOST, PASSWORD } from "@/tests/support/harness";
import { oidcBrowser } from "@/tests/support/oidc-browser";
import { settingsOf, startTokenIssuer, type TokenIssuer } from "@/tests/support/token-issuer";

let now = Date.now();
let acme: TokenIssuer;
let other: TokenIssuer;
let harness: Harness;
beforeAll(async () => {
  [acme, other] = await Promise.all([startTokenIssuer(), startTokenIssuer()]);
  const settings = {
    LIGHTDESK_PUBLIC_URL: `http://${HOST}`,
    LIGHTDESK_OIDC: "acme,other,open",
    ...settingsOf("acme", acme, { DOMAINS: "example.com", SIGN_UP: "operator" }),
    ...settingsOf("other", other, { DOMAINS: "example.com", SIGN_UP: "viewer" }),
    ...settingsOf("open", other, { LINK: "1" }),
  };
  harness = await createHarness({ now: () => now, settings });
});
afterAll(async () => {
  await harness.dispose();
  await Promise.all([acme.stop(), other.stop()]);
});

beforeEach(() => {
  now += 2 * 60_000; // past the limit of attempts
});

const browser = () => oidcBrowser(harness);

test("a whole office signs in from one address at once, and guessing there is still held up", async () => {
  const office = Array.from({ length: 25 }, (_, index) => `colleague-${index}`);
  const places = [];
  for (const sub of office) {
    acme.bend({ claims: { sub, email: `${sub}@example.com` } });
    places.push(await browser().signIn("acme", acme));
  }
  expect(new Set(places)).toEqual(new Set(["/jobs"]));
  const tries = [];
  for (let count = 0; count < 130; count += 1) tries.push(await browser().finish("acme", { state: "guess", code: "guess" }));
  expect([tries[0], tries.at(-1), tries.filter((tried) => tried === "lost").length]).toEqual(["lost", "too-many", 120]);
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

test("a removed member comes back by an invitation alone, whichever provider, subject or address rule would let them in", async () => {
  const { store } = harness.console;
  const invite = async (email: string) => {
    const asked = { as: "owner", method: "POST", json: { email, role: "viewer" } } as const;
    const { url }: { url: string } = await (await harness.request("/api/console/members/invitations", asked)).json();
    return new URL(url).searchParams.get("token") ?? "";
  };
  const remove = async (email: string) =>
    harness.request(`/api/console/members/${(await store.members.getByEmail(email))?.id ?? ""}`, { as: "owner", method: "DELETE" });
  const passwordHash = (await store.members.getByEmail("owner@desk.test"))?.passwordHash;
  await store.members.create({ name: "Rex", email: "rex@example.com", role: "viewer", passwordHash, createdAt: now });
  expect((await remove("rex@example.com")).status).toBe(204);
  acme.bend({ claims: { sub: "rex", email: "rex@example.com" } });
  other.bend({ claims: { sub: "rex at other", email: "rex@example.com" } });
  expect(await browser().signIn("acme", acme)).toBe("stranger");
  expect(await browser().signIn("other", other)).toBe("stranger");
  expect(await store.members.getByEmail("rex@example.com")).toBeUndefined();
  const token = await invite("rex@example.com");
  expect(await browser().signIn("other", other, { purpose: "join", token })).toBe("/jobs");
  expect(await browser().signIn("other", other)).toBe("/jobs");
  // Invited with a password, but the provider's identity was known before: the address rule leads to the new member.
  expect((await remove("rex@example.com")).status).toBe(204);
  expect(await browser().signIn("other", other)).toBe("stranger");
  const accepted = { token: await invite("rex@example.com"), name: "Rex", password: PASSWORD };
  expect((await harness.request("/api/console/members/invitations/accept", { method: "POST", json: accepted })).status).toBe(201);
  expect(await browser().signIn("open", other)).toBe("/jobs");
});
