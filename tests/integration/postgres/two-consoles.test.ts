// Two consoles on one database: each reacts to the other's changes and waits for its work in progress.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test, vi } from "vitest";
import { operations } from "@/lib/contract/operations";
import { getProcessState } from "@/lib/server/running";
import { StoreUnavailable } from "@/lib/shared/error-codes";
import { createHarness, type Harness, type HarnessRequest } from "@/tests/support/harness";
import { liveQuery, openLive } from "@/tests/support/live-stream";
import { createDatabase, endConnections, queryDatabase, type TestDatabase } from "@/tests/support/postgres-server";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse, type TestServer } from "@/tests/support/test-server";
import { until } from "@/tests/support/until";

const FIVE_MINUTES_MS = 300_000;
let database: TestDatabase;
let bytes: string;
let first: Harness;
let second: Harness;
let service: TestServer;
let connection: string;
/** The service's responses to the next submissions, in order. */
let jobs: { id: string; status: string; create_time: number }[] = [];
let responses: { status: number; comes: Promise<unknown> }[] = [];

beforeAll(async () => {
  database = await createDatabase(inject("postgres"));
  bytes = await mkdtemp(join(tmpdir(), "lightdesk-bytes-"));
  const settings = {
    DATABASE_URL: database.url,
    LIGHTDESK_BLOBS: bytes,
    LIGHTDESK_ENCRYPTION_KEYS: `one:${Buffer.alloc(32, 1).toString("base64")}`,
  };
  first = await createHarness({ settings });
  // The clock of this console is wrong.
  second = await createHarness({
    settings,
    dataDir: await mkdtemp(join(tmpdir(), "lightdesk-second-")),
    // Longer than a test takes.
    upstreamLimits: { sharedMs: 120_000 },
    now: () => Date.now() + FIVE_MINUTES_MS,
  });
  service = await openTestServer(async ({ method, url }, response) => {
    if (url.startsWith("/api/jobs?"))
      return sendJsonResponse(response, { jobs, pagination: { offset: 0, limit: 100, total: jobs.length, has_more: false } });
    if (url === "/api/history") return sendJsonResponse(response, {});
    if (method !== "POST")
      return jobs[0] ? sendJsonResponse(response, jobs[0]) : sendJsonResponse(response, { code: "NOT_FOUND", message: "no" }, 404);
    const { status, comes } = responses.shift() ?? { status: 200, comes: undefined };
    await comes;
    sendJsonResponse(
      response,
      status === 200 ? { prompt_id: `job-${submitRequests().length}`, number: 1, node_errors: {} } : { error: "no" },
      status,
    );
  });
  connection = await first.connect(service.url, "key-of-the-service");
});
afterAll(async () => {
  await service.close();
  await second.dispose();
  await first.dispose();
  await database.drop();
  await rm(bytes, { recursive: true, force: true });
});

const submitRequests = () => service.requests.filter(({ method, url }) => method === "POST" && url.startsWith("/api/prompt"));

/** Handlers use the composition of their process; here two share one process. */
function at(harness: Harness, path: string, options: HarnessRequest): Promise<Response> {
  getProcessState().composition = harness.console;
  return harness.request(path, options);
}
const submit = (harness: Harness, key: string) =>
  at(harness, `/api/prompt?connection=${connection}`, {
    ...{ as: "operator", method: "POST", json: { prompt: { "1": { class_type: "SaveImage", inputs: {} } } } },
    headers: { "idempotency-key": key },
  });
const getStatus = async (harness: Harness, cookie: string) => (await at(harness, "/api/console/connections", { cookie })).status;

function gate(): { comes: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const comes = new Promise<void>((resolve) => (open = resolve));
  return { comes, open: () => open() };
}
/** A waiting console is recognised by its repeated query. */
async function waits(harness: Harness, work: Promise<unknown>): Promise<void> {
  let looks = 0;
  const { peers } = harness.console.store;
  const isUnderWay = peers.isUnderWay.bind(peers);
  peers.isUnderWay = (name) => ((looks += 1), isUnderWay(name));
  let isOver = false;
  void work.finally(() => (isOver = true));
  await until("it has looked twice, and goes on waiting", () => looks >= 2);
  expect(isOver).toBe(false);
  peers.isUnderWay = isUnderWay;
}

test("sends a parallel submission once and returns the same job to both", async () => {
  const gateOpen = gate();
  responses = [{ status: 200, comes: gateOpen.comes }];
  const firstResponse = submit(first, "a-key-that-is-sent-twice");
  await until("the service has it", () => submitRequests().length === 1);
  const secondResponse = submit(second, "a-key-that-is-sent-twice");
  await waits(second, secondResponse);
  const report = at(second, "/api/console/submissions/a-key-that-is-sent-twice", { as: "operator" });
  await waits(second, report);
  gateOpen.open();
  const ids = await Promise.all(
    [firstResponse, secondResponse].map(async (response) => ((await (await response).json()) as { prompt_id: string }).prompt_id),
  );
  expect(ids).toEqual(["job-1", "job-1"]);
  expect(await (await report).json()).toMatchObject({ state: "accepted", answer: { prompt_id: "job-1" } });
  expect(submitRequests()).toHaveLength(1);
});

test("resends a submission from one console after the other was refused", async () => {
  const gateOpen = gate();
  const before = submitRequests().length;
  responses = [{ status: 400, comes: gateOpen.comes }];
  const firstResponse = submit(first, "a-key-that-is-refused-first");
  await until("the service has it", () => submitRequests().length === before + 1);
  const secondResponse = submit(second, "a-key-that-is-refused-first");
  await waits(second, secondResponse);
  gateOpen.open();
  expect([(await firstResponse).status, (await secondResponse).status]).toEqual([400, 200]);
  expect(submitRequests()).toHaveLength(before + 2);
});

test("waits for another console's unsaved response and returns it", async () => {
  const key = "a-key-whose-answer-comes-late";
  const { submissions } = first.console.store;
  vi.spyOn(submissions, "accepted").mockRejectedValueOnce(new StoreUnavailable("the database is away"));
  const response: unknown = await (await submit(first, key)).json();
  expect(await (await at(second, `/api/console/submissions/${key}`, { as: "operator" })).json()).toMatchObject({
    state: "accepted",
    answer: response,
  });
});

/** Other suites have their own databases on this server. */
const holders = `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ShareLock'
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

test("remembers a console's running work while it lives", async () => {
  const { peers } = first.console.store;
  const isKnown = () => second.console.store.peers.isUnderWay("something long");
  const end = await peers.beginWork("something long");
  expect(await isKnown()).toBe(true);
  const holder = async () => (await queryDatabase<{ pid: number }>(database.url, holders))[0]?.pid;
  const before = await holder();
  await queryDatabase(database.url, `SELECT pg_terminate_backend(${before})`);
  await until("another connection holds on to it", async () => ![undefined, before].includes(await holder()));
  expect(await isKnown()).toBe(true);
  await end();
  expect(await isKnown()).toBe(false);
  await peers.beginWork("something that its console does not end");
  expect(await second.console.store.peers.isUnderWay("something that its console does not end")).toBe(true);
  await peers.close();
  await until(
    "it is known that it has ended",
    async () => !(await second.console.store.peers.isUnderWay("something that its console does not end")),
  );
  await peers.start({ onConnection: () => undefined, onData: () => undefined, onError: expect.fail });
});

test("forgets a connection's cache at all consoles when it changes", async () => {
  const { capabilities } = second.console;
  const knows = () => capabilities.get(connection, "queue.list");
  capabilities.record(connection, operations.listQueue, 501);
  expect(knows()).toBe(false);
  const change = { as: "admin", method: "PUT", json: { name: "Renamed" } } as const;
  expect((await at(first, `/api/console/connections/${connection}`, change)).status).toBe(200);
  await until("the other knows it", () => knows() === undefined);
});

describe("a change through one console", () => {
  const readList = async (harness: Harness) => {
    const response = await at(harness, `/api/jobs?connection=${connection}`, { as: "viewer" });
    return ((await response.json()) as { jobs: { id: string }[] }).jobs.map(({ id }) => id);
  };
  const removeJobs = () => {
    jobs = [];
    return at(first, `/api/history?connection=${connection}`, { as: "operator", method: "POST", json: { delete: ["done"] } });
  };
  beforeEach(() => void (jobs = [{ id: "done", status: "completed", create_time: 1_767_225_600_000 }]));

  test("sends live updates to the other console immediately", async () => {
    getProcessState().composition = second.console;
    const stream = await openLive(second, liveQuery([`job:done?connection=${connection}`]));
    await stream.next("the job", ({ event }) => event === "snapshot");
    expect((await removeJobs()).status).toBeLessThan(300);
    // Without the notice, a job that has ended is read again after 30 seconds.
    await until("its removal", () => stream.of("failure").some(({ failure }) => failure.code === "NOT_FOUND"), { timeoutMs: 20_000 });
    await stream.close();
  });

  test("ends response sharing at the other console", async () => {
    expect(await readList(second)).toEqual(["done"]);
    expect((await removeJobs()).status).toBeLessThan(300);
    await until("the empty list", async () => (await readList(second)).length === 0);
  });

  test("notifies the other console at most a few times a second", async () => {
    const jobAnswersSpy = vi.spyOn(second.console.jobAnswers, "changed");
    const change = { baseUrl: "http://127.0.0.1:9" };
    const notices = () => jobAnswersSpy.mock.calls.filter(([baseUrl]) => baseUrl === change.baseUrl).length;
    for (let count = 0; count < 1000; count += 1) first.console.noteChange(change);
    // The first immediately, the others together.
    await until("both notices", () => notices() >= 2);
    first.console.noteChange(change);
    await until("a later notice", () => notices() >= 3);
    expect(notices()).toBe(3);
  });

  test("is assumed after notifications may have been lost", async () => {
    const liveSpy = vi.spyOn(second.console.live, "changed");
    await endConnections(database.url);
    await until("the reconnection", () => liveSpy.mock.calls.some((change) => change[0] === undefined));
  });
});

test("accepts and ends a session at both consoles despite clock skew", async () => {
  const cookie = first.cookieOf("viewer");
  expect([await getStatus(first, cookie), await getStatus(second, cookie)]).toEqual([200, 200]);
  const member = await first.console.store.members.getByEmail("viewer@desk.test");
  const suspend = { as: "owner", method: "PUT", json: { disabled: true } } as const;
  expect((await at(second, `/api/console/members/${member?.id}`, suspend)).status).toBe(200);
  expect([await getStatus(first, cookie), await getStatus(second, cookie)]).toEqual([401, 401]);
});

test("applies read-only mode to both consoles", async () => {
  const putOptions = { as: "admin", method: "PUT", json: { note: "Moving" } } as const;
  expect((await at(first, "/api/console/read-only", putOptions)).status).toBeLessThan(300);
  expect((await submit(second, "a-key-while-read-only")).status).toBe(403);
  expect((await at(second, "/api/console/read-only", { as: "owner", method: "DELETE" })).status).toBeLessThan(300);
  expect((await submit(first, "a-key-while-read-only")).status).toBe(200);
});
