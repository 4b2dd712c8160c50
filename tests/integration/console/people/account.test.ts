// A member's own account: which changes need the password, and which sessions end.
import { afterAll, beforeEach, expect, test } from "vitest";
import { type Role } from "@/lib/contract/people/roles";
import { signIn } from "@/lib/server/auth/sign-in";
import { listMembers } from "@/lib/server/queries/members";
import { createHarness, type Harness, PASSWORD } from "@/tests/support/harness";

let now = 1_800_000_000_000;
let harness: Harness;
const services: Harness[] = [];
beforeEach(async () => {
  harness = await createHarness({ now: () => now });
  services.push(harness);
});
afterAll(() => Promise.all(services.map((item) => item.dispose())));

const change = async (as: Role, json: unknown) => {
  const response = await harness.request("/api/console/account", { as, method: "PUT", json });
  return { status: response.status, body: await response.json() };
};
const getStatus = async (cookie: string) => (await harness.request("/api/console/account", { cookie })).status;
const canSignIn = async (email: string, password: string) =>
  (await signIn(harness.console, { email, password, address: "198.51.100.9" })).ok;

test("lets members read and rename only themselves", async () => {
  expect(await change("viewer", { name: " Ana Ruiz ", id: harness.viewerOf("owner").memberId, role: "owner" })).toMatchObject({
    status: 200,
    body: { member: { name: "Ana Ruiz", role: "viewer" } },
  });
  const response = await harness.request("/api/console/account", { as: "viewer" });
  expect(await response.json()).toMatchObject({ member: { name: "Ana Ruiz", email: "viewer@desk.test" } });
  expect(await harness.console.store.members.get(harness.viewerOf("owner").memberId)).toMatchObject({ name: "Olga Owner" });
  expect(await getStatus(harness.cookieOf("viewer"))).toBe(200);
});

test("changes an address only with the password and to a free one", async () => {
  const refused = [
    await change("operator", { email: "new@desk.test" }),
    await change("operator", { email: "new@desk.test", currentPassword: "wrong" }),
  ];
  for (const { status, body } of refused) expect([status, body.details[0].path]).toEqual([400, "currentPassword"]);
  expect(await change("operator", { email: "OWNER@desk.test", currentPassword: PASSWORD })).toMatchObject({
    status: 409,
    body: { code: "CONFLICT" },
  });
  expect(await change("operator", { email: "New@desk.test", currentPassword: PASSWORD })).toMatchObject({ status: 200 });
  expect([await canSignIn("new@desk.test", PASSWORD), await canSignIn("operator@desk.test", PASSWORD)]).toEqual([true, false]);
  // The member's own address in another spelling does not count as taken.
  expect(await change("operator", { email: "NEW@desk.test", currentPassword: PASSWORD })).toMatchObject({ status: 200 });
});

test("ends every session when the password changes", async () => {
  const otherCookie = await harness.mintCookie({ sub: harness.viewerOf("operator").memberId, version: 1 });
  expect(await change("operator", { password: "short", currentPassword: PASSWORD })).toMatchObject({ status: 400 });
  expect(await getStatus(otherCookie)).toBe(200);
  expect(await change("operator", { password: "a new long password", currentPassword: PASSWORD })).toMatchObject({ status: 200 });
  expect([
    await getStatus(otherCookie),
    await getStatus(harness.cookieOf("operator")),
    await getStatus(harness.cookieOf("viewer")),
  ]).toEqual([401, 401, 200]);
  expect([await canSignIn("operator@desk.test", PASSWORD), await canSignIn("operator@desk.test", "a new long password")]).toEqual([
    false,
    true,
  ]);
});

test("limits guesses of the current password as at sign-in", async () => {
  const tries = [];
  for (let count = 0; count < 7; count += 1)
    tries.push((await change("admin", { email: "x@desk.test", currentPassword: `guess ${count}` })).status);
  expect(tries).toEqual([400, 400, 400, 400, 400, 429, 429]);
  expect(await change("admin", { email: "x@desk.test", currentPassword: PASSWORD })).toMatchObject({
    status: 429,
    body: { code: "RATE_LIMITED" },
  });
  now += 30_000;
  expect(await change("admin", { email: "x@desk.test", currentPassword: PASSWORD })).toMatchObject({ status: 200 });
});

type ListedSession = { id: string; browser: string; address: string; current: boolean; usedAt: number };
const listSessions = async (cookie: string): Promise<ListedSession[]> =>
  (await (await harness.request("/api/console/account/sessions", { cookie })).json()).sessions;
const end = async (cookie: string, id = "") =>
  (await harness.request(`/api/console/account/sessions${id}`, { cookie, method: "DELETE" })).status;

test("lists own sessions and ends one or all others", async () => {
  const sub = harness.viewerOf("viewer").memberId;
  const ownCookie = harness.cookieOf("viewer");
  const [phone, tablet] = [
    await harness.mintCookie({ sub, version: 1, sid: "phone" }),
    await harness.mintCookie({ sub, version: 1, sid: "tablet" }),
  ];
  const all = await listSessions(phone);
  expect(all.map(({ id, current }) => [id, current])).toEqual(
    expect.arrayContaining([
      ["phone", true],
      ["tablet", false],
    ]),
  );
  expect([all.length, all[0]]).toMatchObject([3, { browser: "Firefox · Linux", address: "198.51.100.1" }]);
  expect([await end(ownCookie, "/phone"), await getStatus(phone), await getStatus(tablet)]).toEqual([204, 401, 200]);
  expect([await end(ownCookie), await getStatus(tablet), await getStatus(ownCookie)]).toEqual([204, 401, 200]);
  expect((await listSessions(ownCookie)).map(({ current }) => current)).toEqual([true]);
});

test("hides other members' sessions", async () => {
  const [otherSession] = await listSessions(harness.cookieOf("operator"));
  expect(await end(harness.cookieOf("owner"), `/${otherSession?.id}`)).toBe(404);
  expect((await listSessions(harness.cookieOf("owner"))).some(({ id }) => id === otherSession?.id)).toBe(false);
  expect(await getStatus(harness.cookieOf("operator"))).toBe(200);
});

test("expires a session after idle time and at its absolute end", async () => {
  const limited = await createHarness({
    now: () => now,
    settings: { LIGHTDESK_SESSION_IDLE_MINUTES: "30", LIGHTDESK_SESSION_HOURS: "2" },
  });
  services.push(limited);
  const status = async (as: Role) => (await limited.request("/api/console/account", { as })).status;
  for (let minutes = 0; minutes < 120; minutes += 29) {
    expect([minutes, await status("viewer")]).toEqual([minutes, 200]);
    now += 29 * 60_000;
  }
  expect([await status("viewer"), await status("admin")]).toEqual([401, 401]);
});

test("records the last use at most once a minute with its address", async () => {
  const as = "viewer";
  const readAccount = (address: string) => harness.request("/api/console/account", { as, headers: { "x-lightdesk-address": address } });
  const before = now;
  const seen = async () =>
    (await harness.console.store.sessions.list(harness.viewerOf(as).memberId)).map(({ usedAt, address }) => [usedAt, address]);
  now += 59_999;
  await readAccount("203.0.113.1");
  expect(await seen()).toEqual([[before, "198.51.100.1"]]);
  now += 1;
  await readAccount("203.0.113.2");
  expect(await seen()).toEqual([[now, "203.0.113.2"]]);
});

test("shows when each member was last seen", async () => {
  const getSeenAt = async () => {
    const members = await listMembers(harness.contextOf("admin"));
    return members.ok ? members.value.find(({ id }) => id === harness.viewerOf("viewer").memberId)?.seenAt : members.failure;
  };
  const begunAt = now;
  expect(await getSeenAt()).toBe(begunAt);
  now += 60_000;
  await harness.request("/api/console/account", { as: "viewer" });
  expect(await getSeenAt()).toBe(begunAt + 60_000);
  now += 1000;
  await harness.mintCookie({ sub: harness.viewerOf("viewer").memberId, version: 1 });
  expect(await getSeenAt()).toBe(begunAt + 61_000);
});

test("logs which fields changed without their values", async () => {
  await change("operator", { name: "Ana", password: "a new long password", currentPassword: PASSWORD });
  const [entry] = await harness.console.store.audit.listNewest(1);
  expect(entry).toMatchObject({ action: "changeAccount", outcome: "name, password", status: 200 });
  expect(`${JSON.stringify(entry)}${harness.log()}`).not.toContain("a new long password");
});
