// A member's own account: which changes need the password, and which sessions end.
import { beforeEach, expect, test } from "vitest";
import { type Role } from "@/lib/contract/members/roles";
import { signIn } from "@/lib/server/auth/sign-in";
import { listMembers } from "@/lib/server/queries/members";
import { createHarness, PASSWORD } from "@/tests/support/harness";
import { type AddedMember, addMember } from "./people-harness";

let now = 1_800_000_000_000;
const harness = await createHarness({ now: () => now });
let member: AddedMember;
let count = 0;
beforeEach(async () => {
  await harness.renewCookies();
  member = await addMember(harness, `Ana ${(count += 1)}`, "operator");
});

const changeAccount = async (json: unknown) => {
  const response = await harness.request("/api/console/account", { cookie: member.cookie, method: "PUT", json });
  return { status: response.status, body: await response.json() };
};
const getStatus = async (cookie: string) => (await harness.request("/api/console/account", { cookie })).status;
const canSignIn = async (email: string, password: string) =>
  (await signIn(harness.console, { email, password, address: "198.51.100.9" })).ok;

test("lets members read and rename only themselves", async () => {
  expect(await changeAccount({ name: " Ana Ruiz ", id: harness.getViewer("owner").memberId, role: "owner" })).toMatchObject({
    status: 200,
    body: { member: { name: "Ana Ruiz", role: "operator" } },
  });
  const response = await harness.request("/api/console/account", { cookie: member.cookie });
  expect(await response.json()).toMatchObject({ member: { name: "Ana Ruiz", email: member.email } });
  expect(await harness.console.store.members.get(harness.getViewer("owner").memberId)).toMatchObject({ name: "Olga Owner" });
});

test("changes an email address only with the password and to an unused one", async () => {
  const refused = [
    await changeAccount({ email: "new@desk.test" }),
    await changeAccount({ email: "new@desk.test", currentPassword: "wrong" }),
  ];
  for (const { status, body } of refused) expect([status, body.details[0].path]).toEqual([400, "currentPassword"]);
  const takenAddress = { email: "OWNER@desk.test", password: "a new long password", currentPassword: PASSWORD };
  expect(await changeAccount(takenAddress)).toMatchObject({ status: 409, body: { code: "CONFLICT" } });
  const [{ id } = { id: "" }] = await harness.console.store.sessions.list(member.id);
  expect([id === "", await harness.console.store.sessions.getEndCause(id)]).toEqual([false, undefined]);
  expect(await changeAccount({ email: "New@desk.test", currentPassword: PASSWORD })).toMatchObject({ status: 200 });
  expect([await canSignIn("new@desk.test", PASSWORD), await canSignIn(member.email, PASSWORD)]).toEqual([true, false]);
  // The member's own address in another spelling does not count as taken.
  expect(await changeAccount({ email: "NEW@desk.test", currentPassword: PASSWORD })).toMatchObject({ status: 200 });
});

test("ends every session when the password changes", async () => {
  const otherCookie = await harness.mintCookie({ sub: member.id, version: 1 });
  expect(await changeAccount({ password: "short", currentPassword: PASSWORD })).toMatchObject({ status: 400 });
  expect(await getStatus(otherCookie)).toBe(200);
  expect(await changeAccount({ password: "a new long password", currentPassword: PASSWORD })).toMatchObject({ status: 200 });
  const cookies = [otherCookie, member.cookie, harness.getCookie("viewer")];
  expect(await Promise.all(cookies.map(getStatus))).toEqual([401, 401, 200]);
  expect([await canSignIn(member.email, PASSWORD), await canSignIn(member.email, "a new long password")]).toEqual([false, true]);
});

test("accepts only one change when several send the same current password", async () => {
  const passwords = ["first", "second", "third"].map((word) => `a ${word} long password`);
  const changes = await Promise.all(passwords.map((password) => changeAccount({ password, currentPassword: PASSWORD })));
  expect(changes.filter(({ status }) => status === 200)).toHaveLength(1);
});

test("limits guesses of the current password as at sign-in", async () => {
  const statuses = [];
  for (let count = 0; count < 7; count += 1)
    statuses.push((await changeAccount({ email: "x@desk.test", currentPassword: `guess ${count}` })).status);
  expect(statuses).toEqual([400, 400, 400, 400, 400, 429, 429]);
  expect(await changeAccount({ email: "x@desk.test", currentPassword: PASSWORD })).toMatchObject({
    status: 429,
    body: { code: "RATE_LIMITED" },
  });
  now += 30_000;
  expect(await changeAccount({ email: "x@desk.test", currentPassword: PASSWORD })).toMatchObject({ status: 200 });
});

type ListedSession = { id: string; browser: string; address: string; current: boolean; usedAt: number };
const listSessions = async (cookie: string): Promise<ListedSession[]> =>
  (await (await harness.request("/api/console/account/sessions", { cookie })).json()).sessions;
const endSession = async (cookie: string, id = "") =>
  (await harness.request(`/api/console/account/sessions${id}`, { cookie, method: "DELETE" })).status;

test("lists own sessions and ends one or all others", async () => {
  const { id: sub, cookie: ownCookie } = member;
  const phone = await harness.mintCookie({ sub, version: 1, sid: "phone" });
  const tablet = await harness.mintCookie({ sub, version: 1, sid: "tablet" });
  const all = await listSessions(phone);
  expect(all.map(({ id, current }) => [id, current])).toEqual(
    expect.arrayContaining([
      ["phone", true],
      ["tablet", false],
    ]),
  );
  expect([all.length, all[0]]).toMatchObject([3, { browser: "Firefox · Linux", address: "198.51.100.1" }]);
  expect([await endSession(ownCookie, "/phone"), await getStatus(phone), await getStatus(tablet)]).toEqual([204, 401, 200]);
  expect([await endSession(ownCookie), await getStatus(tablet), await getStatus(ownCookie)]).toEqual([204, 401, 200]);
  expect((await listSessions(ownCookie)).map(({ current }) => current)).toEqual([true]);
});

test("hides other members' sessions", async () => {
  const [otherSession] = await listSessions(member.cookie);
  expect(await endSession(harness.getCookie("owner"), `/${otherSession?.id}`)).toBe(404);
  expect((await listSessions(harness.getCookie("owner"))).some(({ id }) => id === otherSession?.id)).toBe(false);
  expect(await getStatus(member.cookie)).toBe(200);
});

test("records the last use at most once a minute with its address", async () => {
  const readAccount = (address: string) =>
    harness.request("/api/console/account", { cookie: member.cookie, headers: { "x-lightdesk-address": address } });
  const before = now;
  const listUses = async () => (await harness.console.store.sessions.list(member.id)).map(({ usedAt, address }) => [usedAt, address]);
  now += 59_999;
  await readAccount("203.0.113.1");
  expect(await listUses()).toEqual([[before, "198.51.100.1"]]);
  now += 1;
  await readAccount("203.0.113.2");
  expect(await listUses()).toEqual([[now, "203.0.113.2"]]);
});

test("shows when each member was last seen", async () => {
  const getSeenAt = async () => {
    const members = await listMembers(harness.getContext("admin"));
    return members.ok ? members.value.find(({ id }) => id === member.id)?.seenAt : members.failure;
  };
  const startedAt = now;
  expect(await getSeenAt()).toBe(startedAt);
  now += 60_000;
  await getStatus(member.cookie);
  expect(await getSeenAt()).toBe(startedAt + 60_000);
  now += 1000;
  await harness.mintCookie({ sub: member.id, version: 1 });
  expect(await getSeenAt()).toBe(startedAt + 61_000);
});

test("logs which fields changed without their values", async () => {
  await changeAccount({ name: "Ana", password: "a new long password", currentPassword: PASSWORD });
  const [entry] = await harness.console.store.audit.listNewest(1);
  expect(entry).toMatchObject({ action: "changeAccount", outcome: "name, password", status: 200 });
  expect(`${JSON.stringify(entry)}${harness.getLog()}`).not.toContain("a new long password");
});

test("expires a session after idle time and at its absolute end", async () => {
  const settings = { LIGHTDESK_SESSION_IDLE_MINUTES: "30", LIGHTDESK_SESSION_HOURS: "2" };
  const limitedHarness = await createHarness({ now: () => now, settings }); // replaces the first console
  const getStatusAs = async (as: Role) => (await limitedHarness.request("/api/console/account", { as })).status;
  for (let minutes = 0; minutes < 120; minutes += 29) {
    expect([minutes, await getStatusAs("viewer")]).toEqual([minutes, 200]);
    now += 29 * 60_000;
  }
  expect([await getStatusAs("viewer"), await getStatusAs("admin")]).toEqual([401, 401]);
});
