// Optional capabilities and reads are detected from cached facts or reads, without errors in the browser's log.
import { expect, test } from "vitest";
import { createConnectionClient } from "@/tests/support/connection-client";
import { createHarness } from "@/tests/support/harness";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";

let files: string[] = [];
let status = 404;
let onRead = (): void => undefined;
const harness = await createHarness({ upstreamLimits: { firstRetryMs: 1 } });
const server = await openTestServer(({ url }, response) => {
  const listedFiles = files.map((path) => ({ path }));
  if (new URL(url, "http://x").pathname === "/api/userdata") return sendJsonResponse(response, listedFiles);
  onRead();
  response.writeHead(status).end(status < 300 ? "x" : "no");
});

async function getCapabilities(connection: string, names: readonly string[], dir = "") {
  const path = `/api/console/capabilities?of=${names.join()}${dir && `&dir=${dir}`}`;
  const response = await createConnectionClient(harness, connection).send(path);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

async function probe(fileNames: string[], responseStatus: number, onRequest: () => void = () => undefined) {
  [files, status, onRead] = [fileNames, responseStatus, onRequest];
  const connection = await harness.connect(server.url, "k");
  const result = await getCapabilities(connection, ["userdata.read"], "a/");
  return [result.status, result.body.code ?? result.body["userdata.read"]];
}

test("detects file access from a full, partial or empty read", async () => {
  for (const response of [200, 206, 416]) expect(await probe(["x.txt"], response)).toEqual([200, true]);
  expect(server.requests.at(-1)).toMatchObject({ method: "GET", url: "/api/userdata/a%2Fx.txt" });
});

test("marks files as unsupported when a listed file cannot be read", async () => {
  for (const response of [404, 405, 501]) expect(await probe(["x.txt"], response)).toEqual([200, false]);
});

test("draws no conclusion from one unreadable file", async () => {
  let reads = 0;
  expect(await probe(["x.txt", "y.txt"], 404, () => void (status = ++reads === 2 ? 206 : 404))).toEqual([200, true]);
  expect(await probe(["x.txt", "y.txt"], 404)).toEqual([200, false]);
});

test("draws no conclusion from a missing file or an outage", async () => {
  expect(await probe([], 200)).toEqual([200, null]);
  expect(await probe(["x.txt"], 404, () => void (files = []))).toEqual([200, null]);
  expect((await probe(["x.txt"], 500))[0]).toBe(502);
});

test("infers related capabilities from one read until one is refused", async () => {
  const capabilities = ["tags.list", "tags.remove", "assets.edit", "assets.delete", "jobs.stop", "interrupt", "view"];
  const createExpected = (value: boolean) => ({ ...Object.fromEntries(capabilities.map((name) => [name, value])), view: null });
  expect((await getCapabilities("embedded", capabilities)).body).toEqual(createExpected(true));
  [files, status, onRead] = [[], 404, () => undefined];
  const connection = await harness.connect(server.url, "k");
  server.requests.length = 0;
  expect((await getCapabilities(connection, capabilities)).body).toEqual(createExpected(false));
  expect(server.requests.map(({ method, url }) => `${method} ${url.split("?")[0]}`)).toEqual(["GET /api/tags", "GET /api/prompt"]);
});

test("rejects unknown capabilities and connections", async () => {
  expect(await getCapabilities("embedded", ["tags.list", "fly"])).toMatchObject({ status: 400, body: { code: "INVALID_QUERY" } });
  expect((await getCapabilities("gone", ["tags.list"])).status).toBe(404);
});

test("reports the capability of an unsupported action and stops sending it", async () => {
  [files, status, onRead] = [[], 405, () => undefined];
  const connection = await harness.connect(server.url, "k");
  const { post } = createConnectionClient(harness, connection, "operator");
  server.requests.length = 0;
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const { code, details } = await (await post("/api/userdata/a.json/move/b.json")).json();
    expect([code, details.capability]).toEqual(["NOT_IMPLEMENTED", "userdata.move"]);
  }
  // The job index keeps sending reads meanwhile.
  expect(server.requests.filter(({ method }) => method === "POST")).toHaveLength(1);
});

const optionalReads = ["tags", "refined-tags", "features"];
const readOptional = (name: string, connection: string) =>
  createConnectionClient(harness, connection).send(`/api/console/optional/${name}`);

test("returns optional reads, or null if the service lacks them", async () => {
  const fields = [{ tags: expect.any(Array) }, { tag_counts: expect.any(Object) }, { max_upload_size: expect.any(Number) }];
  for (const [index, name] of optionalReads.entries())
    expect(await (await readOptional(name, "embedded")).json()).toMatchObject(fields[index] ?? {});
  for (status of [404, 405, 501]) {
    const connection = await harness.connect(server.url, "k");
    for (const name of [...optionalReads, ...optionalReads]) {
      const response = await readOptional(name, connection);
      expect([name, response.status, await response.json()]).toEqual([name, 200, null]);
    }
  }
});

test("reports an optional read's outage, refused key and missing connection", async () => {
  const connection = await harness.connect(server.url, "k");
  for (status of [500, 401]) for (const name of optionalReads) expect((await readOptional(name, connection)).status).toBeGreaterThan(400);
  expect((await readOptional("tags", "gone")).status).toBe(404);
});
