// Sign-in, first-run set-up and invitations, with a fake clock.
import { describe, expect, test } from "vitest";
import { createDeviceCookie, isKnownDevice } from "@/lib/server/auth/sealed-cookies";
import { createOwner, signIn } from "@/lib/server/auth/sign-in";
import { createHarness, PASSWORD } from "@/tests/support/harness";
import { accept, addMember, invite } from "./people-harness";

let now = 1_800_000_000_000;
const harness = await createHarness({ now: () => now });

const attemptSignIn = async (email: string, password: string, address = "198.51.100.7") => {
  const result = await signIn(harness.console, { email, password, address });
  return result.ok ? "in" : result.failure;
};

test("signs in with the right password whatever the case of the email address", async () => {
  expect(await attemptSignIn(" Owner@Desk.test ", PASSWORD)).toBe("in");
});

test("returns the same response for unknown accounts and wrong passwords", async () => {
  const { id } = await addMember(harness, "Suspended", "viewer");
  await harness.console.store.members.change(id, { disabled: true });
  const responses = [
    await attemptSignIn("nobody@desk.test", PASSWORD),
    await attemptSignIn("viewer@desk.test", "wrong"),
    await attemptSignIn("suspended@desk.test", "wrong"),
  ];
  expect(new Set(responses.map((response) => JSON.stringify(response))).size).toBe(1);
  expect(responses[0]).toMatchObject({ code: "UNAUTHORIZED", status: 401 });
  expect(await attemptSignIn("suspended@desk.test", PASSWORD)).toMatchObject({ code: "SUSPENDED", status: 403 });
  expect(harness.getLog()).not.toContain("nobody@desk.test");
});

test("limits an account and IP address after five attempts, with a retry delay", async () => {
  for (let count = 0; count < 5; count += 1)
    expect(await attemptSignIn("admin@desk.test", "wrong")).toMatchObject({ code: "UNAUTHORIZED" });
  expect(await attemptSignIn("admin@desk.test", PASSWORD)).toMatchObject({ code: "RATE_LIMITED", status: 429, retryAfterMs: 30_000 });
  expect(await attemptSignIn("admin@desk.test", PASSWORD, "198.51.100.8")).toBe("in");
  now += 30_000;
  expect(await attemptSignIn("admin@desk.test", PASSWORD)).toBe("in");
  for (let count = 0; count < 5; count += 1)
    expect(await attemptSignIn("admin@desk.test", "wrong")).toMatchObject({ code: "UNAUTHORIZED" });
});

test("counts each parallel attempt", async () => {
  const attempts = await Promise.all(Array.from({ length: 12 }, () => attemptSignIn("operator@desk.test", "wrong", "198.51.100.20")));
  expect(attempts.filter((response) => response !== "in" && response.code === "UNAUTHORIZED")).toHaveLength(5);
});

test("limits attempts from one IP address across accounts", async () => {
  const attempts = await Promise.all(
    Array.from({ length: 32 }, (_, index) => attemptSignIn(`someone${index}@desk.test`, "wrong", "198.51.100.30")),
  );
  expect(attempts.filter((response) => response !== "in" && response.code === "RATE_LIMITED").length).toBe(2);
});

test("resets a suspended member's password without signing them in", async () => {
  const { store } = harness.console;
  const member = await store.members.getByEmail("suspended@desk.test");
  const invitationFields = { role: "viewer", invitedBy: member?.id ?? "", expiresAt: now + 60_000, createdAt: now } as const;
  await store.invitations.create({ token: "resets", email: "suspended@desk.test", resetsMemberId: member?.id ?? "", ...invitationFields });
  expect((await accept(harness, "resets", "another long password")).status).toBe(200);
  expect(await attemptSignIn("suspended@desk.test", "another long password", "198.51.100.90")).toMatchObject({ code: "SUSPENDED" });
});

describe("sign-in attempts from many IP addresses", () => {
  const exhaustAttempts = async (email: string) => {
    // Uses the limits directly, because each sign-in attempt hashes a password.
    for (let count = 0; count < 60; count += 1) await harness.console.signInLimits.consume({ email, address: `203.0.113.${count}` });
    expect(await attemptSignIn(email, PASSWORD, "198.51.100.60")).toMatchObject({ code: "RATE_LIMITED" });
  };
  const getDeviceCookie = async (email: string) => {
    const member = await harness.console.store.members.getByEmail(email);
    if (!member) throw new Error(`no member ${email}`);
    return (await createDeviceCookie(harness.console, member)).split(";")[0] ?? "";
  };
  const isKnown = (cookie: string, email: string) => isKnownDevice(harness.console, new Headers({ cookie }), email);
  const signInFrom = async (cookie: string, email: string, password: string) => {
    const result = await signIn(harness.console, { email, password, address: "203.0.113.1", isKnownDevice: await isKnown(cookie, email) });
    return result.ok ? "in" : result.failure.code;
  };

  test("don't lock members out of browsers they have signed in with", async () => {
    await exhaustAttempts("viewer@desk.test");
    expect(await signInFrom(await getDeviceCookie("viewer@desk.test"), "viewer@desk.test", PASSWORD)).toBe("in");
    // All known browsers together get as many attempts as a single one.
    const outcomes = [];
    for (let count = 0; count < 7; count += 1)
      outcomes.push(await signInFrom(await getDeviceCookie("viewer@desk.test"), "viewer@desk.test", "wrong"));
    expect(outcomes.slice(4)).toEqual(["UNAUTHORIZED", "RATE_LIMITED", "RATE_LIMITED"]);
  });

  test("gain nothing from a forged device cookie or one of another account", async () => {
    const cookie = await getDeviceCookie("viewer@desk.test");
    expect(await isKnown(cookie, "operator@desk.test")).toBe(false);
    expect(await isKnown(`${cookie.slice(0, -4)}AAAA`, "viewer@desk.test")).toBe(false);
    expect(await isKnown("", "viewer@desk.test")).toBe(false);
  });

  test("lose trusted browsers when the password changes", async () => {
    const { members } = harness.console.store;
    await members.create({ name: "Lee", email: "leaver@desk.test", role: "viewer", createdAt: now });
    const cookie = await getDeviceCookie("leaver@desk.test");
    expect(await isKnown(cookie, "leaver@desk.test")).toBe(true);
    const { id = "" } = (await members.getByEmail("leaver@desk.test")) ?? {};
    await members.changeAccount(id, { passwordHash: "another" });
    expect([
      await isKnown(cookie, "leaver@desk.test"),
      await isKnown(await getDeviceCookie("leaver@desk.test"), "leaver@desk.test"),
    ]).toEqual([false, true]);
  });

  test("don't stop signed-in members from confirming their password", async () => {
    await exhaustAttempts("admin@desk.test");
    const confirm = { as: "admin", method: "POST", json: { password: PASSWORD } } as const;
    expect((await harness.request("/api/console/account/confirm", confirm)).status).toBe(204);
  });
});

test("allows many successful sign-ins from one IP address", async () => {
  for (let count = 0; count < 31; count += 1) expect(await attemptSignIn("owner@desk.test", PASSWORD, "198.51.100.70")).toBe("in");
});

test("accepts a set-up link only once and only before an owner exists", async () => {
  const token = new URL(harness.console.getSetUpUrl() ?? "").searchParams.get("token") ?? "";
  const owner = { name: "Second", email: "second@desk.test", password: "another long password" };
  expect((await harness.request("/api/console/set-up", { method: "POST", json: { ...owner, token } })).status).toBe(401);
  await harness.console.store.setUpToken.replace("known", now);
  expect(await createOwner(harness.console, { ...owner, token: "known" })).toMatchObject({ ok: false, failure: { code: "CONFLICT" } });
  expect(await harness.console.store.connections.listFor("anybody")).toHaveLength(1);
});

test.each([
  [{ password: "short" }, "password"],
  [{ email: "no address" }, "email"],
  [{ name: " " }, "name"],
])("names the invalid field in set-up: %j", async (fields, field) => {
  const json = { token: "t", name: "N", email: "n@desk.test", password: "long enough password", ...fields };
  const response = await harness.request("/api/console/set-up", { method: "POST", json });
  expect([response.status, (await response.json()).details[0].path]).toEqual([400, field]);
});

test("creates one member per invitation, never above the inviter's role", async () => {
  const getInviteStatus = async (json: object, as: "admin" | "owner") =>
    (await harness.request("/api/console/members/invitations", { as, method: "POST", json })).status;
  expect(await getInviteStatus({ email: "new@desk.test", role: "owner" }, "owner")).toBe(400);
  expect(await getInviteStatus({ email: "viewer@desk.test", role: "viewer" }, "admin")).toBe(409);
  const { token } = await invite(harness, "new@desk.test", "operator");
  const responses = await Promise.all([accept(harness, token), accept(harness, token)]);
  expect(responses.map(({ status }) => status).sort()).toEqual([201, 401]);
  expect(await harness.console.store.members.getByEmail("new@desk.test")).toMatchObject({ role: "operator", disabled: false });
});

test("limits set-up attempts from one IP address", async () => {
  const json = { token: "guess", name: "N", email: "n@desk.test", password: "long enough password" };
  const requests = Array.from({ length: 25 }, () =>
    harness.request("/api/console/set-up", { method: "POST", json, headers: { "x-lightdesk-address": "198.51.100.40" } }),
  );
  const statuses = (await Promise.all(requests)).map(({ status }) => status);
  expect([statuses.filter((status) => status === 401).length, statuses.filter((status) => status === 429).length]).toEqual([20, 5]);
});

test("returns 429 with Retry-After after too many requests by one member", async () => {
  const limitedHarness = await createHarness({ settings: { LIGHTDESK_RATE_LIMIT: "3" }, now: () => now });
  const statuses: number[] = [];
  for (let count = 0; count < 4; count += 1)
    statuses.push((await limitedHarness.request("/api/console/connections", { as: "viewer" })).status);
  const last = await limitedHarness.request("/api/console/connections", { as: "viewer" });
  expect(statuses).toEqual([200, 200, 200, 429]);
  expect(last.headers.get("retry-after")).toBe("20");
});
