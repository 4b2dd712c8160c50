// What a service has beyond the core: known already, or learnt by reads alone, without an error in a browser's log.
import { afterAll, beforeAll, expect, test } from "vitest";
import { createHarness, type Harness } from "@/tests/support/harness";
import { answerJson, type LittleServer, startLittleServer } from "@/tests/support/little-server";

let harness: Harness;
let server: LittleServer;
let files: string[];
let status: number;
let onRead: () => void;
beforeAll(async () => {
  harness = await createHarness({ upstreamLimits: { firstRetryMs: 1 } });
  server = await startLittleServer(({ url }, response) => {
    if (new URL(url, "http://x").pathname === "/api/userdata") {
      return answerJson(
        response,
        files.map((path) => ({ path })),
      );
    }
    onRead();
    response.writeHead(status).end(status < 300 ? "x" : "no");
  });
});
afterAll(async () => {
  await server.close();
  await harness.dispose();
});

async function has(connection: string, of: readonly string[], dir = "") {
  const path = `/api/console/capabilities?of=${of.join()}${dir && `&dir=${dir}`}&connection=${connection}`;
  const answer = await harness.request(path, { as: "viewer" });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

async function ask(listed: string[], answered: number, then: () => void = () => undefined) {
  [files, status, onRead] = [listed, answered, then];
  const connection = await harness.connect(server.url, "k");
  const read = await has(connection, ["userdata.read"], "a/");
  return [read.status, read.body.code ?? read.body["userdata.read"]];
}

test("a file that is read, in part or not at all as it is empty, says that files are handed out", async () => {
  for (const answered of [200, 206, 416]) expect(await ask(["x.txt"], answered)).toEqual([200, true]);
  expect(server.seen.at(-1)).toMatchObject({ method: "GET", url: "/api/userdata/a%2Fx.txt" });
});

test("a file that is listed and still cannot be read says that they are not", async () => {
  for (const answered of [404, 405, 501]) expect(await ask(["x.txt"], answered)).toEqual([200, false]);
});

test("one file that cannot be read says nothing of the others", async () => {
  let reads = 0;
  expect(await ask(["x.txt", "y.txt"], 404, () => void (status = ++reads === 2 ? 206 : 404))).toEqual([200, true]);
  expect(await ask(["x.txt", "y.txt"], 404)).toEqual([200, false]);
});

test("no file, one that went away meanwhile, and an outage say nothing of the service", async () => {
  expect(await ask([], 200)).toEqual([200, null]);
  expect(await ask(["x.txt"], 404, () => void (files = []))).toEqual([200, null]);
  expect((await ask(["x.txt"], 500))[0]).toBe(502);
});

test("one read tells of what comes with it, until that is refused; what nothing tells of is not known", async () => {
  const all = ["tags.list", "tags.remove", "assets.edit", "assets.delete", "jobs.stop", "interrupt", "view"];
  expect((await has("embedded", all)).body).toEqual({ ...Object.fromEntries(all.map((one) => [one, true])), view: null });
  [files, status, onRead] = [[], 404, () => undefined];
  const connection = await harness.connect(server.url, "k");
  server.seen.length = 0;
  expect((await has(connection, all)).body).toEqual({ ...Object.fromEntries(all.map((one) => [one, false])), view: null });
  expect(server.seen.map(({ method, url }) => `${method} ${url.split("?")[0]}`)).toEqual(["GET /api/tags", "GET /api/prompt"]);
});

test("another word than a capability is refused, and so is a connection that is not there", async () => {
  expect(await has("embedded", ["tags.list", "fly"])).toMatchObject({ status: 400, body: { code: "INVALID_QUERY" } });
  expect((await has("gone", ["tags.list"])).status).toBe(404);
});

test("a refused act names its capability, and is not sent to the service again", async () => {
  [files, status, onRead] = [[], 405, () => undefined];
  const connection = await harness.connect(server.url, "k");
  const move = () =>
    harness.request(`/api/userdata/a.json/move/b.json?connection=${connection}`, { as: "operator", method: "POST", json: undefined });
  server.seen.length = 0;
  for (let time = 0; time < 2; time += 1)
    expect(await (await move()).json()).toMatchObject({ code: "NOT_IMPLEMENTED", details: { capability: "userdata.move" } });
  // The index of jobs is read on meanwhile.
  expect(server.seen.filter(({ method }) => method === "POST")).toHaveLength(1);
});
