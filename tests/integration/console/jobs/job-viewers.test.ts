// A member with access to the jobs of another member's personal connection can read those jobs and nothing else.
// Requests every route, so new routes must be added here.
import sharp from "sharp";
import { beforeEach, describe, expect, test } from "vitest";
import { type Role } from "@/lib/contract/members/roles";
import { allOperations } from "@/lib/contract/operations";
import { createConnectionClient } from "@/tests/support/connection-client";
import { createHarness, type HarnessRequest, HOST } from "@/tests/support/harness";
import { loadRoutes, type Route } from "@/tests/support/routes";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";

const KEY = "sk-of-the-operator-alone";
const job = {
  id: "job-1",
  status: "completed",
  create_time: 1_700_000_000_000,
  preview_output: { filename: "shown.png", subfolder: "", type: "output", nodeId: "9", mediaType: "images" },
  outputs: { 9: { images: [{ filename: "shown too.png", subfolder: "a", type: "output" }] } },
};
const image = await sharp({ create: { width: 2, height: 2, channels: 3, background: "red" } })
  .png()
  .toBuffer();

/** The operations that read jobs. */
const jobOperations = [
  ...["listJobs", "getJob", "getJobStatus", "listJobAssets", "listHistory", "getHistoryEntry", "listOlderHistory"],
  ...["getOlderHistoryEntry", "getQueueDepth", "listQueue", "view"],
];
/** The console's own operations that read jobs. `viewCapabilities` is served from memory. */
const consoleJobActions = [
  ...["searchJobs", "exportJobs", "listWorkflows", "viewCapabilities"],
  ...["thumbnail", "viewQueue", "countJobs", "listRunsByDay"],
];
const routes = await loadRoutes();

const getMemberId = (role: Role) => harness.getViewer(role).memberId;
const changeAccess = async (as: Role, method: "PUT" | "DELETE", memberId: string, connection = connectionId) =>
  (await harness.request(`/api/console/connections/${connection}/viewers/${memberId}`, { as, method })).status;
const getStatus = async (path: string, as: Role) => (await send(path, { as })).status;
const getCode = async (response: Response): Promise<unknown> => {
  const text = await response.text();
  return response.headers.get("content-type")?.includes("json") && text ? JSON.parse(text).code : undefined;
};

const harness = await createHarness();
const service = await openTestServer(({ url }, response) => {
  const path = url.split("?")[0] ?? "";
  if (path === "/api/view") return response.writeHead(200, { "content-type": "image/png" }).end(image);
  if (/^\/api\/(jobs\/[\w-]+|job\/[\w-]+\/status)$/.test(path)) return sendJsonResponse(response, job);
  if (path.endsWith("/assets")) return sendJsonResponse(response, { assets: [] });
  if (path === "/api/queue") return sendJsonResponse(response, { queue_running: [], queue_pending: [] });
  if (path === "/api/prompt") return sendJsonResponse(response, { exec_info: { queue_remaining: 0 } });
  if (path === "/api/history_v2") return sendJsonResponse(response, { history: [] });
  if (path.startsWith("/api/history")) return sendJsonResponse(response, {});
  return sendJsonResponse(response, { jobs: [job], pagination: { offset: 0, limit: 100, total: 1, has_more: false } });
});
const { store, keyRing, now } = harness.console;
const { storeApiKey } = await import("@/lib/server/keys/key-ring");
const connection = await store.connections.create({
  name: "Operator's cloud",
  baseUrl: service.url,
  accountUrl: "https://account.example/",
  memberId: getMemberId("operator"),
  createdAt: now(),
});
const connectionId = connection.id;
const { send } = createConnectionClient(harness, connectionId);
await storeApiKey(store.keys, keyRing, { connectionId, apiKey: KEY, now: now() });
beforeEach(() => void (service.requests.length = 0));

test("hides a member's own connection until an admin grants the right", async () => {
  for (const role of ["admin", "viewer", "owner"] as const) expect(await getStatus("/api/jobs", role)).toBe(404);
  for (const role of ["viewer", "operator"] as const) expect(await changeAccess(role, "PUT", getMemberId("viewer"))).toBe(403);
  expect(await (await harness.request("/api/console/connections", { as: "admin" })).text()).not.toContain(connectionId);
  expect(await changeAccess("admin", "PUT", getMemberId("operator"))).toBe(409);
  expect(await changeAccess("admin", "PUT", "nobody")).toBe(404);
  expect(service.requests).toEqual([]);
  for (const role of ["admin", "viewer"] as const) expect(await changeAccess("admin", "PUT", getMemberId(role))).toBe(204);
  expect(await getStatus("/api/jobs", "viewer")).toBe(200);
  expect(service.requests[0]?.headers["x-api-key"]).toBe(KEY);
  const [entry] = await harness.console.store.audit.list({ action: "giveJobsView" }, 1);
  expect(entry).toMatchObject({ memberName: "admin", connectionId, target: "viewer <viewer@desk.test>", status: 204 });
});

test("lists a granted connection without secrets, and its viewers to its owner", async () => {
  const listConnections = async (as: "viewer" | "operator") =>
    (await (await harness.request("/api/console/connections", { as })).json()).connections.find(
      ({ id }: { id: string }) => id === connectionId,
    );
  const viewerList = await listConnections("viewer");
  expect(viewerList).toMatchObject({ name: "Operator's cloud", seenOf: "operator", baseUrl: "", shared: false });
  expect(JSON.stringify(viewerList)).not.toMatch(/127\.0\.0\.1|account\.example|fingerprint|sk-/);
  const ownerList = await listConnections("operator");
  expect(ownerList.seenBy.map(({ name, givenBy }: { name: string; givenBy: string }) => [name, givenBy])).toEqual([
    ["admin", "admin"],
    ["viewer", "admin"],
  ]);
});

describe("every operation, for an admin who may see the jobs", () => {
  test.each(allOperations.map((operation) => [operation.name, operation] as const))("%s", async (name, { method, path, role }) => {
    const route = routes.find((route) => route.guard?.action === name && route.method === method);
    if (!route) return;
    await send("/api/jobs/job-1", { as: "admin" });
    service.requests.length = 0;
    const query = name === "view" ? "?filename=shown.png&type=output" : "";
    const filledPath = path.replace(/\{\w+\}/g, "job-1");
    const isChange = method !== "GET" && method !== "HEAD";
    const isUpload = path.startsWith("/api/upload") || (path === "/api/assets" && isChange);
    const response = await send(`${filledPath}${query}`, {
      as: "admin",
      method,
      ...(isUpload ? { body: "--x--\r\n", headers: { "content-type": "multipart/form-data; boundary=x" } } : isChange && { json: {} }),
    });
    if (jobOperations.includes(name)) {
      expect([method, role, response.status]).toEqual(["GET", "viewer", 200]);
      expect(service.requests.length).toBeGreaterThan(0);
    } else {
      expect([response.status, method === "HEAD" ? "JOBS_ONLY" : await getCode(response)]).toEqual([403, "JOBS_ONLY"]);
      // The job index may still read a page of the list that was shown before.
      expect(service.requests.filter(({ url }) => !url.startsWith("/api/jobs?"))).toEqual([]);
    }
  });
});

const getLabel = (route: Route) => `${route.method} ${route.path}`;
const consoleRoutes = routes.filter(({ guard }) => guard?.needsConnection && !allOperations.some(({ name }) => name === guard.action));

describe("every console route, for an admin who may see the jobs", () => {
  test.each(consoleRoutes.map((route) => [getLabel(route), route] as const))("%s", async (_, { method, path, guard }) => {
    await harness.console.jobIndex.flush();
    const response = await send(`${path}?asset=a-1`, { as: "admin", method, ...(method !== "GET" && { json: {} }) });
    const code = await getCode(response);
    const requests = service.requests.filter(({ url }) => !/^\/api\/(jobs|history_v2|prompt|queue)\b/.test(url));
    expect(requests).toEqual([]);
    if (guard && consoleJobActions.includes(guard.action) && guard.action !== "thumbnail") expect(code).not.toBe("JOBS_ONLY");
    else expect(["JOBS_ONLY", "NOT_FOUND", "INVALID_BODY", "INVALID_QUERY"]).toContain(code);
    expect(service.requests.every((request) => request.method === "GET")).toBe(true);
  });

  test("allows use of the connection but no change, check or removal", async () => {
    const connectionPath = `/api/console/connections/${connectionId}`;
    expect((await harness.request(`${connectionPath}/use`, { as: "admin", method: "POST" })).status).toBe(200);
    const requestCode = async (path: string, options?: HarnessRequest) => getCode(await harness.request(path, { as: "admin", ...options }));
    expect(await requestCode(`${connectionPath}/check`, { method: "POST" })).toBe("JOBS_ONLY");
    expect(await requestCode(connectionPath, { method: "DELETE" })).toBe("JOBS_ONLY");
    expect(await requestCode(connectionPath, { method: "PUT", json: { name: "Mine now" } })).toBe("JOBS_ONLY");
    // Without a connection in the URL, the current one is used, without any fallback.
    expect(await requestCode("/api/assets")).toBe("JOBS_ONLY");
    expect(await requestCode("/api/prompt", { method: "POST", json: { prompt: {} } })).toBe("JOBS_ONLY");
    expect((await harness.request("/api/jobs", { as: "admin" })).status).toBe(200);
    await harness.console.store.members.setLastConnection(getMemberId("admin"), "none");
  });
});

test("serves only files that a response has shown", async () => {
  const getViewStatus = (query: string, as: Role = "viewer") => getStatus(`/api/view?${query}`, as);
  await send("/api/jobs/job-1");
  expect(await getViewStatus("filename=shown.png&type=output")).toBe(200);
  expect(await getViewStatus("filename=shown%20too.png&subfolder=a&type=output")).toBe(200);
  const otherPaths = ["filename=shown.png&type=input", "filename=secret.png&type=output", "filename=shown.png%20[input]&type=output"];
  otherPaths.push("filename=shown.png", "filename=shown.png&type=output&subfolder=..");
  otherPaths.push("filename=shown.png&type=output&fullpath=/etc/passwd");
  for (const query of otherPaths) expect([query, await getViewStatus(query)]).toEqual([query, 403]);
  expect(await getViewStatus("filename=secret.png&type=output", "operator")).toBe(200);
  const getThumbnailStatus = (query: string, as: Role = "viewer") => getStatus(`/api/console/thumbnail?edge=128&${query}`, as);
  expect(await getThumbnailStatus("filename=shown.png&type=output")).toBe(200);
  expect(await getThumbnailStatus("filename=secret.png&type=input", "operator")).toBe(200);
  expect(await getThumbnailStatus("filename=secret.png&type=input")).toBe(403);
  expect(await getThumbnailStatus("asset=a-1")).toBe(403);
});

test("refuses the event feed to a viewer of the jobs", async () => {
  const { authorizeSubscription } = await import("@/lib/server/bff/authorize-subscription");
  const headers = { host: HOST, cookie: harness.getCookie("viewer") };
  const options = { url: `/ws?connection=${connectionId}`, headers };
  const admitted = await authorizeSubscription(options as Parameters<typeof authorizeSubscription>[0]);
  expect(admitted).toMatchObject({ ok: false, error: { code: "JOBS_ONLY" } });
});

test("ends a running export and later reads when the right is revoked", async () => {
  const { openForJobs } = await import("@/lib/server/connections/access");
  const { operations } = await import("@/lib/contract/operations");
  const access = await openForJobs(harness.getContext("viewer"), connectionId);
  if (!access.ok) throw new Error(access.failure.message);
  expect(await changeAccess("operator", "DELETE", getMemberId("viewer"))).toBe(204);
  service.requests.length = 0;
  expect(await access.value.upstream.call(operations.listJobs, {})).toMatchObject({ ok: false, failure: { code: "NOT_FOUND" } });
  expect(await access.value.checkRights()).toMatchObject({ code: "NOT_FOUND" });
  for (const path of ["/api/jobs", "/api/view?filename=shown.png&type=output"]) expect(await getStatus(path, "viewer")).toBe(404);
  expect(service.requests).toEqual([]);
  expect(await changeAccess("operator", "DELETE", getMemberId("viewer"))).toBe(404);
  const [entry] = await harness.console.store.audit.list({ action: "takeJobsView" }, 2);
  expect(entry).toMatchObject({ memberName: "operator", connectionId });
});

test("hides jobs from suspended viewers and jobs of suspended owners", async () => {
  const { members } = harness.console.store;
  expect(await changeAccess("admin", "PUT", getMemberId("viewer"))).toBe(204);
  for (const [role, status] of [
    ["viewer", 401],
    ["operator", 404],
  ] as const) {
    await members.change(getMemberId(role), { disabled: true });
    expect(await getStatus("/api/jobs", "viewer")).toBe(status);
    await members.change(getMemberId(role), { disabled: false });
    await harness.renewCookies();
    expect(await getStatus("/api/jobs", "viewer")).toBe(200);
  }
});

test("lets only owners grant access to personal connections, never to a team's", async () => {
  const { store, now } = harness.console;
  const { id } = await store.connections.create({ name: "Own", baseUrl: service.url, memberId: getMemberId("owner"), createdAt: now() });
  expect(await changeAccess("admin", "PUT", getMemberId("viewer"), id)).toBe(403);
  expect(await changeAccess("owner", "PUT", getMemberId("viewer"), id)).toBe(204);
  await store.connections.remove(id);
  expect(await store.jobViewers.listViewers([id])).toEqual(new Map());
  const shared = await harness.connect(service.url, "sk-shared");
  expect(await changeAccess("owner", "PUT", getMemberId("viewer"), shared)).toBe(404);
});

test("revokes the right with the connection", async () => {
  expect((await harness.request(`/api/console/connections/${connectionId}`, { as: "operator", method: "DELETE" })).status).toBe(204);
  expect(await getStatus("/api/jobs", "viewer")).toBe(404);
});
