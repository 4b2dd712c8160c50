// Connections as the settings page manages them, with working and faulty HTTP services.
import { expect, test } from "vitest";
import { connectService, createConnectionClient, createJobPage } from "@/tests/support/connection-client";
import { createHarness } from "@/tests/support/harness";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";

const harness = await createHarness({ upstreamLimits: { readMs: 500, firstRetryMs: 1 } });

type Responder = Parameters<typeof openTestServer>[0];
const respondWith =
  (body: object, status = 200): Responder =>
  (_, response) =>
    sendJsonResponse(response, body, status);
const respondWithUser = (status: string) => respondWith({ status });

async function saveConnection(baseUrl: string, as: "owner" | "operator" = "operator", overrides: object = {}) {
  const response = await harness.request("/api/console/connections", {
    as,
    method: "POST",
    json: { name: "Cloud", baseUrl, key: "sk-very-secret", ...overrides },
  });
  return { status: response.status, body: await response.json() };
}

async function listConnections(): Promise<{ id: string; baseUrl: string; fingerprint?: string; status: string }[]> {
  const response = await harness.request("/api/console/connections", { as: "operator" });
  return (await response.json()).connections;
}

test.each<[string, Responder, string]>([
  ["an active account", respondWithUser("active"), "active"],
  ["an account on the waiting list", respondWithUser("waitlisted"), "waitlisted"],
  ["an unknown account status", respondWithUser("trial"), "active"],
  ["a refused key", respondWith({ code: "UNAUTHORIZED", message: "no" }, 401), "refused"],
  ["a key that lacks a permission", respondWith({ code: "FORBIDDEN", message: "no" }, 403), "forbidden"],
  ["a web page", (_, response) => void response.writeHead(200, { "content-type": "text/html" }).end("<html>"), "strange"],
  ["a redirect", (_, response) => void response.writeHead(302, { location: "/login" }).end(), "strange"],
  ["an account without credits", respondWith({ error: { code: "insufficient_credits", message: "no" } }, 402), "unpaid"],
  ["an account whose plan is too small", respondWith({ code: "FREE_TIER_UNAVAILABLE", message: "no" }, 429), "unpaid"],
  ["a service without users", respondWith({}, 404), "strange"],
  ["a service that is broken", respondWith({}, 500), "failing"],
  ["an unresponsive service", () => undefined, "unreachable"],
])("reports the outcome when a connection to %s is saved anyway", async (_name, respond, outcome) => {
  const server = await openTestServer(respond);
  const { status, body } = await saveConnection(`${server.url}/`, "operator", { keep: true });
  expect(status).toBe(201);
  expect(body.check.outcome).toBe(outcome);
  expect(body.check.message).toMatch(/.{10,}/);
  const fields = { name: "Cloud", baseUrl: server.url, embedded: false, shared: false, hasKey: true, status: outcome };
  expect(body.connection).toMatchObject(fields);
  expect(JSON.stringify(body)).not.toContain("very-secret");
  expect(server.requests[0]?.headers["x-api-key"]).toBe("sk-very-secret");
});

test("accepts a base URL that ends in /api", async () => {
  const server = await openTestServer(respondWithUser("active"));
  const { status, body } = await saveConnection(`${server.url}/api/`);
  expect([status, body.check.outcome, body.connection.baseUrl]).toEqual([201, "active", server.url]);
  expect(server.requests.map(({ url }) => url)).toEqual(["/api/user"]);
});

test("stores nothing after a failed connection and returns its retry delay", async () => {
  const server = await openTestServer((_, response) =>
    sendJsonResponse(response, { code: "RATE_LIMITED", message: "slower" }, 429, { "retry-after": "30" }),
  );
  const before = await listConnections();
  const { status, body } = await saveConnection(server.url);
  expect([status, body.connection]).toEqual([200, undefined]);
  expect(body.check).toMatchObject({ outcome: "failing", retryAfterMs: 30_000 });
  expect(await listConnections()).toEqual(before);
});

test("saves a waitlisted connection after one check", async () => {
  const server = await openTestServer(respondWithUser("waitlisted"));
  const { status, body } = await saveConnection(server.url);
  expect([status, body.connection.status, server.requests.length]).toEqual([201, "waitlisted", 1]);
});

test("keeps the stored key and URL when new ones fail, but saves a new name", async () => {
  const server = await openTestServer(({ headers }, response) =>
    headers["x-api-key"] === "sk-very-secret" ? sendJsonResponse(response, { status: "active" }) : sendJsonResponse(response, {}, 401),
  );
  const { id, fingerprint } = (await saveConnection(server.url)).body.connection;
  const change = async (json: object) =>
    (await harness.request(`/api/console/connections/${id}`, { as: "operator", method: "PUT", json })).json();
  const getCurrent = async () => (await listConnections()).find((connection) => connection.id === id);
  expect(await change({ key: "wrong" })).toMatchObject({ check: { outcome: "refused" } });
  expect(await change({ baseUrl: "http://127.0.0.1:9", key: "wrong" })).toMatchObject({ check: { outcome: "unreachable" } });
  expect(await getCurrent()).toMatchObject({ baseUrl: server.url, fingerprint, status: "active" });
  expect((await change({ key: "wrong", keep: true })).connection.fingerprint).not.toBe(fingerprint);
  expect(await getCurrent()).toMatchObject({ status: "refused" });
  expect((await change({ name: "Renamed" })).connection).toMatchObject({ name: "Renamed", status: "refused" });
});

test("doesn't overwrite a connection changed during its check", async () => {
  const pendingResponses: (() => void)[] = [];
  const server = await openTestServer(({ headers }, response) => {
    const respond = () => sendJsonResponse(response, { status: "active" });
    if (headers["x-api-key"] === "first") pendingResponses.push(respond);
    else respond();
  });
  const { id } = (await saveConnection(server.url)).body.connection;
  const change = (json: object) => harness.request(`/api/console/connections/${id}`, { as: "operator", method: "PUT", json });
  const firstChange = change({ key: "first" });
  await expect.poll(() => pendingResponses.length).toBe(1);
  expect((await change({ key: "second" })).status).toBe(200);
  pendingResponses[0]?.();
  expect((await firstChange).status).toBe(409);
});

test.each([
  ...["ftp://x", "not an address", "http://127.0.0.1:9/?key=1", "http://127.0.0.1:9/#part", "http://name:word@127.0.0.1:9"],
  ...["http://169.254.169.254", "http://2852039166/latest", "http://[fe80::1]:8188", "http://[fd00:ec2::254]", "http://0.0.0.0:8188"],
  "http://[::ffff:169.254.169.254]",
])("rejects %s as a base URL", async (baseUrl) => {
  const { status, body } = await saveConnection(baseUrl);
  expect([status, body.code, body.details?.[0]?.path]).toEqual([400, "INVALID_BODY", "baseUrl"]);
});

test.each([
  [{ name: "" }, "name"],
  [{ key: "a key with spaces" }, "key"],
  [{ key: "line\nbreak" }, "key"],
])("names an invalid field: %j", async (fields, field) => {
  const { status, body } = await saveConnection("http://127.0.0.1:9", "operator", fields);
  expect([status, body.code, body.details[0].path]).toEqual([400, "INVALID_BODY", field]);
});

test("shows personal connections to their member and shared ones to all", async () => {
  const ownConnection = (await saveConnection("http://127.0.0.1:9", "operator", { keep: true })).body.connection.id;
  expect((await saveConnection("http://127.0.0.1:9", "operator", { shared: true })).status).toBe(403);
  const sharedConnection = (await saveConnection("http://127.0.0.1:9", "owner", { shared: true, keep: true })).body.connection.id;
  const getIds = async (as: "viewer" | "operator") => {
    const { connections } = await (await harness.request("/api/console/connections", { as })).json();
    return connections.map(({ id }: { id: string }) => id);
  };
  expect(await getIds("operator")).toEqual(expect.arrayContaining([ownConnection, sharedConnection, "embedded"]));
  expect(await getIds("viewer")).not.toContain(ownConnection);
  expect((await harness.request(`/api/console/connections/${sharedConnection}`, { as: "operator", method: "DELETE" })).status).toBe(403);
  expect((await harness.request(`/api/console/connections/${ownConnection}`, { as: "owner", method: "DELETE" })).status).toBe(404);
  expect((await harness.request(`/api/console/connections/${ownConnection}`, { as: "operator", method: "DELETE" })).status).toBe(204);
});

test("requires the key again when the base URL changes", async () => {
  const [oldServer, newServer] = [await openTestServer(respondWithUser("active")), await openTestServer(respondWithUser("active"))];
  const { id } = (await saveConnection(oldServer.url)).body.connection;
  const change = (json: object) => harness.request(`/api/console/connections/${id}`, { as: "operator", method: "PUT", json });
  const refusal = await change({ baseUrl: newServer.url });
  expect([refusal.status, (await refusal.json()).details[0].path]).toEqual([400, "key"]);
  expect(newServer.requests).toEqual([]);
  expect((await change({ name: "Renamed" })).status).toBe(200);
  expect((await change({ baseUrl: newServer.url, key: "another-key" })).status).toBe(200);
  expect(newServer.requests[0]?.headers["x-api-key"]).toBe("another-key");
  await Promise.all([oldServer.close(), newServer.close()]);
});

test("uses the member's last connection and does not forward the parameter", async () => {
  const { server, connection, send } = await connectService(harness, (_, response) => sendJsonResponse(response, createJobPage([])));
  expect((await send("/api/jobs?limit=3")).status).toBe(200);
  expect(server.requests.at(-1)?.url).not.toContain("connection");
  await harness.request(`/api/console/connections/${connection}/use`, { as: "viewer", method: "POST" });
  const before = server.requests.length;
  for (const as of ["viewer", "owner"] as const) await harness.request("/api/jobs", { as });
  expect(server.requests.length).toBe(before + 1);
});

test("logs a change with the service's actual response, and no reads", async () => {
  const { connection, send, post } = await connectService(harness, ({ method }, response) =>
    sendJsonResponse(response, method === "POST" ? { deleted: ["a"], cleared: false } : { status: "active" }),
  );
  await send("/api/user", { as: "operator" });
  await post("/api/queue", { delete: ["a", "b"] }, { as: "operator" });
  await post("/api/queue", { delete: ["a"] });
  const entries = (await harness.console.store.audit.listNewest(10)).filter(({ action }) => action === "manageQueue");
  expect(entries).toMatchObject([
    { memberName: "viewer", status: 403, code: "ROLE_TOO_LOW" },
    { memberName: "operator", status: 200, connectionId: connection, outcome: 'items=13:[["a"],["b"]] cleared=false deleted=1 (a)' },
  ]);
  expect((await harness.console.store.audit.listNewest(100)).map(({ action }) => action)).not.toContain("getUser");
});

test("doesn't cache a missing item as a missing capability", async () => {
  const { server, send } = await connectService(harness, (_, response) =>
    sendJsonResponse(response, { code: "NOT_FOUND", message: "no" }, 404),
  );
  for (const expected of [1, 2]) {
    await send("/api/view?filename=a.png");
    expect(server.requests.length).toBe(expected);
  }
});

test("never opens a connection that resolves to a metadata address", async () => {
  const { getJson } = createConnectionClient(harness, await harness.connect("http://169.254.169.254", "k"));
  const message = expect.stringContaining("this address is not allowed");
  expect(await getJson("/api/user")).toMatchObject({ code: "UPSTREAM_UNREACHABLE", message });
});

test("shows only a short excerpt of a response that isn't from a service", async () => {
  const server = await openTestServer((_, response) => void response.writeHead(500).end(`secret\n\u0007${"x".repeat(400)}`));
  const { body } = await saveConnection(server.url);
  expect(body.check.message).toMatch(/^The service responded with 500: secret x{112}…$/);
});
