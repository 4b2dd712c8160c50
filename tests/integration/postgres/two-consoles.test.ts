// Two consoles on one database. Each reacts to the other's changes and waits for its work in progress.
import { beforeEach, describe, expect, test, vi } from "vitest";
import { operations } from "@/lib/contract/operations";
import { getProcessState } from "@/lib/server/process-state";
import { StoreUnavailableError } from "@/lib/shared/error-codes";
import { createHarness, type Harness, type HarnessRequest } from "@/tests/support/harness";
import { createLivePath, openLiveStream } from "@/tests/support/live-stream";
import { openTestDatabase } from "@/tests/support/postgres-proxy";
import { endConnections, queryDatabase } from "@/tests/support/postgres-server";
import { openTestServer } from "@/tests/support/servers";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { sendJsonResponse, type TestServer } from "@/tests/support/test-server";
import { until } from "@/tests/support/until";

const FIVE_MINUTES_MS = 300_000;
let jobs: { id: string; status: string; create_time: number }[] = [];
/** The service's responses to the next submissions, in order. */
let responses: { status: number; released: Promise<unknown> }[] = [];

const databaseUrl = await openTestDatabase();
const settings = {
  DATABASE_URL: databaseUrl,
  LIGHTDESK_BLOBS: createTemporaryFolder(),
  LIGHTDESK_ENCRYPTION_KEYS: `one:${Buffer.alloc(32, 1).toString("base64")}`,
};
const first = await createHarness({ settings });
// The clock of this console is five minutes ahead.
const second = await createHarness({
  settings,
  dataDir: createTemporaryFolder(),
  // Longer than a test takes.
  upstreamLimits: { sharedMs: 120_000 },
  now: () => Date.now() + FIVE_MINUTES_MS,
});
const service: TestServer = await openTestServer(async ({ method, url }, response) => {
  if (url.startsWith("/api/jobs?"))
    return sendJsonResponse(response, { jobs, pagination: { offset: 0, limit: 100, total: jobs.length, has_more: false } });
  if (url === "/api/history") return sendJsonResponse(response, {});
  if (method !== "POST")
    return jobs[0] ? sendJsonResponse(response, jobs[0]) : sendJsonResponse(response, { code: "NOT_FOUND", message: "no" }, 404);
  const { status, released } = responses.shift() ?? { status: 200, released: undefined };
  await released;
  const body = status === 200 ? { prompt_id: `job-${submitRequests().length}`, number: 1, node_errors: {} } : { error: "no" };
  sendJsonResponse(response, body, status);
});
const connection = await first.connect(service.url, "service-key");

const submitRequests = () => service.requests.filter(({ method, url }) => method === "POST" && url.startsWith("/api/prompt"));

/** Handlers use the composition of their process, which both harnesses share here. */
function sendRequest(harness: Harness, path: string, options: HarnessRequest): Promise<Response> {
  getProcessState().composition = harness.console;
  return harness.request(path, options);
}
const submit = (harness: Harness, key: string) =>
  sendRequest(harness, `/api/prompt?connection=${connection}`, {
    ...{ as: "operator", method: "POST", json: { prompt: { "1": { class_type: "SaveImage", inputs: {} } } } },
    headers: { "idempotency-key": key },
  });
const getStatus = async (harness: Harness, cookie: string) => (await sendRequest(harness, "/api/console/connections", { cookie })).status;

function createGate(): { released: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const released = new Promise<void>((resolve) => (open = resolve));
  return { released, open: () => open() };
}
/** A waiting console polls the database for the other's work. */
async function expectToWait(harness: Harness, work: Promise<unknown>): Promise<void> {
  let pollCount = 0;
  const { peers } = harness.console.store;
  const isInProgress = peers.isInProgress.bind(peers);
  peers.isInProgress = (name) => ((pollCount += 1), isInProgress(name));
  let isSettled = false;
  void work.finally(() => (isSettled = true));
  await until("the console has polled twice", () => pollCount >= 2);
  expect(isSettled).toBe(false);
  peers.isInProgress = isInProgress;
}

test("sends a parallel submission once and returns the same job to both", async () => {
  const gate = createGate();
  responses = [{ status: 200, released: gate.released }];
  const firstResponse = submit(first, "submission-sent-twice-in-parallel");
  await until("the service has the submission", () => submitRequests().length === 1);
  const secondResponse = submit(second, "submission-sent-twice-in-parallel");
  await expectToWait(second, secondResponse);
  const report = sendRequest(second, "/api/console/submissions/submission-sent-twice-in-parallel", { as: "operator" });
  await expectToWait(second, report);
  gate.open();
  const ids = await Promise.all(
    [firstResponse, secondResponse].map(async (response) => ((await (await response).json()) as { prompt_id: string }).prompt_id),
  );
  expect(ids).toEqual(["job-1", "job-1"]);
  expect(await (await report).json()).toMatchObject({ state: "accepted", answer: { prompt_id: "job-1" } });
  expect(submitRequests()).toHaveLength(1);
});

test("resends a submission when the other console's was rejected", async () => {
  const gate = createGate();
  const before = submitRequests().length;
  responses = [{ status: 400, released: gate.released }];
  const firstResponse = submit(first, "submission-rejected-at-first");
  await until("the service has the submission", () => submitRequests().length === before + 1);
  const secondResponse = submit(second, "submission-rejected-at-first");
  await expectToWait(second, secondResponse);
  gate.open();
  expect([(await firstResponse).status, (await secondResponse).status]).toEqual([400, 200]);
  expect(submitRequests()).toHaveLength(before + 2);
});

test("waits for another console's unsaved response and returns it", async () => {
  const key = "submission-with-late-response";
  const { submissions } = first.console.store;
  vi.spyOn(submissions, "recordResponse").mockRejectedValueOnce(new StoreUnavailableError("the database is unavailable"));
  const response: unknown = await (await submit(first, key)).json();
  expect(await (await sendRequest(second, `/api/console/submissions/${key}`, { as: "operator" })).json()).toMatchObject({
    state: "accepted",
    answer: response,
  });
});

/** Excludes the databases of other suites on this server. */
const holdersSql = `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ShareLock'
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

test("reports a console's work as in progress until the console closes", async () => {
  const { peers } = first.console.store;
  const isInProgress = () => second.console.store.peers.isInProgress("long work");
  const endWork = await peers.startWork("long work");
  expect(await isInProgress()).toBe(true);
  const getHolder = async () => (await queryDatabase<{ pid: number }>(databaseUrl, holdersSql))[0]?.pid;
  const before = await getHolder();
  await queryDatabase(databaseUrl, `SELECT pg_terminate_backend(${before})`);
  await until("another connection holds the lock", async () => ![undefined, before].includes(await getHolder()));
  expect(await isInProgress()).toBe(true);
  await endWork();
  expect(await isInProgress()).toBe(false);
  await peers.startWork("unfinished work");
  expect(await second.console.store.peers.isInProgress("unfinished work")).toBe(true);
  await peers.close();
  await until("the work has ended", async () => !(await second.console.store.peers.isInProgress("unfinished work")));
  await peers.start({ onConnection: () => undefined, onData: () => undefined, onError: expect.fail });
});

test("clears a changed connection's cache at all consoles", async () => {
  const { capabilities } = second.console;
  const getCapability = () => capabilities.get(connection, "queue.list");
  capabilities.record(connection, operations.listQueue, 501);
  expect(getCapability()).toBe(false);
  const change = { as: "admin", method: "PUT", json: { name: "Renamed" } } as const;
  expect((await sendRequest(first, `/api/console/connections/${connection}`, change)).status).toBe(200);
  await until("the second console has cleared its cache", () => getCapability() === undefined);
});

describe("a change through one console", () => {
  const readList = async (harness: Harness) => {
    const response = await sendRequest(harness, `/api/jobs?connection=${connection}`, { as: "viewer" });
    return ((await response.json()) as { jobs: { id: string }[] }).jobs.map(({ id }) => id);
  };
  const removeJobs = () => {
    jobs = [];
    return sendRequest(first, `/api/history?connection=${connection}`, { as: "operator", method: "POST", json: { delete: ["done"] } });
  };
  beforeEach(() => void (jobs = [{ id: "done", status: "completed", create_time: 1_767_225_600_000 }]));

  test("sends live updates to the other console immediately", async () => {
    getProcessState().composition = second.console;
    const stream = await openLiveStream(second, createLivePath([`job:done?connection=${connection}`]));
    await stream.waitFor("the job", ({ event }) => event === "snapshot");
    expect((await removeJobs()).status).toBeLessThan(300);
    // Without the notification, an ended job is refetched only after 30 seconds.
    await until("the removal", () => stream.getData("failure").some(({ failure }) => failure.code === "NOT_FOUND"), { timeoutMs: 20_000 });
    await stream.close();
  });

  test("discards cached responses at the other console", async () => {
    expect(await readList(second)).toEqual(["done"]);
    expect((await removeJobs()).status).toBeLessThan(300);
    await until("the empty list", async () => (await readList(second)).length === 0);
  });

  test("notifies the other console at most a few times a second", async () => {
    const jobResponsesSpy = vi.spyOn(second.console.jobResponses, "invalidate");
    const change = { baseUrl: "http://127.0.0.1:9" };
    const countNotifications = () => jobResponsesSpy.mock.calls.filter(([baseUrl]) => baseUrl === change.baseUrl).length;
    for (let count = 0; count < 1000; count += 1) first.console.publishChange(change);
    // The first notification is immediate, and the others are coalesced.
    await until("two notifications", () => countNotifications() >= 2);
    first.console.publishChange(change);
    await until("a third notification", () => countNotifications() >= 3);
    expect(countNotifications()).toBe(3);
  });

  test("is assumed when notifications may have been lost", async () => {
    const liveSpy = vi.spyOn(second.console.liveHub, "handleChange");
    await endConnections(databaseUrl);
    await until("the reconnection", () => liveSpy.mock.calls.some((change) => change[0] === undefined));
  });
});

test("accepts and ends a session at both consoles despite clock skew", async () => {
  const cookie = first.getCookie("viewer");
  expect([await getStatus(first, cookie), await getStatus(second, cookie)]).toEqual([200, 200]);
  const member = await first.console.store.members.getByEmail("viewer@desk.test");
  const suspension = { as: "owner", method: "PUT", json: { disabled: true } } as const;
  expect((await sendRequest(second, `/api/console/members/${member?.id}`, suspension)).status).toBe(200);
  expect([await getStatus(first, cookie), await getStatus(second, cookie)]).toEqual([401, 401]);
});

test("applies read-only mode to both consoles", async () => {
  const putOptions = { as: "admin", method: "PUT", json: { note: "Moving" } } as const;
  expect((await sendRequest(first, "/api/console/read-only", putOptions)).status).toBeLessThan(300);
  expect((await submit(second, "submission-while-read-only")).status).toBe(403);
  expect((await sendRequest(second, "/api/console/read-only", { as: "owner", method: "DELETE" })).status).toBeLessThan(300);
  expect((await submit(first, "submission-while-read-only")).status).toBe(200);
});
