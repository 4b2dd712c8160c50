import { type ServerResponse } from "node:http";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { StoreAway } from "@/lib/shared/error-codes";
import { createHarness, type Harness } from "@/tests/support/harness";
import { answerJson, type LittleServer, type Seen, startLittleServer } from "@/tests/support/little-server";
import { until } from "@/tests/support/until";

const key = "press-0000-4000-8000-000000000001";
const prompt = { "1": { class_type: "SaveImage", inputs: {} } };

let harness: Harness;
let service: LittleServer;
let connection: string;
let answer: (request: Seen, response: ServerResponse) => void;

beforeEach(async () => {
  harness = await createHarness();
  service = await startLittleServer((request, response) => answer(request, response));
  connection = await harness.connect(service.url, "key-of-the-service");
  answer = (_, response) => answerJson(response, { prompt_id: `job-${sent().length}`, number: 1, node_errors: {} });
});
afterEach(async () => {
  await service.close();
  await harness.dispose();
});

const sent = () => service.seen.filter(({ method }) => method === "POST");

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
  const answered = await harness.request(`/api/console/submissions/${key}`, { as });
  return { status: answered.status, body: (await answered.json()) as Record<string, unknown> };
}

test("two submissions of one key at once reach the service once, and both get the same job", async () => {
  const answers = await Promise.all([submission(), submission()]);
  expect(await Promise.all(answers.map((one) => one.json()))).toMatchObject([{ prompt_id: "job-1" }, { prompt_id: "job-1" }]);
  expect(sent()).toHaveLength(1);
});

test("a page of before the upgrade, which would look for its submission in vain, is told to reload, and nothing is sent", async () => {
  const headers = { "x-lightdesk-press": key };
  const json = { prompt };
  const refused = await harness.request(`/api/prompt?connection=${connection}`, { as: "operator", method: "POST", json, headers });
  expect([refused.status, await refused.json()]).toMatchObject([
    409,
    { code: "PAGE_OUT_OF_DATE", message: expect.stringContaining("Reload") },
  ]);
  expect(sent()).toEqual([]);
});

test("the same key later is answered with the first job, and the key itself never reaches the service", async () => {
  expect(await (await submission()).json()).toMatchObject({ prompt_id: "job-1" });
  const again = await submission();
  expect([again.status, await again.json()]).toMatchObject([200, { prompt_id: "job-1" }]);
  expect(sent()).toHaveLength(1);
  expect(JSON.stringify([sent()[0]?.headers, sent()[0]?.body.toString()])).not.toContain(key);
});

test("submissions of two keys are two jobs, and so are the same key of two members", async () => {
  await submission();
  await submission({ key: "press-0000-4000-8000-000000000002" });
  await submission({ as: "admin" });
  expect(sent()).toHaveLength(3);
});

test("a key with other content is refused, and nothing is sent", async () => {
  await submission();
  expect((await submission({ json: { prompt: {} } })).status).toBe(409);
  expect(sent()).toHaveLength(1);
});

test("a key that is none is refused", async () => {
  expect((await submission({ key: "short" })).status).toBe(400);
  expect(sent()).toHaveLength(0);
});

test("a service that cuts the line after receiving is not asked again by the same key, and the submission stays unknown", async () => {
  answer = (_, response) => void response.socket?.destroy();
  const first = (await (await submission()).json()) as { code: string };
  expect(first.code).toBe("UPSTREAM_UNREACHABLE");
  answer = (_, response) => answerJson(response, { prompt_id: "second" });
  expect(await (await submission()).json()).toMatchObject({ code: "UPSTREAM_UNREACHABLE" });
  expect(sent()).toHaveLength(1);
  expect(await report()).toMatchObject({ status: 200, body: { state: "unknown", failure: { code: "UPSTREAM_UNREACHABLE" } } });
});

test.each([502, 504])("a gateway's %i after the request went out is unknown too", async (status) => {
  answer = (_, response) => answerJson(response, {}, status);
  await submission();
  expect((await report()).body).toMatchObject({ state: "unknown" });
  await submission();
  expect(sent()).toHaveLength(1);
});

test("a refusal started nothing: the same key is sent again", async () => {
  answer = (_, response) => answerJson(response, { error: { message: "wait" } }, 429, { "retry-after": "7" });
  const refused = await submission();
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "7"]);
  expect((await report()).status).toBe(404);
  answer = (_, response) => answerJson(response, { prompt_id: "now" });
  expect(await (await submission()).json()).toMatchObject({ prompt_id: "now" });
});

test("a service that takes no connection was sent nothing, and says so", async () => {
  await service.close();
  expect(await (await submission()).json()).toMatchObject({ code: "UPSTREAM_UNREACHABLE", details: { sent: false } });
  expect((await report()).status).toBe(404);
  service = await startLittleServer(() => undefined);
});

test("a store that fails before the service is chosen leaves nothing behind: the same key is sent then", async () => {
  const { connections } = harness.console.store;
  const read = vi.spyOn(connections, "getFor").mockRejectedValueOnce(new Error("the database is away"));
  expect((await submission()).status).toBeGreaterThanOrEqual(500);
  read.mockRestore();
  expect([sent().length, (await report()).status]).toEqual([0, 404]);
  expect(await (await submission()).json()).toMatchObject({ prompt_id: "job-1" });
});

test("a refusal that the store does not take is answered as one until it does, and then the same key is sent again", async () => {
  const { submissions } = harness.console.store;
  const forget = vi.spyOn(submissions, "forget").mockRejectedValueOnce(new StoreAway("the database is away"));
  answer = (_, response) => answerJson(response, { error: { message: "wait" } }, 429);
  expect((await submission()).status).toBe(429);
  expect([await report(), (await submission()).status, sent().length]).toMatchObject([{ body: { state: "refused" } }, 429, 1]);
  await until("it is forgotten", async () => (await report()).status === 404);
  forget.mockRestore();
  answer = (_, response) => answerJson(response, { prompt_id: "now" });
  expect(await (await submission()).json()).toMatchObject({ prompt_id: "now" });
});

test("an answer that the store does not take is given again meanwhile, and stored as soon as it does", async () => {
  const { submissions } = harness.console.store;
  const { memberId } = harness.viewerOf("operator");
  const accepted = vi.spyOn(submissions, "accepted").mockRejectedValueOnce(new StoreAway("the database is away"));
  await submission();
  expect([await (await submission()).json(), sent().length]).toMatchObject([{ prompt_id: "job-1" }, 1]);
  await until("it is stored", async () => (await submissions.find({ memberId, key }))?.answer);
  accepted.mockRestore();
  expect([await (await submission()).json(), sent().length]).toMatchObject([{ prompt_id: "job-1" }, 1]);
});

test("where nothing was sent and the store cannot forget it, that is the answer until it can, and then the same key is sent", async () => {
  const { connections, submissions } = harness.console.store;
  const failing = [
    vi.spyOn(connections, "getFor").mockRejectedValueOnce(new StoreAway("the database is away")),
    vi.spyOn(submissions, "forget").mockRejectedValueOnce(new StoreAway("the database is away")),
  ];
  expect((await submission()).status).toBeGreaterThanOrEqual(500);
  expect([(await report()).body, sent()]).toEqual([{ state: "refused" }, []]);
  await until("it is forgotten", async () => (await report()).status === 404);
  for (const one of failing) one.mockRestore();
  expect(await (await submission()).json()).toMatchObject({ prompt_id: "job-1" });
});

test("forgetting an attempt leaves the row of a later one, also where the store had forgotten and could not say so", async () => {
  const { submissions } = harness.console.store;
  const { memberId } = harness.viewerOf("operator");
  const forget = submissions.forget.bind(submissions);
  const again = vi.spyOn(submissions, "forget").mockImplementationOnce(async (attempt) => {
    await forget(attempt);
    throw new StoreAway("the answer was lost");
  });
  answer = (_, response) => answerJson(response, { error: { message: "wait" } }, 429);
  await submission();
  await submissions.begin({ memberId, key }, { contentHash: "of another console", now: Date.now() + 1, forgetBefore: 0 });
  await until("it was forgotten once more", () => harness.console.submissionsInFlight.size === 0);
  expect([again.mock.calls.length, await submissions.find({ memberId, key })]).toEqual([2, { contentHash: "of another console" }]);
});

test("an error of the store that does not pass is not tried again: the submission stays unknown", async () => {
  const accepted = vi.spyOn(harness.console.store.submissions, "accepted").mockRejectedValueOnce(new Error("no such column"));
  expect(await (await submission()).json()).toMatchObject({ prompt_id: "job-1" });
  expect([harness.console.submissionsInFlight.size, (await report()).body.state]).toEqual([0, "unknown"]);
  accepted.mockRestore();
});

test("a browser that goes away in the middle finds its job when it asks after the submission", async () => {
  let release = () => {};
  answer = (_, response) => void (release = () => answerJson(response, { prompt_id: "kept" }));
  const leaving = new AbortController();
  const left = submission({ signal: leaving.signal });
  await until("the service was asked", () => sent().length === 1);
  leaving.abort();
  const asked = report();
  release();
  expect(await asked).toMatchObject({ status: 200, body: { state: "accepted", answer: { prompt_id: "kept" } } });
  expect((await left).status).toBe(200);
  expect(await report()).toMatchObject({ body: { state: "accepted", answer: { prompt_id: "kept" } } });
  expect((await report("admin")).status).toBe(404);
});

test("a submission that a console took to its grave is unknown to the next one", async () => {
  const { memberId } = harness.viewerOf("operator");
  await harness.console.store.submissions.begin({ memberId, key }, { contentHash: "x", now: 1, forgetBefore: 0 });
  expect((await report()).body).toMatchObject({ state: "unknown", failure: { code: "INTERNAL" } });
});

test("a submission is kept for a day", async () => {
  const { memberId } = harness.viewerOf("operator");
  await harness.console.store.submissions.begin({ memberId, key }, { contentHash: "x", now: 1, forgetBefore: 0 });
  await submission({ key: "press-0000-4000-8000-000000000002" });
  expect((await report()).status).toBe(404);
});
