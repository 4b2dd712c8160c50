// Content through the console: ranges, length, and cleanup after a disconnect.
import { expect, test } from "vitest";
import { createHarness } from "@/tests/support/harness";
import { openTestServer } from "@/tests/support/servers";
import { until } from "@/tests/support/until";

let [openCount, sentCount] = [0, 0];
const FILE_BYTES = 1024 ** 4;

const harness = await createHarness();
// Sends up to a terabyte, as long as the client reads.
const service = await openTestServer((_, response) => {
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
const path = `/api/assets/one/content?connection=${await harness.connect(service.url, "sk-secret")}`;

test("handles HEAD without downloading the file or forwarding a range", async () => {
  const headers = { range: "bytes=0-9", "if-range": '"v1"', "if-none-match": '"v2"' };
  const response = await harness.request(path, { as: "viewer", method: "HEAD", headers });
  expect([response.status, response.body, response.headers.get("etag")]).toEqual([200, null, '"v1"']);
  expect(response.headers.get("content-length")).toBe(String(FILE_BYTES));
  await until("the request to the service is closed", () => openCount === 0);
  const { range, "if-range": ifRange, "if-none-match": ifNoneMatch } = service.requests.at(-1)?.headers ?? {};
  expect([range, ifRange, ifNoneMatch]).toEqual([undefined, undefined, '"v2"']);
});

test("forwards a range with its conditions", async () => {
  const response = await harness.request(path, { as: "viewer", headers: { range: "bytes=0-1,5-6", "if-range": '"v1"' } });
  await response.body?.cancel();
  const { range, "if-range": ifRange } = service.requests.at(-1)?.headers ?? {};
  expect([range, ifRange]).toEqual(["bytes=0-1,5-6", '"v1"']);
  await until("the request to the service is closed", () => openCount === 0);
});

test("reads on demand and aborts the upstream request when the client disconnects", async () => {
  const response = await harness.request(path, { as: "viewer" });
  sentCount = 0;
  const reader = response.body?.getReader();
  await reader?.read();
  expect(openCount).toBe(1);
  await reader?.cancel();
  await until("the request to the service is closed", () => openCount === 0);
  expect(sentCount).toBeLessThan(50);
});

test("ends an aborted read with its reason and reports no failure", async () => {
  const controller = new AbortController();
  const response = await harness.request(path, { as: "viewer", signal: controller.signal });
  const reader = response.body?.getReader();
  await reader?.read();
  const reason = new DOMException("the browser went away", "AbortError");
  controller.abort(reason);
  const readToEnd = async () => {
    while (!(await reader?.read())?.done);
  };
  await expect(readToEnd()).rejects.toBe(reason);
  await until("the request to the service is closed", () => openCount === 0);
});
