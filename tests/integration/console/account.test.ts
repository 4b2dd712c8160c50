// A member's own account: what changes with and without the password, and which sessions end.
import { afterAll, beforeEach, expect, test } from "vitest";
import { type Role } from "@/lib/contract/roles";
import { signIn } from "@/lib/server/auth/sign-in";
import { createHarness, type Harness, PASSWORD } from "@/tests/support/harness";

let now = 1_800_000_000_000;
let harness: Harness;
const opened: Harness[] = [];
beforeEach(async () => {
  harness = await createHarness({ now: () => now });
  opened.push(harness);
});
afterAll(() => Promise.all(opened.map((one) => one.dispose())));

const change = async (as: Role, json: unknown) => {
  const answer = await harness.request("/api/console/account", { as, method: "PUT", json });
  return { status: answer.status, body: await answer.json() };
};
const statusOf = async (cookie: string) => (await harness.request("/api/console/account", { cookie })).status;
const signsIn = async (email: string, password: string) => (await signIn({ email, password, address: "198.51.100.9" })).ok;

test("everybody reads and renames themselves, and nobody else", async () => {
  expect(await change("viewer", { name: " Ana Ruiz ", id: harness.viewerOf("owner").memberId, role: "owner" })).toMatchObject({
    status: 200,
    body: { member: { name: "Ana Ruiz", role: "viewer" } },
  });
  const read = await harness.request("/api/console/account", { as: "viewer" });
  expect(await read.json()).toMatchObject({ member: { name: "Ana Ruiz", email: "viewer@desk.test" } });
  expect(await harness.console.store.members.get(harness.viewerOf("owner").memberId)).toMatchObject({ name: "Olga Owner" });
  expect(await statusOf(harness.cookieOf("viewer"))).toBe(200);
});

test("an address changes with the present password only, and to one that nobody has", async () => {
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
  expect([await signsIn("new@desk.test", PASSWORD), await signsIn("operator@desk.test", PASSWORD)]).toEqual([true, false]);
  // One's own address in another spelling is no other member's.
  expect(await change("operator", { email: "NEW@desk.test", currentPassword: PASSWORD })).toMatchObject({ status: 200 });
});

test("a new password ends every session of the member, and the old one opens nothing", async () => {
  const other = await harness.mintCookie({ sub: harness.viewerOf("operator").memberId, version: 1 });
  expect(await change("operator", { password: "short", currentPassword: PASSWORD })).toMatchObject({ status: 400 });
  expect(await statusOf(other)).toBe(200);
  expect(await change("operator", { password: "a new long password", currentPassword: PASSWORD })).toMatchObject({ status: 200 });
  expect([await statusOf(other), await statusOf(harness.cookieOf("operator")), await statusOf(harness.cookieOf("viewer"))]).toEqual([
    401, 401, 200,
  ]);
  expect([await signsIn("operator@desk.test", PASSWORD), await signsIn("operator@desk.test", "a new long password")]).toEqual([
    false,
    true,
  ]);
});

test("the present password cannot be guessed here more often than at the sign-in", async () => {
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

test("signing out everywhere ends this session and the others of the member", async () => {
  const other = await harness.mintCookie({ sub: harness.viewerOf("viewer").memberId, version: 1 });
  expect((await harness.request("/api/console/account/sessions", { as: "viewer", method: "DELETE" })).status).toBe(204);
  expect([await statusOf(other), await statusOf(harness.cookieOf("viewer")), await statusOf(harness.cookieOf("admin"))]).toEqual([
    401, 401, 200,
  ]);
});

test("the log says which parts changed, never to what", async () => {
  await change("operator", { name: "Ana", password: "a new long password", currentPassword: PASSWORD });
  const [entry] = await harness.console.store.audit.listNewest(1);
  expect(entry).toMatchObject({ action: "changeAccount", outcome: "name, password", status: 200 });
  expect(`${JSON.stringify(entry)}${harness.log()}`).not.toContain("a new long password");
});
