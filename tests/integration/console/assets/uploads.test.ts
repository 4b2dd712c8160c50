// Streaming uploads and downloads through the console, and file names that contain paths.
import { randomBytes } from "node:crypto";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { connectService, createConnectionClient } from "@/tests/support/connection-client";
import { createHarness } from "@/tests/support/harness";
import { sendJsonResponse } from "@/tests/support/test-server";

const harness = await createHarness({ upstreamLimits: { writeMs: 2000, readMs: 2000 } });
const embedded = createConnectionClient(harness, "embedded");
const { server, send } = await connectService(
  harness,
  ({ url }, response) =>
    url.startsWith("/api/userdata") ? sendJsonResponse(response, { path: "p" }) : sendJsonResponse(response, { id: "a" }, 201),
  { as: "operator" },
);
const uploadAs = { as: "operator", method: "POST" } as const;

function createForm(bytes: Uint8Array<ArrayBuffer>, fields: Record<string, string> = {}): FormData {
  const formData = new FormData();
  for (const [name, value] of Object.entries(fields)) formData.append(name, value);
  formData.append("file", new Blob([bytes]), "picture.bin");
  return formData;
}

test("uploads to the embedded service and reads back byte for byte", async () => {
  const bytes = new Uint8Array(randomBytes(3_000_000));
  const response = await embedded.send("/api/assets", { ...uploadAs, body: createForm(bytes, { tags: '["input"]' }) });
  expect(response.status).toBe(201);
  const asset = await response.json();
  expect(asset).toMatchObject({ created_new: true, size: 3_000_000, tags: ["input"] });
  const content = await embedded.send(`/api/assets/${asset.id}/content`);
  expect(content.headers.get("content-disposition")).toMatch(/^attachment/);
  expect(Buffer.from(await content.arrayBuffer()).equals(bytes)).toBe(true);
  const part = await embedded.send(`/api/assets/${asset.id}/content`, { headers: { range: "bytes=10-19" } });
  expect([part.status, Buffer.from(await part.arrayBuffer()).equals(Buffer.from(bytes.subarray(10, 20)))]).toEqual([206, true]);
});

test("keeps non-ASCII letters, quotes and percent signs in download names", async () => {
  const name = `空 100% "ü" 😀${"é".repeat(200)}.bin`;
  const body = createForm(new Uint8Array(randomBytes(100)), { tags: '["input"]', name });
  const { id } = await embedded.getJson("/api/assets", { ...uploadAs, body });
  const content = await embedded.send(`/api/assets/${id}/content`);
  const [, encodedName = ""] = /; filename\*=UTF-8''([^;]+)$/.exec(content.headers.get("content-disposition") ?? "") ?? [];
  expect(decodeURIComponent(encodedName)).toBe(name);
});

test("rejects an upload shorter than its content length and stores nothing", async () => {
  const before = await embedded.getJson("/api/assets?limit=1");
  const request = new Request("http://x", { method: "POST", body: createForm(new Uint8Array(randomBytes(200_000))) });
  const bytes = await request.arrayBuffer();
  const headers = { "content-type": request.headers.get("content-type") ?? "", "content-length": String(bytes.byteLength) };
  // The other service would accept anything, so only the console can detect it.
  for (const sendUpload of [embedded.send, send]) {
    const response = await sendUpload("/api/assets", { ...uploadAs, body: bytes.slice(0, 100_000), headers });
    expect([response.status, (await response.json()).code]).toEqual([400, "TRUNCATED_UPLOAD"]);
  }
  expect((await embedded.getJson("/api/assets?limit=1")).total).toBe(before.total);
});

const partialUploadHeaders = { "content-type": "multipart/form-data; boundary=x", "content-length": "5000" };
const createUploadStream = (pull: UnderlyingDefaultSource<Uint8Array>["pull"]) =>
  new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new Uint8Array(1000)), pull });

test("ends the upload upstream without an error when the client disconnects", async () => {
  const logLength = harness.getLog().length;
  const body = createUploadStream((controller) => controller.error(new Error("aborted")));
  const response = await send("/api/assets", { method: "POST", body, headers: partialUploadHeaders });
  expect((await response.json()).code).toBe("CLIENT_GONE");
  await expect.poll(() => server.requests.map(({ body: receivedBody }) => receivedBody.length)).toContain(1000);
  expect(harness.getLog().slice(logLength)).not.toContain('"level":50');
});

test("reports the service's disconnect instead of a broken upload", async () => {
  const closingServer = createServer((socket) => {
    socket.on("error", () => undefined); // the connection is cut on purpose
    socket.once("data", () => socket.destroy());
  });
  await new Promise<void>((resolve) => closingServer.listen(0, "127.0.0.1", resolve));
  const address = closingServer.address();
  const id = await harness.connect(`http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`, "k");
  // More bytes follow when the connection is cut, as with a large file over a slow link.
  const body = createUploadStream(() => new Promise(() => undefined));
  const client = createConnectionClient(harness, id, "operator");
  const response = await client.send("/api/assets", { method: "POST", body, headers: partialUploadHeaders });
  expect([response.status, (await response.json()).code]).toEqual([502, "UPSTREAM_UNREACHABLE"]);
  closingServer.close();
});

/** Returns the requests to a path, since the console also polls jobs. */
const filterRequests = (path: string) => server.requests.filter(({ url }) => url.startsWith(path));

test("rejects a non-multipart body before sending anything", async () => {
  const countBefore = filterRequests("/api/assets").length;
  const response = await send("/api/assets", { method: "POST", json: {} });
  expect([response.status, filterRequests("/api/assets").length]).toEqual([415, countBefore]);
});

test.each([
  ["workflows%2Fa.json", "/api/userdata/workflows%2Fa.json"],
  ["workflows/a.json", "/api/userdata/workflows%2Fa.json"],
  ["a%252Fb.json", "/api/userdata/a%252Fb.json"],
  ["a%20%C3%A4.json", "/api/userdata/a%20%C3%A4.json"],
  ["a.json/move/b%2Fc.json", "/api/userdata/a.json/move/b%2Fc.json"],
  ["x%2Fmove%2Fy", "/api/userdata/x%2Fmove%2Fy"],
])("decodes the user data path %s once and sends it as one name", async (path, expected) => {
  const response = await send(`/api/userdata/${path}`, { method: "POST", body: "content" });
  expect(response.status).toBe(200);
  expect(filterRequests("/api/userdata").at(-1)?.url.split("?")[0]).toBe(expected);
});

test.each(["a%5Cb", "a%00b", "%2e%2e%2Fa", "a%2F..%2Fb", "a%2F%2Fb", "%2Fetc%2Fpasswd", "a%0Ab"])(
  "rejects the user data path %s before sending anything",
  async (path) => {
    const countBefore = filterRequests("/api/userdata").length;
    for (const method of ["GET", "POST", "DELETE"]) {
      const response = await send(`/api/userdata/${path}`, { method, ...(method === "POST" && { body: "x" }) });
      expect([method, response.status, (await response.json()).code]).toEqual([method, 403, "FORBIDDEN"]);
    }
    expect(filterRequests("/api/userdata").length).toBe(countBefore);
  },
);

test("writes and reads user data through the embedded service", async () => {
  const path = "/api/userdata/workflows%2Fmine.json";
  const options = { ...uploadAs, body: '{"a":1}' };
  expect(await embedded.getJson(path, options)).toBe("workflows/mine.json");
  expect((await embedded.send(`${path}?overwrite=false`, options)).status).toBe(409);
  const response = await embedded.send(path);
  expect([await response.text(), response.headers.get("content-disposition")?.split(";")[0]]).toEqual(['{"a":1}', "attachment"]);
});

test.each([
  ["image/png", "inline", "image/png"],
  ["video/mp4", "inline", "video/mp4"],
  ["image/svg+xml", "attachment", "application/octet-stream"],
  ["text/html; charset=utf-8", "attachment", "application/octet-stream"],
  ["application/javascript", "attachment", "application/octet-stream"],
])("serves content of type %s as %s", async (contentType, disposition, type) => {
  const headers = { "content-type": contentType, "content-disposition": 'inline; filename="a b.png"', "set-cookie": "x=1", etag: '"e"' };
  const other = await connectService(harness, (_, response) => response.writeHead(200, headers).end("x"));
  const reply = await other.send("/api/view?filename=a");
  expect(reply.headers.get("content-disposition")).toBe(`${disposition}; filename="a b.png"`);
  expect([reply.headers.get("content-type"), reply.headers.get("set-cookie"), reply.headers.get("etag")]).toEqual([type, null, '"e"']);
});

const plainName = '; filename="a;b.png"';
test.each([
  ["with a file name inside its quotes", `inline; filename="a.pdf; filename*=UTF-8''b.exe"`, `; filename="a.pdf; filename*=UTF-8''b.exe"`],
  ["with an invalid encoded character", `inline${plainName}; filename*=UTF-8''photo%20(1).png`, plainName],
  ["that is too long", `inline${plainName}; filename*=UTF-8''${"%20".repeat(2001)}`, plainName],
  ["given twice", `inline${plainName}; filename*=UTF-8''%C3%A4.png`, `${plainName}; filename*=UTF-8''%C3%A4.png`],
  ["with the encoded form first", "inline; filename*=UTF-8''%C3%A4.png ; filename=a.png", "; filename=a.png; filename*=UTF-8''%C3%A4.png"],
  ["after another quoted parameter", `inline; title="; filename=b.exe"${plainName}`, plainName],
  ["with an escaped quote", String.raw`inline; filename="a\"; filename*=UTF-8''b.exe"`, ""],
  ["without a disposition type", plainName.slice(2), plainName],
])("forwards or drops a content-disposition file name %s", async (_, serviceName, name) => {
  const headers = { "content-type": "image/png", "content-disposition": serviceName };
  const other = await connectService(harness, (__, response) => response.writeHead(200, headers).end("x"));
  const reply = await other.send("/api/view?filename=a");
  expect(reply.headers.get("content-disposition")).toBe(`inline${name}`);
});
