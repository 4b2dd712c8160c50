import { type ServerResponse } from "node:http";
import { beforeEach, expect, test, vi } from "vitest";
import { StoreUnavailableError } from "@/lib/shared/error-codes";
import { createHarness } from "@/tests/support/harness";
import { openTestServer } from "@/tests/support/servers";
import { type ReceivedRequest, sendJsonResponse, type TestServer } from "@/tests/support/test-server";
import { until } from "@/tests/support/until";

const prompt = { "1": { class_type: "SaveImage", inputs: {} } };
const harness = await createHarness();
const { connections, submissions } = harness.console.store;
const { memberId } = harness.getViewer("operator");

let key: string;
let service: TestServer;
let connection: string;
let respond: (request: ReceivedRequest, response: ServerResponse) => void;

beforeEach(async () => {
  key = crypto.randomUUID();
  service = await openTestServer((request, response) => respond(request, response));
  connection = await harness.connect(service.url, "key-of-the-service");
  respond = (_, response) => sendJsonResponse(response, { prompt_id: `job-${getSubmitRequests().length}`, number: 1, node_errors: {} });
});

const getSubmitRequests = () => service.requests.filter(({ method }) => method === "POST");

type SubmitOptions = { key?: string; json?: unknown; signal?: AbortSignal; as?: "operator" | "admin" };
function submit({ key: sentKey = key, json = { prompt }, signal, as = "operator" }: SubmitOptions = {}): Promise<Response> {
  const headers = { "idempotency-key": sentKey };
  return harness.request(`/api/prompt?connection=${connection}`, { as, method: "POST", json, headers, signal });
}
const submitForBody = async () => (await submit()).json();

async function readReport(as: "operator" | "admin" = "operator") {
  const response = await harness.request(`/api/console/submissions/${key}`, { as });
  return { status: response.status, body: await response.json() };
}
const waitUntilDeleted = () => until("the refusal is deleted", async () => (await readReport()).status === 404);
const createOutage = () => new StoreUnavailableError("database unavailable");

test("submits once for two parallel requests with one key", async () => {
  const responses = await Promise.all([submit(), submit()]);
  expect(await Promise.all(responses.map((response) => response.json()))).toMatchObject([{ prompt_id: "job-1" }, { prompt_id: "job-1" }]);
  expect(getSubmitRequests()).toHaveLength(1);
});

test("returns the first job for a reused key and never forwards the key", async () => {
  expect(await submitForBody()).toMatchObject({ prompt_id: "job-1" });
  const secondResponse = await submit();
  expect([secondResponse.status, await secondResponse.json()]).toMatchObject([200, { prompt_id: "job-1" }]);
  const [request, ...otherRequests] = getSubmitRequests();
  expect(otherRequests).toEqual([]);
  expect(JSON.stringify([request?.headers, request?.body.toString()])).not.toContain(key);
  // The key is bound to these contents.
  expect((await submit({ json: { prompt: {} } })).status).toBe(409);
  expect(getSubmitRequests()).toHaveLength(1);
});

test("submits a job for each key and for each member", async () => {
  await submit();
  await submit({ key: crypto.randomUUID() });
  await submit({ as: "admin" });
  expect(getSubmitRequests()).toHaveLength(3);
  expect((await submit({ key: "short" })).status).toBe(400);
  expect(getSubmitRequests()).toHaveLength(3);
});

test.each<[string, (response: ServerResponse) => unknown, string | undefined]>([
  ["a lost connection", (response) => response.socket?.destroy(), "UPSTREAM_UNREACHABLE"],
  ["a gateway's 502", (response) => sendJsonResponse(response, {}, 502), undefined],
  ["a gateway's 504", (response) => sendJsonResponse(response, {}, 504), undefined],
])("doesn't resend a submission after %s", async (_, fail, code) => {
  respond = (__, response) => void fail(response);
  const { code: firstCode } = await submitForBody();
  respond = (__, response) => sendJsonResponse(response, { prompt_id: "second" });
  expect(await submitForBody()).toMatchObject({ code: firstCode });
  expect(getSubmitRequests()).toHaveLength(1);
  expect(await readReport()).toMatchObject({ status: 200, body: { state: "unknown", failure: { code: code ?? firstCode } } });
});

test("resends the same key after a refusal", async () => {
  respond = (_, response) => sendJsonResponse(response, { error: { message: "wait" } }, 429, { "retry-after": "7" });
  const refusal = await submit();
  expect([refusal.status, refusal.headers.get("retry-after")]).toEqual([429, "7"]);
  expect((await readReport()).status).toBe(404);
  respond = (_, response) => sendJsonResponse(response, { prompt_id: "now" });
  expect(await submitForBody()).toMatchObject({ prompt_id: "now" });
});

test("reports nothing sent when the connection is refused", async () => {
  await service.close();
  expect(await submitForBody()).toMatchObject({ code: "UPSTREAM_UNREACHABLE", details: { sent: false } });
  expect((await readReport()).status).toBe(404);
});

test("sends the same key later when the store fails before the request", async () => {
  const readSpy = vi.spyOn(connections, "getFor").mockRejectedValueOnce(new Error("database unavailable"));
  expect((await submit()).status).toBeGreaterThanOrEqual(500);
  readSpy.mockRestore();
  expect([getSubmitRequests().length, (await readReport()).status]).toEqual([0, 404]);
  expect(await submitForBody()).toMatchObject({ prompt_id: "job-1" });
});

test("returns a refusal until it is deleted, then accepts the key again", async () => {
  const removeSpy = vi.spyOn(submissions, "remove").mockRejectedValueOnce(createOutage());
  respond = (_, response) => sendJsonResponse(response, { error: { message: "wait" } }, 429);
  expect((await submit()).status).toBe(429);
  expect([await readReport(), (await submit()).status, getSubmitRequests().length]).toMatchObject([{ body: { state: "refused" } }, 429, 1]);
  await waitUntilDeleted();
  removeSpy.mockRestore();
  respond = (_, response) => sendJsonResponse(response, { prompt_id: "now" });
  expect(await submitForBody()).toMatchObject({ prompt_id: "now" });
});

test("returns an unsaved response until the store accepts it", async () => {
  const recordSpy = vi.spyOn(submissions, "recordResponse").mockRejectedValueOnce(createOutage());
  await submit();
  expect([await submitForBody(), getSubmitRequests().length]).toMatchObject([{ prompt_id: "job-1" }, 1]);
  await until("the response is stored", async () => (await submissions.find({ memberId, key }))?.answer);
  recordSpy.mockRestore();
  expect([await submitForBody(), getSubmitRequests().length]).toMatchObject([{ prompt_id: "job-1" }, 1]);
});

test("reports an unsent submission as refused until the store recovers", async () => {
  const spies = [
    vi.spyOn(connections, "getFor").mockRejectedValueOnce(createOutage()),
    vi.spyOn(submissions, "remove").mockRejectedValueOnce(createOutage()),
  ];
  expect((await submit()).status).toBeGreaterThanOrEqual(500);
  expect([(await readReport()).body, getSubmitRequests()]).toEqual([{ state: "refused" }, []]);
  await waitUntilDeleted();
  for (const spy of spies) spy.mockRestore();
  expect(await submitForBody()).toMatchObject({ prompt_id: "job-1" });
});

test("keeps a later attempt's row when an earlier attempt is deleted", async () => {
  const remove = submissions.remove.bind(submissions);
  const removeSpy = vi.spyOn(submissions, "remove").mockImplementationOnce(async (attempt) => {
    await remove(attempt);
    throw new StoreUnavailableError("response lost");
  });
  respond = (_, response) => sendJsonResponse(response, { error: { message: "wait" } }, 429);
  await submit();
  await submissions.start({ memberId, key }, { contentHash: "of another console", now: Date.now() + 1, forgetBefore: 0 });
  await until("the deletion is retried", () => harness.console.submissionsInFlight.size === 0);
  expect([removeSpy.mock.calls.length, await submissions.find({ memberId, key })]).toEqual([2, { contentHash: "of another console" }]);
  removeSpy.mockRestore();
});

test("leaves a submission unknown after a permanent store error", async () => {
  const recordSpy = vi.spyOn(submissions, "recordResponse").mockRejectedValueOnce(new Error("no such column"));
  expect(await submitForBody()).toMatchObject({ prompt_id: "job-1" });
  expect([harness.console.submissionsInFlight.size, (await readReport()).body.state]).toEqual([0, "unknown"]);
  recordSpy.mockRestore();
  const response = await submit();
  expect([response.status, await response.json()]).toMatchObject([
    409,
    { code: "OUTCOME_UNKNOWN", message: expect.stringContaining("new") },
  ]);
  expect(getSubmitRequests()).toHaveLength(1);
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

test("reports an exited console's submission as unknown, and deletes it after a day", async () => {
  await submissions.start({ memberId, key }, { contentHash: "x", now: 1, forgetBefore: 0 });
  expect((await readReport()).body).toMatchObject({ state: "unknown", failure: { code: "OUTCOME_UNKNOWN" } });
  await submit({ key: crypto.randomUUID() });
  expect((await readReport()).status).toBe(404);
});
