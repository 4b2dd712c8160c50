import { type ServerResponse } from "node:http";
import { beforeEach, expect, test, vi } from "vitest";
import { StoreUnavailableError } from "@/lib/shared/error-codes";
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
  respond = (_, response) => sendJsonResponse(response, { prompt_id: `job-${getSubmitRequests().length}`, number: 1, node_errors: {} });
});

const getSubmitRequests = () => service.requests.filter(({ method }) => method === "POST");

function submit(options: { key?: string; json?: unknown; signal?: AbortSignal; as?: "operator" | "admin" } = {}): Promise<Response> {
  return harness.request(`/api/prompt?connection=${connection}`, {
    as: options.as ?? "operator",
    method: "POST",
    json: options.json ?? { prompt },
    headers: { "idempotency-key": options.key ?? key },
    signal: options.signal,
  });
}

async function readReport(as: "operator" | "admin" = "operator"): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await harness.request(`/api/console/submissions/${key}`, { as });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

test("submits once for two parallel requests with one key", async () => {
  const responses = await Promise.all([submit(), submit()]);
  expect(await Promise.all(responses.map((response) => response.json()))).toMatchObject([{ prompt_id: "job-1" }, { prompt_id: "job-1" }]);
  expect(getSubmitRequests()).toHaveLength(1);
});

test("returns the first job for a reused key and never forwards the key", async () => {
  expect(await (await submit()).json()).toMatchObject({ prompt_id: "job-1" });
  const secondResponse = await submit();
  expect([secondResponse.status, await secondResponse.json()]).toMatchObject([200, { prompt_id: "job-1" }]);
  expect(getSubmitRequests()).toHaveLength(1);
  expect(JSON.stringify([getSubmitRequests()[0]?.headers, getSubmitRequests()[0]?.body.toString()])).not.toContain(key);
});

test("submits a job for each key and for each member", async () => {
  await submit();
  await submit({ key: "press-0000-4000-8000-000000000002" });
  await submit({ as: "admin" });
  expect(getSubmitRequests()).toHaveLength(3);
});

test("rejects a reused key with different content and submits nothing", async () => {
  await submit();
  expect((await submit({ json: { prompt: {} } })).status).toBe(409);
  expect(getSubmitRequests()).toHaveLength(1);
});

test("rejects a malformed key", async () => {
  expect((await submit({ key: "short" })).status).toBe(400);
  expect(getSubmitRequests()).toHaveLength(0);
});

test("doesn't resend a submission when the connection is lost after receipt", async () => {
  respond = (_, response) => void response.socket?.destroy();
  const first = (await (await submit()).json()) as { code: string };
  expect(first.code).toBe("UPSTREAM_UNREACHABLE");
  respond = (_, response) => sendJsonResponse(response, { prompt_id: "second" });
  expect(await (await submit()).json()).toMatchObject({ code: "UPSTREAM_UNREACHABLE" });
  expect(getSubmitRequests()).toHaveLength(1);
  expect(await readReport()).toMatchObject({ status: 200, body: { state: "unknown", failure: { code: "UPSTREAM_UNREACHABLE" } } });
});

test.each([502, 504])("treats a gateway's %i after sending as unknown", async (status) => {
  respond = (_, response) => sendJsonResponse(response, {}, status);
  await submit();
  expect((await readReport()).body).toMatchObject({ state: "unknown" });
  await submit();
  expect(getSubmitRequests()).toHaveLength(1);
});

test("resends the same key after a refusal", async () => {
  respond = (_, response) => sendJsonResponse(response, { error: { message: "wait" } }, 429, { "retry-after": "7" });
  const refusal = await submit();
  expect([refusal.status, refusal.headers.get("retry-after")]).toEqual([429, "7"]);
  expect((await readReport()).status).toBe(404);
  respond = (_, response) => sendJsonResponse(response, { prompt_id: "now" });
  expect(await (await submit()).json()).toMatchObject({ prompt_id: "now" });
});

test("reports nothing sent when the connection is refused", async () => {
  await service.close();
  expect(await (await submit()).json()).toMatchObject({ code: "UPSTREAM_UNREACHABLE", details: { sent: false } });
  expect((await readReport()).status).toBe(404);
  service = await openTestServer(() => undefined);
});

test("sends the same key later when the store fails before the request", async () => {
  const { connections } = harness.console.store;
  const readSpy = vi.spyOn(connections, "getFor").mockRejectedValueOnce(new Error("database unavailable"));
  expect((await submit()).status).toBeGreaterThanOrEqual(500);
  readSpy.mockRestore();
  expect([getSubmitRequests().length, (await readReport()).status]).toEqual([0, 404]);
  expect(await (await submit()).json()).toMatchObject({ prompt_id: "job-1" });
});

test("returns a refusal until it is deleted, then accepts the key again", async () => {
  const { submissions } = harness.console.store;
  const forget = vi.spyOn(submissions, "remove").mockRejectedValueOnce(new StoreUnavailableError("database unavailable"));
  respond = (_, response) => sendJsonResponse(response, { error: { message: "wait" } }, 429);
  expect((await submit()).status).toBe(429);
  expect([await readReport(), (await submit()).status, getSubmitRequests().length]).toMatchObject([{ body: { state: "refused" } }, 429, 1]);
  await until("the refusal is deleted", async () => (await readReport()).status === 404);
  forget.mockRestore();
  respond = (_, response) => sendJsonResponse(response, { prompt_id: "now" });
  expect(await (await submit()).json()).toMatchObject({ prompt_id: "now" });
});

test("returns an unsaved response until the store accepts it", async () => {
  const { submissions } = harness.console.store;
  const { memberId } = harness.getViewer("operator");
  const accepted = vi.spyOn(submissions, "recordResponse").mockRejectedValueOnce(new StoreUnavailableError("database unavailable"));
  await submit();
  expect([await (await submit()).json(), getSubmitRequests().length]).toMatchObject([{ prompt_id: "job-1" }, 1]);
  await until("the response is stored", async () => (await submissions.find({ memberId, key }))?.answer);
  accepted.mockRestore();
  expect([await (await submit()).json(), getSubmitRequests().length]).toMatchObject([{ prompt_id: "job-1" }, 1]);
});

test("reports an unsent submission as refused until the store recovers", async () => {
  const { connections, submissions } = harness.console.store;
  const spies = [
    vi.spyOn(connections, "getFor").mockRejectedValueOnce(new StoreUnavailableError("database unavailable")),
    vi.spyOn(submissions, "remove").mockRejectedValueOnce(new StoreUnavailableError("database unavailable")),
  ];
  expect((await submit()).status).toBeGreaterThanOrEqual(500);
  expect([(await readReport()).body, getSubmitRequests()]).toEqual([{ state: "refused" }, []]);
  await until("the refusal is deleted", async () => (await readReport()).status === 404);
  for (const spy of spies) spy.mockRestore();
  expect(await (await submit()).json()).toMatchObject({ prompt_id: "job-1" });
});

test("keeps a later attempt's row when an earlier attempt is deleted", async () => {
  const { submissions } = harness.console.store;
  const { memberId } = harness.getViewer("operator");
  const forget = submissions.remove.bind(submissions);
  const forgetSpy = vi.spyOn(submissions, "remove").mockImplementationOnce(async (attempt) => {
    await forget(attempt);
    throw new StoreUnavailableError("response lost");
  });
  respond = (_, response) => sendJsonResponse(response, { error: { message: "wait" } }, 429);
  await submit();
  await submissions.start({ memberId, key }, { contentHash: "of another console", now: Date.now() + 1, forgetBefore: 0 });
  await until("the deletion is retried", () => harness.console.submissionsInFlight.size === 0);
  expect([forgetSpy.mock.calls.length, await submissions.find({ memberId, key })]).toEqual([2, { contentHash: "of another console" }]);
});

test("leaves a submission unknown after a permanent store error", async () => {
  const accepted = vi.spyOn(harness.console.store.submissions, "recordResponse").mockRejectedValueOnce(new Error("no such column"));
  expect(await (await submit()).json()).toMatchObject({ prompt_id: "job-1" });
  expect([harness.console.submissionsInFlight.size, (await readReport()).body.state]).toEqual([0, "unknown"]);
  accepted.mockRestore();
});

test("returns the job to a browser that disconnected during submission", async () => {
  let release = () => {};
  respond = (_, response) => void (release = () => sendJsonResponse(response, { prompt_id: "kept" }));
  const controller = new AbortController();
  const abandonedResponse = submit({ signal: controller.signal });
  await until("the service receives the submission", () => getSubmitRequests().length === 1);
  controller.abort();
  const pendingReport = readReport();
  release();
  expect(await pendingReport).toMatchObject({ status: 200, body: { state: "accepted", answer: { prompt_id: "kept" } } });
  expect((await abandonedResponse).status).toBe(200);
  expect(await readReport()).toMatchObject({ body: { state: "accepted", answer: { prompt_id: "kept" } } });
  expect((await readReport("admin")).status).toBe(404);
});

test("reports a submission of an exited console as unknown", async () => {
  const { memberId } = harness.getViewer("operator");
  await harness.console.store.submissions.start({ memberId, key }, { contentHash: "x", now: 1, forgetBefore: 0 });
  expect((await readReport()).body).toMatchObject({ state: "unknown", failure: { code: "INTERNAL" } });
});

test("deletes a submission after a day", async () => {
  const { memberId } = harness.getViewer("operator");
  await harness.console.store.submissions.start({ memberId, key }, { contentHash: "x", now: 1, forgetBefore: 0 });
  await submit({ key: "press-0000-4000-8000-000000000002" });
  expect((await readReport()).status).toBe(404);
});
