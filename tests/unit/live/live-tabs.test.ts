import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { notifyResponse } from "@/lib/browser/api";
import { createLiveTab, type LiveMessage, type LiveTab } from "@/lib/browser/live/live-tab";
import { MAX_TOPICS } from "@/lib/contract/live";
import { until } from "@/tests/support/until";
import { formatEvent, formatSnapshot, openStream, startEventServer } from "./event-server";

let server: Awaited<ReturnType<typeof startEventServer>>;
const tabs: { tab: LiveTab; leave: () => void }[] = [];

beforeEach(async () => {
  server = await startEventServer((response, { newTopics }) =>
    openStream(response, ...newTopics.map((topic) => formatSnapshot(topic, { jobs: [] }))),
  );
});
afterEach(async () => {
  for (const { leave } of tabs.splice(0)) leave();
  await server.stop();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** Fakes the locks of one browser. `leave` releases a tab's locks, as closing it does. */
function createLocks() {
  type Request = { tab: object; hold: () => Promise<void> | void; lose: (error: Error) => void };
  const owners = new Map<string, Request>();
  const queues = new Map<string, Request[]>();
  const grant = (name: string) => {
    const queue = queues.get(name) ?? [];
    const next = owners.has(name) ? undefined : queue.shift();
    if (!next) return;
    owners.set(name, next);
    if (next.hold() !== undefined) return;
    owners.delete(name);
    grant(name);
  };
  return (tab: object) => ({
    request(name: string, { steal = false }: { steal?: boolean }, hold: Request["hold"]) {
      return new Promise((_, lose) => {
        const queue = queues.get(name) ?? [];
        queues.set(name, steal ? [{ tab, hold, lose }, ...queue] : [...queue, { tab, hold, lose }]);
        if (steal) owners.get(name)?.lose(new Error("another tab took the lock"));
        if (steal) owners.delete(name);
        grant(name);
      });
    },
    leave() {
      for (const queue of queues.values()) queue.splice(0, queue.length, ...queue.filter((request) => request.tab !== tab));
      for (const [name, owner] of [...owners]) {
        if (owner.tab !== tab) continue;
        owners.delete(name);
        grant(name);
      }
    },
  });
}

function openTab(createTabLocks: ReturnType<typeof createLocks>, times?: Parameters<typeof createLiveTab>[0]["times"]) {
  const locks = createTabLocks({});
  const channel = new BroadcastChannel("live test");
  const tab = createLiveTab({
    locks,
    channel,
    name: "live",
    request: server.request,
    times,
  });
  tab.start();
  const leave = () => {
    tab.close();
    locks.leave();
  };
  /** Freezes the tab, as a browser does in the background. */
  const freeze = () => Object.assign(channel, { postMessage: () => undefined, onmessage: null });
  const result = { tab, leave, freeze };
  tabs.push(result);
  return result;
}

const getPayloads = (messages: LiveMessage<unknown>[]) => messages.flatMap((message) => ("response" in message ? [message.response] : []));
const jobsPath = "/api/jobs?limit=1&connection=a";
const topic = "jobs?limit=1&connection=a";

it("shares one stream between 30 tabs, even after the leader closes", async () => {
  const createTabLocks = createLocks();
  const received = Array.from({ length: 30 }, () => new Array<LiveMessage<unknown>>());
  for (const messages of received) openTab(createTabLocks).tab.watch(jobsPath, (message) => messages.push(message));
  await until("each tab has the list", () => received.every((messages) => getPayloads(messages).length > 0));
  // The leader reopens the stream for new topics.
  await until("one stream is open", () => server.state.openResponses.size === 1);
  const before = server.state.streamRequests.length;
  tabs.shift()?.leave();
  await until("another tab leads", () => server.state.streamRequests.length > before && server.state.openResponses.size === 1);
  for (const response of server.state.openResponses) response.write(formatSnapshot(topic, { jobs: [{ id: "new" }] }, "a.9"));
  await until("the other tabs receive updates", () =>
    received.slice(1).every((messages) => JSON.stringify(getPayloads(messages).at(-1)) === '{"jobs":[{"id":"new"}]}'),
  );
});

it("takes over from a frozen leader tab", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"] });
  const createTabLocks = createLocks();
  const first = openTab(createTabLocks);
  const messages: LiveMessage<unknown>[] = [];
  openTab(createTabLocks).tab.watch(jobsPath, (message) => messages.push(message));
  await until("the list arrived", () => getPayloads(messages).length > 0);
  const before = server.state.streamRequests.length;
  first.freeze();
  await vi.advanceTimersByTimeAsync(40_000);
  await until("the other tab leads alone", () => server.state.streamRequests.length > before && server.state.openResponses.size === 1);
  for (const response of server.state.openResponses) response.write(formatSnapshot(topic, { jobs: [{ id: "new" }] }, "a.9"));
  await until("the other tab receives updates", () => JSON.stringify(getPayloads(messages).at(-1)) === '{"jobs":[{"id":"new"}]}');
});

it("updates all topics when they exceed the limit of one stream", async () => {
  let version = 1;
  const failure = { code: "SERVICE_UNAVAILABLE", message: "", status: 503 };
  server.state.reply = (response, { topics, newTopics, isSingleResponse }) => {
    if (!isSingleResponse) return openStream(response, ...newTopics.map((newTopic) => formatSnapshot(newTopic, { version })));
    if (version === 3) return response.writeHead(503, { "content-type": "application/json" }).end(JSON.stringify(failure));
    const events = [...topics, ...newTopics].map((eventTopic) => ({
      event: "snapshot",
      data: { topic: eventTopic, atMs: 1, value: { version } },
    }));
    return response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ id: "a.1", events }));
  };
  const { tab } = openTab(createLocks(), { busyPollMs: 10 });
  const received = Array.from({ length: 70 }, (_, index) => {
    const messages: LiveMessage<unknown>[] = [];
    tab.watch(`/api/jobs?limit=${index}`, (message) => messages.push(message));
    return messages;
  });
  await until("each topic has a value", () => received.every((messages) => getPayloads(messages).length > 0));
  version = 2;
  const isNew = (messages: LiveMessage<unknown>[]) => JSON.stringify(getPayloads(messages).at(-1)) === '{"version":2}';
  await until("the topics beyond the limit have the new value", () => received.filter(isNew).length >= 70 - MAX_TOPICS);
  expect(received.filter(isNew)).toHaveLength(70 - MAX_TOPICS);
  version = 3;
  await until("the failure arrived", () => received.filter((messages) => "failure" in (messages.at(-1) ?? {})).length >= 70 - MAX_TOPICS);
  expect(received.filter((messages) => messages.every((message) => "response" in message))).toHaveLength(MAX_TOPICS);
  const sizes = server.state.streamRequests.map(({ topics, newTopics }) => topics.length + newTopics.length);
  expect(Math.max(...sizes)).toBe(MAX_TOPICS);
  expect(server.state.streamRequests.filter(({ isSingleResponse }) => !isSingleResponse)).toHaveLength(1);
});

it("shares neither channel nor lock with another base path or an earlier version", async () => {
  const [channels, locks] = [new Array<string>(), new Array<string>()];
  const page = { visibilityState: "visible", location: { pathname: "/jobs" }, addEventListener: () => undefined };
  vi.stubGlobal("window", page);
  vi.stubGlobal("document", page);
  vi.stubGlobal("navigator", { locks: { request: async (lock: string) => void locks.push(lock) } });
  vi.stubGlobal(
    "BroadcastChannel",
    class {
      postMessage = () => undefined;
      constructor(channel: string) {
        channels.push(channel);
      }
    },
  );
  for (const basePath of ["", "/desk"]) {
    vi.stubEnv("NEXT_PUBLIC_LIGHTDESK_BASE_PATH", basePath);
    vi.resetModules();
    const { watchLive } = await import("@/lib/browser/live/live-client");
    watchLive(jobsPath, () => undefined);
  }
  vi.unstubAllEnvs();
  expect(new Set([...channels, "lightdesk live /", "lightdesk live /desk/"]).size).toBe(4);
  expect(locks.map((lock) => channels.findIndex((channel) => lock.startsWith(`${channel} `)))).toEqual([0, 1]);
});

it("changes only the job of an event", async () => {
  const messages: LiveMessage<unknown>[] = [];
  const { tab } = openTab(createLocks());
  tab.watch(`${jobsPath}#own`, (message) => messages.push(message));
  await until("the stream is open", () => getPayloads(messages).length > 0);
  const [response] = server.state.openResponses;
  const rows = [
    { id: "one", status: "pending" },
    { id: "two", status: "in_progress" },
  ];
  response?.write(formatSnapshot(topic, { jobs: rows, pagination: { total: 2 } }));
  response?.write(formatEvent("job.updated", { topic, atMs: 2, job: { id: "one", status: "in_progress" } }));
  response?.write(formatEvent("job.progress", { topic, atMs: 3, id: "two", progress: { value: 0.5 } }));
  response?.write(formatEvent("job.updated", { topic: "queue", atMs: 2, job: { id: "one", status: "of another topic" } }));
  response?.write(formatEvent("failure", { topic, atMs: 4, failure: { code: "UPSTREAM_UNREACHABLE", message: "", status: 502 } }));
  await until("the events arrived", () => messages.length === 5);
  expect(getPayloads(messages).at(-1)).toEqual({
    jobs: [
      { id: "one", status: "in_progress" },
      { id: "two", status: "in_progress", progress: { value: 0.5 } },
    ],
    pagination: { total: 2 },
  });
  expect(messages.at(-1)).toEqual({ failure: { code: "UPSTREAM_UNREACHABLE", message: "", status: 502 } });
});

it("drops the topics of a closed tab and of values no longer shown", async () => {
  const createTabLocks = createLocks();
  const messages: LiveMessage<unknown>[] = [];
  openTab(createTabLocks).tab.watch(jobsPath, (message) => messages.push(message));
  const otherTab = openTab(createTabLocks);
  const stop = otherTab.tab.watch("/api/console/queue?connection=a", (message) => messages.push(message));
  otherTab.tab.watch("/api/console/runners", (message) => messages.push(message));
  const getCurrentTopics = () =>
    [...(server.state.streamRequests.at(-1)?.topics ?? []), ...(server.state.streamRequests.at(-1)?.newTopics ?? [])].sort();
  await until("all topics are requested", () => getCurrentTopics().length === 3);
  stop();
  await until("the queue is no longer requested", () => getCurrentTopics().join() === `${topic},runners`);
  otherTab.leave();
  await until("only the list is requested", () => getCurrentTopics().join() === topic);
});

/** Shows two jobs and returns the received messages and an event writer. */
async function showTwoJobs() {
  const messages: LiveMessage<unknown>[] = [];
  const { tab } = openTab(createLocks());
  tab.watch(jobsPath, (message) => messages.push(message));
  await until("the stream is open", () => getPayloads(messages).length > 0);
  const write = async (...events: string[]) => {
    const before = messages.length;
    for (const response of server.state.openResponses) response.write(events.join(""));
    await until("the events arrived", () => messages.length === before + events.length);
  };
  await write(formatSnapshot(topic, { jobs: [{ id: "one", name: "old" }, { id: "two" }] }));
  return { messages, write };
}
const formatProgress = (value: number) => formatEvent("job.progress", { topic, atMs: 2, id: "one", progress: { value } });

it("applies progress to a newer list that a screen read itself", async () => {
  const { messages, write } = await showTwoJobs();
  await write(formatProgress(0.1));
  const entry = {
    path: `${jobsPath}#own`,
    method: "GET",
    status: 200,
    startedMs: Date.now() + 1,
    value: { jobs: [{ id: "one", name: "new" }] },
  };
  notifyResponse(entry);
  expect(getPayloads(messages).at(-1)).toEqual(entry.value);
  await write(formatProgress(0.2));
  expect(getPayloads(messages).at(-1)).toEqual({ jobs: [{ id: "one", name: "new", progress: { value: 0.2 } }] });
});

it("keeps a change that arrives during a read, without removed rows", async () => {
  const { messages, write } = await showTwoJobs();
  const startedMs = Date.now() + 1;
  await until("time passes", () => Date.now() >= startedMs);
  await write(formatProgress(0.3));
  notifyResponse({ path: jobsPath, method: "GET", status: 200, startedMs, value: { jobs: [{ id: "one", name: "new" }] } });
  expect(getPayloads(messages).at(-1)).toEqual({ jobs: [{ id: "one", name: "new", progress: { value: 0.3 } }] });
});

it.each([
  ["an earlier state", formatEvent("job.updated", { topic, atMs: 2, job: { id: "one", status: "in_progress" } })],
  ["progress", formatProgress(0.3)],
])("keeps an ended job that a screen has read when %s arrives meanwhile", async (_name, event) => {
  const { messages, write } = await showTwoJobs();
  const startedMs = Date.now() + 1;
  await until("time passes", () => Date.now() >= startedMs);
  await write(event);
  const value = { jobs: [{ id: "one", status: "completed" }] };
  notifyResponse({ path: jobsPath, method: "GET", status: 200, startedMs, value });
  expect(getPayloads(messages).at(-1)).toEqual(value);
  await write(formatProgress(0.4));
  expect(getPayloads(messages).at(-1)).toEqual(value);
});

it("reloads the list when a snapshot arrives during a screen's read", async () => {
  const newest = { jobs: [{ id: "newest" }] };
  const { messages, write } = await showTwoJobs();
  const fetchNewest = vi.fn<typeof fetch>().mockImplementation(async () => Response.json(newest));
  vi.stubGlobal("fetch", fetchNewest);
  const startedMs = Date.now() + 1;
  await until("time passes", () => Date.now() >= startedMs);
  await write(formatSnapshot(topic, { jobs: [{ id: "of the snapshot" }] }));
  const shownBefore = getPayloads(messages).length;
  const snapshotMs = Date.now();
  await until("time passes", () => Date.now() > snapshotMs);
  notifyResponse({ path: jobsPath, method: "GET", status: 200, startedMs, value: { jobs: [{ id: "read" }] } });
  await until("the newest is shown", () => getPayloads(messages).length > shownBefore);
  expect(getPayloads(messages).slice(shownBefore)).toEqual([newest]);
  expect(fetchNewest.mock.calls.map(([path]) => path)).toEqual([jobsPath]);
});

it("shows a screen's own read after the stream fails", async () => {
  server.state.reply = (response) => response.writeHead(502).end();
  const messages: LiveMessage<unknown>[] = [];
  const { tab } = openTab(createLocks());
  tab.watch(jobsPath, (message) => messages.push(message));
  await until("the failure arrived", () => messages.length > 0);
  notifyResponse({ path: jobsPath, method: "GET", status: 200, value: { jobs: [] } });
  expect(messages.at(-1)).toEqual({ response: { jobs: [] } });
});
