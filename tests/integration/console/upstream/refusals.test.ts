// Requests that the console or the service rejects, with the code and field of each error.
import { expect, test, vi } from "vitest";
import { createHarness } from "@/tests/support/harness";
import { openTestServer } from "@/tests/support/servers";

const harness = await createHarness();

const submit = (body: string | ReadableStream<Uint8Array>) =>
  harness.request("/api/prompt", { as: "operator", method: "POST", body, headers: { "content-type": "application/json" } });

test.each([
  [
    { "1": { class_type: "NoSuchNode", inputs: {} }, "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "x" } } },
    {
      type: "missing_node_type",
      details: "Node ID '#1'",
      extra_info: { node_id: "1", class_type: "NoSuchNode", node_title: "NoSuchNode" },
    },
  ],
  [
    { "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 0 } } },
    { type: "prompt_no_outputs", details: "", extra_info: {} },
  ],
])("keeps the service's error for a rejected prompt without a node (%#)", async (prompt, error) => {
  const response = await submit(JSON.stringify({ prompt }));
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ code: error.type, error, node_errors: {} });
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
  const server = await openTestServer((_, response) => void response.writeHead(416, { "content-range": "bytes */10" }).end());
  const connection = await harness.connect(server.url, "k");
  const path = `/api/view?filename=a.png&connection=${connection}`;
  const reply = await harness.request(path, { as: "viewer", headers: { range: "bytes=99-" } });
  expect([reply.status, reply.headers.get("content-range")]).toEqual([416, "bytes */10"]);
  expect(await reply.json()).toMatchObject({ code: "RANGE_NOT_SATISFIABLE", request_id: reply.headers.get("x-request-id") });
});

test("closes the connection of an oversized body", async () => {
  const response = await submit(`{"prompt":{"a":"${"x".repeat(16 * 1024 * 1024)}"}}`);
  expect([response.status, response.headers.get("connection")]).toEqual([413, "close"]);
});

test("names the parameter of an invalid query", async () => {
  const body = await (await harness.request("/api/jobs?status=nonsense", { as: "viewer" })).json();
  expect(body).toMatchObject({ code: "INVALID_QUERY", details: [{ path: "status" }] });
  expect(body.message).toMatch(/^status: /);
});
