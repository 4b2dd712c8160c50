// Runs of apps at a service whose answers are chosen by the tests: limits, and a console that ends in the middle.
import { randomUUID } from "node:crypto";
import { type ServerResponse } from "node:http";
import { afterEach, beforeEach, expect, test } from "vitest";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { submissionKey } from "@/lib/server/apps/run-state";
import { answerJson, type LittleServer, type Seen, startLittleServer } from "@/tests/support/little-server";
import { makeToken } from "@/tests/support/tokens";
import { until } from "@/tests/support/until";
import { type AppWorld, createAppWorld, definition, picture } from "./app-world";

const KEY = "the-key-of-a-script-1";
const withoutPicture = { ...definition, inputs: definition.inputs?.slice(1) };
const DAY_MS = 24 * 60 * 60_000;

let now: number;
let world: AppWorld;
let service: LittleServer;
let connection: string;
let status: string;
let answer: (request: Seen, response: ServerResponse) => void;

beforeEach(async () => {
  now = Date.UTC(2026, 4, 5, 22, 30);
  status = "pending";
  world = await createAppWorld({ now: () => now });
  service = await startLittleServer((request, response) => answer(request, response));
  connection = await world.harness.connect(service.url, "key-of-the-service");
  answer = (request, response) =>
    request.method === "POST"
      ? answerJson(response, { prompt_id: `job-${sent().length}`, number: 1, node_errors: {} })
      : answerJson(response, { id: request.url.split("/").at(-1), status, create_time: 1, outputs: {} });
});
afterEach(async () => {
  await service.close();
  await world.dispose();
});

const sent = () => service.seen.filter(({ method, url }) => method === "POST" && url.startsWith("/api/prompt"));
const make = (limits = {}) => world.make({ definition: withoutPicture, limits }, { connection });
const run = (app: { id: string }, prefix: string, as: "runner" | "operator" = "runner", key?: string) =>
  world.ask(`/api/apps/${app.id}/runs`, {
    as,
    method: "POST",
    json: { inputs: { prefix } },
    headers: key === undefined ? {} : { "idempotency-key": key },
  });

test("runs of a day are counted for each member, over restarts; the refusal says when again, at the end of the day of UTC", async () => {
  const app = await make({ runsPerDay: 1 });
  expect((await run(app, "a")).status).toBe(202);
  const refused = await run(app, "b");
  expect(refused).toMatchObject({ status: 429, body: { details: { limit: "runsPerDay" } } });
  expect(refused.body.message).toContain("2026-05-06 00:00 UTC");
  expect(refused.headers.get("retry-after")).toBe("5400");
  expect((await run(app, "a", "operator")).status).toBe(202);
  now += 5400_000;
  expect((await run(app, "b")).status).toBe(202);
  expect(sent()).toHaveLength(3);
});

test("numbers of an app's graph and numbers given for a run arrive with their spelling", async () => {
  const graph = '{"1":{"class_type":"SaveImage","inputs":{"given":1,"usual":5.0,"fixed":1e3,"list":[2.0]}}}';
  const inputs = ["given", "usual"].map((name) => ({ name, node: "1", input: name, label: name, control: { kind: "number" } }));
  const numbers = { title: "Numbers", inputs, outputs: [{ node: "1", label: "Result" }], graph: parseExactJson(graph) };
  const headers = { "content-type": "application/json" };
  const body = writeExactJson({ definition: numbers, access: { kind: "team" } });
  const made = await world.ask(`/api/apps?connection=${connection}`, { as: "operator", method: "POST", body, headers });
  const { app } = made.body;
  const begun = await world.ask(`/api/apps/${app.id}/runs`, { as: "runner", method: "POST", body: '{"inputs":{"given":7.0}}', headers });
  expect(begun.status).toBe(202);
  expect(sent()[0]?.body.toString()).toContain('"inputs":{"given":7.0,"usual":5.0,"fixed":1e3,"list":[2.0]}');
  const form = await world.run(app, { given: "8.0" });
  expect(form.status).toBe(202);
  expect(sent()[1]?.body.toString()).toContain('"given":8.0,"usual":5.0');
});

test("runs at once are counted by the states of their jobs, also where twenty come at once from browser and token", async () => {
  const app = await make({ atOnce: 3, runsPerDay: 4 });
  const { headers } = await makeToken(world.harness, "runner", { operations: ["apps"] });
  const begin = (index: number) =>
    index % 2 === 0
      ? run(app, `a${index}`)
      : world.ask(`/api/apps/${app.id}/runs`, { method: "POST", json: { inputs: { prefix: `a${index}` } }, headers });
  const together = async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => begin(index)));
    return { begun: answers.filter((one) => one.status === 202), refused: answers.filter((one) => one.status === 429) };
  };
  const first = await together();
  expect([first.begun.length, first.refused.length, sent().length]).toEqual([3, 17, 3]);
  expect(first.refused[0]?.body.message).toBe("This app runs at most 3 at once for each member. Run it again when one of yours has ended.");
  status = "completed";
  const second = await together();
  expect([second.begun.length, second.refused.length, sent().length]).toEqual([1, 19, 4]);
  expect(second.refused.some(({ body }) => body.details.limit === "runsPerDay")).toBe(true);
});

/** The state that a console leaves if it ends in the middle of a run. */
async function leftBehind(app: { id: string }, { began, answered }: { began: boolean; answered?: string }): Promise<string> {
  const { store } = world.harness.console;
  const { memberId } = world.harness.viewerOf("runner");
  const model = await run(app, "a");
  expect(model.status).toBe(202);
  const made = await store.appRuns.find(app.id, memberId, model.body.run.id);
  if (!made) throw new Error("no run");
  await store.appRuns.set(made.id, { state: "cancelled" });
  const id = randomUUID();
  await store.appRuns.begin({ ...made, id, key: KEY }, { runsPerDay: undefined, atOnce: undefined, dayBegan: 0 });
  const submission = { memberId, key: submissionKey(id) };
  if (began) await store.submissions.begin(submission, { contentHash: "x", now, forgetBefore: 0 });
  if (answered !== undefined) await store.submissions.accepted(submission, answered);
  return id;
}
const read = (app: { id: string }, id: string) => world.ask(`/api/apps/${app.id}/runs/${id}`, { as: "runner" });

test("a console that ended before the run was sent: it is shown, and the same key sends it once", async () => {
  const app = await make();
  const id = await leftBehind(app, { began: false });
  expect((await read(app, id)).body.run).toMatchObject({
    state: "unsent",
    error: { message: expect.stringContaining("before this run was sent") },
  });
  const before = sent().length;
  const again = await Promise.all([run(app, "a", "runner", KEY), run(app, "a", "runner", KEY)]);
  expect(again.map(({ body }) => body.run.id)).toEqual([id, id]);
  expect(sent()).toHaveLength(before + 1);
  expect((await read(app, id)).body.run.state).toBe("pending");
});

test("a console that ended after the service had answered: the run has its job, and nothing is sent again", async () => {
  const app = await make();
  const id = await leftBehind(app, { began: true, answered: '{"prompt_id":"job-of-before"}' });
  const before = sent().length;
  expect((await run(app, "a", "runner", KEY)).body.run).toMatchObject({ id, state: "pending" });
  status = "completed";
  expect((await read(app, id)).body.run).toMatchObject({ state: "completed" });
  expect(service.seen.some(({ url }) => url.endsWith("/jobs/job-of-before"))).toBe(true);
  expect(sent()).toHaveLength(before);
});

test("a console that ended while it waited for the answer: what became of the run is unknown, and it is not sent again", async () => {
  const app = await make();
  const id = await leftBehind(app, { began: true });
  const before = sent().length;
  expect((await run(app, "a", "runner", KEY)).body.run).toMatchObject({ id, state: "unknown" });
  now += DAY_MS / 4;
  expect((await read(app, id)).body.run).toMatchObject({
    state: "unknown",
    error: { message: expect.stringContaining("ended while it waited") },
  });
  expect(sent()).toHaveLength(before);
});

test("after a day nothing is known of what was sent any more, and the run is not sent again", async () => {
  const app = await make();
  const id = await leftBehind(app, { began: true, answered: '{"prompt_id":"job-of-before"}' });
  now += DAY_MS + 1000;
  expect((await run(app, "another")).status).toBe(202);
  const before = sent().length;
  expect((await run(app, "a", "runner", KEY)).body.run).toMatchObject({ id, state: "unknown" });
  expect(sent()).toHaveLength(before);
});

test("a run that is sent at last counts as one that begins now, and keeps no word of why it was not", async () => {
  const app = await make({ atOnce: 1 });
  const id = await leftBehind(app, { began: false });
  expect((await read(app, id)).body.run.error).toBeDefined();
  expect((await run(app, "b")).status).toBe(202);
  const before = sent().length;
  expect(await run(app, "a", "runner", KEY)).toMatchObject({ status: 429, body: { details: { limit: "atOnce" } } });
  expect(sent()).toHaveLength(before);
  status = "completed";
  expect((await run(app, "a", "runner", KEY)).status).toBe(202);
  const { body } = await read(app, id);
  expect(body.run).toMatchObject({ state: "completed" });
  expect(body.run).not.toHaveProperty("error");
});

test("while a file of a run is on its way to the service the run is being sent, whoever looks, and names no file yet", async () => {
  const app = await world.make({}, { connection });
  const parts = { picture: new Blob([new Uint8Array(await picture())], { type: "image/png" }) };
  const headers = { "idempotency-key": KEY };
  const usual = answer;
  const uploads: ServerResponse[] = [];
  answer = (request, response) => (request.url.startsWith("/api/upload") ? void uploads.push(response) : usual(request, response));
  const { memberId } = world.harness.viewerOf("runner");
  const begun = world.run(app, parts, { headers });
  await until("the file is on its way", () => uploads.length === 1);
  const made = await world.harness.console.store.appRuns.findByKey(app.id, memberId, KEY);
  if (!made) throw new Error("no run");
  expect(made.inputs).toEqual({ prefix: "inverted" });
  // However long it takes and however often it is requested.
  now += 60 * 60_000;
  const sending = { id: made.id, state: "sending", inputs: { prefix: "inverted" } };
  expect((await read(app, made.id)).body.run).toMatchObject(sending);
  expect((await world.run(app, parts, { headers })).body.run).toMatchObject(sending);
  for (const response of uploads) answerJson(response, { name: "a.png", subfolder: "", type: "input" });
  expect((await begun).body.run).toMatchObject({ state: "pending", inputs: { picture: "a.png" } });
  expect([uploads.length, sent().length]).toEqual([1, 1]);
});

test("results are those of the version that ran, whatever the app has become since", async () => {
  const app = await make();
  const { body } = await run(app, "a");
  const changed = { ...withoutPicture, outputs: [{ node: "2", label: "Other" }] };
  const json = { version: 1, definition: changed };
  expect((await world.ask(`/api/apps/${app.id}`, { as: "operator", method: "PUT", json })).status).toBe(200);
  const outputs = { "3": { images: [{ filename: "a.png", subfolder: "", type: "output" }] } };
  answer = (_, response) => answerJson(response, { id: "job-1", status: "completed", create_time: 1, outputs });
  expect((await read(app, body.run.id)).body.run.results).toMatchObject([{ label: "Result", name: "a.png" }]);
});

test("a service that cannot be reached is an outage, not a run that has ended", async () => {
  const app = await make();
  const { body } = await run(app, "a");
  answer = (_, response) => void response.socket?.destroy();
  expect((await read(app, body.run.id)).status).toBe(502);
  expect((await world.ask(`/api/apps/${app.id}/runs`, { as: "runner" })).body.runs).toMatchObject([{ state: "pending" }]);
});

test("a run that waits is taken from the queue alone", async () => {
  const app = await make();
  const { body } = await run(app, "a");
  const usual = answer;
  answer = (request, response) => {
    if (!request.url.startsWith("/api/queue")) return usual(request, response);
    status = "cancelled";
    return answerJson(response, { deleted: ["job-1"] });
  };
  const cancelled = await world.ask(`/api/apps/${app.id}/runs/${body.run.id}/cancel`, { as: "runner", method: "POST" });
  expect(cancelled).toMatchObject({ status: 200, body: { run: { state: "cancelled" } } });
  expect(service.seen.find(({ url }) => url.startsWith("/api/queue"))?.body.toString()).toBe('{"delete":["job-1"]}');
});

test("a run that was taken from the queue is cancelled also where the service tells of its job no more", async () => {
  const app = await make();
  const { body } = await run(app, "a");
  const usual = answer;
  let isGone = false;
  const gone = { code: "NOT_FOUND", message: "Job not found" };
  answer = (request, response) => {
    if (request.url.startsWith("/api/queue") && request.method === "POST") {
      isGone = true;
      return answerJson(response, { deleted: ["job-1"] });
    }
    return isGone && request.url.endsWith("/job-1") ? answerJson(response, gone, 404) : usual(request, response);
  };
  const cancelled = await world.ask(`/api/apps/${app.id}/runs/${body.run.id}/cancel`, { as: "runner", method: "POST" });
  expect(cancelled).toMatchObject({ status: 200, body: { run: { state: "cancelled", endedAt: now } } });
  expect((await read(app, body.run.id)).body.run.state).toBe("cancelled");
});

test("an app of an editor's file sends the file along with this run's values in it, and none where they cannot be written", async () => {
  const node = { id: 3, type: "SaveImage", mode: 0, inputs: [], outputs: [], properties: {}, widgets_values: ["as it was"] };
  const editor = { version: 0.4, nodes: [node], links: [], extra: {} };
  const graph = { "3": { class_type: "SaveImage", inputs: { filename_prefix: "x" } } };
  const app = await world.make({ definition: { ...withoutPicture, graph, editor } }, { connection });
  const usual = answer;
  const catalogue = { SaveImage: { input: { required: { filename_prefix: ["STRING", { default: "x" }] } } } };
  answer = (request, response) => (request.url.startsWith("/api/object_info") ? answerJson(response, catalogue) : usual(request, response));
  expect((await run(app, "as it is now")).status).toBe(202);
  const workflowOf = (at: number) => JSON.parse(sent()[at]?.body.toString() ?? "{}").extra_data?.extra_pnginfo?.workflow;
  expect(workflowOf(0)).toEqual({ ...editor, nodes: [{ ...node, widgets_values: ["as it is now"] }] });
  expect((await run(app, "soon after")).status).toBe(202);
  expect(workflowOf(1)).toMatchObject({ nodes: [{ widgets_values: ["soon after"] }] });
  // The catalogue is megabytes large, so it is fetched only now and then.
  expect(service.seen.filter(({ url }) => url.startsWith("/api/object_info"))).toHaveLength(1);
  now += 60_000;
  answer = (request, response) => (request.url.startsWith("/api/object_info") ? answerJson(response, {}, 500) : usual(request, response));
  expect((await run(app, "another")).status).toBe(202);
  expect(workflowOf(2)).toBeUndefined();
});

test("an editor's file of another workflow does not go along with a run", async () => {
  const node = { id: 9, type: "LoadImage", mode: 0, inputs: [], outputs: [], properties: {}, widgets_values: ["other.png"] };
  const app = await world.make({ definition: { ...withoutPicture, editor: { version: 0.4, nodes: [node], links: [] } } }, { connection });
  const usual = answer;
  const catalogue = { SaveImage: { input: { required: { filename_prefix: ["STRING", {}] } } } };
  answer = (request, response) => (request.url.startsWith("/api/object_info") ? answerJson(response, catalogue) : usual(request, response));
  expect((await run(app, "a")).status).toBe(202);
  expect(JSON.parse(sent()[0]?.body.toString() ?? "{}")).not.toHaveProperty("extra_data.extra_pnginfo.workflow");
});
