// Member and invitation routes with real sessions: permissions, and the sessions that a change ends.
import { beforeEach, expect, test } from "vitest";
import { type AuditPage } from "@/lib/contract/audit/audit";
import { type Role } from "@/lib/contract/members/roles";
import { readInvitation } from "@/lib/server/auth/members";
import { listMembers } from "@/lib/server/queries/members";
import { createHarness, type HarnessRequest } from "@/tests/support/harness";
import { accept as acceptInvitation, addMember, DAY_MS, invite as createInvitation } from "./people-harness";

let now = 1_800_000_000_000;
const harness = await createHarness({ now: () => now });
beforeEach(() => harness.renewCookies());

const getId = (role: Role) => harness.getViewer(role).memberId;
const requestMember = (method: "PUT" | "DELETE", id: string, options: HarnessRequest) =>
  harness.request(`/api/console/members/${id}`, { method, ...options });
const getJobsStatus = async (cookie: string) => (await harness.request("/api/jobs", { cookie })).status;
const invite = (email: string, role: Role, options?: HarnessRequest) => createInvitation(harness, email, role, options);
const accept = (token: string) => acceptInvitation(harness, token);

test.each(["owner", "admin"] as const)("protects the only owner from being lowered, disabled or removed by the %s", async (as) => {
  for (const json of [{ role: "viewer" }, { disabled: true }])
    expect((await requestMember("PUT", getId("owner"), { as, json })).status).toBe(403);
  expect((await requestMember("DELETE", getId("owner"), { as })).status).toBe(403);
  expect(await harness.console.store.members.get(getId("owner"))).toMatchObject({ role: "owner", disabled: false });
});

test("never promotes anyone to owner, nor oneself", async () => {
  expect((await requestMember("PUT", getId("viewer"), { as: "owner", json: { role: "owner" } })).status).toBe(400);
  expect((await requestMember("PUT", getId("admin"), { as: "admin", json: { role: "admin" } })).status).toBe(403);
  expect((await requestMember("PUT", "nobody", { as: "admin", json: { disabled: true } })).status).toBe(404);
  expect(await listMembers(harness.getContext("operator"))).toMatchObject({ ok: false, failure: { code: "ROLE_TOO_LOW" } });
});

test("ends only that member's earlier sessions when a role changes", async () => {
  const { id, cookie } = await addMember(harness, "Lee Lowered", "operator");
  expect(await getJobsStatus(cookie)).toBe(200);
  expect((await requestMember("PUT", id, { as: "admin", json: { role: "viewer" } })).status).toBe(200);
  expect([await getJobsStatus(cookie), await getJobsStatus(harness.getCookie("viewer"))]).toEqual([401, 200]);
});

test("ends a removed member's session and deletes their connections and keys", async () => {
  const { id, cookie } = await addMember(harness, "Rae Removed", "operator");
  const json = { name: "Mine", baseUrl: "http://127.0.0.1:9", key: "sk-mine", keep: true };
  const response = await harness.request("/api/console/connections", { cookie, method: "POST", json });
  const { connection }: { connection: { id: string } } = await response.json();
  expect(await harness.console.store.keys.getByConnection(connection.id)).toBeDefined();
  expect((await requestMember("DELETE", id, { as: "admin" })).status).toBe(204);
  expect(await getJobsStatus(cookie)).toBe(401);
  expect(await harness.console.store.keys.getByConnection(connection.id)).toBeUndefined();
});

test("shows whether an invitation is open, used, expired or unknown", async () => {
  const { token } = await invite("joining@desk.test", "operator");
  const email = "joining@desk.test";
  expect(await readInvitation(harness.console, token)).toEqual({ state: "open", email, role: "operator", resets: false });
  expect((await accept(token)).status).toBe(201);
  expect(await readInvitation(harness.console, token)).toEqual({ state: "used" });
  expect(await accept(token)).toMatchObject({ status: 401, body: { code: "UNAUTHORIZED", details: { invitation: "used" } } });
  const lateInvitation = await invite("late@desk.test", "viewer");
  now += 8 * DAY_MS;
  expect(await readInvitation(harness.console, lateInvitation.token)).toEqual({ state: "expired" });
  expect(await accept(lateInvitation.token)).toMatchObject({ status: 401, body: { details: { invitation: "expired" } } });
  expect(await readInvitation(harness.console, "guess")).toEqual({ state: "unknown" });
  expect(await accept("guess")).toMatchObject({ status: 401, body: { details: { invitation: "unknown" } } });
});

test("invalidates an invitation when its author is removed, lowered or suspended", async () => {
  const author = await addMember(harness, "Ava Author", "admin");
  const { token } = await invite("friend@desk.test", "admin", { cookie: author.cookie });
  const changeAuthor = async (json: object) => (await requestMember("PUT", author.id, { as: "owner", json })).status;
  expect(await changeAuthor({ disabled: true })).toBe(200);
  expect(await accept(token)).toMatchObject({ status: 401, body: { details: { invitation: "withdrawn" } } });
  expect(await changeAuthor({ disabled: false })).toBe(200);
  expect(await readInvitation(harness.console, token)).toMatchObject({ state: "open" });
  expect(await changeAuthor({ role: "operator" })).toBe(200);
  expect(await readInvitation(harness.console, token)).toEqual({ state: "withdrawn" });
  // As in an acceptance that started before the change.
  expect(await harness.console.store.invitations.accept(token, { name: "Late", passwordHash: "x" }, now)).toBeUndefined();
  expect((await requestMember("DELETE", author.id, { as: "owner" })).status).toBe(204);
  expect(await accept(token)).toMatchObject({ status: 401, body: { details: { invitation: "withdrawn" } } });
  expect(await harness.console.store.members.getByEmail("friend@desk.test")).toBeUndefined();
});

test("creates an invitation link with the host of its author's request", async () => {
  const fromLan = { as: "owner" as const, headers: { host: "10.0.0.5:3000", origin: "http://10.0.0.5:3000" } };
  expect((await invite("lan@desk.test", "viewer", fromLan)).url).toMatch(/^http:\/\/10\.0\.0\.5:3000\/invitation\?token=/);
});

async function readAudit(query = ""): Promise<AuditPage["entries"]> {
  const page: AuditPage = await (await harness.request(`/api/console/audit?${query}`, { as: "owner" })).json();
  return page.entries;
}

test("logs member changes with names and addresses at that time", async () => {
  const { token } = await invite("new@desk.test", "viewer");
  await accept(token);
  const id = (await harness.console.store.members.getByEmail("new@desk.test"))?.id ?? "";
  await requestMember("PUT", id, { as: "owner", json: { role: "operator" } });
  await requestMember("PUT", id, { as: "admin", json: { disabled: true } });
  await harness.console.store.members.changeAccount(id, { name: "Newer", email: "newer@desk.test" });
  await requestMember("DELETE", id, { as: "admin" });
  const admin = { name: "admin", email: "admin@desk.test" };
  expect(await readAudit("limit=5")).toMatchObject([
    { action: "removeMember", member: admin, target: "Newer <newer@desk.test>", parts: [{ id, name: "Newer <newer@desk.test>" }] },
    { action: "changeMember", target: "New <new@desk.test>", change: { disabled: true, by: "admin <admin@desk.test>" } },
    {
      action: "changeMember",
      target: "New <new@desk.test>",
      change: { role: { from: "viewer", to: "operator" }, by: "Olga Owner <owner@desk.test>" },
    },
    { action: "acceptInvitation", target: "New <new@desk.test>", change: { role: { to: "viewer" }, invitedBy: "admin <admin@desk.test>" } },
    { action: "inviteMember", member: admin, target: "new@desk.test" },
  ]);
  const file = await (await harness.request("/api/console/audit/export", { as: "owner" })).text();
  expect(file).toContain("New <new@desk.test>,200,,role: viewer -> operator; by Olga Owner <owner@desk.test>");
});

test("names the members of older entries, removed ones by their last entry", async () => {
  const { store } = harness.console;
  const unknownId = "11111111-2222-4333-8444-555555555555";
  const entry = { at: now, requestId: "r", status: 200, memberId: getId("owner"), memberName: "Olga Owner" };
  await store.audit.add({ ...entry, memberId: unknownId, memberName: "Gone Girl", action: "signIn" });
  await store.audit.add({ ...entry, action: "changeMember", target: getId("viewer"), outcome: '{"role":"operator"}' });
  await store.audit.add({ ...entry, action: "removeMember", target: unknownId });
  expect(await readAudit("limit=2")).toMatchObject([
    { action: "removeMember", target: "Gone Girl", member: { email: "owner@desk.test" }, parts: [{ id: "Gone Girl" }] },
    { action: "changeMember", target: "viewer <viewer@desk.test>", change: { role: { to: "operator" } } },
  ]);
});

test("explains a refused member change in the response and the log", async () => {
  const getErrorCode = async (id: string, options: HarnessRequest) => (await (await requestMember("PUT", id, options)).json()).code;
  expect(await getErrorCode(getId("owner"), { as: "admin", json: { role: "viewer" } })).toBe("OWNER_PROTECTED");
  expect(await getErrorCode(getId("owner"), { as: "owner", json: { disabled: true } })).toBe("OWNER_PROTECTED");
  expect(await getErrorCode(getId("admin"), { as: "admin", json: { disabled: true } })).toBe("OWN_MEMBERSHIP");
  expect(await getErrorCode(getId("viewer"), { as: "operator", json: { role: "viewer" } })).toBe("ROLE_TOO_LOW");
  await harness.request("/api/console/read-only", { as: "owner", method: "PUT", json: {} });
  expect(await getErrorCode(getId("viewer"), { as: "owner", json: { role: "admin" } })).toBe("READ_ONLY");
  expect((await readAudit("limit=1"))[0]).toMatchObject({ code: "READ_ONLY", target: "viewer <viewer@desk.test>" });
  await harness.request("/api/console/read-only", { as: "owner", method: "DELETE" });
  expect((await readAudit("limit=7")).slice(3).map(({ code, target }) => [code, target])).toEqual([
    ["ROLE_TOO_LOW", "viewer <viewer@desk.test>"],
    ["OWN_MEMBERSHIP", "admin <admin@desk.test>"],
    ["OWNER_PROTECTED", "Olga Owner <owner@desk.test>"],
    ["OWNER_PROTECTED", "Olga Owner <owner@desk.test>"],
  ]);
});

async function listInvitations(): Promise<{ id: string; email: string; state: string }[]> {
  const response = await harness.request("/api/console/members/invitations", { as: "admin" });
  const text = await response.text();
  expect(text).not.toMatch(/token/i);
  return JSON.parse(text).invitations;
}
const withdraw = async (id: string) =>
  (await harness.request(`/api/console/members/invitations/${id}`, { as: "admin", method: "DELETE" })).status;

test("lists invitations with author, role, end and outcome, never the link", async () => {
  const usedInvitation = await invite("used@desk.test", "viewer", { as: "owner" });
  await accept(usedInvitation.token);
  await invite("open@desk.test", "operator");
  const invitationList = await listInvitations();
  const findByEmail = (address: string) => invitationList.find(({ email }) => email === address);
  expect(findByEmail("used@desk.test")).toMatchObject({ state: "used", role: "viewer", invitedBy: "Olga Owner" });
  expect(findByEmail("open@desk.test")).toMatchObject({ state: "open", invitedBy: "admin", createdAt: now });
  now += 8 * DAY_MS;
  await harness.renewCookies();
  expect((await listInvitations()).find(({ email }) => email === "open@desk.test")?.state).toBe("expired");
});

test("rejects withdrawn invitations and the withdrawal of used ones", async () => {
  const { token } = await invite("wrong@desk.test", "operator");
  const invitation = (await listInvitations()).find(({ email }) => email === "wrong@desk.test");
  expect(await withdraw(invitation?.id ?? "")).toBe(204);
  expect(await readInvitation(harness.console, token)).toEqual({ state: "withdrawn" });
  expect(await accept(token)).toMatchObject({ status: 401, body: { details: { invitation: "withdrawn" } } });
  expect([await withdraw(invitation?.id ?? ""), await withdraw("nobody")]).toEqual([404, 404]);
  const [entry] = await harness.console.store.audit.listNewest(3).then((all) => all.filter(({ status }) => status === 204));
  expect(entry).toMatchObject({ action: "withdrawInvitation", target: "wrong@desk.test" });
  const usedInvitation = await invite("joined@desk.test", "viewer");
  await accept(usedInvitation.token);
  const joinedInvitation = (await listInvitations()).find(({ email }) => email === "joined@desk.test");
  expect(await withdraw(joinedInvitation?.id ?? "")).toBe(404);
});

test("invalidates the first link when a second is created", async () => {
  const tokens = [(await invite("twice@desk.test", "viewer")).token, (await invite("twice@desk.test", "operator")).token];
  const invitations = await Promise.all(tokens.map((token) => readInvitation(harness.console, token)));
  expect(invitations.map(({ state }) => state)).toEqual(["withdrawn", "open"]);
});
