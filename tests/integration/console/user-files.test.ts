// The listing of user data: a folder that is not there yet is an empty one, and nothing else is.
import { afterAll, beforeAll, expect, test } from "vitest";
import { listFiles } from "@/lib/server/queries/files";
import { createHarness, type Harness } from "@/tests/support/harness";
import { answerJson, type LittleServer, startLittleServer } from "@/tests/support/little-server";

let harness: Harness;
let server: LittleServer;
let connection: string;
beforeAll(async () => {
  harness = await createHarness();
  server = await startLittleServer(({ url }, response) => {
    const dir = new URL(url, "http://x").searchParams.get("dir");
    if (dir === "workflows/") return answerJson(response, [{ path: "workflows/a.json", size: 2, modified: 1_700_000_000 }]);
    if (dir === "broken/") return answerJson(response, { code: "INTERNAL", message: "no disk" }, 500);
    response.writeHead(404, { "content-type": "text/plain" }).end("directory not found");
  });
  connection = await harness.connect(server.url, "k");
});
afterAll(async () => {
  await server.close();
  await harness.dispose();
});

const list = async (dir: string, id = connection) => {
  const answer = await harness.request(`/api/userdata?dir=${encodeURIComponent(dir)}&connection=${id}`, { as: "viewer" });
  return { status: answer.status, body: await answer.json() };
};

test("a folder that a service does not know yet is empty, on the page and in the list that is asked for again", async () => {
  expect(await list("workflows/")).toMatchObject({ status: 200, body: [{ path: "workflows/a.json" }] });
  expect(await list("new/")).toEqual({ status: 200, body: [] });
  expect(await listFiles(harness.viewerOf("viewer"), "new/", connection)).toEqual({ ok: true, value: [] });
});

test("a connection that is not there, and a service that fails, are no empty folders", async () => {
  expect(await list("new/", "gone")).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
  expect(await listFiles(harness.viewerOf("viewer"), "new/", "gone")).toMatchObject({ ok: false, failure: { code: "NOT_FOUND" } });
  expect((await list("broken/")).status).toBeGreaterThanOrEqual(500);
  expect((await listFiles(harness.viewerOf("viewer"), "broken/", connection)).ok).toBe(false);
});
