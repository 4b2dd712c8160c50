// Job events that reach listeners of another process through PostgreSQL.
import pg from "pg";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createJobEvents, type JobEvents } from "@/lib/service/events/job-events";
import { createPostgresPeerEvents, removeOldNotices } from "@/lib/service/events/postgres-peer-events";
import { type Database } from "@/lib/service/store/database";
import { openPostgres } from "@/lib/service/store/postgres/database";
import { createPostgresProcesses } from "@/lib/service/store/postgres/processes";
import { type Processes } from "@/lib/service/store/processes";
import { openTestDatabase, type PostgresProxy, startPostgresProxy } from "@/tests/support/postgres-proxy";
import { queryDatabase } from "@/tests/support/postgres-server";
import { until } from "@/tests/support/until";

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const job = { id: "job", userId: 1, clientId: undefined };
type Peer = { database: Database; processes: Processes; events: JobEvents };

let databaseUrl: string;
let wire: PostgresProxy;
let first: Peer;
let second: Peer;
const notices: string[] = [];
let noticeClient: pg.Client;

async function openPeer(url: string): Promise<Peer> {
  const database = await openPostgres(url, Date.now);
  const processes = createPostgresProcesses(database, url, log);
  await processes.start({ slots: 1, hasSharedFiles: true });
  const events = createJobEvents(() => Promise.resolve(3), createPostgresPeerEvents(database, processes, log), log);
  return { database, processes, events };
}

async function closePeer({ events, processes, database }: Peer): Promise<void> {
  events.stop();
  await processes.close();
  await database.close();
}

beforeEach(async () => {
  databaseUrl = await openTestDatabase();
  wire = await startPostgresProxy(databaseUrl);
  [first, second] = [await openPeer(databaseUrl), await openPeer(wire.url)];
  notices.length = 0;
  noticeClient = new pg.Client({ connectionString: databaseUrl });
  await noticeClient.connect();
  noticeClient.on("notification", ({ payload = "" }) => /"(job events|end)"/.test(payload) && notices.push(payload));
  await noticeClient.query("LISTEN lightdesk_service");
});
afterEach(async () => {
  wire.restore();
  for (const peer of [first, second]) await closePeer(peer);
  await noticeClient.end();
});

/** Listens at the second process and collects all messages. */
async function listenAtPeer(clientId?: string) {
  const received: (string | Uint8Array)[] = [];
  const stop = await second.events.listen(1, clientId, (message) => void received.push(message));
  await until("the listener is registered", () => first.events.hasListeners(job));
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
  await until("the event arrives", () => received.length === 2);
  stop();
  await until("the listener is removed", () => !first.events.hasListeners(job));
  first.events.notify(job, "executing", { at: 2 });
  first.events.notifyQueueChanged(1);
  await first.processes.notify("end", null);
  await until("the last notice arrives", () => notices.at(-1)?.includes('"end"'));
  expect(decode(received)).toEqual(["status", "executing 1"]);
  expect(notices).toHaveLength(2);
});

it("delivers texts and images of any length once and in order", async () => {
  const { received } = await listenAtPeer();
  const longText = "ü".repeat(30_000);
  const image = new Uint8Array(60_000).map((_, index) => index % 251);
  for (let at = 0; at < 300; at += 1) first.events.notify(job, "executing", { at });
  first.events.notify(job, "executed", { at: 300, output: longText });
  first.events.sendPreview(job, new Uint8Array(100));
  first.events.notify(job, "executed", { at: 301, quotes: '"'.repeat(5000) });
  first.events.sendPreview({ ...job, id: "other" }, image);
  first.events.notify(job, "execution_success", { at: 302 });
  await until("the last event arrives", () => decode(received).includes("execution_success 302"));
  const executing = Array.from({ length: 300 }, (_, index) => `executing ${index}`);
  const remaining = ["executed 300", "bytes 100", "executed 301", "bytes 60000", "execution_success 302"];
  expect(decode(received)).toEqual(["status", ...executing, ...remaining]);
  expect(received).toContainEqual(Buffer.from(image));
  expect(String(received[301])).toContain(longText);
  // Many short events share one notice.
  expect(notices.length).toBeLessThan(60);
  for (const notice of notices) expect(Buffer.byteLength(notice)).toBeLessThan(8000);
});

it("drops outdated progress messages", async () => {
  const { received } = await listenAtPeer();
  for (let at = 0; at < 500; at += 1) first.events.notify(job, "progress", { at });
  first.events.notify(job, "executed", { at: 500 });
  await until("the last event arrives", () => decode(received).includes("executed 500"));
  expect(decode(received).slice(-2)).toEqual(["progress 499", "executed 500"]);
  expect(received.length).toBeLessThan(10);
});

it("sends a client the events of its own jobs and of jobs without a client", async () => {
  const { received } = await listenAtPeer("mine");
  first.events.notify({ ...job, clientId: "other" }, "executing", { at: 1 });
  first.events.notify({ ...job, clientId: "mine" }, "executing", { at: 2 });
  first.events.notify({ ...job, userId: 2 }, "executing", { at: 3 });
  first.events.notify(job, "executing", { at: 4 });
  await until("the last event arrives", () => decode(received).includes("executing 4"));
  expect(decode(received)).toEqual(["status", "executing 2", "executing 4"]);
});

it("sends a user's queue state when it changes and has listeners", async () => {
  const { received } = await listenAtPeer();
  first.events.notifyQueueChanged(1);
  await until("the state is sent", () => decode(received).length === 2);
  expect(JSON.parse(String(received[1]))).toEqual({ type: "status", data: { status: { exec_info: { queue_remaining: 3 } } } });
});

it("resends the state once after a lost connection", async () => {
  const { received } = await listenAtPeer();
  first.events.notify(job, "executing", { at: 1 });
  await until("the event arrives", () => received.length === 2);
  wire.cut();
  first.events.notify(job, "executing", { at: 2 });
  wire.restore();
  await until("the state is sent", () => decode(received).at(-1) === "status");
  await until("the listener is registered again", () => first.events.hasListeners(job));
  first.events.notify(job, "executing", { at: 3 });
  await until("the event arrives", () => decode(received).includes("executing 3"));
  expect(decode(received)).toEqual(["status", "executing 1", "status", "executing 3"]);
});

it("sends the state instead of late messages", async () => {
  const received: (string | Uint8Array)[] = [];
  await first.events.listen(1, undefined, (message) => void received.push(message));
  await until("the listener is registered", () => second.events.hasListeners(job));
  wire.cut();
  second.events.notify(job, "executing", { at: 1 });
  wire.restore();
  await until("the state is sent", () => decode(received).at(-1) === "status" && received.length > 1);
  second.events.notify(job, "executing", { at: 3 });
  await until("the event arrives", () => decode(received).includes("executing 3"));
  expect(decode(received)).toEqual(["status", "status", "executing 3"]);
});

it("loads existing listeners at start and removes old long notices", async () => {
  const { received } = await listenAtPeer();
  const latePeer = await openPeer(databaseUrl);
  await until("the new process has loaded the listeners", () => latePeer.events.hasListeners(job));
  latePeer.events.sendPreview(job, new Uint8Array(50_000));
  await until("the event arrives", () => received.length === 2);
  await closePeer(latePeer);
  const countQuery = "SELECT count(*)::integer AS n FROM lightdesk_service.long_notices";
  expect(await queryDatabase(databaseUrl, countQuery)).toEqual([{ n: 1 }]);
  await queryDatabase(databaseUrl, "UPDATE lightdesk_service.long_notices SET made_at = now() - interval '1 minute'");
  await removeOldNotices(first.database);
  expect(await queryDatabase(databaseUrl, countQuery)).toEqual([{ n: 0 }]);
});
