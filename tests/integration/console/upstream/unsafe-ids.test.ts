// Ids that would change the URL never reach a service, and lists reject unknown filters.
import { expect, test } from "vitest";
import { createHarness } from "@/tests/support/harness";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";

const harness = await createHarness();
const server = await openTestServer((_, response) =>
  sendJsonResponse(response, { id: "x", status: "completed", jobs: [], pagination: {} }),
);
const connection = await harness.connect(server.url, "comfyui-0123456789abcdef0123456789abcdef");

test.each(["a/b", "..", "a%2Fb", "a\\b", "a?b", "a#b", "%2e%2e", "a\u0000b", "a\ud800"])("never requests the id %j", async (id) => {
  const { openForJobs } = await import("@/lib/server/connections/access");
  const { operations } = await import("@/lib/contract/operations");
  const before = server.requests.length;
  const access = await openForJobs(harness.getContext("owner"), connection);
  if (!access.ok) throw new Error(access.failure.message);
  for (const operation of [operations.getJob, operations.cancelJob, operations.listJobAssets])
    expect(await access.value.upstream.call(operation, { params: { job_id: id } })).toMatchObject({ failure: { status: 404 } });
  expect(server.requests.length).toBe(before);
});

test.each(["job-1", "0b6c7e9e-0000-4000-8000-000000000001", "Größe (2)"])("requests the id %j", async (id) => {
  const response = await harness.request(`/api/jobs/${encodeURIComponent(id)}?connection=${connection}`, { as: "viewer" });
  expect(response.status).toBe(200);
  expect(server.requests.at(-1)?.url).toBe(`/api/jobs/${encodeURIComponent(id)}`);
});

const lists = ["/api/jobs", "/api/assets", "/api/history_v2", "/api/history", "/api/userdata?dir=workflows/", "/api/tags", "/api/tasks"];
test.each(lists)("rejects an unsupported filter of %s", async (path) => {
  const before = server.requests.length;
  for (const name of ["tags_any", "after", "constructor"]) {
    const response = await harness.request(`${path}${path.includes("?") ? "&" : "?"}${name}=x&connection=${connection}`, { as: "viewer" });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(name);
  }
  expect(server.requests.length).toBe(before);
});

test("suggests the nearest name and ignores filters without effect", async () => {
  const response = await harness.request(`/api/assets?include_tag=x`, { as: "viewer" });
  expect(await response.json()).toMatchObject({ code: "INVALID_QUERY", message: expect.stringContaining("did you mean include_tags?") });
  expect((await harness.request("/api/jobs?_=1&clientId=a&limit=1", { as: "viewer" })).status).toBe(200);
});
