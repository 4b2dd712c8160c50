// Member and invitation routes with real sessions: permissions, and the sessions that a change ends.
import { beforeEach, expect, test } from "vitest";
import { type AuditPage } from "@/lib/contract/audit/audit";
import { type Role } from "@/lib/contract/members/roles";
import { readInvitation } from "@/lib/server/auth/members";
import { listMembers } from "@/lib/server/queries/members";
import { createHarness, type Harness, type HarnessRequest } from "@/tests/support/harness";

let now = 1_800_000_000_000;
let harness: Harness;
beforeEach(async () => {
  harness = await createHarness({ now: () => now });
});

const getId = (role: Role) => harness.getViewer(role).memberId;
const requestMember = (method: "PUT" | "DELETE", id: string, options: HarnessRequest) =>
  harness.request(`/api/console/members/${id}`, { method, ...options });
const getJobsStatus = async (cookie: string) => (await harness.request("/api/jobs", { cookie })).status;

async function invite(email: string, role: Role, options: HarnessRequest = { as: "admin" }): Promise<{ token: string; url: string }> {
  const response = await harness.request("/api/console/members/invitations", { method: "POST", json: { email, role }, ...options });
  const { url }: { url: string } = await response.json();
  return { url, token: new URL(url).searchParams.get("token") ?? "" };
}

async function accept(token: string) {
  const json = { token, name: "New", password: "a good long password" };
  const response = await harness.request("/api/console/members/invitations/accept", { method: "POST", json });
  return { status: response.status, body: await response.json() };
}

test.each(["owner", "admin"] as const)("protects the only owner from being lowered, disabled or removed by the %s", async (as) => {
  expect((await requestMember("PUT", getId("owner"), { as, json: { role: "viewer" } })).status).toBe(403);
  expect((await requestMember("PUT", getId("owner"), { as, json: { disabled: true } })).status).toBe(403);
  expect((await requestMember("DELETE", getId("owner"), { as })).status).toBe(403);
  expect(await harness.console.store.members.get(getId("owner"))).toMatchObject({ role: "owner", disabled: false });
});

test("never promotes anyone to owner, nor oneself", async () => {
  expect((await requestMember("PUT", getId("viewer"), { as: "owner", json: { role: "owner" } })).status).toBe(400);
  expect((await requestMember("PUT", getId("admin"), { as: "admin", json: { role: "admin" } })).status).toBe(403);
  for (const as of ["operator", "viewer"] as const) {
    expect((await requestMember("PUT", getId(as), { as, json: { role: "admin" } })).status).toBe(403);
    expect((await requestMember("DELETE", getId("viewer"), { as })).status).toBe(403);
    expect((await harness.request("/api/console/members", { as })).status).toBe(403);
    expect(await listMembers(harness.getContext(as))).toMatchObject({ ok: false, failure: { code: "ROLE_TOO_LOW" } });
  }
});

test("ends only that member's earlier sessions when a role changes", async () => {
  expect(await getJobsStatus(harness.getCookie("operator"))).toBe(200);
  expect((await requestMember("PUT", getId("operator"), { as: "admin", json: { role: "viewer" } })).status).toBe(200);
  expect(await getJobsStatus(harness.getCookie("operator"))).toBe(401);
  expect(await getJobsStatus(harness.getCookie("viewer"))).toBe(200);
});

test("ends a removed member's session and deletes their connections and keys", async () => {
  const response = await harness.request("/api/console/connections", {
    as: "operator",
    method: "POST",
    json: { name: "Mine", baseUrl: "http://127.0.0.1:9", key: "sk-mine", keep: true },
  });
  const { connection }: { connection: { id: string } } = await response.json();
  expect(await harness.console.store.keys.getByConnection(connection.id)).toBeDefined();
  expect((await requestMember("DELETE", getId("operator"), { as: "admin" })).status).toBe(204);
  expect(await getJobsStatus(harness.getCookie("operator"))).toBe(401);
  expect(await harness.console.store.keys.getByConnection(connection.id)).toBeUndefined();
});

test("shows whether an invitation is open, used, expired or unknown", async () => {
  const { token } = await invite("new@desk.test", "operator");
  expect(await readInvitation(harness.console, token)).toEqual({ state: "open", email: "new@desk.test", role: "operator", resets: false });
  expect((await accept(token)).status).toBe(201);
  expect(await readInvitation(harness.console, token)).toEqual({ state: "used" });
  expect(await accept(token)).toMatchObject({ status: 401, body: { code: "UNAUTHORIZED", details: { invitation: "used" } } });
  const lateInvitation = await invite("late@desk.test", "viewer");
  now += 8 * 24 * 60 * 60_000;
  expect(await readInvitation(harness.console, lateInvitation.token)).toEqual({ state: "expired" });
  expect(await accept(lateInvitation.token)).toMatchObject({ status: 401, body: { details: { invitation: "expired" } } });
  expect(await readInvitation(harness.console, "guess")).toEqual({ state: "unknown" });
  expect(await accept("guess")).toMatchObject({ status: 401, body: { details: { invitation: "unknown" } } });
});

test("invalidates an invitation when its author is removed, lowered or suspended", async () => {
  const byAdmin = await invite("friend@desk.test", "admin");
  expect((await requestMember("PUT", getId("admin"), { as: "owner", json: { disabled: true } })).status).toBe(200);
  expect(await accept(byAdmin.token)).toMatchObject({ status: 401, body: { details: { invitation: "withdrawn" } } });
  expect((await requestMember("PUT", getId("admin"), { as: "owner", json: { disabled: false } })).status).toBe(200);
  expect(await readInvitation(harness.console, byAdmin.token)).toMatchObject({ state: "open" });
  expect((await requestMember("PUT", getId("admin"), { as: "owner", json: { role: "operator" } })).status).toBe(200);
  expect(await readInvitation(harness.console, byAdmin.token)).toEqual({ state: "withdrawn" });
  expect((await requestMember("DELETE", getId("admin"), { as: "owner" })).status).toBe(204);
  expect(await accept(byAdmin.token)).toMatchObject({ status: 401, body: { details: { invitation: "withdrawn" } } });
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

type ListedInvitation = {
  id: string;
  email: string;
  state: string;
  role: string;
  invitedBy?: string;
  createdAt?: number;
  expiresAt: number;
};
async function listInvitations(): Promise<ListedInvitation[]> {
  const response = await harness.request("/api/console/members/invitations", { as: "admin" });
  const text = await response.text();
  expect(text).not.toMatch(/token/i);
  return JSON.parse(text).invitations;
}
const withdraw = async (id: string, options: HarnessRequest = { as: "admin" }) =>
  (await harness.request(`/api/console/members/invitations/${id}`, { method: "DELETE", ...options })).status;

test("lists invitations with author, role, end and outcome, never the link", async () => {
  const usedInvitation = await invite("used@desk.test", "viewer", { as: "owner" });
  await accept(usedInvitation.token);
  await invite("open@desk.test", "operator");
  const invitationList = await listInvitations();
  expect(invitationList.find(({ email }) => email === "used@desk.test")).toMatchObject({
    state: "used",
    role: "viewer",
    invitedBy: "Olga Owner",
  });
  expect(invitationList.find(({ email }) => email === "open@desk.test")).toMatchObject({
    state: "open",
    invitedBy: "admin",
    createdAt: now,
  });
  now += 8 * 24 * 60 * 60_000;
  await harness.renewCookies();
  expect((await listInvitations()).find(({ email }) => email === "open@desk.test")?.state).toBe("expired");
  for (const as of ["viewer", "operator"] as const)
    expect((await harness.request("/api/console/members/invitations", { as })).status).toBe(403);
});

test("rejects withdrawn invitations and the withdrawal of used ones", async () => {
  const { token } = await invite("wrong@desk.test", "operator");
  const [invitation] = await listInvitations();
  expect(await withdraw(invitation?.id ?? "", { as: "operator" })).toBe(403);
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
  const first = await invite("twice@desk.test", "viewer");
  const second = await invite("twice@desk.test", "operator");
  expect([(await readInvitation(harness.console, first.token)).state, (await readInvitation(harness.console, second.token)).state]).toEqual(
    ["withdrawn", "open"],
  );
});
