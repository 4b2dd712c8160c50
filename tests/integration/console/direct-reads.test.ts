// Lists served without Next must have the same responses as their routes.
import { once } from "node:events";
import { createServer, get, type IncomingMessage } from "node:http";
import { type AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { createGunzip } from "node:zlib";
import { beforeAll, expect, it } from "vitest";
import { RAW_PARAMETER } from "@/lib/contract/console";
import { getProcessState } from "@/lib/server/process-state";
import { createColorGraph } from "@/tests/integration/service/support";
import { closeAfterwards } from "@/tests/support/close-afterwards";
import { createHarness, HOST } from "@/tests/support/harness";
import { loadRoutes } from "@/tests/support/routes";
import { openTestServer } from "@/tests/support/servers";
import { until } from "@/tests/support/until";

const reads: NonNullable<ReturnType<typeof getProcessState>["directReads"]> = new Map();
getProcessState().directReads = reads;
const harness = await createHarness();
closeAfterwards(async () => void delete getProcessState().directReads);

let port: number;
beforeAll(async () => {
  for (let count = 0; count < 5; count += 1) {
    const submitResponse = await harness.request("/api/prompt", { as: "operator", method: "POST", json: { prompt: createColorGraph() } });
    expect(submitResponse.status).toBe(200);
  }
  await until("all jobs have ended", async () => {
    const { jobs } = await (await harness.request("/api/jobs?status=completed", { as: "viewer" })).json();
    return jobs.length === 5;
  });
  // Next loads a route with its first request.
  await loadRoutes();
  const server = createServer((request, response) => void reads.get(request.url?.split("?")[0] ?? "")?.(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port: number }: AddressInfo = Object(server.address());
  port = number;
  closeAfterwards(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
});

function read(path: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => get({ port, path, headers: { host: HOST, ...headers } }, resolve).on("error", reject));
}
const asViewer = () => ({ cookie: harness.getCookie("viewer") });
const asOwner = () => ({ cookie: harness.getCookie("owner") });

it("serves only the queue and lists of jobs without Next", () => {
  expect([...reads.keys()].toSorted()).toEqual(["/api/history", "/api/history_v2", "/api/jobs", "/api/prompt", "/api/queue"]);
});

it.each(["/api/jobs?limit=2", "/api/jobs?limit=x", "/api/queue", "/api/history_v2", "/api/jobs"])(
  "responds to %s like its route",
  async (path) => {
    const credentials: Record<string, string>[] = [asViewer(), { "x-api-key": "lde_wrong" }, {}];
    for (const headers of credentials) {
      const route = await harness.request(path, { cookie: "", headers });
      const direct = await read(path, headers);
      expect(direct.statusCode).toBe(route.status);
      for (const [name, value] of route.headers)
        if (!["x-request-id", "retry-after"].includes(name)) expect([name, direct.headers[name]]).toEqual([name, value]);
      const withoutId = (json: string) => json.replace(/"request_id":"[^"]+"/, "");
      expect(withoutId(await text(direct))).toBe(withoutId(await route.text()));
    }
  },
);

it("compresses long responses for clients that accept it", async () => {
  const plain = await text(await read("/api/jobs", asViewer()));
  const compressed = await read("/api/jobs", { ...asViewer(), "accept-encoding": "br, gzip" });
  expect(compressed.headers).toMatchObject({ "content-encoding": "gzip", vary: "accept-encoding" });
  expect(JSON.parse(await text(compressed.pipe(createGunzip())))).toEqual(JSON.parse(plain));
  const uncompressed = await read("/api/jobs", { ...asViewer(), "accept-encoding": "gzip;q=0" });
  expect(uncompressed.headers["content-encoding"]).toBeUndefined();
  uncompressed.resume();
});

it("streams a response while the service sends it", async () => {
  const body = JSON.stringify({ jobs: [], pagination: {}, filler: "x".repeat(100_000) });
  const server = await openTestServer(
    (_request, response) => void response.writeHead(200, { "content-type": "application/json" }).end(body),
  );
  const connection = await harness.connect(server.url, "comfyui-0123456789abcdef0123456789abcdef");
  const path = `/api/jobs?connection=${connection}&${RAW_PARAMETER}=1`;
  const plain = await read(path, asOwner());
  expect(plain.headers["content-disposition"]).toContain("attachment");
  expect(await text(plain)).toBe(body);
  const compressed = await read(path, { ...asOwner(), "accept-encoding": "gzip" });
  expect(compressed.headers["content-encoding"]).toBe("gzip");
  expect(await text(compressed.pipe(createGunzip()))).toBe(body);
});

it("aborts the request to the service when the client disconnects", async () => {
  let closed: Promise<unknown> | undefined;
  const server = await openTestServer((_request, response) => void (closed = once(response, "close")));
  const connection = await harness.connect(server.url, "comfyui-0123456789abcdef0123456789abcdef");
  const request = get({ port, path: `/api/jobs?connection=${connection}`, headers: { host: HOST, ...asOwner() } });
  request.on("error", () => undefined);
  await until("the service receives the request", () => closed !== undefined);
  request.destroy();
  await closed;
});
