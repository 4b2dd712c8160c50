// The session state of an open page: active, or the reason it ended.
import { beforeEach, expect, test } from "vitest";
import { type SessionState } from "@/lib/contract/console";
import { type Role } from "@/lib/contract/members/roles";
import { createHarness, PASSWORD } from "@/tests/support/harness";

const DAY_MS = 24 * 60 * 60_000;
let now = 1_800_000_000_000;
const harness = await createHarness({ now: () => now });

let newMember: { id: string; cookie: string };
let count = 0;
beforeEach(async () => {
  await harness.renewCookies();
  const { store } = harness.console;
  const passwordHash = (await store.members.getByEmail("owner@desk.test"))?.passwordHash;
  const memberFields = { name: "Page", email: `page-${++count}@desk.test`, role: "operator" as Role, passwordHash, createdAt: now };
  const member = await store.members.create(memberFields);
  if (!member) throw new Error("no member");
  newMember = { id: member.id, cookie: await harness.mintCookie({ sub: member.id, version: member.sessionVersion }) };
});

const requestSession = (cookie = newMember.cookie) => harness.request("/api/console/session", { cookie });
const getState = async (cookie?: string): Promise<SessionState> => (await requestSession(cookie)).json();
const changeMember = (json: object) => harness.request(`/api/console/members/${newMember.id}`, { as: "admin", method: "PUT", json });

test("reports an active session with member, role and read-only mode", async () => {
  const activeState = { state: "live", memberId: newMember.id, role: "operator" };
  expect(await getState()).toEqual({ ...activeState, canChange: true });
  await harness.request("/api/console/read-only", { as: "admin", method: "PUT", json: {} });
  expect(await getState()).toEqual({ ...activeState, canChange: false });
  await harness.request("/api/console/read-only", { as: "admin", method: "DELETE" });
});

test("doesn't extend a session when its state is read", async () => {
  const getUsedAt = async () => (await harness.console.store.sessions.list(newMember.id))[0]?.usedAt;
  const before = await getUsedAt();
  now += 5 * 60_000;
  await getState();
  expect(await getUsedAt()).toBe(before);
});

test("reports the old and new role when the role changes", async () => {
  await changeMember({ role: "viewer" });
  expect(await getState()).toEqual({ state: "ended", cause: "role", from: "operator", to: "viewer" });
});

test("reports a suspended or removed member", async () => {
  await changeMember({ role: "viewer" });
  await changeMember({ disabled: true });
  expect(await getState()).toEqual({ state: "ended", cause: "suspended" });
  await changeMember({ disabled: false });
  expect(await getState()).toMatchObject({ state: "ended", cause: "role" });
  await harness.request(`/api/console/members/${newMember.id}`, { as: "admin", method: "DELETE" });
  expect(await getState()).toEqual({ state: "ended", cause: "removed" });
});

test("reports a password changed by the member or a reset link", async () => {
  const json = { password: "another long password", currentPassword: PASSWORD };
  expect((await harness.request("/api/console/account", { cookie: newMember.cookie, method: "PUT", json })).status).toBe(200);
  expect(await getState()).toEqual({ state: "ended", cause: "password" });
  const member = await harness.console.store.members.get(newMember.id);
  const cookie = await harness.mintCookie({ sub: newMember.id, version: member?.sessionVersion ?? 0 });
  const resetInvitation = { email: member?.email ?? "", role: "viewer" as const, invitedBy: newMember.id, resetsMemberId: newMember.id };
  await harness.console.store.invitations.create({ token: `reset-${count}`, ...resetInvitation, expiresAt: now + DAY_MS, createdAt: now });
  const acceptBody = { token: `reset-${count}`, password: "a third long password" };
  expect((await harness.request("/api/console/members/invitations/accept", { method: "POST", json: acceptBody })).status).toBe(200);
  expect(await getState(cookie)).toEqual({ state: "ended", cause: "password" });
});

test("reports a session ended in another browser", async () => {
  const otherCookie = await harness.mintCookie({ sub: newMember.id, version: 1 });
  await harness.request("/api/console/account/sessions", { cookie: otherCookie, method: "DELETE" });
  expect(await getState()).toEqual({ state: "ended", cause: "ended" });
  expect(await getState(otherCookie)).toMatchObject({ state: "live" });
});

test("reports an expired session", async () => {
  now += 4 * DAY_MS;
  expect(await getState()).toEqual({ state: "ended", cause: "expired" });
});

test("reveals nothing without a valid cookie", async () => {
  expect(await getState("")).toEqual({ state: "ended", cause: "signed-out" });
  expect(await getState("lightdesk.session=invented")).toEqual({ state: "ended", cause: "expired" });
});
