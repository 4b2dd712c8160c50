import { beforeEach, expect, test } from "vitest";
import { createHarness, type Harness } from "@/tests/support/harness";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse, type TestServer } from "@/tests/support/test-server";

let harness: Harness;
let service: TestServer;
let connection: string;

beforeEach(async () => {
  harness = await createHarness();
  let count = 0;
  service = await openTestServer(({ method, url }, response) => {
    if (method === "POST") return sendJsonResponse(response, { prompt_id: `job-${++count}`, number: 1, node_errors: {} });
    const job = { id: "job-1", status: "pending", create_time: 1_767_225_600 };
    if (url.startsWith("/api/jobs/")) return sendJsonResponse(response, job);
    if (url.startsWith("/api/history_v2")) return sendJsonResponse(response, { history: [{ prompt_id: "job-1", create_time: 1 }] });
    return sendJsonResponse(response, { jobs: [job, { ...job, id: "job-2" }], pagination: { total: 2 } });
  });
  connection = await harness.connect(service.url, "key-of-the-service");
});

function submit(label: string, connectionId = connection): Promise<Response> {
  return harness.request(`/api/prompt?connection=${connectionId}`, {
    as: "operator",
    method: "POST",
    json: { prompt: { "1": { class_type: "SaveImage", inputs: {} } } },
    headers: { "idempotency-key": `submission-${crypto.randomUUID()}`, "x-lightdesk-label": label },
  });
}

async function read(path: string, connectionId = connection): Promise<Record<string, Record<string, unknown>[]> & Record<string, unknown>> {
  const response = await harness.request(`${path}?connection=${connectionId}`, { as: "viewer" });
  return (await response.json()) as Record<string, Record<string, unknown>[]>;
}

test("keeps a submission's label in the list, the details and the history", async () => {
  expect((await submit(encodeURIComponent("3/12 · seed 41 · 种子"))).status).toBe(200);
  const job_label = "3/12 · seed 41 · 种子";
  expect((await read("/api/jobs")).jobs).toMatchObject([{ id: "job-1", job_label }, { id: "job-2" }]);
  expect((await read("/api/jobs")).jobs?.[1]).not.toHaveProperty("job_label");
  expect(await read("/api/jobs/job-1")).toMatchObject({ job_label });
  expect((await read("/api/history_v2")).history).toMatchObject([{ job_label }]);
});

test("keeps labels in the console and sends none to the service", async () => {
  await submit("seed%2041");
  expect(JSON.stringify(service.requests.map(({ headers, body }) => [headers, body.toString()]))).not.toContain("seed");
});

test("shows no label for the same id on another connection", async () => {
  await submit("here");
  const otherConnection = await harness.connect(service.url, "another-key");
  expect((await read("/api/jobs", otherConnection)).jobs?.[0]).not.toHaveProperty("job_label");
});

test.each([
  ["a stray percent sign", "100%"],
  ["only whitespace", "%20%0A"],
])("ignores a label that is %s and starts the job", async (_, label) => {
  expect((await submit(label)).status).toBe(200);
  expect((await read("/api/jobs")).jobs?.[0]).not.toHaveProperty("job_label");
});

test("truncates a label to one line of 120 characters", async () => {
  await submit(encodeURIComponent(`two\nlines ${"é".repeat(200)}`));
  const label = String((await read("/api/jobs")).jobs?.[0]?.job_label);
  expect(label).toHaveLength(120);
  expect(label.startsWith("two lines é")).toBe(true);
});

test("links a rerun to its original without telling the service", async () => {
  await submit("first");
  const secondResponse = await harness.request(`/api/prompt?connection=${connection}`, {
    as: "operator",
    method: "POST",
    json: { prompt: { "1": { class_type: "SaveImage", inputs: {} } } },
    headers: { "idempotency-key": `submission-${crypto.randomUUID()}`, "x-lightdesk-rerun-of": "job-1" },
  });
  expect(await secondResponse.json()).toMatchObject({ prompt_id: "job-2" });
  const { jobs } = await read("/api/jobs");
  expect(jobs?.map(({ rerun_of }) => rerun_of)).toEqual([undefined, "job-1"]);
  expect(await read("/api/jobs/job-1")).toMatchObject({ reruns: ["job-2"] });
  const requests = service.requests.map(({ headers, body }) => [headers, body.toString()]);
  expect(JSON.stringify(requests)).not.toContain("x-lightdesk-rerun-of");
  const otherConnection = await harness.connect(service.url, "third-key");
  expect(await read("/api/jobs/job-1", otherConnection)).not.toHaveProperty("reruns");
});
