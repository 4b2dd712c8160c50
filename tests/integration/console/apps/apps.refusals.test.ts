// A service's refusals of an app's run, shown on the app's inputs; the tests choose the responses.
import { type ServerResponse } from "node:http";
import { beforeEach, expect, test } from "vitest";
import { openTestServer } from "@/tests/support/servers";
import { type ReceivedRequest, sendJsonResponse, type TestServer } from "@/tests/support/test-server";
import { until } from "@/tests/support/until";
import { type AppWorld, createAppWorld, definition } from "./app-world";

const KEY = "the-key-of-a-script-1";

let world: AppWorld;
let service: TestServer;
let connection: string;
let respond: (request: ReceivedRequest, response: ServerResponse) => void;

beforeEach(async () => {
  world = await createAppWorld();
  service = await openTestServer((request, response) => respond(request, response));
  connection = await world.harness.connect(service.url, "key-of-the-service");
  respond = (_, response) => sendJsonResponse(response, { prompt_id: "job-1", number: 1, node_errors: {} });
});

const make = (limits = {}) => world.make({ definition: { ...definition, inputs: definition.inputs?.slice(1) }, limits }, { connection });
const run = (app: { id: string }, prefix: string, as: "runner" | "operator" = "runner", key?: string) =>
  world.ask(`/api/apps/${app.id}/runs`, {
    as,
    method: "POST",
    json: { inputs: { prefix } },
    headers: key === undefined ? {} : { "idempotency-key": key },
  });

test("shows a refusal at its input, starts nothing and frees the key", async () => {
  const app = await make({ runsPerDay: 1 });
  const defaultRespond = respond;
  const error = { type: "invalid", message: "is too odd", details: "", extra_info: { input_name: "filename_prefix" } };
  const refusal = {
    error: { type: "bad", message: "bad", details: "" },
    node_errors: { "3": { errors: [error], class_type: "SaveImage", dependent_outputs: [] } },
  };
  respond = (_, response) => sendJsonResponse(response, refusal, 400);
  const refused = await run(app, "a", "runner", KEY);
  expect(refused).toMatchObject({ status: 422, body: { message: "Name: is too odd", details: { problems: [{ input: "prefix" }] } } });
  expect(JSON.stringify(refused.body)).not.toContain("SaveImage");
  respond = defaultRespond;
  expect((await run(app, "a", "runner", KEY)).status).toBe(202);
});

const refusals: [string, (response: ServerResponse) => unknown, object][] = [
  [
    "refuses it",
    (response) => sendJsonResponse(response, { error: { type: "bad", message: "bad", details: "" } }, 400),
    { code: "workflow" },
  ],
  ["asks for patience", (response) => sendJsonResponse(response, { message: "slowly" }, 429), { message: expect.any(String) }],
];
test.each(refusals)("explains a failure to a second client with the same key while the service %s", async (_what, refuse, error) => {
  const app = await make({ runsPerDay: 1 });
  const defaultRespond = respond;
  const pending: ServerResponse[] = [];
  respond = (request, response) => (request.method === "POST" ? void pending.push(response) : defaultRespond(request, response));
  const first = run(app, "a", "runner", KEY);
  await until("it is on its way", () => pending.length === 1);
  const otherRun = await run(app, "a", "runner", KEY);
  expect(otherRun).toMatchObject({ status: 202, body: { run: { state: "sending" } } });
  const { id } = otherRun.body.run;
  for (const response of pending) refuse(response);
  expect((await first).status).toBeGreaterThanOrEqual(400);
  const readRun = () => world.ask(`/api/apps/${app.id}/runs/${id}`, { as: "runner" });
  expect((await readRun()).body.run).toMatchObject({ id, state: "refused", error, endedAt: expect.any(Number) });
  expect((await world.ask(`/api/apps/${app.id}/runs`, { as: "runner" })).body.runs).toEqual([]);
  // The refused run is not counted, so others may run; its key starts it again with the corrected inputs.
  respond = defaultRespond;
  const anew = (await run(app, "b", "runner", KEY)).body.run;
  expect(anew).toMatchObject({ id, state: "pending", inputs: { prefix: "b" } });
  expect(anew).not.toHaveProperty("error");
  expect(anew).not.toHaveProperty("endedAt");
  expect((await run(app, "a", "runner", KEY)).status).toBe(409);
  expect((await run(app, "b")).body.details).toMatchObject({ limit: "runsPerDay" });
});

test("doesn't count a refused run towards the daily limit", async () => {
  const app = await make({ runsPerDay: 1 });
  const defaultRespond = respond;
  respond = (_, response) => sendJsonResponse(response, { message: "slowly" }, 429);
  expect((await run(app, "a", "runner", KEY)).status).toBe(429);
  respond = defaultRespond;
  expect((await run(app, "b")).status).toBe(202);
  expect((await run(app, "a", "runner", KEY)).body.details).toMatchObject({ limit: "runsPerDay" });
});

test("never exposes the service's node error messages", async () => {
  const app = await make();
  const refusal = { type: "bad", message: "Node 7 HiddenLoader is odd", details: "HiddenLoader", extra_info: { node_id: "7" } };
  for (const body of [{ error: refusal, node_errors: {} }, { error: refusal }, { error: refusal, node_errors: [] }]) {
    respond = (_, response) => sendJsonResponse(response, body, 400);
    const refused = await run(app, "a");
    expect(refused).toMatchObject({ status: 422, body: { message: expect.stringContaining("refused this app's workflow") } });
    expect(JSON.stringify(refused.body)).not.toContain("HiddenLoader");
  }
});

test("maps the service's refusal to form errors and requests a lost file again", async () => {
  const steps = { name: "steps", node: "2", input: "steps", label: "Rounds", control: { kind: "number" as const }, default: 4 };
  const inputs = [...(definition.inputs ?? []).map((item) => ({ ...item, isRequired: false })), steps];
  const graph = { ...definition.graph, "2": { class_type: "Sampler", inputs: { steps: 4 } } };
  const app = await world.make({ definition: { ...definition, inputs, graph } }, { connection });
  const refuse = (node: string, type: string, extra_info: object) => {
    const errors = [{ type, message: `Node ${node} is wrong`, details: "", extra_info }];
    const body = {
      error: { type: "bad", message: "", details: "" },
      node_errors: { [node]: { errors, class_type: "X", dependent_outputs: [] } },
    };
    respond = (_, response) => sendJsonResponse(response, body, 400);
    return run(app, "a");
  };
  const beyond = await refuse("2", "value_bigger_than_max", { input_name: "steps", input_config: ["INT", { max: 50 }] });
  expect(beyond).toMatchObject({ status: 422, body: { message: "Rounds: must be at most 50" } });
  expect(beyond.body.details.problems).toEqual([{ input: "steps", label: "Rounds", control: "number", code: "too_large", limit: 50 }]);
  const getCode = async (...of: Parameters<typeof refuse>) => (await refuse(...of)).body.details.problems[0].code;
  expect(await getCode("2", "value_not_in_list", { input_name: "steps" })).toBe("not_a_choice");
  expect(await getCode("2", "custom_validation_failed", { input_name: "steps" })).toBe("not_taken");
  expect(await getCode("1", "custom_validation_failed", { input_name: "image" })).toBe("not_yours");
});

test("reveals the failing node of a refused workflow only to those who may see it", async () => {
  const app = await make();
  const missing = { type: "missing_node_type", message: "No class", details: "", extra_info: { node_id: "2", class_type: "Odd" } };
  respond = (_, response) => sendJsonResponse(response, { error: missing, node_errors: {} }, 400);
  expect((await run(app, "a", "operator")).body.details).toEqual({ reason: "workflow", node: "2" });
  expect((await run(app, "a")).body.details).toEqual({ reason: "workflow" });
});

/** The job of an accepted run fails with this error. */
const failJobsWith = (execution_error: object) => {
  respond = (request, response) =>
    sendJsonResponse(response, { id: request.url.split("/").at(-1), status: "failed", create_time: 1, outputs: {}, execution_error });
};
const getError = async (app: { id: string }, id: string, as: "runner" | "operator") =>
  (await world.ask(`/api/apps/${app.id}/runs/${id}`, { as })).body.run.error;

test("stores a late refusal as data and formats it with input labels", async () => {
  const app = await make();
  const ownRun = (await run(app, "a")).body.run;
  const otherRun = (await run(app, "a", "operator")).body.run;
  const error = {
    type: "value_smaller_than_min",
    message: "",
    details: "",
    extra_info: { input_name: "filename_prefix", input_config: ["INT", { min: 2 }] },
  };
  const lateError = {
    error: { type: "bad", message: "bad", details: "" },
    node_errors: { "3": { errors: [error], class_type: "SaveImage" } },
  };
  const exception = { exception_type: "ValidationError", exception_message: `400: ${JSON.stringify(lateError)}` };
  failJobsWith({ node_id: "3", node_type: "SaveImage", ...exception });
  const shownError = {
    message: "Name: must be at least 2",
    code: "inputs",
    problems: [{ input: "prefix", label: "Name", control: "text", code: "too_small", limit: 2 }],
  };
  expect(await getError(app, ownRun.id, "runner")).toEqual(shownError);
  expect(await getError(app, otherRun.id, "operator")).toEqual({ ...shownError, node: "3" });
  // Returned from the stored result: the service gets no second request.
  const before = service.requests.length;
  expect(await getError(app, otherRun.id, "operator")).toEqual({ ...shownError, node: "3" });
  expect(service.requests).toHaveLength(before);
});

test("reveals a run's failing node only to those who may see it", async () => {
  const app = await make();
  const ownRun = (await run(app, "a")).body.run;
  const otherRun = (await run(app, "a", "operator")).body.run;
  failJobsWith({ node_id: "12:3", node_type: "Sampler", exception_type: "RuntimeError", exception_message: "out of memory" });
  expect(await getError(app, otherRun.id, "operator")).toEqual({ message: "out of memory", node: "12:3" });
  expect(await getError(app, ownRun.id, "runner")).toEqual({ message: "out of memory" });
  expect(JSON.stringify(await world.ask(`/api/apps/${app.id}/runs`, { as: "runner" }))).not.toContain("12:3");
});
