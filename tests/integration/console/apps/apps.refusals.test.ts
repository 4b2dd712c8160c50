// A service's validation errors, mapped to the app's inputs. Each test sets the service's responses.
import { type ServerResponse } from "node:http";
import { beforeEach, expect, test } from "vitest";
import { openTestServer } from "@/tests/support/servers";
import { type ReceivedRequest, sendJsonResponse, type TestServer } from "@/tests/support/test-server";
import { until } from "@/tests/support/until";
import { createAppHarness, definition } from "./app-harness";

const KEY = "the-key-of-a-script-1";
const workflowError = { error: { type: "bad", message: "bad", details: "" } };

const apps = await createAppHarness();
let service: TestServer;
let connection: string;
let respond: (request: ReceivedRequest, response: ServerResponse) => void;

beforeEach(async () => {
  service = await openTestServer((request, response) => respond(request, response));
  connection = await apps.harness.connect(service.url, "key-of-the-service");
  respond = (_, response) => sendJsonResponse(response, { prompt_id: "job-1", number: 1, node_errors: {} });
});

const createApp = (limits = {}) =>
  apps.make({ definition: { ...definition, inputs: definition.inputs?.slice(1) }, limits }, { connection });
const startRun = (app: { id: string }, prefix: string, as: "runner" | "operator" = "runner", key?: string) =>
  apps.start(app, { prefix }, { as, headers: key === undefined ? {} : { "idempotency-key": key } });

test("maps a refusal to its input and releases the idempotency key", async () => {
  const app = await createApp({ runsPerDay: 1 });
  const defaultRespond = respond;
  const error = { type: "invalid", message: "is too odd", details: "", extra_info: { input_name: "filename_prefix" } };
  const refusal = { ...workflowError, node_errors: { "3": { errors: [error], class_type: "SaveImage", dependent_outputs: [] } } };
  respond = (_, response) => sendJsonResponse(response, refusal, 400);
  const refused = await startRun(app, "a", "runner", KEY);
  expect(refused).toMatchObject({ status: 422, body: { message: "Name: is too odd", details: { problems: [{ input: "prefix" }] } } });
  expect(JSON.stringify(refused.body)).not.toContain("SaveImage");
  respond = defaultRespond;
  expect((await startRun(app, "a", "runner", KEY)).status).toBe(202);
});

const refusals: [string, (response: ServerResponse) => unknown, object][] = [
  ["rejects the workflow", (response) => sendJsonResponse(response, workflowError, 400), { code: "workflow" }],
  ["responds with 429", (response) => sendJsonResponse(response, { message: "slowly" }, 429), { message: expect.any(String) }],
];
test.each(refusals)("reports a refused run to a parallel request with its key when the service %s", async (_label, sendRefusal, error) => {
  const app = await createApp({ runsPerDay: 1 });
  const defaultRespond = respond;
  const pending: ServerResponse[] = [];
  respond = (request, response) => (request.method === "POST" ? void pending.push(response) : defaultRespond(request, response));
  const first = startRun(app, "a", "runner", KEY);
  await until("the service receives the submission", () => pending.length === 1);
  const otherRun = await startRun(app, "a", "runner", KEY);
  expect(otherRun).toMatchObject({ status: 202, body: { run: { state: "sending" } } });
  const { id } = otherRun.body.run;
  for (const response of pending) sendRefusal(response);
  expect((await first).status).toBeGreaterThanOrEqual(400);
  const readRun = () => apps.requestJson(`/api/apps/${app.id}/runs/${id}`, { as: "runner" });
  expect((await readRun()).body.run).toMatchObject({ id, state: "refused", error, endedAt: expect.any(Number) });
  expect((await apps.requestJson(`/api/apps/${app.id}/runs`, { as: "runner" })).body.runs).toEqual([]);
  // A refused run doesn't count towards the limit. Its key starts it again with the corrected inputs.
  respond = defaultRespond;
  const restartedRun = (await startRun(app, "b", "runner", KEY)).body.run;
  expect(restartedRun).toMatchObject({ id, state: "pending", inputs: { prefix: "b" } });
  expect(restartedRun).not.toHaveProperty("error");
  expect(restartedRun).not.toHaveProperty("endedAt");
  expect((await startRun(app, "a", "runner", KEY)).status).toBe(409);
  expect((await startRun(app, "b")).body.details).toMatchObject({ limit: "runsPerDay" });
});

test("never exposes the service's node error messages", async () => {
  const app = await createApp();
  const refusal = { type: "bad", message: "Node 7 HiddenLoader is odd", details: "HiddenLoader", extra_info: { node_id: "7" } };
  for (const body of [{ error: refusal, node_errors: {} }, { error: refusal }, { error: refusal, node_errors: [] }]) {
    respond = (_, response) => sendJsonResponse(response, body, 400);
    const refused = await startRun(app, "a");
    expect(refused).toMatchObject({ status: 422, body: { message: expect.stringContaining("rejected this app's workflow") } });
    expect(JSON.stringify(refused.body)).not.toContain("HiddenLoader");
  }
});

test("maps the service's validation errors to problem codes of inputs", async () => {
  const steps = { name: "steps", node: "2", input: "steps", label: "Rounds", control: { kind: "number" as const }, default: 4 };
  const inputs = [...(definition.inputs ?? []).map((item) => ({ ...item, isRequired: false })), steps];
  const graph = { ...definition.graph, "2": { class_type: "Sampler", inputs: { steps: 4 } } };
  const app = await apps.make({ definition: { ...definition, inputs, graph } }, { connection });
  const runAndRefuse = (node: string, type: string, extra_info: object) => {
    const errors = [{ type, message: `Node ${node} is wrong`, details: "", extra_info }];
    const body = { ...workflowError, node_errors: { [node]: { errors, class_type: "X", dependent_outputs: [] } } };
    respond = (_, response) => sendJsonResponse(response, body, 400);
    return startRun(app, "a");
  };
  const tooLargeResponse = await runAndRefuse("2", "value_bigger_than_max", { input_name: "steps", input_config: ["INT", { max: 50 }] });
  expect(tooLargeResponse).toMatchObject({ status: 422, body: { message: "Rounds: must be at most 50" } });
  const problem = { input: "steps", label: "Rounds", control: "number", code: "too_large", limit: 50 };
  expect(tooLargeResponse.body.details.problems).toEqual([problem]);
  const getCode = async (...args: Parameters<typeof runAndRefuse>) => (await runAndRefuse(...args)).body.details.problems[0].code;
  expect(await getCode("2", "value_not_in_list", { input_name: "steps" })).toBe("not_a_choice");
  expect(await getCode("2", "custom_validation_failed", { input_name: "steps" })).toBe("not_taken");
  expect(await getCode("1", "custom_validation_failed", { input_name: "image" })).toBe("not_yours");
});

test("shows the failing node of a refused workflow only to operators", async () => {
  const app = await createApp();
  const missing = { type: "missing_node_type", message: "No class", details: "", extra_info: { node_id: "2", class_type: "Odd" } };
  respond = (_, response) => sendJsonResponse(response, { error: missing, node_errors: {} }, 400);
  expect((await startRun(app, "a", "operator")).body.details).toEqual({ reason: "workflow", node: "2" });
  expect((await startRun(app, "a")).body.details).toEqual({ reason: "workflow" });
});

/** Makes the service report every job as failed with this error. */
const failJobsWith = (execution_error: object) => {
  respond = (request, response) =>
    sendJsonResponse(response, { id: request.url.split("/").at(-1), status: "failed", create_time: 1, outputs: {}, execution_error });
};
const getError = async (app: { id: string }, id: string, as: "runner" | "operator") =>
  (await apps.requestJson(`/api/apps/${app.id}/runs/${id}`, { as })).body.run.error;

test("stores a late validation error and formats it with input labels", async () => {
  const app = await createApp();
  const ownRun = (await startRun(app, "a")).body.run;
  const otherRun = (await startRun(app, "a", "operator")).body.run;
  const extra_info = { input_name: "filename_prefix", input_config: ["INT", { min: 2 }] };
  const error = { type: "value_smaller_than_min", message: "", details: "", extra_info };
  const validationError = { ...workflowError, node_errors: { "3": { errors: [error], class_type: "SaveImage" } } };
  const exception = { exception_type: "ValidationError", exception_message: `400: ${JSON.stringify(validationError)}` };
  failJobsWith({ node_id: "3", node_type: "SaveImage", ...exception });
  const shownError = {
    message: "Name: must be at least 2",
    code: "inputs",
    problems: [{ input: "prefix", label: "Name", control: "text", code: "too_small", limit: 2 }],
  };
  expect(await getError(app, ownRun.id, "runner")).toEqual(shownError);
  expect(await getError(app, otherRun.id, "operator")).toEqual({ ...shownError, node: "3" });
  // Returned from the stored result: the service gets no second request.
  const requestCount = service.requests.length;
  expect(await getError(app, otherRun.id, "operator")).toEqual({ ...shownError, node: "3" });
  expect(service.requests).toHaveLength(requestCount);
});

test("shows a run's failing node only to operators", async () => {
  const app = await createApp();
  const ownRun = (await startRun(app, "a")).body.run;
  const otherRun = (await startRun(app, "a", "operator")).body.run;
  failJobsWith({ node_id: "12:3", node_type: "Sampler", exception_type: "RuntimeError", exception_message: "out of memory" });
  expect(await getError(app, otherRun.id, "operator")).toEqual({ message: "out of memory", node: "12:3" });
  expect(await getError(app, ownRun.id, "runner")).toEqual({ message: "out of memory" });
  expect(JSON.stringify(await apps.requestJson(`/api/apps/${app.id}/runs`, { as: "runner" }))).not.toContain("12:3");
});
