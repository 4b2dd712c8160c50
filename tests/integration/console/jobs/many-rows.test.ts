// Long responses are streamed in parts, while the console still reads every row.
import { expect, test } from "vitest";
import { z } from "zod";
import { createHarness } from "@/tests/support/harness";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";

const KEY = "comfyui-0123456789abcdef0123456789abcdef";

const harness = await createHarness({ upstreamLimits: { attempts: 1 } });

const graph = { "1": { class_type: "SaveImage", inputs: { text: "a lighthouse ".repeat(50) } } };
const createId = (index: number) => `job-${index}`;

test("returns the position of each of thousands of waiting jobs", async () => {
  const waiting = Array.from({ length: 2_500 }, (_, index) => [index, createId(index), graph, { create_time: 1 }, ["1"]] as const);
  const jobs = waiting.slice(0, 1000).map(([, id]) => ({ id, status: "pending", create_time: 1 }));
  const server = await openTestServer(({ url }, response) =>
    sendJsonResponse(
      response,
      url.startsWith("/api/queue") ? { queue_running: [], queue_pending: waiting } : { jobs, pagination: { total: waiting.length } },
    ),
  );
  const connection = await harness.connect(server.url, KEY);
  const reply = await harness.request(`/api/console/queue?connection=${connection}`, { as: "viewer" });
  const { source, pending } = z
    .object({ source: z.string(), pending: z.array(z.object({ id: z.string(), position: z.number() })) })
    .parse(await reply.json());
  expect(source).toBe("queue");
  expect(pending.map(({ id, position }) => [id, position])).toEqual(jobs.map(({ id }, index) => [id, index + 1]));
});

test("adds workflow names to a long job list while streaming it", async () => {
  const namedJob = { id: "named", status: "completed", create_time: 1, workflow_id: "w-1" };
  const jobs = Array.from({ length: 2_500 }, (_, index) => ({ ...namedJob, id: createId(index), note: "x".repeat(500) }));
  const server = await openTestServer(({ method }, response) =>
    sendJsonResponse(
      response,
      method === "POST" ? { prompt_id: "named", number: 1, node_errors: {} } : { jobs: [...jobs, namedJob], pagination: {} },
    ),
  );
  const connection = await harness.connect(server.url, KEY);
  const json = { prompt: graph, extra_data: { extra_pnginfo: { workflow: { id: "w-1", name: "Lighthouse" } } } };
  expect((await harness.request(`/api/prompt?connection=${connection}`, { as: "operator", method: "POST", json })).status).toBe(200);
  const reply = await harness.request(`/api/jobs?connection=${connection}`, { as: "viewer" });
  const list = z.object({ jobs: z.array(z.object({ id: z.string(), workflow_name: z.string().optional() })) }).parse(await reply.json());
  expect(list.jobs).toHaveLength(2_501);
  expect(list.jobs.every(({ workflow_name }) => workflow_name === "Lighthouse")).toBe(true);
});

test("doesn't report existing classes of a large catalogue as missing", async () => {
  const classes = Object.fromEntries(Array.from({ length: 6_000 }, (_, index) => [`Node${index}`, { description: "d".repeat(300) }]));
  const server = await openTestServer((_, response) => sendJsonResponse(response, classes));
  const connection = await harness.connect(server.url, KEY);
  const path = `/api/console/lacking-classes?connection=${connection}&names=Node5999,Node6000`;
  const reply = await harness.request(path, { as: "viewer" });
  expect(await reply.json()).toEqual({ lacking: ["Node6000"] });
});

test("reads labels and names for more ids than one statement allows", async () => {
  const connection = await harness.connect("http://127.0.0.1:9", KEY);
  const { jobLabels, workflowNames } = harness.console.store;
  const ids = Array.from({ length: 33_000 }, (_, index) => createId(index));
  await jobLabels.record(connection, { jobId: "job-32999", label: "33,000/33,000", now: Date.now() });
  expect(await jobLabels.list(connection, ids)).toEqual(new Map([["job-32999", { label: "33,000/33,000" }]]));
  expect(await workflowNames.list(connection, ids)).toEqual(new Map());
});
