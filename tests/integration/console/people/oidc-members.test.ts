// OIDC sign-in: removed members are rejected, groups determine roles, and sign-ins from one address are limited.
import { beforeEach, describe, expect, test } from "vitest";
import { type AuditPage } from "@/lib/contract/audit/audit";
import { type MemberView } from "@/lib/contract/console";
import { type Role } from "@/lib/contract/members/roles";
import { createResetLink } from "@/lib/server/auth/reset-link";
import { signIn } from "@/lib/server/auth/sign-in";
import { disconnectProvider } from "@/lib/server/queries/members";
import { createHarness, HOST, PASSWORD } from "@/tests/support/harness";
import { createOidcBrowser } from "@/tests/support/oidc-browser";
import { createSettings, startTokenIssuer } from "@/tests/support/token-issuer";
import { accept, invite as createInvitation } from "./people-harness";

describe("oidc members", async () => {
  let now = Date.now();
  const [acme, otherIssuer, corp] = await Promise.all([startTokenIssuer(), startTokenIssuer(), startTokenIssuer()]);
  const settings = {
    LIGHTDESK_PUBLIC_URL: `http://${HOST}`,
    LIGHTDESK_OIDC: "acme,other,open,corp",
    ...createSettings("acme", acme, { DOMAINS: "example.com", SIGN_UP: "operator" }),
    ...createSettings("other", otherIssuer, { DOMAINS: "example.com", SIGN_UP: "viewer" }),
    ...createSettings("open", otherIssuer, { LINK: "1" }),
    ...createSettings("corp", corp, {
      ROLE_CLAIM: "groups",
      ROLES: "leads:admin,artists:operator,drawers:operator,guests:viewer",
      LINK: "1",
    }),
  };
  const harness = await createHarness({ now: () => now, settings });

  beforeEach(() => {
    now += 2 * 60_000; // resets the limit of attempts
  });

  const browser = () => createOidcBrowser(harness);
  const invite = async (email: string, role: Role): Promise<string> => {
    await harness.renewCookies();
    return (await createInvitation(harness, email, role, { as: "owner" })).token;
  };

  test("lets many people sign in from one address but still slows guessing", async () => {
    const colleagues = Array.from({ length: 25 }, (_, index) => `colleague-${index}`);
    const destinations = [];
    for (const sub of colleagues) {
      acme.setOverrides({ claims: { sub, email: `${sub}@example.com` } });
      destinations.push(await browser().signIn("acme", acme));
    }
    expect(new Set(destinations)).toEqual(new Set(["/jobs"]));
    const results = [];
    for (let count = 0; count < 130; count += 1) results.push(await browser().finishSignIn("acme", { state: "guess", code: "guess" }));
    expect([results[0], results.at(-1), results.filter((result) => result === "lost").length]).toEqual(["lost", "too-many", 120]);
  });

  test("rejects suspended and removed members, and passwords of members without one", async () => {
    const { store } = harness.console;
    acme.setOverrides({ claims: { sub: "dora", email: "dora@example.com" } });
    const dora = browser();
    await dora.signIn("acme", acme);
    const member = await store.members.getByEmail("dora@example.com");
    for (const password of ["", " ", "undefined", PASSWORD])
      expect(await signIn(harness.console, { email: "dora@example.com", password, address: "198.51.100.77" })).toMatchObject({
        ok: false,
        failure: { code: "UNAUTHORIZED" },
      });
    await store.members.change(member?.id ?? "", { disabled: true });
    expect(await dora.fetchAccount()).toMatchObject({ code: "UNAUTHORIZED" });
    expect(await dora.signIn("acme", acme)).toBe("suspended");
    await store.members.remove(member?.id ?? "");
    expect(await dora.signIn("acme", acme)).toBe("removed");
    expect(await store.members.getByEmail("dora@example.com")).toBeUndefined();
  });

  test("readmits a removed member only by invitation, whatever the provider", async () => {
    const { store } = harness.console;
    const remove = async (email: string) =>
      harness.request(`/api/console/members/${(await store.members.getByEmail(email))?.id ?? ""}`, { as: "owner", method: "DELETE" });
    const passwordHash = (await store.members.getByEmail("owner@desk.test"))?.passwordHash;
    await store.members.create({ name: "Rex", email: "rex@example.com", role: "viewer", passwordHash, createdAt: now });
    expect((await remove("rex@example.com")).status).toBe(204);
    acme.setOverrides({ claims: { sub: "rex", email: "rex@example.com" } });
    otherIssuer.setOverrides({ claims: { sub: "rex at other", email: "rex@example.com" } });
    expect(await browser().signIn("acme", acme)).toBe("removed");
    expect(await browser().signIn("other", otherIssuer)).toBe("removed");
    expect(await store.members.getByEmail("rex@example.com")).toBeUndefined();
    const token = await invite("rex@example.com", "viewer");
    expect(await browser().signIn("other", otherIssuer, { purpose: "join", token })).toBe("/jobs");
    expect(await browser().signIn("other", otherIssuer)).toBe("/jobs");
    // Invited with a password. The provider's earlier identity is linked to the new member by its address.
    expect((await remove("rex@example.com")).status).toBe(204);
    expect(await browser().signIn("other", otherIssuer)).toBe("removed");
    expect((await accept(harness, await invite("rex@example.com", "viewer"))).status).toBe(201);
    expect(await browser().signIn("open", otherIssuer)).toBe("/jobs");
  });

  const setGroups = (sub: string, groups: string[]) =>
    corp.setOverrides({ claims: { sub, email: `${sub}@example.com`, name: sub, groups } });
  const joinWithGroups = async (sub: string, groups: string[]) => {
    const token = await invite(`${sub}@example.com`, "operator");
    setGroups(sub, groups);
    expect(await browser().signIn("corp", corp, { purpose: "join", token })).toBe("/jobs");
    const member = await harness.console.store.members.getByEmail(`${sub}@example.com`);
    if (!member) throw new Error(`no member ${sub}`);
    return member;
  };
  const getAudit = async (action: string): Promise<AuditPage["entries"]> => {
    await harness.renewCookies();
    const page: AuditPage = await (await harness.request(`/api/console/audit?action=${action}`, { as: "owner" })).json();
    return page.entries;
  };

  test("records a role change by groups with member, both roles and the groups", async () => {
    const gil = await joinWithGroups("gil", ["guests"]);
    setGroups("gil", ["drawers", "unmapped", "artists"]);
    expect(await browser().signIn("corp", corp)).toBe("/jobs");
    const [entry] = await getAudit("changeMember");
    expect(entry).toMatchObject({
      member: { id: gil.id, name: "gil", email: "gil@example.com" },
      via: "provider Corp",
      target: "gil <gil@example.com>",
      change: { role: { from: "viewer", to: "operator" }, groups: ["drawers", "artists"], provider: "Corp" },
    });
    const file = await (await harness.request("/api/console/audit/export?action=changeMember", { as: "owner" })).text();
    expect(file).toContain("role: viewer -> operator; by groups at Corp: drawers, artists");
  });

  test("gives an invited user the role of their groups and records both", async () => {
    const member = await joinWithGroups("gus", ["guests"]);
    expect(member.role).toBe("viewer");
    expect((await getAudit("acceptInvitation"))[0]).toMatchObject({
      target: "gus <gus@example.com>",
      change: { role: { from: "operator", to: "viewer" }, groups: ["guests"], invitedBy: "Olga Owner <owner@desk.test>" },
    });
  });

  test("explains the refusal to unmapped users and logs their identity", async () => {
    setGroups("nil", ["unmapped"]);
    expect(await browser().signIn("corp", corp)).toBe("groups");
    expect(await browser().signIn("corp", corp, { purpose: "join", token: await invite("nil@example.com", "viewer") })).toBe("groups");
    const linkingBrowser = createOidcBrowser(harness, { "lightdesk.session": harness.getCookie("operator").split("=")[1] ?? "" });
    expect(await linkingBrowser.signIn("corp", corp, { purpose: "link" })).toBe("groups");
    expect(await harness.console.store.identities.list(harness.getViewer("operator").memberId)).toEqual([]);
    expect((await getAudit("signIn"))[0]).toMatchObject({
      target: "nil <nil@example.com>",
      outcome: "Corp: not in any group that may sign in, from 198.51.100.9",
    });
  });

  test("locks a role that follows groups but still allows suspension", async () => {
    const { id } = await joinWithGroups("fay", ["artists"]);
    await harness.renewCookies();
    const { members }: { members: MemberView[] } = await (await harness.request("/api/console/members", { as: "admin" })).json();
    expect(members.filter(({ roleFrom }) => roleFrom).map(({ name, roleFrom }) => [name, roleFrom])).toContainEqual(["fay", "Corp"]);
    const change = (json: object) => harness.request(`/api/console/members/${id}`, { as: "admin", method: "PUT", json });
    expect(await (await change({ role: "viewer" })).json()).toMatchObject({
      code: "ROLE_FROM_GROUPS",
      message: expect.stringContaining("follows their groups at Corp"),
    });
    expect((await harness.console.store.members.get(id))?.role).toBe("operator");
    expect((await change({ disabled: true })).status).toBe(200);
  });
});

const acme = await startTokenIssuer();

test("allows one password sign-in per command-line link when passwords are off", async () => {
  const settings = { LIGHTDESK_OIDC: "acme", ...createSettings("acme", acme), LIGHTDESK_PASSWORD_SIGN_IN: "0" };
  let time = Date.now();
  const harness = await createHarness({ now: () => time, settings });
  const attempt = async (email: string, password: string) =>
    (await signIn(harness.console, { email, password, address: "198.51.100.50" })).ok;
  // The owner who set it up may use the password for a day, to connect the provider.
  expect([await attempt("owner@desk.test", PASSWORD), await attempt("admin@desk.test", PASSWORD)]).toEqual([true, false]);
  time += 25 * 60 * 60_000;
  expect(await attempt("owner@desk.test", PASSWORD)).toBe(false);
  const { store, env } = harness.console;
  const { memberId } = harness.getViewer("owner");
  await store.identities.link({ issuer: acme.url, subject: "olga", provider: "acme" }, memberId, time);
  const link = await createResetLink({ store, env, email: "owner@desk.test", token: "a reset token", now: time });
  expect(link).toContain("/invitation?token=");
  expect((await accept(harness, "a reset token", "a new long password")).status).toBe(200);
  expect([await attempt("owner@desk.test", "a new long password"), await attempt("admin@desk.test", PASSWORD)]).toEqual([true, false]);
  // The temporary password does not count as another sign-in method.
  expect(await disconnectProvider(harness.getContext("owner"), "acme")).toMatchObject({ ok: false, failure: { code: "CONFLICT" } });
  const invitation = { token: "an invitation", email: "new@desk.test", role: "viewer" as const, invitedBy: memberId };
  await store.invitations.create({ ...invitation, createdAt: time, expiresAt: time + 60_000 });
  expect(await accept(harness, "an invitation")).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } });
  expect(await store.members.getByEmail("new@desk.test")).toBeUndefined();
  time += 25 * 60 * 60_000;
  expect(await attempt("owner@desk.test", "a new long password")).toBe(false);
});
