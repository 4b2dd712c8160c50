import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createLiveLeader, type TabsMessage } from "@/lib/browser/live/live-leader";
import { createLiveTab, type LiveMessage } from "@/lib/browser/live/live-tab";
import { until } from "@/tests/support/until";
import { formatSnapshot, openStream, startEventServer } from "./event-server";

const jobsPath = "/api/jobs?limit=1&connection=a";
let server: Awaited<ReturnType<typeof startEventServer>>;
let leave: () => void = () => undefined;

beforeEach(async () => {
  server = await startEventServer((response, { newTopics }) =>
    openStream(response, ...newTopics.map((topic) => formatSnapshot(topic, { jobs: [] }))),
  );
});
afterEach(async () => {
  leave();
  await server.stop();
  vi.useRealTimers();
});

type LiveTabOptions = Parameters<typeof createLiveTab>[0];

/** Opens a tab that connects to a shared worker. */
function openWorkerTab(options: Pick<LiveTabOptions, "request"> & Pick<Partial<LiveTabOptions>, "locks" | "channel">) {
  const { port1, port2 } = new MessageChannel();
  let reportError: () => void = () => undefined;
  const startWorker = (onError: () => void) => {
    reportError = onError;
    return port1;
  };
  const tab = createLiveTab({ startWorker, name: "live", ...options });
  tab.start();
  leave = () => {
    tab.close();
    port2.close();
  };
  return { tab, port: port2, failToStart: () => reportError() };
}

const getPayloads = (messages: LiveMessage<unknown>[]) => messages.flatMap((message) => ("response" in message ? [message.response] : []));

it("opens its own stream when the shared worker can't start", async () => {
  const messages: LiveMessage<unknown>[] = [];
  const channel = new BroadcastChannel("live test");
  const locks = { request: async (_name: string, _options: object, hold: () => unknown) => hold() };
  const { tab, failToStart } = openWorkerTab({ request: server.request, locks: locks, channel });
  tab.watch(jobsPath, (message) => messages.push(message));
  failToStart();
  await until("the list arrived", () => getPayloads(messages).length > 0);
});

it("sends its state to a new tab at once", async () => {
  const messages: TabsMessage[] = [];
  const leader = createLiveLeader({ request: server.request, send: (message) => messages.push(message) });
  const addTab = (tab: string) => leader.handle({ to: "leader", kind: "topics", tab, topics: ["queue"], newTopics: ["queue"] });
  addTab("first");
  const liveState = { to: "tabs", kind: "state", isLive: true };
  await until("the stream is live", () => messages.some((message) => message.kind === "state" && message.isLive));
  messages.length = 0;
  addTab("second");
  expect(messages).toEqual([liveState]);
  leader.stop();
});

it("reports a failure while the page is offline, then reloads all values", async () => {
  const messages: LiveMessage<unknown>[] = [];
  const { tab, port } = openWorkerTab({ request: () => Promise.reject(new TypeError("offline")) });
  const leader = createLiveLeader({ request: server.request, send: (message) => port.postMessage(message) });
  port.onmessage = ({ data }) => leader.handle(data);
  port.postMessage({ to: "tabs", kind: "lead" });
  tab.watch(jobsPath, (message) => messages.push(message));
  await until("the list arrived", () => getPayloads(messages).length > 0);
  await tab.setOnline(false);
  expect(messages.at(-1)).toMatchObject({ failure: { code: "CONSOLE_UNREACHABLE" } });
  await tab.setOnline(true);
  await until("the list arrived again", () => getPayloads(messages).length === 2);
  leader.stop();
});

it.each([
  ["never responds", false],
  ["stops responding", true],
])("becomes the leader when the shared worker %s", async (_name, hasStarted) => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"] });
  const messages: LiveMessage<unknown>[] = [];
  const { tab, port } = openWorkerTab({ request: server.request });
  if (hasStarted) port.postMessage({ to: "tabs", kind: "lead" });
  tab.watch(jobsPath, (message) => messages.push(message));
  await vi.advanceTimersByTimeAsync(40_000);
  await until("the list arrived", () => getPayloads(messages).length > 0);
});
