// Requests that the console or the service rejects, with the code and field of each error.
import { expect, test, vi } from "vitest";
import { connectService } from "@/tests/support/connection-client";
import { createHarness } from "@/tests/support/harness";
import { sendJsonResponse } from "@/tests/support/test-server";

const harness = await createHarness();

const submit = (body: string | ReadableStream<Uint8Array>) =>
  harness.request("/api/prompt", { as: "operator", method: "POST", body, headers: { "content-type": "application/json" } });

test.each([
  [
    "an unknown class",
    { "1": { class_type: "NoSuchNode", inputs: {} }, "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "x" } } },
    {
      type: "missing_node_type",
      details: "Node ID '#1'",
      extra_info: { node_id: "1", class_type: "NoSuchNode", node_title: "NoSuchNode" },
    },
    {},
  ],
  [
    "no output node",
    { "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 0 } } },
    { type: "prompt_no_outputs", details: "", extra_info: {} },
    {},
  ],
  [
    "an invalid node",
    { "1": { class_type: "SaveImage", inputs: { filename_prefix: "x" } } },
    { type: "prompt_outputs_failed_validation" },
    { "1": { errors: [{ type: "required_input_missing" }] } },
  ],
])("keeps the service's errors for a prompt with %s", async (_, prompt, error, node_errors) => {
  const response = await submit(JSON.stringify({ prompt }));
  expect(response.status).toBe(400);
  const request_id = response.headers.get("x-request-id");
  expect(await response.json()).toMatchObject({ code: error.type, error, node_errors, request_id });
});

test.each([
  ["{}", "INVALID_BODY", "no_prompt"],
  ['{"prompt":null}', "INVALID_BODY", "no_prompt"],
  ["null", "INVALID_BODY", "invalid_prompt"],
  ['{"prompt":{},"client_id":5}', "INVALID_BODY", "invalid_prompt"],
  ['{"prompt":', "INVALID_JSON", "invalid_prompt"],
  ["", "INVALID_JSON", "invalid_prompt"],
])("returns a ComfyUI prompt error when the body is %j", async (body, code, type) => {
  const response = await submit(body);
  expect(response.status).toBe(400);
  const error = { type, message: expect.any(String), details: expect.any(String), extra_info: {} };
  expect(await response.json()).toMatchObject({ code, error, node_errors: {} });
});

test("rejects deeply nested JSON and ignores brackets inside strings", async () => {
  const createNestedBody = (depth: number) => `{"prompt":{},"extra_data":${'{"a":'.repeat(depth)}1${"}".repeat(depth)}}`;
  for (const depth of [100, 6000, 500_000]) {
    const response = await submit(createNestedBody(depth));
    expect([depth, response.status, (await response.json()).code]).toEqual([depth, 400, "INVALID_JSON"]);
  }
  for (const body of [createNestedBody(99), `{"prompt":{},"extra_data":{"a":"\\"${"[".repeat(200)}"}}`]) {
    expect((await (await submit(body)).json()).code).not.toBe("INVALID_JSON");
  }
});

test("rejects a body with 450,000 twenty-digit integers before parsing it", async () => {
  const parse = vi.spyOn(JSON, "parse");
  const response = await submit(`{"prompt":{},"extra_data":{"a":[${"12345678901234567890,".repeat(450_000)}1]}}`);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    code: "INVALID_JSON",
    message: expect.stringContaining("more than 50000 long or unusually"),
  });
  expect(Math.max(0, ...parse.mock.calls.map(([text]) => text.length))).toBeLessThan(1_000_000);
  parse.mockRestore();
});

test("logs no error when a client disconnects within a JSON body", async () => {
  const logLength = harness.getLog().length;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode('{"prompt":')),
    pull: (controller) => controller.error(new Error("aborted")),
  });
  const response = await submit(body);
  expect([response.status, (await response.json()).code]).toEqual([499, "CLIENT_GONE"]);
  expect(harness.getLog().slice(logLength)).not.toContain('"level":50');
});

test("returns 416 with the file's size for an unsatisfiable range", async () => {
  const { send } = await connectService(harness, (_, response) => response.writeHead(416, { "content-range": "bytes */10" }).end());
  const reply = await send("/api/view?filename=a.png", { headers: { range: "bytes=99-" } });
  expect([reply.status, reply.headers.get("content-range")]).toEqual([416, "bytes */10"]);
  expect(await reply.json()).toMatchObject({ code: "RANGE_NOT_SATISFIABLE", request_id: reply.headers.get("x-request-id") });
});

test.each(["/api/prompt", "/api/userdata/packed.json", "/api/assets", "/api/console/views"])(
  "rejects a compressed body of POST %s",
  async (path) => {
    const headers = { "content-encoding": "gzip", "content-type": "application/json" };
    const response = await harness.request(path, { as: "operator", method: "POST", body: "x", headers });
    expect(response.status).toBe(415);
    const details = { field: "Content-Encoding" };
    expect(await response.json()).toMatchObject({ code: "UNSUPPORTED_MEDIA_TYPE", details });
  },
);

test("closes the connection of an oversized body", async () => {
  const response = await submit(`{"prompt":{"a":"${"x".repeat(16 * 1024 * 1024)}"}}`);
  expect([response.status, response.headers.get("connection")]).toEqual([413, "close"]);
});

test.each([
  ["INVALID_QUERY", "status", "/api/jobs?status=nonsense", ""],
  ["INVALID_QUERY", "status", "/api/jobs?status=completed&status=failed", "must not be repeated"],
  ["INVALID_QUERY", "limit", "/api/jobs?limit=1&limit=2", "must not be repeated"],
  ["INVALID_QUERY", "dir", "/api/userdata?dir=a/&dir=b/", "must not be repeated"],
  ["INVALID_TAG_FILTER", "include_tags", "/api/assets?include_tags=a&include_tags=b", "must not be repeated"],
  ["INVALID_TAG_FILTER", "exclude_tags", `/api/assets?exclude_tags=${"a,".repeat(101)}`, ""],
])("returns %s when the parameter %s is invalid", async (code, parameter, path, message) => {
  const body = await (await harness.request(path, { as: "viewer" })).json();
  expect(body).toMatchObject({ code, details: [{ path: parameter }], message: expect.stringContaining(`${parameter}: ${message}`) });
});

const lists = ["/api/jobs", "/api/assets", "/api/history_v2", "/api/history", "/api/userdata?dir=workflows/", "/api/tags", "/api/tasks"];
test.each(lists)("rejects an unsupported filter of %s", async (path) => {
  const { server, send } = await connectService(harness, (_, response) => sendJsonResponse(response, {}));
  for (const name of ["tags_any", "constructor"]) {
    const response = await send(`${path}${path.includes("?") ? "&" : "?"}${name}=x`);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(name);
  }
  expect(server.requests).toEqual([]);
});

test("suggests the nearest name and ignores filters without effect", async () => {
  const response = await harness.request(`/api/assets?include_tag=x`, { as: "viewer" });
  expect(await response.json()).toMatchObject({ code: "INVALID_QUERY", message: expect.stringContaining("did you mean include_tags?") });
  expect((await harness.request("/api/jobs?_=1&clientId=a&limit=1", { as: "viewer" })).status).toBe(200);
});
