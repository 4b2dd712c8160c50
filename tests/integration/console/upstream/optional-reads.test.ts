// Optional reads return null if the service lacks them and an error if it is unreachable.
import { expect, test } from "vitest";
import { createHarness } from "@/tests/support/harness";
import { createLocalFiles } from "@/tests/support/local-files";
import { openTestServer, startLocalServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";

let status: number;
const harness = await createHarness({ upstreamLimits: { firstRetryMs: 1 } });
const server = await openTestServer((_, response) => sendJsonResponse(response, { code: "NO", message: "no" }, status));

const names = ["tags", "refined-tags", "features"];
async function request(name: string, connection: string) {
  const response = await harness.request(`/api/console/optional/${name}?connection=${connection}`, { as: "viewer" });
  return { status: response.status, body: await response.json() };
}

test("returns optional reads, or null if the service lacks them", async () => {
  expect(await request("tags", "embedded")).toMatchObject({ status: 200, body: { tags: expect.any(Array) } });
  expect(await request("refined-tags", "embedded")).toMatchObject({ status: 200, body: { tag_counts: expect.any(Object) } });
  expect(await request("features", "embedded")).toMatchObject({ status: 200, body: { max_upload_size: expect.any(Number) } });
  for (status of [404, 405, 501]) {
    const connection = await harness.connect(server.url, "k");
    for (const name of [...names, ...names]) expect(await request(name, connection)).toEqual({ status: 200, body: null });
  }
});

test("reports an outage, a refused key and a missing connection as failures", async () => {
  const connection = await harness.connect(server.url, "k");
  for (status of [500, 401]) for (const name of names) expect((await request(name, connection)).status).toBeGreaterThan(400);
  expect(await request("tags", "gone")).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
});

test("explains that a local server can't filter assets by metadata", async () => {
  const local = await startLocalServer(createLocalFiles());
  const response = await harness.request("/api/console/connections", {
    as: "owner",
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: "Local", baseUrl: local.url, shared: true }),
  });
  const { connection }: { connection: { id: string } } = await response.json();
  const filter = encodeURIComponent('{"a":1}');
  const reply = await harness.request(`/api/assets?metadata_filter=${filter}&connection=${connection.id}`, { as: "viewer" });
  expect([reply.status, await reply.json()]).toMatchObject([
    400,
    { code: "INVALID_QUERY", message: "A local server does not filter assets by metadata." },
  ]);
});
