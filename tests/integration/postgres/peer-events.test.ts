// Events of jobs at one process that reach listeners at another one, over one PostgreSQL.
import pg from "pg";
import { afterEach, beforeEach, expect, inject, it } from "vitest";
import { createJobEvents, type JobEvents } from "@/lib/service/events/job-events";
import { createPostgresPeerEvents } from "@/lib/service/events/postgres-peer-events";
import { type Database } from "@/lib/service/store/database";
import { openPostgres } from "@/lib/service/store/postgres/database";
import { createPostgresProcesses } from "@/lib/service/store/postgres/processes";
import { type Processes } from "@/lib/service/store/processes";
import { ask, createDatabase, type OwnDatabase } from "@/tests/support/postgres-server";
import { openWire, type Wire } from "@/tests/support/postgres-wire";
import { until } from "@/tests/support/until";

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const job = { id: "job", userId: 1, clientId: undefined };
type End = { database: Database; processes: Processes; events: JobEvents };

let own: OwnDatabase;
let wire: Wire;
let here: End;
let there: End;
const notices: string[] = [];
let spy: pg.Client;

async function open(url: string): Promise<End> {
  const database = await openPostgres(url, Date.now);
  const processes = createPostgresProcesses(database, url, log);
  await processes.start({ slots: 1, hasSharedFiles: true });
  const events = createJobEvents(() => Promise.resolve(3), createPostgresPeerEvents(database, processes, log), log);
  return { database, processes, events };
}

beforeEach(async () => {
  own = await createDatabase(inject("postgres"));
  wire = await openWire(own.url);
  [here, there] = [await open(own.url), await open(wire.url)];
  notices.length = 0;
  spy = new pg.Client({ connectionString: own.url });
  await spy.connect();
  spy.on("notification", ({ payload = "" }) => /"(job events|end)"/.test(payload) && notices.push(payload));
  await spy.query("LISTEN lightdesk_service");
});
afterEach(async () => {
  wire.mend();
  for (const { events, processes, database } of [here, there]) {
    events.stop();
    await processes.close();
    await database.close();
  }
  await spy.end();
  await wire.close();
  await own.drop();
});

/** All messages that a listener at the other process gets. */
async function listenThere(clientId?: string) {
  const received: (string | Uint8Array)[] = [];
  const stop = await there.events.listen(1, clientId, (message) => void received.push(message));
  await until("it is known here", () => here.events.hasListeners(job));
  return { received, stop };
}
const shown = (received: readonly (string | Uint8Array)[]) =>
  received.map((item) => {
    if (typeof item !== "string") return `bytes ${item.length}`;
    const { type, data } = JSON.parse(item) as { type: string; data: Record<string, unknown> };
    return `${type} ${String(data.at ?? "")}`.trim();
  });

it("sends nothing while no other process listens", async () => {
  here.events.notify(job, "executing", { at: 0 });
  const { received, stop } = await listenThere();
  here.events.notify(job, "executing", { at: 1 });
  await until("it has arrived", () => received.length === 2);
  stop();
  await until("it is known here", () => !here.events.hasListeners(job));
  here.events.notify(job, "executing", { at: 2 });
  here.events.queueChanged(1);
  await here.processes.notify("end", null);
  await until("the last notice is seen", () => notices.at(-1)?.includes('"end"'));
  expect(shown(received)).toEqual(["status", "executing 1"]);
  expect(notices).toHaveLength(2);
});

it("delivers short and long texts and pictures whole, once and in order", async () => {
  const { received } = await listenThere();
  const long = "ü".repeat(30_000);
  const picture = new Uint8Array(60_000).map((_, at) => at % 251);
  for (let at = 0; at < 300; at += 1) here.events.notify(job, "executing", { at });
  here.events.notify(job, "executed", { at: 300, output: long });
  here.events.show(job, new Uint8Array(100));
  here.events.notify(job, "executed", { at: 301, quotes: '"'.repeat(5000) });
  here.events.show({ ...job, id: "other" }, picture);
  here.events.notify(job, "execution_success", { at: 302 });
  await until("the last has arrived", () => shown(received).includes("execution_success 302"));
  const executing = Array.from({ length: 300 }, (_, at) => `executing ${at}`);
  const rest = ["executed 300", "bytes 100", "executed 301", "bytes 60000", "execution_success 302"];
  expect(shown(received)).toEqual(["status", ...executing, ...rest]);
  expect(received).toContainEqual(Buffer.from(picture));
  expect(String(received[301])).toContain(long);
  // Many short events share one notice.
  expect(notices.length).toBeLessThan(60);
  for (const notice of notices) expect(Buffer.byteLength(notice)).toBeLessThan(8000);
});

it("drops outdated messages in favour of the next", async () => {
  const { received } = await listenThere();
  for (let at = 0; at < 500; at += 1) here.events.notify(job, "progress", { at });
  here.events.notify(job, "executed", { at: 500 });
  await until("the end has arrived", () => shown(received).includes("executed 500"));
  expect(shown(received).slice(-2)).toEqual(["progress 499", "executed 500"]);
  expect(received.length).toBeLessThan(10);
});

it("sends a client its own jobs and those without a client", async () => {
  const { received } = await listenThere("mine");
  here.events.notify({ ...job, clientId: "other" }, "executing", { at: 1 });
  here.events.notify({ ...job, clientId: "mine" }, "executing", { at: 2 });
  here.events.notify({ ...job, userId: 2 }, "executing", { at: 3 });
  here.events.notify(job, "executing", { at: 4 });
  await until("the last has arrived", () => shown(received).includes("executing 4"));
  expect(shown(received)).toEqual(["status", "executing 2", "executing 4"]);
});

it("sends a user's queue when changed and listened to", async () => {
  const { received } = await listenThere();
  here.events.queueChanged(1);
  await until("the state is told", () => shown(received).length === 2);
  expect(JSON.parse(String(received[1]))).toEqual({ type: "status", data: { status: { exec_info: { queue_remaining: 3 } } } });
});

it("resends the state after a lost line, nothing twice", async () => {
  const { received } = await listenThere();
  here.events.notify(job, "executing", { at: 1 });
  await until("it has arrived", () => received.length === 2);
  wire.cut();
  here.events.notify(job, "executing", { at: 2 });
  wire.mend();
  await until("the state is told", () => shown(received).at(-1) === "status");
  await until("it is known here again", () => here.events.hasListeners(job));
  here.events.notify(job, "executing", { at: 3 });
  await until("it has arrived", () => shown(received).includes("executing 3"));
  expect(shown(received)).toEqual(["status", "executing 1", "status", "executing 3"]);
});

it("sends the state instead of late messages", async () => {
  const received: (string | Uint8Array)[] = [];
  await here.events.listen(1, undefined, (message) => void received.push(message));
  await until("it is known there", () => there.events.hasListeners(job));
  wire.cut();
  there.events.notify(job, "executing", { at: 1 });
  wire.mend();
  await until("the state is told", () => shown(received).at(-1) === "status" && received.length > 1);
  there.events.notify(job, "executing", { at: 3 });
  await until("it has arrived", () => shown(received).includes("executing 3"));
  expect(shown(received)).toEqual(["status", "status", "executing 3"]);
});

it("learns the listeners at the start and drops long notices", async () => {
  const { received } = await listenThere();
  const late = await open(own.url);
  await until("it knows", () => late.events.hasListeners(job));
  late.events.show(job, new Uint8Array(50_000));
  await until("it has arrived", () => received.length === 2);
  late.events.stop();
  await late.processes.close();
  await late.database.close();
  const countQuery = "SELECT count(*)::integer AS n FROM lightdesk_service.long_notices";
  expect(await ask(own.url, countQuery)).toEqual([{ n: 1 }]);
  await ask(own.url, "UPDATE lightdesk_service.long_notices SET made_at = now() - interval '1 minute'");
  const { removeOldNotices } = await import("@/lib/service/events/postgres-peer-events");
  await removeOldNotices(here.database);
  expect(await ask(own.url, countQuery)).toEqual([{ n: 0 }]);
});
