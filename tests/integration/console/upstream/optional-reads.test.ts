// Optional reads, for pages that work without them: a service without one is no error, but a service that cannot be asked is.
import { afterAll, beforeAll, expect, test } from "vitest";
import { createHarness, type Harness } from "@/tests/support/harness";
import { answerJson, type LittleServer, startLittleServer } from "@/tests/support/little-server";
import { createLocalFiles } from "@/tests/support/local-files";
import { startLocalServer } from "@/tests/support/local-server";

let harness: Harness;
let server: LittleServer;
let status: number;
beforeAll(async () => {
  harness = await createHarness({ upstreamLimits: { firstRetryMs: 1 } });
  server = await startLittleServer((_, response) => answerJson(response, { code: "NO", message: "no" }, status));
});
afterAll(async () => {
  await server.close();
  await harness.dispose();
});

const names = ["tags", "refined-tags", "features"];
async function ask(name: string, connection: string) {
  const answer = await harness.request(`/api/console/optional/${name}?connection=${connection}`, { as: "viewer" });
  return { status: answer.status, body: await answer.json() };
}

test("a service that has the reads answers them, and one that lacks them answers null, also when it is asked again", async () => {
  expect(await ask("tags", "embedded")).toMatchObject({ status: 200, body: { tags: expect.any(Array) } });
  expect(await ask("refined-tags", "embedded")).toMatchObject({ status: 200, body: { tag_counts: expect.any(Object) } });
  expect(await ask("features", "embedded")).toMatchObject({ status: 200, body: { max_upload_size: expect.any(Number) } });
  for (status of [404, 405, 501]) {
    const connection = await harness.connect(server.url, "k");
    for (const name of [...names, ...names]) expect(await ask(name, connection)).toEqual({ status: 200, body: null });
  }
});

test("an outage, a refused key and a connection that is not there stay failures", async () => {
  const connection = await harness.connect(server.url, "k");
  for (status of [500, 401]) for (const name of names) expect((await ask(name, connection)).status).toBeGreaterThan(400);
  expect(await ask("tags", "gone")).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
});

test("a local server that filters by no metadata says that, in place of its own word", async () => {
  const local = await startLocalServer(createLocalFiles());
  const made = await harness.request("/api/console/connections", {
    as: "owner",
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: "Local", baseUrl: local.url, shared: true }),
  });
  const { connection }: { connection: { id: string } } = await made.json();
  const filter = encodeURIComponent('{"a":1}');
  const answer = await harness.request(`/api/assets?metadata_filter=${filter}&connection=${connection.id}`, { as: "viewer" });
  expect([answer.status, await answer.json()]).toMatchObject([
    400,
    { code: "INVALID_QUERY", message: "A local server does not filter assets by metadata." },
  ]);
  await local.close();
});
