import { type ServerResponse } from "node:http";
import { beforeEach, expect, test, vi } from "vitest";
import { StoreUnavailable } from "@/lib/shared/error-codes";
import { createHarness, type Harness } from "@/tests/support/harness";
import { openTestServer } from "@/tests/support/servers";
import { type ReceivedRequest, sendJsonResponse, type TestServer } from "@/tests/support/test-server";
import { until } from "@/tests/support/until";

const key = "press-0000-4000-8000-000000000001";
const prompt = { "1": { class_type: "SaveImage", inputs: {} } };

let harness: Harness;
let service: TestServer;
let connection: string;
let respond: (request: ReceivedRequest, response: ServerResponse) => void;

beforeEach(async () => {
  harness = await createHarness();
  service = await openTestServer((request, response) => respond(request, response));
  connection = await harness.connect(service.url, "key-of-the-service");
  respond = (_, response) => sendJsonResponse(response, { prompt_id: `job-${submitRequests().length}`, number: 1, node_errors: {} });
});

const submitRequests = () => service.requests.filter(({ method }) => method === "POST");

function submission(options: { key?: string; json?: unknown; signal?: AbortSignal; as?: "operator" | "admin" } = {}): Promise<Response> {
  return harness.request(`/api/prompt?connection=${connection}`, {
    as: options.as ?? "operator",
    method: "POST",
    json: options.json ?? { prompt },
    headers: { "idempotency-key": options.key ?? key },
    signal: options.signal,
  });
}

async function report(as: "operator" | "admin" = "operator"): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await harness.request(`/api/console/submissions/${key}`, { as });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

test("submits once for two parallel requests with one key", async () => {
  const responses = await Promise.all([submission(), submission()]);
  expect(await Promise.all(responses.map((response) => response.json()))).toMatchObject([{ prompt_id: "job-1" }, { prompt_id: "job-1" }]);
  expect(submitRequests()).toHaveLength(1);
});

test("returns the first job for a reused key and never forwards the key", async () => {
  expect(await (await submission()).json()).toMatchObject({ prompt_id: "job-1" });
  const secondResponse = await submission();
  expect([secondResponse.status, await secondResponse.json()]).toMatchObject([200, { prompt_id: "job-1" }]);
  expect(submitRequests()).toHaveLength(1);
  expect(JSON.stringify([submitRequests()[0]?.headers, submitRequests()[0]?.body.toString()])).not.toContain(key);
});

test("submissions of two keys are two jobs, and so are the same key of two members", async () => {
  await submission();
  await submission({ key: "press-0000-4000-8000-000000000002" });
  await submission({ as: "admin" });
  expect(submitRequests()).toHaveLength(3);
});

test("refuses a key with other content and submits nothing", async () => {
  await submission();
  expect((await submission({ json: { prompt: {} } })).status).toBe(409);
  expect(submitRequests()).toHaveLength(1);
});

test("refuses a malformed key", async () => {
  expect((await submission({ key: "short" })).status).toBe(400);
  expect(submitRequests()).toHaveLength(0);
});

test("keeps a submission unknown, unsent, when the line is cut after receipt", async () => {
  respond = (_, response) => void response.socket?.destroy();
  const first = (await (await submission()).json()) as { code: string };
  expect(first.code).toBe("UPSTREAM_UNREACHABLE");
  respond = (_, response) => sendJsonResponse(response, { prompt_id: "second" });
  expect(await (await submission()).json()).toMatchObject({ code: "UPSTREAM_UNREACHABLE" });
  expect(submitRequests()).toHaveLength(1);
  expect(await report()).toMatchObject({ status: 200, body: { state: "unknown", failure: { code: "UPSTREAM_UNREACHABLE" } } });
});

test.each([502, 504])("treats a gateway's %i after sending as unknown", async (status) => {
  respond = (_, response) => sendJsonResponse(response, {}, status);
  await submission();
  expect((await report()).body).toMatchObject({ state: "unknown" });
  await submission();
  expect(submitRequests()).toHaveLength(1);
});

test("resends the same key after a refusal", async () => {
  respond = (_, response) => sendJsonResponse(response, { error: { message: "wait" } }, 429, { "retry-after": "7" });
  const refusal = await submission();
  expect([refusal.status, refusal.headers.get("retry-after")]).toEqual([429, "7"]);
  expect((await report()).status).toBe(404);
  respond = (_, response) => sendJsonResponse(response, { prompt_id: "now" });
  expect(await (await submission()).json()).toMatchObject({ prompt_id: "now" });
});

test("reports nothing sent when the connection is refused", async () => {
  await service.close();
  expect(await (await submission()).json()).toMatchObject({ code: "UPSTREAM_UNREACHABLE", details: { sent: false } });
  expect((await report()).status).toBe(404);
  service = await openTestServer(() => undefined);
});

test("sends the same key later when the store fails before the request", async () => {
  const { connections } = harness.console.store;
  const readSpy = vi.spyOn(connections, "getFor").mockRejectedValueOnce(new Error("the database is away"));
  expect((await submission()).status).toBeGreaterThanOrEqual(500);
  readSpy.mockRestore();
  expect([submitRequests().length, (await report()).status]).toEqual([0, 404]);
  expect(await (await submission()).json()).toMatchObject({ prompt_id: "job-1" });
});

test("returns a refusal until it is stored, then accepts the key again", async () => {
  const { submissions } = harness.console.store;
  const forget = vi.spyOn(submissions, "forget").mockRejectedValueOnce(new StoreUnavailable("the database is away"));
  respond = (_, response) => sendJsonResponse(response, { error: { message: "wait" } }, 429);
  expect((await submission()).status).toBe(429);
  expect([await report(), (await submission()).status, submitRequests().length]).toMatchObject([{ body: { state: "refused" } }, 429, 1]);
  await until("it is forgotten", async () => (await report()).status === 404);
  forget.mockRestore();
  respond = (_, response) => sendJsonResponse(response, { prompt_id: "now" });
  expect(await (await submission()).json()).toMatchObject({ prompt_id: "now" });
});

test("returns an unsaved response until the store accepts it", async () => {
  const { submissions } = harness.console.store;
  const { memberId } = harness.viewerOf("operator");
  const accepted = vi.spyOn(submissions, "accepted").mockRejectedValueOnce(new StoreUnavailable("the database is away"));
  await submission();
  expect([await (await submission()).json(), submitRequests().length]).toMatchObject([{ prompt_id: "job-1" }, 1]);
  await until("it is stored", async () => (await submissions.find({ memberId, key }))?.answer);
  accepted.mockRestore();
  expect([await (await submission()).json(), submitRequests().length]).toMatchObject([{ prompt_id: "job-1" }, 1]);
});

test("reports an unsent, unforgotten key until the store recovers", async () => {
  const { connections, submissions } = harness.console.store;
  const failing = [
    vi.spyOn(connections, "getFor").mockRejectedValueOnce(new StoreUnavailable("the database is away")),
    vi.spyOn(submissions, "forget").mockRejectedValueOnce(new StoreUnavailable("the database is away")),
  ];
  expect((await submission()).status).toBeGreaterThanOrEqual(500);
  expect([(await report()).body, submitRequests()]).toEqual([{ state: "refused" }, []]);
  await until("it is forgotten", async () => (await report()).status === 404);
  for (const spy of failing) spy.mockRestore();
  expect(await (await submission()).json()).toMatchObject({ prompt_id: "job-1" });
});

test("keeps a later attempt's row when an earlier one is forgotten", async () => {
  const { submissions } = harness.console.store;
  const { memberId } = harness.viewerOf("operator");
  const forget = submissions.forget.bind(submissions);
  const forgetSpy = vi.spyOn(submissions, "forget").mockImplementationOnce(async (attempt) => {
    await forget(attempt);
    throw new StoreUnavailable("the answer was lost");
  });
  respond = (_, response) => sendJsonResponse(response, { error: { message: "wait" } }, 429);
  await submission();
  await submissions.begin({ memberId, key }, { contentHash: "of another console", now: Date.now() + 1, forgetBefore: 0 });
  await until("it was forgotten once more", () => harness.console.submissionsInFlight.size === 0);
  expect([forgetSpy.mock.calls.length, await submissions.find({ memberId, key })]).toEqual([2, { contentHash: "of another console" }]);
});

test("doesn't retry a permanent store error; the submission stays unknown", async () => {
  const accepted = vi.spyOn(harness.console.store.submissions, "accepted").mockRejectedValueOnce(new Error("no such column"));
  expect(await (await submission()).json()).toMatchObject({ prompt_id: "job-1" });
  expect([harness.console.submissionsInFlight.size, (await report()).body.state]).toEqual([0, "unknown"]);
  accepted.mockRestore();
});

test("returns the job to a browser that disconnected during submission", async () => {
  let release = () => {};
  respond = (_, response) => void (release = () => sendJsonResponse(response, { prompt_id: "kept" }));
  const controller = new AbortController();
  const abandoned = submission({ signal: controller.signal });
  await until("the service was asked", () => submitRequests().length === 1);
  controller.abort();
  const pendingReport = report();
  release();
  expect(await pendingReport).toMatchObject({ status: 200, body: { state: "accepted", answer: { prompt_id: "kept" } } });
  expect((await abandoned).status).toBe(200);
  expect(await report()).toMatchObject({ body: { state: "accepted", answer: { prompt_id: "kept" } } });
  expect((await report("admin")).status).toBe(404);
});

test("reports a dead console's submission as unknown", async () => {
  const { memberId } = harness.viewerOf("operator");
  await harness.console.store.submissions.begin({ memberId, key }, { contentHash: "x", now: 1, forgetBefore: 0 });
  expect((await report()).body).toMatchObject({ state: "unknown", failure: { code: "INTERNAL" } });
});

test("keeps a submission for a day", async () => {
  const { memberId } = harness.viewerOf("operator");
  await harness.console.store.submissions.begin({ memberId, key }, { contentHash: "x", now: 1, forgetBefore: 0 });
  await submission({ key: "press-0000-4000-8000-000000000002" });
  expect((await report()).status).toBe(404);
});
