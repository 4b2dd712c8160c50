// Two whole consoles on one database: each acts on changes of the other, and waits for work that the other has in progress.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, test, vi } from "vitest";
import { operations } from "@/lib/contract/operations";
import { setRunningComposition } from "@/lib/server/running";
import { StoreAway } from "@/lib/shared/error-codes";
import { type Asking, createHarness, type Harness } from "@/tests/support/harness";
import { answerJson, type LittleServer, startLittleServer } from "@/tests/support/little-server";
import { ask, createDatabase, type OwnDatabase } from "@/tests/support/postgres-server";
import { until } from "@/tests/support/until";

const FIVE_MINUTES_MS = 300_000;
let database: OwnDatabase;
let bytes: string;
let first: Harness;
let second: Harness;
let service: LittleServer;
let connection: string;
/** The service's answers to the next submissions, in order. */
let answers: { status: number; comes: Promise<unknown> }[] = [];

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
    made: await mkdtemp(join(tmpdir(), "lightdesk-second-")),
    now: () => Date.now() + FIVE_MINUTES_MS,
  });
  service = await startLittleServer(async ({ method }, response) => {
    if (method !== "POST") return answerJson(response, {}, 404);
    const { status, comes } = answers.shift() ?? { status: 200, comes: undefined };
    await comes;
    answerJson(response, status === 200 ? { prompt_id: `job-${sent().length}`, number: 1, node_errors: {} } : { error: "no" }, status);
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

const sent = () => service.seen.filter(({ method }) => method === "POST");

/** Handlers use the composition of their process; here two share one process. */
function at(harness: Harness, path: string, asking: Asking): Promise<Response> {
  setRunningComposition(harness.console);
  return harness.request(path, asking);
}
const submit = (harness: Harness, key: string) =>
  at(harness, `/api/prompt?connection=${connection}`, {
    ...{ as: "operator", method: "POST", json: { prompt: { "1": { class_type: "SaveImage", inputs: {} } } } },
    headers: { "idempotency-key": key },
  });
const statusOf = async (harness: Harness, cookie: string) => (await at(harness, "/api/console/connections", { cookie })).status;

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

test("a submission that is on its way at one console is sent once: the other waits for its answer, and tells the same job", async () => {
  const gateOpen = gate();
  answers = [{ status: 200, comes: gateOpen.comes }];
  const one = submit(first, "a-key-that-is-sent-twice");
  await until("the service has it", () => sent().length === 1);
  const other = submit(second, "a-key-that-is-sent-twice");
  await waits(second, other);
  const report = at(second, "/api/console/submissions/a-key-that-is-sent-twice", { as: "operator" });
  await waits(second, report);
  gateOpen.open();
  const ids = await Promise.all([one, other].map(async (answer) => ((await (await answer).json()) as { prompt_id: string }).prompt_id));
  expect(ids).toEqual(["job-1", "job-1"]);
  expect(await (await report).json()).toMatchObject({ state: "accepted", answer: { prompt_id: "job-1" } });
  expect(sent()).toHaveLength(1);
});

test("where the service refuses what one console sent, the other sends it anew, since nothing was started", async () => {
  const gateOpen = gate();
  const before = sent().length;
  answers = [{ status: 400, comes: gateOpen.comes }];
  const one = submit(first, "a-key-that-is-refused-first");
  await until("the service has it", () => sent().length === before + 1);
  const other = submit(second, "a-key-that-is-refused-first");
  await waits(second, other);
  gateOpen.open();
  expect([(await one).status, (await other).status]).toEqual([400, 200]);
  expect(sent()).toHaveLength(before + 2);
});

test("an answer that one console could not store yet is waited for by the other, and answered as it is", async () => {
  const key = "a-key-whose-answer-comes-late";
  const { submissions } = first.console.store;
  vi.spyOn(submissions, "accepted").mockRejectedValueOnce(new StoreAway("the database is away"));
  const answer: unknown = await (await submit(first, key)).json();
  expect(await (await at(second, `/api/console/submissions/${key}`, { as: "operator" })).json()).toMatchObject({
    state: "accepted",
    answer,
  });
});

/** Other suites have their own databases on this server. */
const holders = `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ShareLock'
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

test("what a console is in the middle of is known for as long as it lives, also over a lost connection", async () => {
  const { peers } = first.console.store;
  const isKnown = () => second.console.store.peers.isUnderWay("something long");
  const end = await peers.beginWork("something long");
  expect(await isKnown()).toBe(true);
  const holder = async () => (await ask<{ pid: number }>(database.url, holders))[0]?.pid;
  const before = await holder();
  await ask(database.url, `SELECT pg_terminate_backend(${before})`);
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
  await peers.start(() => undefined);
});

test("what was remembered of a connection is forgotten at all consoles when it is changed at one", async () => {
  const { capabilities } = second.console;
  const knows = () => capabilities.knows(connection, "queue.list");
  capabilities.learn(connection, operations.listQueue, 501);
  expect(knows()).toBe(false);
  const change = { as: "admin", method: "PUT", json: { name: "Renamed" } } as const;
  expect((await at(first, `/api/console/connections/${connection}`, change)).status).toBe(200);
  await until("the other knows it", () => knows() === undefined);
});

test("a session is good at both, whatever their clocks say, and ends at both at once", async () => {
  const cookie = first.cookieOf("viewer");
  expect([await statusOf(first, cookie), await statusOf(second, cookie)]).toEqual([200, 200]);
  const member = await first.console.store.members.getByEmail("viewer@desk.test");
  const suspend = { as: "owner", method: "PUT", json: { disabled: true } } as const;
  expect((await at(second, `/api/console/members/${member?.id}`, suspend)).status).toBe(200);
  expect([await statusOf(first, cookie), await statusOf(second, cookie)]).toEqual([401, 401]);
});

test("what makes the console read-only at one does so at both", async () => {
  const put = { as: "admin", method: "PUT", json: { note: "Moving" } } as const;
  expect((await at(first, "/api/console/read-only", put)).status).toBeLessThan(300);
  expect((await submit(second, "a-key-while-read-only")).status).toBe(403);
  expect((await at(second, "/api/console/read-only", { as: "owner", method: "DELETE" })).status).toBeLessThan(300);
  expect((await submit(first, "a-key-while-read-only")).status).toBe(200);
});
