// Events of jobs at one process that reach listeners at another one, over one PostgreSQL.
import pg from "pg";
import { afterEach, beforeEach, expect, inject, it } from "vitest";
import { createJobEvents, type JobEvents } from "@/lib/service/events/job-events";
import { createPostgresPeerEvents } from "@/lib/service/events/postgres-peer-events";
import { type Database } from "@/lib/service/store/database";
import { openPostgres } from "@/lib/service/store/postgres/database";
import { createPostgresProcesses } from "@/lib/service/store/postgres/processes";
import { type Processes } from "@/lib/service/store/processes";
import { createDatabase, queryDatabase, type TestDatabase } from "@/tests/support/postgres-server";
import { openWire, type Wire } from "@/tests/support/postgres-wire";
import { until } from "@/tests/support/until";

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const job = { id: "job", userId: 1, clientId: undefined };
type End = { database: Database; processes: Processes; events: JobEvents };

let ownDatabase: TestDatabase;
let wire: Wire;
let first: End;
let second: End;
const notices: string[] = [];
let spy: pg.Client;

async function openEnd(url: string): Promise<End> {
  const database = await openPostgres(url, Date.now);
  const processes = createPostgresProcesses(database, url, log);
  await processes.start({ slots: 1, hasSharedFiles: true });
  const events = createJobEvents(() => Promise.resolve(3), createPostgresPeerEvents(database, processes, log), log);
  return { database, processes, events };
}

beforeEach(async () => {
  ownDatabase = await createDatabase(inject("postgres"));
  wire = await openWire(ownDatabase.url);
  [first, second] = [await openEnd(ownDatabase.url), await openEnd(wire.url)];
  notices.length = 0;
  spy = new pg.Client({ connectionString: ownDatabase.url });
  await spy.connect();
  spy.on("notification", ({ payload = "" }) => /"(job events|end)"/.test(payload) && notices.push(payload));
  await spy.query("LISTEN lightdesk_service");
});
afterEach(async () => {
  wire.mend();
  for (const { events, processes, database } of [first, second]) {
    events.stop();
    await processes.close();
    await database.close();
  }
  await spy.end();
  await wire.close();
  await ownDatabase.drop();
});

/** All messages that a listener at the other process gets. */
async function listenAtPeer(clientId?: string) {
  const received: (string | Uint8Array)[] = [];
  const stop = await second.events.listen(1, clientId, (message) => void received.push(message));
  await until("it is known here", () => first.events.hasListeners(job));
  return { received, stop };
}
const decode = (received: readonly (string | Uint8Array)[]) =>
  received.map((item) => {
    if (typeof item !== "string") return `bytes ${item.length}`;
    const { type, data } = JSON.parse(item) as { type: string; data: Record<string, unknown> };
    return `${type} ${String(data.at ?? "")}`.trim();
  });

it("sends nothing while no other process listens", async () => {
  first.events.notify(job, "executing", { at: 0 });
  const { received, stop } = await listenAtPeer();
  first.events.notify(job, "executing", { at: 1 });
  await until("it has arrived", () => received.length === 2);
  stop();
  await until("it is known here", () => !first.events.hasListeners(job));
  first.events.notify(job, "executing", { at: 2 });
  first.events.queueChanged(1);
  await first.processes.notify("end", null);
  await until("the last notice is seen", () => notices.at(-1)?.includes('"end"'));
  expect(decode(received)).toEqual(["status", "executing 1"]);
  expect(notices).toHaveLength(2);
});

it("delivers short and long texts and pictures whole, once and in order", async () => {
  const { received } = await listenAtPeer();
  const long = "ü".repeat(30_000);
  const picture = new Uint8Array(60_000).map((_, at) => at % 251);
  for (let at = 0; at < 300; at += 1) first.events.notify(job, "executing", { at });
  first.events.notify(job, "executed", { at: 300, output: long });
  first.events.show(job, new Uint8Array(100));
  first.events.notify(job, "executed", { at: 301, quotes: '"'.repeat(5000) });
  first.events.show({ ...job, id: "other" }, picture);
  first.events.notify(job, "execution_success", { at: 302 });
  await until("the last has arrived", () => decode(received).includes("execution_success 302"));
  const executing = Array.from({ length: 300 }, (_, at) => `executing ${at}`);
  const rest = ["executed 300", "bytes 100", "executed 301", "bytes 60000", "execution_success 302"];
  expect(decode(received)).toEqual(["status", ...executing, ...rest]);
  expect(received).toContainEqual(Buffer.from(picture));
  expect(String(received[301])).toContain(long);
  // Many short events share one notice.
  expect(notices.length).toBeLessThan(60);
  for (const notice of notices) expect(Buffer.byteLength(notice)).toBeLessThan(8000);
});

it("drops outdated messages in favour of the next", async () => {
  const { received } = await listenAtPeer();
  for (let at = 0; at < 500; at += 1) first.events.notify(job, "progress", { at });
  first.events.notify(job, "executed", { at: 500 });
  await until("the end has arrived", () => decode(received).includes("executed 500"));
  expect(decode(received).slice(-2)).toEqual(["progress 499", "executed 500"]);
  expect(received.length).toBeLessThan(10);
});

it("sends a client its own jobs and those without a client", async () => {
  const { received } = await listenAtPeer("mine");
  first.events.notify({ ...job, clientId: "other" }, "executing", { at: 1 });
  first.events.notify({ ...job, clientId: "mine" }, "executing", { at: 2 });
  first.events.notify({ ...job, userId: 2 }, "executing", { at: 3 });
  first.events.notify(job, "executing", { at: 4 });
  await until("the last has arrived", () => decode(received).includes("executing 4"));
  expect(decode(received)).toEqual(["status", "executing 2", "executing 4"]);
});

it("sends a user's queue when changed and listened to", async () => {
  const { received } = await listenAtPeer();
  first.events.queueChanged(1);
  await until("the state is told", () => decode(received).length === 2);
  expect(JSON.parse(String(received[1]))).toEqual({ type: "status", data: { status: { exec_info: { queue_remaining: 3 } } } });
});

it("resends the state once after a lost connection", async () => {
  const { received } = await listenAtPeer();
  first.events.notify(job, "executing", { at: 1 });
  await until("it has arrived", () => received.length === 2);
  wire.cut();
  first.events.notify(job, "executing", { at: 2 });
  wire.mend();
  await until("the state is told", () => decode(received).at(-1) === "status");
  await until("it is known here again", () => first.events.hasListeners(job));
  first.events.notify(job, "executing", { at: 3 });
  await until("it has arrived", () => decode(received).includes("executing 3"));
  expect(decode(received)).toEqual(["status", "executing 1", "status", "executing 3"]);
});

it("sends the state instead of late messages", async () => {
  const received: (string | Uint8Array)[] = [];
  await first.events.listen(1, undefined, (message) => void received.push(message));
  await until("it is known there", () => second.events.hasListeners(job));
  wire.cut();
  second.events.notify(job, "executing", { at: 1 });
  wire.mend();
  await until("the state is told", () => decode(received).at(-1) === "status" && received.length > 1);
  second.events.notify(job, "executing", { at: 3 });
  await until("it has arrived", () => decode(received).includes("executing 3"));
  expect(decode(received)).toEqual(["status", "status", "executing 3"]);
});

it("reads the listeners at the start and drops long notices", async () => {
  const { received } = await listenAtPeer();
  const lateProcess = await openEnd(ownDatabase.url);
  await until("it knows", () => lateProcess.events.hasListeners(job));
  lateProcess.events.show(job, new Uint8Array(50_000));
  await until("it has arrived", () => received.length === 2);
  lateProcess.events.stop();
  await lateProcess.processes.close();
  await lateProcess.database.close();
  const countQuery = "SELECT count(*)::integer AS n FROM lightdesk_service.long_notices";
  expect(await queryDatabase(ownDatabase.url, countQuery)).toEqual([{ n: 1 }]);
  await queryDatabase(ownDatabase.url, "UPDATE lightdesk_service.long_notices SET made_at = now() - interval '1 minute'");
  const { removeOldNotices } = await import("@/lib/service/events/postgres-peer-events");
  await removeOldNotices(first.database);
  expect(await queryDatabase(ownDatabase.url, countQuery)).toEqual([{ n: 0 }]);
});
