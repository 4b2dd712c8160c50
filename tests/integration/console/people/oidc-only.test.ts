// A console without passwords: the remaining ways in, and that no member loses their last one.
import { afterAll, beforeAll, expect, test } from "vitest";
import { createHarness, PASSWORD } from "@/tests/support/harness";
import { settingsOf, startTokenIssuer, type TokenIssuer } from "@/tests/support/token-issuer";

let acme: TokenIssuer;
beforeAll(async () => {
  acme = await startTokenIssuer();
});
afterAll(() => acme.stop());

test("where passwords are off only a link of the command line lets one in by password, for a day", async () => {
  const settings = { LIGHTDESK_OIDC: "acme", ...settingsOf("acme", acme), LIGHTDESK_PASSWORD_SIGN_IN: "0" };
  let time = Date.now();
  const closed = await createHarness({ now: () => time, settings });
  const { signIn } = await import("@/lib/server/auth/sign-in");
  const attempt = async (email: string, password: string) =>
    (await signIn(closed.console, { email, password, address: "198.51.100.50" })).ok;
  // The owner who set it up may use the password for a day, to connect the provider.
  expect([await attempt("owner@desk.test", PASSWORD), await attempt("admin@desk.test", PASSWORD)]).toEqual([true, false]);
  time += 25 * 60 * 60_000;
  expect(await attempt("owner@desk.test", PASSWORD)).toBe(false);
  const { composeReset } = await import("@/lib/server/auth/reset-link");
  const { store, env } = closed.console;
  const { disconnectProvider } = await import("@/lib/server/queries/sign-in");
  const { memberId } = closed.viewerOf("owner");
  await store.identities.link({ issuer: acme.url, subject: "olga", provider: "acme" }, memberId, time);
  const link = await composeReset({ store, env, email: "owner@desk.test", token: "a way back", now: time });
  expect(link).toContain("/invitation?token=");
  const json = { token: "a way back", password: "a new long password" };
  expect((await closed.request("/api/console/members/invitations/accept", { method: "POST", json })).status).toBe(200);
  expect([await attempt("owner@desk.test", "a new long password"), await attempt("admin@desk.test", PASSWORD)]).toEqual([true, false]);
  // That day does not count as another way in.
  expect(await disconnectProvider(closed.contextOf("owner"), "acme")).toMatchObject({ ok: false, failure: { code: "CONFLICT" } });
  const invitation = { token: "an invitation", email: "new@desk.test", role: "viewer" as const, invitedBy: memberId };
  await store.invitations.create({ ...invitation, createdAt: time, expiresAt: time + 60_000 });
  const joining = { token: "an invitation", name: "New", password: "a new long password" };
  const joined = await closed.request("/api/console/members/invitations/accept", { method: "POST", json: joining });
  expect([joined.status, (await joined.json()).code]).toEqual([403, "FORBIDDEN"]);
  expect(await store.members.getByEmail("new@desk.test")).toBeUndefined();
  time += 25 * 60 * 60_000;
  expect(await attempt("owner@desk.test", "a new long password")).toBe(false);
  await closed.dispose();
});
