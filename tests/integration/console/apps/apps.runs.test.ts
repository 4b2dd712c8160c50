// App runs on a service with scripted responses: limits, and a console that exits during a run.
import { randomUUID } from "node:crypto";
import { type ServerResponse } from "node:http";
import { beforeEach, expect, test } from "vitest";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { getSubmissionKey } from "@/lib/server/apps/run-state";
import { openTestServer } from "@/tests/support/servers";
import { type ReceivedRequest, sendJsonResponse, type TestServer } from "@/tests/support/test-server";
import { createAccessToken } from "@/tests/support/tokens";
import { until } from "@/tests/support/until";
import { createAppHarness, createPngFile, definition } from "./app-harness";

const KEY = "the-key-of-a-script-1";
const withoutPicture = { ...definition, inputs: definition.inputs?.slice(1) };
const DAY_MS = 24 * 60 * 60_000;

let now = Date.UTC(2026, 4, 5, 22, 30);
const apps = await createAppHarness({ now: () => now });
let service: TestServer;
let connection: string;
let status: string;
let respond: (request: ReceivedRequest, response: ServerResponse) => void;

beforeEach(async () => {
  await apps.harness.renewCookies();
  status = "pending";
  service = await openTestServer((request, response) => respond(request, response));
  connection = await apps.harness.connect(service.url, "key-of-the-service");
  respond = (request, response) =>
    request.method === "POST"
      ? sendJsonResponse(response, { prompt_id: `job-${getSubmissions().length}`, number: 1, node_errors: {} })
      : sendJsonResponse(response, { id: request.url.split("/").at(-1), status, create_time: 1, outputs: {} });
});

const getSubmissions = () => service.requests.filter(({ method, url }) => method === "POST" && url.startsWith("/api/prompt"));
const createApp = (limits = {}) => apps.make({ definition: withoutPicture, limits }, { connection });
const startRun = (app: { id: string }, prefix: string, as: "runner" | "operator" = "runner", key?: string) =>
  apps.start(app, { prefix }, { as, headers: key === undefined ? {} : { "idempotency-key": key } });
const repeatRun = (app: { id: string }) => startRun(app, "a", "runner", KEY);

test("counts daily runs per member and returns when the limit resets", async () => {
  const app = await createApp({ runsPerDay: 1 });
  expect((await startRun(app, "a")).status).toBe(202);
  const refusal = await startRun(app, "b");
  expect(refusal).toMatchObject({ status: 429, body: { details: { limit: "runsPerDay" } } });
  expect(refusal.body.message).toContain("2026-05-06 00:00 UTC");
  expect(refusal.headers.get("retry-after")).toBe("5400");
  expect((await startRun(app, "a", "operator")).status).toBe(202);
  now += 5400_000;
  expect((await startRun(app, "b")).status).toBe(202);
  expect(getSubmissions()).toHaveLength(3);
});

test("keeps the spelling of numbers in an app and in a run", async () => {
  const graph = '{"1":{"class_type":"SaveImage","inputs":{"changed":1,"unchanged":5.0,"fixed":1e3,"list":[2.0]}}}';
  const inputs = ["changed", "unchanged"].map((name) => ({ name, node: "1", input: name, label: name, control: { kind: "number" } }));
  const numbers = { title: "Numbers", inputs, outputs: [{ node: "1", label: "Result" }], graph: parseExactJson(graph) };
  const headers = { "content-type": "application/json" };
  const body = writeExactJson({ definition: numbers, access: { kind: "team" } });
  const response = await apps.requestJson(`/api/apps?connection=${connection}`, { as: "operator", method: "POST", body, headers });
  const { app } = response.body;
  const run = { as: "runner", method: "POST", body: '{"inputs":{"changed":7.0}}', headers } as const;
  expect((await apps.requestJson(`/api/apps/${app.id}/runs`, run)).status).toBe(202);
  expect(getSubmissions()[0]?.body.toString()).toContain('"inputs":{"changed":7.0,"unchanged":5.0,"fixed":1e3,"list":[2.0]}');
  const form = await apps.run(app, { changed: "8.0" });
  expect(form.status).toBe(202);
  expect(getSubmissions()[1]?.body.toString()).toContain('"changed":8.0,"unchanged":5.0');
});

test("limits concurrent runs by job state, even for 20 parallel requests", async () => {
  const app = await createApp({ atOnce: 3, runsPerDay: 4 });
  const { headers } = await createAccessToken(apps.harness, "runner", { operations: ["apps"] });
  const startRunByIndex = (index: number) =>
    index % 2 === 0 ? startRun(app, `a${index}`) : apps.start(app, { prefix: `a${index}` }, { as: undefined, headers });
  const startRunsInParallel = async () => {
    const responses = await Promise.all(Array.from({ length: 20 }, (_, index) => startRunByIndex(index)));
    return { accepted: responses.filter((item) => item.status === 202), refused: responses.filter((item) => item.status === 429) };
  };
  const first = await startRunsInParallel();
  expect([first.accepted.length, first.refused.length, getSubmissions().length]).toEqual([3, 17, 3]);
  expect(first.refused[0]?.body.message).toBe(
    "Each member can have at most 3 runs of this app at once. Try again when one of your runs ends.",
  );
  status = "completed";
  const second = await startRunsInParallel();
  expect([second.accepted.length, second.refused.length, getSubmissions().length]).toEqual([1, 19, 4]);
  expect(second.refused.some(({ body }) => body.details.limit === "runsPerDay")).toBe(true);
});

/** Creates the state that a console leaves when it exits during a run. */
async function createInterruptedRun(
  app: { id: string },
  { isSubmitted, responseText }: { isSubmitted: boolean; responseText?: string },
): Promise<string> {
  const { store } = apps.harness.console;
  const { memberId } = apps.harness.getViewer("runner");
  const templateResponse = await startRun(app, "a");
  expect(templateResponse.status).toBe(202);
  const appRun = await store.appRuns.find(app.id, memberId, templateResponse.body.run.id);
  if (!appRun) throw new Error("no run");
  await store.appRuns.set(appRun.id, { state: "cancelled" });
  const id = randomUUID();
  await store.appRuns.start({ ...appRun, id, key: KEY }, { runsPerDay: undefined, maxConcurrentRuns: undefined, dayStartMs: 0 });
  const submission = { memberId, key: getSubmissionKey(id) };
  if (isSubmitted) await store.submissions.start(submission, { contentHash: "x", now, forgetBefore: 0 });
  if (responseText !== undefined) await store.submissions.recordResponse(submission, responseText);
  return id;
}
const readRun = (app: { id: string }, id: string) => apps.requestJson(`/api/apps/${app.id}/runs/${id}`, { as: "runner" });

test("sends a run once when the console exited before sending it", async () => {
  const app = await createApp();
  const id = await createInterruptedRun(app, { isSubmitted: false });
  const error = { message: expect.stringContaining("stopped before sending this run") };
  expect((await readRun(app, id)).body.run).toMatchObject({ state: "unsent", error });
  const submissionCount = getSubmissions().length;
  const secondRuns = await Promise.all([repeatRun(app), repeatRun(app)]);
  expect(secondRuns.map(({ body }) => body.run.id)).toEqual([id, id]);
  expect(getSubmissions()).toHaveLength(submissionCount + 1);
  expect((await readRun(app, id)).body.run.state).toBe("pending");
});

test("keeps a run's job when the console exited after the response", async () => {
  const app = await createApp();
  const id = await createInterruptedRun(app, { isSubmitted: true, responseText: '{"prompt_id":"job-of-before"}' });
  const submissionCount = getSubmissions().length;
  expect((await repeatRun(app)).body.run).toMatchObject({ id, state: "pending" });
  status = "completed";
  expect((await readRun(app, id)).body.run).toMatchObject({ state: "completed" });
  expect(service.requests.some(({ url }) => url.endsWith("/jobs/job-of-before"))).toBe(true);
  expect(getSubmissions()).toHaveLength(submissionCount);
});

test("marks a run as unknown when the console exited during the request", async () => {
  const app = await createApp();
  const id = await createInterruptedRun(app, { isSubmitted: true });
  const submissionCount = getSubmissions().length;
  expect((await repeatRun(app)).body.run).toMatchObject({ id, state: "unknown" });
  now += DAY_MS / 4;
  const error = { message: expect.stringContaining("stopped while waiting") };
  expect((await readRun(app, id)).body.run).toMatchObject({ state: "unknown", error });
  expect(getSubmissions()).toHaveLength(submissionCount);
});

test("deletes submissions after a day and does not resend them", async () => {
  const app = await createApp();
  const id = await createInterruptedRun(app, { isSubmitted: true, responseText: '{"prompt_id":"job-of-before"}' });
  now += DAY_MS + 1000;
  expect((await startRun(app, "another")).status).toBe(202);
  const submissionCount = getSubmissions().length;
  expect((await repeatRun(app)).body.run).toMatchObject({ id, state: "unknown" });
  expect(getSubmissions()).toHaveLength(submissionCount);
});

test("counts a retried run as new and clears its earlier error", async () => {
  const app = await createApp({ atOnce: 1 });
  const id = await createInterruptedRun(app, { isSubmitted: false });
  expect((await readRun(app, id)).body.run.error).toBeDefined();
  expect((await startRun(app, "b")).status).toBe(202);
  const submissionCount = getSubmissions().length;
  expect(await repeatRun(app)).toMatchObject({ status: 429, body: { details: { limit: "atOnce" } } });
  expect(getSubmissions()).toHaveLength(submissionCount);
  status = "completed";
  expect((await repeatRun(app)).status).toBe(202);
  const { body } = await readRun(app, id);
  expect(body.run).toMatchObject({ state: "completed" });
  expect(body.run).not.toHaveProperty("error");
});

test("shows a run as sending while its file uploads, without the file's name", async () => {
  const app = await apps.make({}, { connection });
  const parts = { picture: await createPngFile() };
  const headers = { "idempotency-key": KEY };
  const defaultRespond = respond;
  const uploads: ServerResponse[] = [];
  respond = (request, response) =>
    request.url.startsWith("/api/upload") ? void uploads.push(response) : defaultRespond(request, response);
  const { memberId } = apps.harness.getViewer("runner");
  const pendingRun = apps.run(app, parts, { headers });
  await until("the service receives the upload", () => uploads.length === 1);
  const run = await apps.harness.console.store.appRuns.findByKey(app.id, memberId, KEY);
  if (!run) throw new Error("no run");
  expect(run.inputs).toEqual({ prefix: "inverted" });
  // The state stays the same after an hour and for a repeated request.
  now += 60 * 60_000;
  const sendingRun = { id: run.id, state: "sending", inputs: { prefix: "inverted" } };
  expect((await readRun(app, run.id)).body.run).toMatchObject(sendingRun);
  expect((await apps.run(app, parts, { headers })).body.run).toMatchObject(sendingRun);
  for (const response of uploads) sendJsonResponse(response, { name: "a.png", subfolder: "", type: "input" });
  expect((await pendingRun).body.run).toMatchObject({ state: "pending", inputs: { picture: "a.png" } });
  expect([uploads.length, getSubmissions().length]).toEqual([1, 1]);
});

test("returns the results of the version that ran", async () => {
  const app = await createApp();
  const { body } = await startRun(app, "a");
  const json = { version: 1, definition: { ...withoutPicture, outputs: [{ node: "2", label: "Other" }] } };
  expect((await apps.requestJson(`/api/apps/${app.id}`, { as: "operator", method: "PUT", json })).status).toBe(200);
  const outputs = { "3": { images: [{ filename: "a.png", subfolder: "", type: "output" }] } };
  respond = (_, response) => sendJsonResponse(response, { id: "job-1", status: "completed", create_time: 1, outputs });
  expect((await readRun(app, body.run.id)).body.run.results).toMatchObject([{ label: "Result", name: "a.png" }]);
});

test("reports an unreachable service as an outage, not as an ended run", async () => {
  const app = await createApp();
  const { body } = await startRun(app, "a");
  respond = (_, response) => void response.socket?.destroy();
  expect((await readRun(app, body.run.id)).status).toBe(502);
  expect((await apps.requestJson(`/api/apps/${app.id}/runs`, { as: "runner" })).body.runs).toMatchObject([{ state: "pending" }]);
});

const cancelRun = (app: { id: string }, id: string) =>
  apps.requestJson(`/api/apps/${app.id}/runs/${id}/cancel`, { as: "runner", method: "POST" });

test("cancels a waiting run by removing it from the queue only", async () => {
  const app = await createApp();
  const { body } = await startRun(app, "a");
  const defaultRespond = respond;
  respond = (request, response) => {
    if (!request.url.startsWith("/api/queue")) return defaultRespond(request, response);
    status = "cancelled";
    return sendJsonResponse(response, { deleted: ["job-1"] });
  };
  const cancelled = await cancelRun(app, body.run.id);
  expect(cancelled).toMatchObject({ status: 200, body: { run: { state: "cancelled" } } });
  expect(service.requests.find(({ url }) => url.startsWith("/api/queue"))?.body.toString()).toBe('{"delete":["job-1"]}');
});

test("cancels a run removed from the queue when the service has no job for it", async () => {
  const app = await createApp();
  const { body } = await startRun(app, "a");
  const defaultRespond = respond;
  let isDeleted = false;
  const notFound = { code: "NOT_FOUND", message: "Job not found" };
  respond = (request, response) => {
    if (request.url.startsWith("/api/queue") && request.method === "POST") {
      isDeleted = true;
      return sendJsonResponse(response, { deleted: ["job-1"] });
    }
    return isDeleted && request.url.endsWith("/job-1") ? sendJsonResponse(response, notFound, 404) : defaultRespond(request, response);
  };
  const cancelled = await cancelRun(app, body.run.id);
  expect(cancelled).toMatchObject({ status: 200, body: { run: { state: "cancelled", endedAt: now } } });
  expect((await readRun(app, body.run.id)).body.run.state).toBe("cancelled");
});

test("sends the editor file with a run's values, or none when that fails", async () => {
  const node = { id: 3, type: "SaveImage", mode: 0, inputs: [], outputs: [], properties: {}, widgets_values: ["as it was"] };
  const editor = { version: 0.4, nodes: [node], links: [], extra: {} };
  const graph = { "3": { class_type: "SaveImage", inputs: { filename_prefix: "x" } } };
  const app = await apps.make({ definition: { ...withoutPicture, graph, editor } }, { connection });
  const defaultRespond = respond;
  const catalogue = { SaveImage: { input: { required: { filename_prefix: ["STRING", { default: "x" }] } } } };
  respond = (request, response) =>
    request.url.startsWith("/api/object_info") ? sendJsonResponse(response, catalogue) : defaultRespond(request, response);
  expect((await startRun(app, "as it is now")).status).toBe(202);
  const getWorkflow = (index: number) => JSON.parse(getSubmissions()[index]?.body.toString() ?? "{}").extra_data?.extra_pnginfo?.workflow;
  expect(getWorkflow(0)).toEqual({ ...editor, nodes: [{ ...node, widgets_values: ["as it is now"] }] });
  expect((await startRun(app, "soon after")).status).toBe(202);
  expect(getWorkflow(1)).toMatchObject({ nodes: [{ widgets_values: ["soon after"] }] });
  // The catalogue is large, so it is cached.
  expect(service.requests.filter(({ url }) => url.startsWith("/api/object_info"))).toHaveLength(1);
  now += 60_000;
  respond = (request, response) =>
    request.url.startsWith("/api/object_info") ? sendJsonResponse(response, {}, 500) : defaultRespond(request, response);
  expect((await startRun(app, "another")).status).toBe(202);
  expect(getWorkflow(2)).toBeUndefined();
});

test("omits the editor file of another workflow", async () => {
  const node = { id: 9, type: "LoadImage", mode: 0, inputs: [], outputs: [], properties: {}, widgets_values: ["other.png"] };
  const app = await apps.make({ definition: { ...withoutPicture, editor: { version: 0.4, nodes: [node], links: [] } } }, { connection });
  const defaultRespond = respond;
  const catalogue = { SaveImage: { input: { required: { filename_prefix: ["STRING", {}] } } } };
  respond = (request, response) =>
    request.url.startsWith("/api/object_info") ? sendJsonResponse(response, catalogue) : defaultRespond(request, response);
  expect((await startRun(app, "a")).status).toBe(202);
  expect(JSON.parse(getSubmissions()[0]?.body.toString() ?? "{}")).not.toHaveProperty("extra_data.extra_pnginfo.workflow");
});
