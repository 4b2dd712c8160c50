import { expect, test } from "vitest";
import { connectService } from "@/tests/support/connection-client";
import { createHarness } from "@/tests/support/harness";
import { sendJsonResponse } from "@/tests/support/test-server";

const harness = await createHarness();
const prompt = { "1": { class_type: "SaveImage", inputs: {} } };

/** Connects a service that starts the job "job-1", then "job-2". */
async function connect() {
  let count = 0;
  const { server, connection, getJson, post } = await connectService(harness, ({ method, url }, response) => {
    if (method === "POST") return sendJsonResponse(response, { prompt_id: `job-${++count}`, number: 1, node_errors: {} });
    const job = { id: "job-1", status: "pending", create_time: 1_767_225_600 };
    if (url.startsWith("/api/jobs/")) return sendJsonResponse(response, job);
    if (url.startsWith("/api/history_v2")) return sendJsonResponse(response, { history: [{ prompt_id: "job-1", create_time: 1 }] });
    return sendJsonResponse(response, { jobs: [job, { ...job, id: "job-2" }], pagination: { total: 2 } });
  });
  const submit = (headers: Record<string, string>) =>
    post("/api/prompt", { prompt }, { as: "operator", headers: { "idempotency-key": crypto.randomUUID(), ...headers } });
  return {
    connection,
    getJson,
    submit,
    submitLabel: (label: string) => submit({ "x-lightdesk-label": label }),
    getFirstJob: async () => (await getJson("/api/jobs")).jobs[0],
    getSentText: () => JSON.stringify(server.requests.map(({ headers, body }) => [headers, body.toString()])),
  };
}

test("keeps a submission's label in the list, the details and the history", async () => {
  const job_label = "3/12 · seed 41 · 种子";
  const { getJson, submitLabel, getSentText } = await connect();
  expect((await submitLabel(encodeURIComponent(job_label))).status).toBe(200);
  const { jobs } = await getJson("/api/jobs");
  expect(jobs).toMatchObject([{ id: "job-1", job_label }, { id: "job-2" }]);
  expect(jobs[1]).not.toHaveProperty("job_label");
  expect(await getJson("/api/jobs/job-1")).toMatchObject({ job_label });
  expect((await getJson("/api/history_v2")).history).toMatchObject([{ job_label }]);
  // The service receives no label, and the same id on another connection has none.
  expect(getSentText()).not.toContain("seed");
  expect(await (await connect()).getFirstJob()).not.toHaveProperty("job_label");
});

test.each([
  ["a stray percent sign", "100%"],
  ["only whitespace", "%20%0A"],
])("ignores a label that is %s and starts the job", async (_, label) => {
  const { submitLabel, getFirstJob } = await connect();
  expect((await submitLabel(label)).status).toBe(200);
  expect(await getFirstJob()).not.toHaveProperty("job_label");
});

test("truncates a label to one line of 120 characters", async () => {
  const { submitLabel, getFirstJob } = await connect();
  await submitLabel(encodeURIComponent(`two\nlines ${"é".repeat(200)}`));
  expect((await getFirstJob()).job_label).toBe(`two lines ${"é".repeat(110)}`);
});

test("links a rerun to its original without sending the link to the service", async () => {
  const { getJson, submit, submitLabel, getSentText } = await connect();
  await submitLabel("first");
  expect(await (await submit({ "x-lightdesk-rerun-of": "job-1" })).json()).toMatchObject({ prompt_id: "job-2" });
  const { jobs } = await getJson("/api/jobs");
  expect(jobs.map(({ rerun_of }: { rerun_of?: string }) => rerun_of)).toEqual([undefined, "job-1"]);
  expect(await getJson("/api/jobs/job-1")).toMatchObject({ reruns: ["job-2"] });
  expect(getSentText()).not.toContain("x-lightdesk-rerun-of");
  expect(await (await connect()).getJson("/api/jobs/job-1")).not.toHaveProperty("reruns");
});

test("reads labels and names for more ids than one statement allows", async () => {
  const { connection } = await connect();
  const { jobLabels, workflowNames } = harness.console.store;
  const ids = Array.from({ length: 33_000 }, (_, index) => `job-${index}`);
  await jobLabels.record(connection, { jobId: "job-32999", label: "33,000/33,000", now: Date.now() });
  expect(await jobLabels.list(connection, ids)).toEqual(new Map([["job-32999", { label: "33,000/33,000" }]]));
  expect(await workflowNames.list(connection, ids)).toEqual(new Map());
});
