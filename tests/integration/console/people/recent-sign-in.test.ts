// Sensitive actions require a password entered within the last 15 minutes.
import { describe, expect, test } from "vitest";
import { createHarness, PASSWORD } from "@/tests/support/harness";
import { loadRoutes } from "@/tests/support/routes";
import { callRoute, withLabels } from "../route-requests";

let now = Date.now();
const harness = await createHarness({ now: () => now });

const routes = (await loadRoutes()).filter(({ guard }) => guard?.needsRecentSignIn);
const MINUTE_MS = 60_000;

test("requires a recent sign-in for connections, members, invitations and shares", () => {
  const actions = routes.map(({ guard }) => guard?.action);
  for (const name of ["createConnection", "changeConnection", "removeConnection"]) expect(actions).toContain(name);
  for (const name of ["inviteMember", "changeMember", "removeMember", "createShare"]) expect(actions).toContain(name);
});

const invite = (cookie: string, email: string) =>
  harness.request("/api/console/members/invitations", { cookie, method: "POST", json: { email, role: "viewer" } });
const confirm = (cookie: string, password: string) =>
  harness.request("/api/console/account/confirm", { cookie, method: "POST", json: { password } });
const getCookie = (sid: string) => harness.mintCookie({ sub: harness.getViewer("admin").memberId, version: 1, sid });

test("requires the password again after 15 minutes", async () => {
  const cookie = await getCookie("mine");
  const otherCookie = await getCookie("another");
  now += 15 * MINUTE_MS;
  expect((await invite(cookie, "early@desk.test")).status).toBe(201);
  now += 1;
  const response = await invite(cookie, "late@desk.test");
  expect([response.status, await response.json()]).toMatchObject([403, { code: "SIGN_IN_AGAIN" }]);
  expect((await harness.console.store.invitations.list()).map(({ email }) => email)).toEqual(["early@desk.test"]);
  const wrong = await confirm(cookie, "wrong password");
  expect([wrong.status, await wrong.json()]).toMatchObject([400, { code: "INVALID_BODY", details: [{ path: "password" }] }]);
  expect((await invite(cookie, "late@desk.test")).status).toBe(403);
  expect((await confirm(cookie, PASSWORD)).status).toBe(204);
  expect((await invite(cookie, "late@desk.test")).status).toBe(201);
  // Confirms only this session, since someone else may use the other browsers.
  expect((await invite(otherCookie, "third@desk.test")).status).toBe(403);
  now += 15 * MINUTE_MS + 1;
  expect((await invite(cookie, "fourth@desk.test")).status).toBe(403);
});

test("limits password guesses and logs each attempt", async () => {
  const cookie = await getCookie("guesses");
  const statuses: number[] = [];
  for (let count = 0; count < 6; count += 1) statuses.push((await confirm(cookie, `guess ${count}`)).status);
  expect(statuses).toEqual([400, 400, 400, 400, 400, 429]);
  const entries = await harness.console.store.audit.listNewest(2);
  expect(entries.map(({ action, status, code, memberName }) => [action, status, code, memberName])).toEqual([
    ["confirmSession", 429, "RATE_LIMITED", "admin"],
    ["confirmSession", 400, "INVALID_BODY", "admin"],
  ]);
  expect(`${JSON.stringify(entries)}${harness.getLog()}`).not.toContain("guess");
});

describe.each(withLabels(routes))("%s", (_label, route) => {
  test("changes and logs nothing without a recent sign-in", async () => {
    const { store } = harness.console;
    const cookie = await harness.mintCookie({ sub: harness.getViewer("owner").memberId, version: 1 });
    now += 16 * MINUTE_MS;
    const before = await store.audit.getNewestId();
    const response = await callRoute(route, { headers: { cookie }, id: harness.getViewer("viewer").memberId });
    expect([response.status, (await response.json()).code]).toEqual([403, "SIGN_IN_AGAIN"]);
    expect(await store.audit.getNewestId()).toBe(before);
    expect(await store.members.get(harness.getViewer("viewer").memberId)).toBeDefined();
  });
});
