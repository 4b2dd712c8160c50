// A member with access to the jobs of another member's personal connection can reach those and nothing else. Tries every route; new routes must be
// added here.
import sharp from "sharp";
import { beforeEach, describe, expect, test } from "vitest";
import { allOperations } from "@/lib/contract/operations";
import { createHarness, HOST } from "@/tests/support/harness";
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
const open = [
  ...["listJobs", "getJob", "getJobStatus", "listJobAssets", "listHistory", "getHistoryEntry", "listOlderHistory"],
  ...["getOlderHistoryEntry", "getQueueDepth", "listQueue", "view"],
];
/** The console's own reads of jobs; `viewCapabilities` is answered from memory. */
const openHere = ["searchJobs", "exportJobs", "listWorkflows", "viewCapabilities", "thumbnail", "viewQueue", "countJobs", "listRunsByDay"];
const routes = await loadRoutes();

const member = (role: "admin" | "viewer" | "operator" | "owner") => harness.viewerOf(role).memberId;
const viewers = (memberId: string) => `/api/console/connections/${connectionId}/viewers/${memberId}`;
const give = (as: "admin" | "viewer" | "operator" | "owner", to: string) => harness.request(viewers(to), { as, method: "PUT" });
const take = (as: "admin" | "viewer" | "operator" | "owner", from: string) => harness.request(viewers(from), { as, method: "DELETE" });
const requestAs = (path: string, as: "admin" | "viewer" | "operator" | "owner" = "admin") =>
  harness.request(`${path}${path.includes("?") ? "&" : "?"}connection=${connectionId}`, { as });
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
const { store, ring, now } = harness.console;
const { storeApiKey } = await import("@/lib/server/keys/key-ring");
const connection = await store.connections.create({
  name: "Operator's cloud",
  baseUrl: service.url,
  accountUrl: "https://account.example/",
  memberId: member("operator"),
  createdAt: now(),
});
const connectionId = connection.id;
await storeApiKey(store.keys, ring, { connectionId, apiKey: KEY, now: now() });
beforeEach(() => void (service.requests.length = 0));

test("hides a member's own connection until an admin grants the right", async () => {
  for (const role of ["admin", "viewer", "owner"] as const) expect((await requestAs("/api/jobs", role)).status).toBe(404);
  for (const role of ["viewer", "operator"] as const) expect((await give(role, member("viewer"))).status).toBe(403);
  expect(await (await harness.request("/api/console/connections", { as: "admin" })).text()).not.toContain(connectionId);
  expect((await give("admin", member("operator"))).status).toBe(409);
  expect((await give("admin", "nobody")).status).toBe(404);
  expect(service.requests).toEqual([]);
  for (const role of ["admin", "viewer"] as const) expect((await give("admin", member(role))).status).toBe(204);
  expect((await requestAs("/api/jobs", "viewer")).status).toBe(200);
  expect(service.requests[0]?.headers["x-api-key"]).toBe(KEY);
  const [entry] = await harness.console.store.audit.list({ action: "giveJobsView" }, 1);
  expect(entry).toMatchObject({ memberName: "admin", connectionId, target: "viewer <viewer@desk.test>", status: 204 });
});

test("lists a granted connection without secrets and tells its owner who sees it", async () => {
  const listConnections = async (as: "viewer" | "operator") =>
    (await (await harness.request("/api/console/connections", { as })).json()).connections.find(
      ({ id }: { id: string }) => id === connectionId,
    );
  const viewerList = await listConnections("viewer");
  expect(viewerList).toMatchObject({ name: "Operator's cloud", seenOf: "operator", baseUrl: "", shared: false });
  expect(JSON.stringify(viewerList)).not.toMatch(/127\.0\.0\.1|account\.example|fingerprint|sk-/);
  const own = await listConnections("operator");
  expect(own.seenBy.map(({ name, givenBy }: { name: string; givenBy: string }) => [name, givenBy])).toEqual([
    ["admin", "admin"],
    ["viewer", "admin"],
  ]);
});

describe("every operation, for a seeing admin", () => {
  test.each(allOperations.map((operation) => [operation.name, operation] as const))("%s", async (name, { method, path, role }) => {
    const route = routes.find((route) => route.guard?.action === name && route.method === method);
    if (!route) return;
    await requestAs("/api/jobs/job-1");
    service.requests.length = 0;
    const query = name === "view" ? "&filename=shown.png&type=output" : "";
    const filled = path.replace(/\{\w+\}/g, "job-1");
    const changes = method !== "GET" && method !== "HEAD";
    const isUpload = path.startsWith("/api/upload") || (path === "/api/assets" && changes);
    const response = await harness.request(`${filled}?connection=${connectionId}${query}`, {
      as: "admin",
      method,
      ...(isUpload ? { body: "--x--\r\n", headers: { "content-type": "multipart/form-data; boundary=x" } } : changes && { json: {} }),
    });
    if (open.includes(name)) {
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
const consoleRoutes = routes.filter(({ guard }) => guard?.connection && !allOperations.some(({ name }) => name === guard.action));

describe("every console route, for a seeing admin", () => {
  test.each(consoleRoutes.map((route) => [getLabel(route), route] as const))("%s", async (_, { method, path, guard }) => {
    await harness.console.jobIndex.settled();
    const response = await harness.request(`${path}?connection=${connectionId}&asset=a-1`, {
      as: "admin",
      method,
      ...(method !== "GET" && { json: {} }),
    });
    const code = await getCode(response);
    const requests = service.requests.filter(({ url }) => !/^\/api\/(jobs|history_v2|prompt|queue)\b/.test(url));
    expect(requests).toEqual([]);
    if (guard && openHere.includes(guard.action) && guard.action !== "thumbnail") expect(code).not.toBe("JOBS_ONLY");
    else expect(["JOBS_ONLY", "NOT_FOUND", "INVALID_BODY", "INVALID_QUERY"]).toContain(code);
    expect(service.requests.every((request) => request.method === "GET")).toBe(true);
  });

  test("allows use of the connection but no change, check or removal", async () => {
    const at = `/api/console/connections/${connectionId}`;
    expect((await harness.request(`${at}/use`, { as: "admin", method: "POST" })).status).toBe(200);
    const tries = [harness.request(`${at}/check`, { as: "admin", method: "POST" }), harness.request(at, { as: "admin", method: "DELETE" })];
    tries.push(harness.request(at, { as: "admin", method: "PUT", json: { name: "Mine now" } }));
    for (const response of await Promise.all(tries)) expect(await getCode(response)).toBe("JOBS_ONLY");
    // Without a connection in the URL, the current one is used, without any fallback.
    expect(await getCode(await harness.request("/api/assets", { as: "admin" }))).toBe("JOBS_ONLY");
    const submitted = await harness.request("/api/prompt", { as: "admin", method: "POST", json: { prompt: {} } });
    expect(await getCode(submitted)).toBe("JOBS_ONLY");
    expect((await harness.request("/api/jobs", { as: "admin" })).status).toBe(200);
    await harness.console.store.members.setLastConnection(member("admin"), "none");
  });
});

test("serves only files that a response has shown", async () => {
  const view = async (query: string, as: "viewer" | "operator" = "viewer") => (await requestAs(`/api/view?${query}`, as)).status;
  await requestAs("/api/jobs/job-1", "viewer");
  expect(await view("filename=shown.png&type=output")).toBe(200);
  expect(await view("filename=shown%20too.png&subfolder=a&type=output")).toBe(200);
  const otherPaths = ["filename=shown.png&type=input", "filename=secret.png&type=output", "filename=shown.png%20[input]&type=output"];
  otherPaths.push(
    "filename=shown.png",
    "filename=shown.png&type=output&subfolder=..",
    "filename=shown.png&type=output&fullpath=/etc/passwd",
  );
  for (const query of otherPaths) expect([query, await view(query)]).toEqual([query, 403]);
  expect(await view("filename=secret.png&type=output", "operator")).toBe(200);
  const picture = (query: string) => requestAs(`/api/console/thumbnail?edge=128&${query}`, "viewer").then(({ status }) => status);
  expect(await picture("filename=shown.png&type=output")).toBe(200);
  expect(await requestAs("/api/console/thumbnail?edge=128&filename=secret.png&type=input", "operator").then(({ status }) => status)).toBe(
    200,
  );
  expect(await picture("filename=secret.png&type=input")).toBe(403);
  expect(await picture("asset=a-1")).toBe(403);
});

test("refuses the event feed to a seeing admin", async () => {
  const { authorizeSubscription } = await import("@/lib/server/bff/admit-listener");
  const headers = { host: HOST, cookie: harness.cookieOf("viewer") };
  const options = { url: `/ws?connection=${connectionId}`, headers };
  const admitted = await authorizeSubscription(options as Parameters<typeof authorizeSubscription>[0]);
  expect(admitted).toMatchObject({ ok: false, refused: { code: "JOBS_ONLY" } });
});

test("never includes the key in a response", async () => {
  const responses = await Promise.all(
    ["/api/jobs", "/api/jobs/job-1", "/api/console/jobs/export?format=csv"].map((path) => requestAs(path, "viewer")),
  );
  for (const response of responses) expect(`${await response.text()}${JSON.stringify([...response.headers])}`).not.toContain(KEY);
});

test("ends a running export and later reads when the right is revoked", async () => {
  const { openForJobs } = await import("@/lib/server/connections/access");
  const { operations } = await import("@/lib/contract/operations");
  const access = await openForJobs(harness.contextOf("viewer"), connectionId);
  if (!access.ok) throw new Error(access.failure.message);
  expect((await take("operator", member("viewer"))).status).toBe(204);
  service.requests.length = 0;
  expect(await access.value.upstream.call(operations.listJobs, {})).toMatchObject({ ok: false, failure: { code: "NOT_FOUND" } });
  expect(await access.value.lostRights()).toMatchObject({ code: "NOT_FOUND" });
  expect((await requestAs("/api/jobs", "viewer")).status).toBe(404);
  expect((await requestAs("/api/view?filename=shown.png&type=output", "viewer")).status).toBe(404);
  expect(service.requests).toEqual([]);
  expect((await take("operator", member("viewer"))).status).toBe(404);
  const [entry] = await harness.console.store.audit.list({ action: "takeJobsView" }, 2);
  expect(entry).toMatchObject({ memberName: "operator", connectionId });
});

test("hides everything to and of suspended members", async () => {
  const { members } = harness.console.store;
  expect((await give("admin", member("viewer"))).status).toBe(204);
  await members.change(member("viewer"), { disabled: true });
  expect((await requestAs("/api/jobs", "viewer")).status).toBe(401);
  await members.change(member("viewer"), { disabled: false });
  await harness.renewCookies();
  expect((await requestAs("/api/jobs", "viewer")).status).toBe(200);
  await members.change(member("operator"), { disabled: true });
  expect((await requestAs("/api/jobs", "viewer")).status).toBe(404);
  await members.change(member("operator"), { disabled: false });
  await harness.renewCookies();
  expect((await requestAs("/api/jobs", "viewer")).status).toBe(200);
});

test("lets only the owner grant access to their own connection", async () => {
  const { store, now } = harness.console;
  const { id } = await store.connections.create({ name: "Own", baseUrl: service.url, memberId: member("owner"), createdAt: now() });
  const at = `/api/console/connections/${id}/viewers/${member("viewer")}`;
  expect((await harness.request(at, { as: "admin", method: "PUT" })).status).toBe(403);
  expect((await harness.request(at, { as: "owner", method: "PUT" })).status).toBe(204);
  await store.connections.remove(id);
  expect(await store.jobViewers.viewersOf([id])).toEqual(new Map());
});

test("doesn't treat a team connection as a member's own", async () => {
  const shared = await harness.connect(service.url, "sk-shared");
  const at = `/api/console/connections/${shared}/viewers/${member("viewer")}`;
  expect((await harness.request(at, { as: "owner", method: "PUT" })).status).toBe(404);
});

test("revokes the right with the connection", async () => {
  expect((await harness.request(`/api/console/connections/${connectionId}`, { as: "operator", method: "DELETE" })).status).toBe(204);
  expect((await requestAs("/api/jobs", "viewer")).status).toBe(404);
});
