// Content through the console: ranges, length, and cleanup after a disconnect.
import { expect, test } from "vitest";
import { connectService } from "@/tests/support/connection-client";
import { createHarness } from "@/tests/support/harness";
import { startStrictS3 } from "@/tests/support/servers";
import { testKeys } from "@/tests/support/strict-s3";
import { until } from "@/tests/support/until";

let [openCount, sentCount] = [0, 0];
const FILE_BYTES = 1024 ** 4;

const harness = await createHarness();
// Sends up to a terabyte, as long as the client reads.
const { server, send } = await connectService(harness, (_, response) => {
  openCount += 1;
  response.once("close", () => (openCount -= 1));
  response.writeHead(200, { "content-type": "image/png", "content-length": String(FILE_BYTES), etag: '"v1"', "accept-ranges": "bytes" });
  const chunk = Buffer.alloc(1024 ** 2);
  const writeMore = () => {
    while (!response.destroyed && response.write(chunk)) sentCount += 1;
    if (!response.destroyed) response.once("drain", writeMore);
  };
  writeMore();
});
const path = "/api/assets/one/content";
const waitForAbort = () => until("the request to the service is closed", () => openCount === 0);

test("handles HEAD without downloading the file or forwarding a range", async () => {
  const headers = { range: "bytes=0-9", "if-range": '"v1"', "if-none-match": '"v2"' };
  const response = await send(path, { method: "HEAD", headers });
  expect([response.status, response.body, response.headers.get("etag")]).toEqual([200, null, '"v1"']);
  expect(response.headers.get("content-length")).toBe(String(FILE_BYTES));
  await waitForAbort();
  const { range, "if-range": ifRange, "if-none-match": ifNoneMatch } = server.requests.at(-1)?.headers ?? {};
  expect([range, ifRange, ifNoneMatch]).toEqual([undefined, undefined, '"v2"']);
});

test("forwards a range with its conditions", async () => {
  const response = await send(path, { headers: { range: "bytes=0-1,5-6", "if-range": '"v1"' } });
  await response.body?.cancel();
  const { range, "if-range": ifRange } = server.requests.at(-1)?.headers ?? {};
  expect([range, ifRange]).toEqual(["bytes=0-1,5-6", '"v1"']);
  await waitForAbort();
});

test("reads on demand and aborts the upstream request when the client disconnects", async () => {
  const response = await send(path);
  sentCount = 0;
  const reader = response.body?.getReader();
  await reader?.read();
  expect(openCount).toBe(1);
  await reader?.cancel();
  await waitForAbort();
  expect(sentCount).toBeLessThan(50);
});

test("ends an aborted read with its reason and reports no failure", async () => {
  const controller = new AbortController();
  const response = await send(path, { signal: controller.signal });
  const reader = response.body?.getReader();
  await reader?.read();
  const reason = new DOMException("the browser went away", "AbortError");
  controller.abort(reason);
  const readToEnd = async () => {
    while (!(await reader?.read())?.done);
  };
  await expect(readToEnd()).rejects.toBe(reason);
  await waitForAbort();
});

test.each(["asset", "view", "userdata"])("applies conditional request headers to the content of %s", async (source) => {
  const body = new FormData();
  body.append("file", new Blob(["the bytes"], { type: "image/png" }), "a.png");
  const { id, asset_hash: hash } = await (await harness.request("/api/assets", { as: "operator", method: "POST", body })).json();
  await harness.request("/api/userdata/a.png", { as: "operator", method: "POST", body: "the bytes" });
  const paths: Record<string, string> = {
    asset: `/api/assets/${id}/content`,
    view: `/api/view?filename=${hash}`,
    userdata: "/api/userdata/a.png",
  };
  const read = (headers: Record<string, string> = {}) => harness.request(paths[source] ?? "", { as: "viewer", headers });
  const etag = (await read()).headers.get("etag") ?? "";
  const unchanged = await read({ "if-none-match": etag });
  expect([unchanged.status, unchanged.headers.get("content-type"), unchanged.headers.get("content-disposition")]).toEqual([
    304,
    null,
    null,
  ]);
  expect(unchanged.headers.get("x-content-type-options")).toBe("nosniff");
  expect((await read({ "if-match": etag })).status).toBe(200);
  for (const [name, value] of [["if-match", '"other"'] as const, ["if-unmodified-since", "Thu, 01 Jan 1970 00:00:00 GMT"] as const]) {
    const response = await read({ [name]: value });
    expect([response.status, (await response.json()).code]).toEqual([412, "PRECONDITION_FAILED"]);
  }
});

// Requests go to the console that was started last, so this test is last.
test("reads its own bucket with its own key instead of redirecting", async () => {
  const s3 = await startStrictS3();
  const harness = await createHarness({
    settings: {
      LIGHTDESK_BLOBS: s3.address("here"),
      LIGHTDESK_S3_ACCESS_KEY_ID: testKeys.accessKeyId,
      LIGHTDESK_S3_SECRET_ACCESS_KEY: testKeys.secretAccessKey,
      LIGHTDESK_BLOBS_PRESIGNED_SECONDS: "60",
    },
  });
  const body = new FormData();
  body.append("file", new Blob(["the bytes"]), "a.txt");
  const { id } = await (await harness.request("/api/assets", { as: "operator", method: "POST", body })).json();
  s3.headers.length = 0;
  const content = await harness.request(`/api/assets/${id}/content`, { as: "viewer" });
  expect([content.status, await content.text()]).toEqual([200, "the bytes"]);
  expect(s3.headers.map(({ headers }) => headers.authorization?.split(" ")[0])).toEqual(["AWS4-HMAC-SHA256"]);
});
