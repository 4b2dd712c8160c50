// The session state of an open page: active, or the reason it ended.
import { beforeEach, expect, test } from "vitest";
import { type SessionState } from "@/lib/contract/console";
import { createHarness, PASSWORD } from "@/tests/support/harness";
import { accept, type AddedMember, addMember, DAY_MS } from "./people-harness";

let now = 1_800_000_000_000;
const harness = await createHarness({ now: () => now });

let newMember: AddedMember;
let count = 0;
beforeEach(async () => {
  await harness.renewCookies();
  newMember = await addMember(harness, `Page ${(count += 1)}`, "operator");
});

const getState = async (cookie = newMember.cookie): Promise<SessionState> =>
  (await harness.request("/api/console/session", { cookie })).json();
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

test("reports a changed role, and a suspended or removed member", async () => {
  await changeMember({ role: "viewer" });
  const roleChange = { state: "ended", cause: "role", from: "operator", to: "viewer" };
  expect(await getState()).toEqual(roleChange);
  await changeMember({ disabled: true });
  expect(await getState()).toEqual({ state: "ended", cause: "suspended" });
  await changeMember({ disabled: false });
  expect(await getState()).toEqual(roleChange);
  await harness.request(`/api/console/members/${newMember.id}`, { as: "admin", method: "DELETE" });
  expect(await getState()).toEqual({ state: "ended", cause: "removed" });
});

test("reports a password changed by the member or a reset link", async () => {
  const json = { password: "another long password", currentPassword: PASSWORD };
  expect((await harness.request("/api/console/account", { cookie: newMember.cookie, method: "PUT", json })).status).toBe(200);
  expect(await getState()).toEqual({ state: "ended", cause: "password" });
  const { members, invitations } = harness.console.store;
  const version = (await members.get(newMember.id))?.sessionVersion ?? 0;
  const cookie = await harness.mintCookie({ sub: newMember.id, version });
  const resetInvitation = { email: newMember.email, role: "viewer" as const, invitedBy: newMember.id, resetsMemberId: newMember.id };
  await invitations.create({ token: "reset", ...resetInvitation, expiresAt: now + DAY_MS, createdAt: now });
  expect((await accept(harness, "reset", "a third long password")).status).toBe(200);
  expect(await getState(cookie)).toEqual({ state: "ended", cause: "password" });
});

test("reports a session ended in another browser", async () => {
  const otherCookie = await harness.mintCookie({ sub: newMember.id, version: 1 });
  await harness.request("/api/console/account/sessions", { cookie: otherCookie, method: "DELETE" });
  expect(await getState()).toEqual({ state: "ended", cause: "ended" });
  expect(await getState(otherCookie)).toMatchObject({ state: "live" });
});

test("reports an expired session and reveals nothing without a valid cookie", async () => {
  now += 4 * DAY_MS;
  expect(await getState()).toEqual({ state: "ended", cause: "expired" });
  expect(await getState("")).toEqual({ state: "ended", cause: "signed-out" });
  expect(await getState("lightdesk.session=invented")).toEqual({ state: "ended", cause: "expired" });
});
