// Removes or restricts a member during a request, which must then stop using the former rights. Covers every route with a body and
// each action with several steps.
import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { createHarness } from "@/tests/support/harness";
import { readZip } from "@/tests/support/read-zip";
import { loadRoutes } from "@/tests/support/routes";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";
import { createAccessToken } from "@/tests/support/tokens";
import { callRoute, createBody, ID, routeBodies, UPLOAD_BODY, withLabels } from "../route-requests";
import { type AddedMember, addMember } from "./people-harness";

/** Called before the service responds. */
let beforeRespond: () => Promise<void> = () => Promise.resolve();

const harness = await createHarness();
const service = await openTestServer(async ({ url }, response) => {
  await beforeRespond();
  if (url.startsWith("/api/jobs?"))
    return sendJsonResponse(response, {
      jobs: [{ id: `job-${service.requests.length}`, status: "in_progress", create_time: 1 }],
      pagination: { has_more: true },
    });
  if (url.endsWith("/content")) return response.writeHead(200).end("bytes");
  sendJsonResponse(response, {
    id: url.split("/").pop(),
    name: "a.png",
    tags: [],
    status: "active",
    size: 1,
    created_at: "2026-01-01T00:00:00Z",
  });
});
const connection = await harness.connect(service.url, "a-key-of-the-team");

/** Excludes an earlier test's late upload and the job index's reads of single jobs. */
const listServiceCalls = () => service.requests.filter(({ url }) => !/^\/api\/(userdata|upload)|^\/api\/jobs\/[^/]+$/.test(url));
/** The job index may read its list at the same time. */
const listAssetCalls = () => listServiceCalls().filter(({ url }) => !url.startsWith("/api/jobs?"));

let newMember: AddedMember;
beforeEach(async () => {
  beforeRespond = () => Promise.resolve();
  newMember = await addMember(harness, `Late ${randomUUID()}`, "admin");
  service.requests.length = 0;
});

const accessChanges = {
  suspended: () => harness.request(`/api/console/members/${newMember.id}`, { as: "owner", method: "PUT", json: { disabled: true } }),
  removed: () => harness.request(`/api/console/members/${newMember.id}`, { as: "owner", method: "DELETE" }),
  lowered: () => harness.request(`/api/console/members/${newMember.id}`, { as: "owner", method: "PUT", json: { role: "viewer" } }),
};
async function applyChange(change: keyof typeof accessChanges) {
  const response = await accessChanges[change]();
  expect(response.ok).toBe(true);
}

const bodies = {
  createShare: { assets: [ID], expiresInMs: 60_000 },
  inviteMember: { email: "new@desk.test", role: "viewer" },
  changeMember: { role: "admin" },
  changeConnection: { name: "Taken" },
  changeAccount: { name: "Taken late" },
  createConnection: { name: "Made late", baseUrl: service.url, key: "another-key", keep: true },
};
/** Sends all but the last byte of a body, calls `change`, then sends the last byte. */
const createInterruptedBody = (text: string, change: () => Promise<unknown>) =>
  new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        controller.enqueue(Buffer.from(text.slice(0, -1)));
        await change();
        controller.enqueue(Buffer.from(text.slice(-1)));
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
const routes = (await loadRoutes()).filter(
  ({ method, guard }) => guard && guard.role !== "public" && ["POST", "PUT", "PATCH"].includes(method),
);

describe.each(["removed", "lowered", "suspended"] as const)("a member who is %s while the body is being sent", (change) => {
  test.each(withLabels(routes))("%s", async (_label, route) => {
    const body = createBody(route, bodies);
    const isMember = route.path.startsWith("/api/console/members/0");
    const isConnection = route.path.startsWith("/api/console/connections/");
    const id = isConnection ? connection : isMember ? harness.getViewer("viewer").memberId : ID;
    const { store } = harness.console;
    const readRows = async () =>
      JSON.stringify([
        // The owner's last use is written once a minute.
        (await store.members.list()).filter(({ id }) => id !== newMember.id).map(({ seenAt: _, ...member }) => member),
        await store.connections.listFor(newMember.id),
        await store.connections.listFor(harness.getViewer("owner").memberId),
      ]);
    const before = await readRows();
    let hasRequest = false;
    const stream = createInterruptedBody(body, () => {
      hasRequest = true;
      return applyChange(change);
    });
    const headers = { cookie: newMember.cookie, "content-length": String(body.length) };
    const response = await callRoute(route, { headers, query: `?connection=${connection}`, body: stream, id });
    const text = await response.text();
    expect((await store.members.get(newMember.id))?.name ?? "Late").toMatch(/^Late/);
    // Routes without a body have already acted; all others respond as to an unauthenticated client.
    if (!hasRequest) return;
    expect([response.status, text.includes("UNAUTHORIZED")], text).toEqual([401, true]);
    expect(await readRows()).toBe(before);
    expect(service.requests.filter(({ method, body: requestBody }) => method !== "GET" && requestBody.toString() === body)).toEqual([]);
  });
});

describe.each(["removed", "lowered", "suspended"] as const)("a member who is %s during an action with many steps", (change) => {
  const changeAfterCalls = (count: number, listCalls = listServiceCalls) => {
    beforeRespond = async () => {
      if (listCalls().length === count) await applyChange(change);
    };
  };

  test("doesn't stop another job", async () => {
    changeAfterCalls(1);
    const response = await harness.request(`/api/console/jobs/stop?connection=${connection}`, {
      cookie: newMember.cookie,
      method: "POST",
      json: { ids: ["job-1", "job-2"] },
    });
    expect([401, 403]).toContain(response.status);
    expect(listServiceCalls().filter(({ method }) => method === "POST")).toEqual([]);
  });

  test("doesn't get another page of an export", async () => {
    changeAfterCalls(2);
    const response = await harness.request(`/api/console/jobs/export?connection=${connection}&format=json`, { cookie: newMember.cookie });
    const text = await response.text();
    expect(text).toMatch(/"complete":false,"failure":\{"code":"(UNAUTHORIZED|ROLE_TOO_LOW)"/);
    expect(listServiceCalls().filter(({ url }) => url.startsWith("/api/jobs?")).length).toBeLessThanOrEqual(2);
  });

  test("doesn't get another file of an archive", async () => {
    const response = await harness.request(`/api/console/archive?connection=${connection}`, {
      cookie: newMember.cookie,
      method: "POST",
      json: { ids: ["a", "b", "c"] },
    });
    const { id } = (await response.json()) as { id: string };
    service.requests.length = 0;
    changeAfterCalls(2, listAssetCalls);
    const file = await harness.request(`/api/console/archive/${id}`, { cookie: newMember.cookie });
    const names = [...readZip(Buffer.from(await file.arrayBuffer())).keys()];
    expect(names).toEqual(["a.png", "NOT INCLUDED.txt"]);
    expect(listAssetCalls()).toHaveLength(2);
  });

  test("doesn't create a connection after the service's delayed key check", async () => {
    changeAfterCalls(1);
    const response = await harness.request("/api/console/connections", {
      cookie: newMember.cookie,
      method: "POST",
      json: { name: "Made late", baseUrl: service.url, key: "another-key", keep: true, shared: true },
    });
    expect([401, 403]).toContain(response.status);
    const { store } = harness.console;
    const names = (await store.connections.listFor(harness.getViewer("owner").memberId)).map(({ name }) => name);
    expect(names).not.toContain("Made late");
  });
});

describe.each<[string, (id: string) => Promise<unknown>, number]>([
  ["revoked", (id) => harness.request(`/api/console/tokens/${id}`, { as: "owner", method: "DELETE" }), 401],
  ["of a member who was suspended", () => applyChange("suspended"), 401],
  ["of a member whose role was lowered", () => applyChange("lowered"), 403],
])("a token that is %s during a request", (_label, revoke, status) => {
  const createToken = () =>
    createAccessToken(harness, "admin", { memberId: newMember.id, connectionId: connection, connectionIds: [connection] });

  test.each([
    ["/api/prompt", "application/json", JSON.stringify(routeBodies.submitPrompt)],
    ["/api/upload/image", "multipart/form-data; boundary=x", UPLOAD_BODY],
  ])("forwards nothing after the member lost access, to %s", async (path, type, text) => {
    const { id, headers } = await createToken();
    const response = await harness.request(path, {
      method: "POST",
      headers: { ...headers, "content-type": type, "content-length": String(text.length) },
      body: createInterruptedBody(text, () => revoke(id)),
    });
    expect(response.status).toBe(status);
    expect(service.requests.filter(({ method, body: requestBody }) => method !== "GET" && requestBody.toString() === text)).toEqual([]);
  });

  test("doesn't get another file of an archive or stop another job", async () => {
    const { id, headers } = await createToken();
    const response = await harness.request("/api/console/archive", { headers, method: "POST", json: { ids: ["a", "b", "c"] } });
    const archive = ((await response.json()) as { id: string }).id;
    service.requests.length = 0;
    beforeRespond = async () => {
      if (listAssetCalls().length === 2) await revoke(id);
    };
    const file = await harness.request(`/api/console/archive/${archive}`, { headers });
    const names = [...readZip(Buffer.from(await file.arrayBuffer())).keys()];
    expect(names).toContain("NOT INCLUDED.txt");
    expect(listAssetCalls()).toHaveLength(2);
    expect((await harness.request("/api/console/jobs/stop", { headers, method: "POST", json: { ids: ["job-1"] } })).status).toBe(status);
    expect(listServiceCalls().filter(({ method }) => method === "POST")).toEqual([]);
  });
});
