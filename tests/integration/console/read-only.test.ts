// Read-only mode, tested for every route that changes data.
import { beforeAll, describe, expect, test } from "vitest";
import { readOnlyActions } from "@/lib/server/auth/read-only";
import { createHarness, PASSWORD } from "@/tests/support/harness";
import { loadRoutes } from "@/tests/support/routes";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";
import { callRoute, isRead, withLabels } from "./route-requests";

const harness = await createHarness();

const mutatingRoutes = (await loadRoutes()).filter((route) => !isRead(route) && route.guard && route.guard.role !== "public");
const blockedRoutes = mutatingRoutes.filter(({ guard }) => !readOnlyActions.has(guard?.action ?? ""));

const startReadOnly = (as: "admin" | "operator", note?: string) =>
  harness.request("/api/console/read-only", { as, method: "PUT", json: { note } });
const endReadOnly = (as: "owner" | "viewer") => harness.request("/api/console/read-only", { as, method: "DELETE" });
const saveView = () =>
  harness.request("/api/console/views", { as: "owner", method: "POST", json: { name: "Mine", query: "status=failed" } });

test("lists only actions of routes that change data", () => {
  const actions = mutatingRoutes.map(({ guard }) => guard?.action);
  expect([...readOnlyActions].filter((action) => !actions.includes(action))).toEqual([]);
  expect(blockedRoutes.length).toBeGreaterThan(30);
});

test("blocks changes and names the admin until read-only mode ends", async () => {
  expect([(await startReadOnly("operator")).status, (await saveView()).status]).toEqual([403, 201]);
  expect((await startReadOnly("admin", "Audit until Friday")).status).toBe(204);
  const refusal = await saveView();
  expect([refusal.status, await refusal.json()]).toMatchObject([
    403,
    { code: "READ_ONLY", message: "Lightdesk is read-only: admin turned it on. An admin can turn it off under Settings, Members." },
  ]);
  // The message still names the member who switched it on first.
  await harness.request("/api/console/read-only", { as: "owner", method: "PUT", json: { note: "Mine" } });
  expect((await endReadOnly("viewer")).status).toBe(403);
  expect((await saveView()).status).toBe(403);
  expect((await endReadOnly("owner")).status).toBe(204);
  expect((await saveView()).status).toBe(201);
  const entries = (await harness.console.store.audit.listNewest(20)).filter(
    ({ action, status }) => /ReadOnly/.test(action) && status === 204,
  );
  expect(entries.map(({ action, memberName, outcome }) => [action, memberName, outcome])).toEqual([
    ["endReadOnly", "Olga Owner", undefined],
    ["beginReadOnly", "Olga Owner", "Mine"],
    ["beginReadOnly", "admin", "Audit until Friday"],
  ]);
});

describe("while read-only", () => {
  beforeAll(async () => {
    expect((await startReadOnly("admin")).status).toBe(204);
  });

  test.each(withLabels(blockedRoutes))("rejects %s from the owner", async (_label, route) => {
    const response = await callRoute(route, { headers: { cookie: harness.getCookie("owner") } });
    expect([response.status, (await response.json()).code]).toEqual([403, "READ_ONLY"]);
  });

  test("allows reads, ending sessions and account changes", async () => {
    for (const path of ["/api/jobs", "/api/console/connections", "/api/console/members", "/api/console/audit"])
      expect([path, (await harness.request(path, { as: "owner" })).status]).toEqual([path, 200]);
    const rename = { as: "viewer", method: "PUT", json: { name: "Vera" } } as const;
    expect((await harness.request("/api/console/account", rename)).status).toBe(200);
    expect((await harness.request("/api/console/account/sessions", { as: "viewer", method: "DELETE" })).status).toBe(204);
  });

  test("blocks invitations but accepts reset links", async () => {
    const { store, now } = harness.console;
    const invitationFields = {
      role: "viewer",
      invitedBy: harness.getViewer("owner").memberId,
      expiresAt: now() + 60_000,
      createdAt: now(),
    } as const;
    await store.invitations.create({ token: "invites", email: "new@desk.test", ...invitationFields });
    const resetFields = { email: "operator@desk.test", resetsMemberId: harness.getViewer("operator").memberId };
    await store.invitations.create({ token: "resets", ...invitationFields, ...resetFields });
    const accept = async (token: string) => {
      const json = { token, name: "Nina", password: PASSWORD };
      return (await harness.request("/api/console/members/invitations/accept", { method: "POST", json })).status;
    };
    expect([await accept("invites"), await accept("resets")]).toEqual([403, 200]);
    expect((await endReadOnly("owner")).status).toBe(204);
    expect(await accept("invites")).toBe(201);
  });
});

test("rejects a request whose last byte arrives in read-only mode", async () => {
  const body = JSON.stringify({ name: "Late", query: "status=failed" });
  const chunks = [body.slice(0, -1), body.slice(-1)];
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = chunks.shift();
        if (chunks.length === 0) await startReadOnly("admin");
        if (next === undefined) controller.close();
        else controller.enqueue(Buffer.from(next));
      },
    },
    { highWaterMark: 0 },
  );
  const response = await harness.request("/api/console/views", {
    as: "owner",
    method: "POST",
    body: stream,
    headers: { "content-type": "application/json", "content-length": String(body.length) },
  });
  expect([response.status, (await response.json()).code]).toEqual([403, "READ_ONLY"]);
});

test("stops a multi-step action when read-only mode starts", async () => {
  await harness.renewCookies();
  await endReadOnly("owner");
  const service = await openTestServer(async (_request, response) => {
    await startReadOnly("admin");
    sendJsonResponse(response, { jobs: [{ id: "job-1", status: "in_progress", create_time: 1 }], pagination: { has_more: false } });
  });
  try {
    const connection = await harness.connect(service.url, "a-key-of-the-team");
    const stop = { as: "operator", method: "POST", json: { ids: ["job-1", "job-2"] } } as const;
    const stopResponse = await harness.request(`/api/console/jobs/stop?connection=${connection}`, stop);
    expect([stopResponse.status, (await stopResponse.json()).code]).toEqual([403, "READ_ONLY"]);
    expect(service.requests.filter(({ method }) => method === "POST")).toEqual([]);
    await endReadOnly("owner");
    // Verifying the key at the service takes a while.
    const json = { name: "Late", baseUrl: service.url, key: "another-key", keep: true };
    const response = await harness.request("/api/console/connections", { as: "operator", method: "POST", json });
    expect([response.status, (await response.json()).code]).toEqual([403, "READ_ONLY"]);
    const names = (await harness.console.store.connections.listFor(harness.getViewer("operator").memberId)).map(({ name }) => name);
    expect(names).not.toContain("Late");
  } finally {
    await endReadOnly("owner");
    await service.close();
  }
});
