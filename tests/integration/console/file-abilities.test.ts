// Whether a service hands out user files: no act, no error in a browser's log, and never learnt from a file that went away.
import { afterAll, beforeAll, expect, test } from "vitest";
import { createHarness, type Harness } from "@/tests/support/harness";
import { answerJson, type LittleServer, startLittleServer } from "@/tests/support/little-server";

let harness: Harness;
let server: LittleServer;
let connection: string;
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
  connection = await harness.connect(server.url, "k");
});
afterAll(async () => {
  await server.close();
  await harness.dispose();
});

async function ask(listed: string[], answered: number, then: () => void = () => undefined) {
  [files, status, onRead] = [listed, answered, then];
  const answer = await harness.request(`/api/console/file-abilities?dir=a/&recurse=true&connection=${connection}`, { as: "viewer" });
  const { reads, code }: { reads?: boolean | null; code?: string } = await answer.json();
  return [answer.status, code ?? reads];
}

test("a file that is read, in part or not at all as it is empty, says that files are handed out", async () => {
  for (const answered of [200, 206, 416]) expect(await ask(["x.txt"], answered)).toEqual([200, true]);
  expect(server.seen.at(-1)).toMatchObject({ method: "GET", url: "/api/userdata/a%2Fx.txt" });
});

test("a file that is listed and still cannot be read says that they are not", async () => {
  for (const answered of [404, 405, 501]) expect(await ask(["x.txt"], answered)).toEqual([200, false]);
});

test("no file, one that went away meanwhile, and an outage say nothing of the service", async () => {
  expect(await ask([], 200)).toEqual([200, null]);
  expect(await ask(["x.txt"], 404, () => void (files = []))).toEqual([200, null]);
  expect((await ask(["x.txt"], 500))[0]).toBe(502);
});
