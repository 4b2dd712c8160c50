import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createLiveStream, type LiveStream, type StreamEvent } from "@/lib/browser/live/live-stream";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { until } from "@/tests/support/until";
import { line, openStream, snapshot, startEventServer } from "./event-server";

type Server = Awaited<ReturnType<typeof startEventServer>>;
let server: Server;
let stream: LiveStream;
let events: StreamEvent[];
let failures: ApiFailure[];
let states: boolean[];

beforeEach(async () => {
  [events, failures, states] = [[], [], []];
  server = await startEventServer((response) => openStream(response));
});
afterEach(async () => {
  stream.close();
  await server.stop();
});

function start(times: Parameters<typeof createLiveStream>[0]["times"] = {}): LiveStream {
  stream = createLiveStream({
    request: server.request,
    onEvent: (event) => events.push(event),
    onFailure: (failure) => failures.push(failure),
    onState: (isLive) => states.push(isLive),
    times: { firstRetryMs: 20, ...times },
  });
  return stream;
}
const values = () => events.flatMap(({ event, data }) => (event === "snapshot" ? [JSON.parse(data).value] : []));
const streamRequests = () => server.state.streamRequests;

it("opens one stream for topics that change together", async () => {
  start().setTopics(["queue"]);
  stream.setTopics(["queue", "counts"]);
  await until("the stream is open", () => states.includes(true));
  expect(streamRequests()).toMatchObject([{ topics: [], newTopics: ["queue", "counts"] }]);
  for (const response of server.state.open) response.write(snapshot("queue", 1, "a.1") + snapshot("counts", 2, "a.2"));
  await until("the values arrived", () => values().length === 2);
  stream.setTopics(["queue", "tasks"]);
  await until("the stream is opened again", () => streamRequests().length === 2);
  expect(streamRequests()[1]).toEqual({ topics: ["queue"], newTopics: ["tasks"], lastId: "a.2", isOneAnswer: false });
});

it("resumes with the last event id after an interruption", async () => {
  server.state.reply = (response, { lastId }) => {
    openStream(response, lastId === undefined ? snapshot("queue", 1, "a.1") : snapshot("queue", 2, "a.2"));
    if (lastId === undefined) setImmediate(() => response.destroy());
  };
  start().setTopics(["queue"]);
  await until("the second value arrived", () => values().length === 2);
  expect(values()).toEqual([1, 2]);
  expect(streamRequests()[1]).toEqual({ topics: ["queue"], newTopics: [], lastId: "a.1", isOneAnswer: false });
  expect(failures).toEqual([]);
});

it("reports an unreachable console and reloads everything afterwards", async () => {
  let isUnavailable = true;
  server.state.reply = (response) => (isUnavailable ? response.destroy() : openStream(response, snapshot("queue", 1)));
  start().setTopics(["queue"]);
  await until("the failure is reported", () => failures.length > 0);
  expect(failures[0]).toMatchObject({ code: "CONSOLE_UNREACHABLE", status: 0 });
  isUnavailable = false;
  await until("the value arrived", () => values().length === 1);
  expect(streamRequests().at(-1)).toMatchObject({ topics: [], newTopics: ["queue"] });
});

it("falls back to requests when a proxy buffers the stream, then retries it", async () => {
  let isBuffered = true;
  server.state.reply = (response, { isOneAnswer }) => {
    if (isOneAnswer) {
      const events = [{ event: "snapshot", data: { topic: "queue", atMs: 1, value: streamRequests().length } }];
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ id: "a.7", events }));
    } else if (!isBuffered) openStream(response);
  };
  start({ helloMs: 300, busyMs: 10, requestsMs: 300 }).setTopics(["queue"]);
  await until("several answers arrived", () => values().length > 2);
  const requests = streamRequests().filter(({ isOneAnswer }) => isOneAnswer);
  expect(requests.slice(0, 2)).toEqual([
    { topics: [], newTopics: ["queue"], isOneAnswer: true },
    { topics: ["queue"], newTopics: [], lastId: "a.7", isOneAnswer: true },
  ]);
  expect(failures).toEqual([]);
  isBuffered = false;
  await until("the stream is open", () => states.includes(true));
});

it("falls back to requests when heartbeats stop", async () => {
  server.state.reply = (response, { isOneAnswer }) => {
    if (isOneAnswer) response.writeHead(200, { "content-type": "application/json" }).end('{"id":"a.1","events":[]}');
    else openStream(response);
  };
  start({ silenceMs: 50 }).setTopics(["queue"]);
  await until("a request followed", () => streamRequests().some(({ isOneAnswer }) => isOneAnswer));
  expect(states).toEqual([true, false]);
});

it.each([429, 403, 502, 503])("falls back to requests when streams alone are refused with %i", async (status) => {
  let isRefused = true;
  server.state.reply = (response, { isOneAnswer }) => {
    if (isOneAnswer) {
      const events = [{ event: "snapshot", data: { topic: "queue", atMs: 1, value: streamRequests().length } }];
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ id: "a.7", events }));
    } else if (isRefused) response.writeHead(status, { "content-type": "text/html" }).end("<html>No streams</html>");
    else openStream(response);
  };
  start({ busyMs: 10, maxRetryMs: 100 }).setTopics(["queue"]);
  await until("the stream is tried again between requests", () => streamRequests().filter(({ isOneAnswer }) => !isOneAnswer).length > 2);
  expect(values().length).toBeGreaterThan(0);
  expect(failures).toMatchObject([{ status }]);
  isRefused = false;
  await until("the stream is open", () => states.includes(true));
});

it.each([
  ["a page", 200, 502, "CONSOLE_UNREACHABLE"],
  ["a redirect to the sign-in", 302, 401, "UNAUTHORIZED"],
])("reports %s instead of the stream", async (_, status, reportedStatus, code) => {
  server.state.reply = (response) =>
    response.writeHead(status, { "content-type": "text/html", location: "/sign-in" }).end("<html>Welcome</html>");
  start().setTopics(["queue"]);
  await until("the failure is reported", () => failures.length > 0);
  expect(failures[0]).toMatchObject({ status: reportedStatus, code, message: "" });
});

it("reports why the console ended the stream and waits for a sign-in", async () => {
  const failure = { code: "UNAUTHORIZED", message: "Your session has ended.", status: 401 };
  server.state.reply = (response, { isOneAnswer }) => {
    if (isOneAnswer || streamRequests().length > 1) response.writeHead(401).end();
    else openStream(response, line("end", { failure }));
  };
  start({ firstRetryMs: 1, maxRetryMs: 60_000 }).setTopics(["queue"]);
  for (const [index, next] of (["reconnect", "reconnect", "restart"] as const).entries()) {
    await until("the failure is reported", () => failures.length === index + 1);
    for (let trip = 0; trip < 20; trip += 1) await (await server.request("/", {})).text();
    // A stream each time: the refusal is no reason to poll.
    expect(streamRequests().map(({ isOneAnswer }) => isOneAnswer)).toEqual(Array(index + 1).fill(false));
    stream[next]();
  }
  await until("the sign-in is tried", () => failures.length === 4);
  expect(failures).toMatchObject([failure, { status: 401 }, { status: 401 }, { status: 401 }]);
});

it("reconnects when its device wakes up after a silence, and not sooner", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  start().setTopics(["queue"]);
  await until("the stream is open", () => states.includes(true));
  stream.wake();
  for (let trip = 0; trip < 20; trip += 1) await (await server.request("/", {})).text();
  expect(streamRequests()).toHaveLength(1);
  vi.setSystemTime(Date.now() + 21_000);
  stream.wake();
  await until("a second stream", () => streamRequests().length === 2 && server.state.open.size === 1);
  vi.useRealTimers();
});
