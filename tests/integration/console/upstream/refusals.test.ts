// The console's own refusals: distinguished from the service's, naming the field, and blaming the right side.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createHarness, type Harness } from "@/tests/support/harness";
import { type LittleServer, startLittleServer } from "@/tests/support/little-server";

let harness: Harness;
const servers: LittleServer[] = [];
beforeAll(async () => {
  harness = await createHarness();
});
afterAll(async () => {
  for (const server of servers) await server.close();
  await harness.dispose();
});

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
])("a refused prompt without a node at fault still answers the service's error and empty node errors (%#)", async (prompt, error) => {
  const answer = await submit(JSON.stringify({ prompt }));
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ code: error.type, error, node_errors: {} });
});

test("JSON that is nested too deep is the caller's fault, however deep, and brackets inside texts do not count", async () => {
  const nested = (depth: number) => `{"prompt":{},"extra_data":${'{"a":'.repeat(depth)}1${"}".repeat(depth)}}`;
  for (const depth of [100, 6000, 500_000]) {
    const answer = await submit(nested(depth));
    expect([depth, answer.status, (await answer.json()).code]).toEqual([depth, 400, "INVALID_JSON"]);
  }
  for (const body of [nested(99), `{"prompt":{},"extra_data":{"a":"\\"${"[".repeat(200)}"}}`]) {
    expect((await (await submit(body)).json()).code).not.toBe("INVALID_JSON");
  }
});

test("refuses a body with 450,000 integers of twenty digits before it is parsed", async () => {
  const parse = vi.spyOn(JSON, "parse");
  const answer = await submit(`{"prompt":{},"extra_data":{"a":[${"12345678901234567890,".repeat(450_000)}1]}}`);
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({
    code: "INVALID_JSON",
    message: expect.stringContaining("more than 50000 long or unusually"),
  });
  expect(Math.max(0, ...parse.mock.calls.map(([text]) => text.length))).toBeLessThan(1_000_000);
  parse.mockRestore();
});

test("a client who goes away in the middle of a JSON body is no error in the log", async () => {
  const logged = harness.log().length;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode('{"prompt":')),
    pull: (controller) => controller.error(new Error("aborted")),
  });
  const answer = await submit(body);
  expect([answer.status, (await answer.json()).code]).toEqual([499, "CLIENT_GONE"]);
  expect(harness.log().slice(logged)).not.toContain('"level":50');
});

test("a range that a file does not have is answered 416 with the size of the file", async () => {
  const server = await startLittleServer((_, response) => void response.writeHead(416, { "content-range": "bytes */10" }).end());
  servers.push(server);
  const connection = await harness.connect(server.url, "k");
  const path = `/api/view?filename=a.png&connection=${connection}`;
  const answer = await harness.request(path, { as: "viewer", headers: { range: "bytes=99-" } });
  expect([answer.status, answer.headers.get("content-range")]).toEqual([416, "bytes */10"]);
  expect(await answer.json()).toMatchObject({ code: "RANGE_NOT_SATISFIABLE", request_id: answer.headers.get("x-request-id") });
});

test("a body that is too large ends the connection, since the rest of it is not read", async () => {
  const answer = await submit(`{"prompt":{"a":"${"x".repeat(16 * 1024 * 1024)}"}}`);
  expect([answer.status, answer.headers.get("connection")]).toEqual([413, "close"]);
});

test("a refused query names the parameter, not a place inside it", async () => {
  const body = await (await harness.request("/api/jobs?status=nonsense", { as: "viewer" })).json();
  expect(body).toMatchObject({ code: "INVALID_QUERY", details: [{ path: "status" }] });
  expect(body.message).toMatch(/^status: /);
});
