// Content through the console: which part was requested, its length, and that nothing is kept for a client that has left.
import { afterAll, beforeAll, expect, test } from "vitest";
import { createHarness, type Harness } from "@/tests/support/harness";
import { type LittleServer, startLittleServer } from "@/tests/support/little-server";
import { until } from "@/tests/support/until";

let harness: Harness;
let service: LittleServer;
let path: string;
let [open, sent] = [0, 0];
const WHOLE = 1024 ** 4;

beforeAll(async () => {
  harness = await createHarness();
  // Up to a terabyte, for as long as the client reads.
  service = await startLittleServer((_, response) => {
    open += 1;
    response.once("close", () => (open -= 1));
    response.writeHead(200, { "content-type": "image/png", "content-length": String(WHOLE), etag: '"v1"', "accept-ranges": "bytes" });
    const piece = Buffer.alloc(1024 ** 2);
    const pour = () => {
      while (!response.destroyed && response.write(piece)) sent += 1;
      if (!response.destroyed) response.once("drain", pour);
    };
    pour();
  });
  path = `/api/assets/one/content?connection=${await harness.connect(service.url, "sk-secret")}`;
});
afterAll(async () => {
  await service.close();
  await harness.dispose();
});

test("HEAD tells what GET would, holds nothing of the service and takes no range", async () => {
  const headers = { range: "bytes=0-9", "if-range": '"v1"', "if-none-match": '"v2"' };
  const answer = await harness.request(path, { as: "viewer", method: "HEAD", headers });
  expect([answer.status, answer.body, answer.headers.get("etag")]).toEqual([200, null, '"v1"']);
  expect(answer.headers.get("content-length")).toBe(String(WHOLE));
  await until("the service is left", () => open === 0);
  const { range, "if-range": condition, "if-none-match": unless } = service.seen.at(-1)?.headers ?? {};
  expect([range, condition, unless]).toEqual([undefined, undefined, '"v2"']);
});

test("a range goes on as it was asked for, with what it depends on", async () => {
  const answer = await harness.request(path, { as: "viewer", headers: { range: "bytes=0-1,5-6", "if-range": '"v1"' } });
  await answer.body?.cancel();
  const { range, "if-range": condition } = service.seen.at(-1)?.headers ?? {};
  expect([range, condition]).toEqual(["bytes=0-1,5-6", '"v1"']);
  await until("the service is left", () => open === 0);
});

test("as much is read as somebody takes, and whoever goes away ends it at the service", async () => {
  const answer = await harness.request(path, { as: "viewer" });
  sent = 0;
  const reader = answer.body?.getReader();
  await reader?.read();
  expect(open).toBe(1);
  await reader?.cancel();
  await until("the service is left", () => open === 0);
  expect(sent).toBeLessThan(50);
});

test("a request that is given up ends the reading with its own reason, which is no fault to whoever pipes the body", async () => {
  const leaving = new AbortController();
  const answer = await harness.request(path, { as: "viewer", signal: leaving.signal });
  const reader = answer.body?.getReader();
  await reader?.read();
  const reason = new DOMException("the browser went away", "AbortError");
  leaving.abort(reason);
  const readToItsEnd = async () => {
    while (!(await reader?.read())?.done);
  };
  await expect(readToItsEnd()).rejects.toBe(reason);
  await until("the service is left", () => open === 0);
});
