import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { createLiveStream, type LiveStream, type StreamEvent } from "@/lib/browser/live/live-stream";
import { until } from "@/tests/support/until";
import { formatEvent, formatSnapshot, openStream, startEventServer } from "./event-server";

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

function startStream(times: Parameters<typeof createLiveStream>[0]["times"] = {}): LiveStream {
  stream = createLiveStream({
    request: server.request,
    onEvent: (event) => events.push(event),
    onFailure: (failure) => failures.push(failure),
    onState: (isLive) => states.push(isLive),
    times: { initialRetryMs: 20, ...times },
  });
  return stream;
}
const getValues = () => events.flatMap(({ event, data }) => (event === "snapshot" ? [JSON.parse(data).value] : []));
const getStreamRequests = () => server.state.streamRequests;

it("opens one stream for topics that change together", async () => {
  startStream().setTopics(["queue"]);
  stream.setTopics(["queue", "counts"]);
  await until("the stream is open", () => states.includes(true));
  expect(getStreamRequests()).toMatchObject([{ topics: [], newTopics: ["queue", "counts"] }]);
  for (const response of server.state.openResponses) response.write(formatSnapshot("queue", 1, "a.1") + formatSnapshot("counts", 2, "a.2"));
  await until("the values arrived", () => getValues().length === 2);
  stream.setTopics(["queue", "tasks"]);
  await until("the stream is opened again", () => getStreamRequests().length === 2);
  expect(getStreamRequests()[1]).toEqual({ topics: ["queue"], newTopics: ["tasks"], lastId: "a.2", isSingleResponse: false });
});

it("resumes with the last event id after an interruption", async () => {
  server.state.reply = (response, { lastId }) => {
    openStream(response, lastId === undefined ? formatSnapshot("queue", 1, "a.1") : formatSnapshot("queue", 2, "a.2"));
    if (lastId === undefined) setImmediate(() => response.destroy());
  };
  startStream().setTopics(["queue"]);
  await until("the second value arrived", () => getValues().length === 2);
  expect(getValues()).toEqual([1, 2]);
  expect(getStreamRequests()[1]).toEqual({ topics: ["queue"], newTopics: [], lastId: "a.1", isSingleResponse: false });
  expect(failures).toEqual([]);
});

it("reports an unreachable console and reloads everything afterwards", async () => {
  let isUnavailable = true;
  server.state.reply = (response) => (isUnavailable ? response.destroy() : openStream(response, formatSnapshot("queue", 1)));
  startStream().setTopics(["queue"]);
  await until("the failure is reported", () => failures.length > 0);
  expect(failures[0]).toMatchObject({ code: "CONSOLE_UNREACHABLE", status: 0 });
  isUnavailable = false;
  await until("the value arrived", () => getValues().length === 1);
  expect(getStreamRequests().at(-1)).toMatchObject({ topics: [], newTopics: ["queue"] });
});

it("falls back to requests when a proxy buffers the stream, then retries it", async () => {
  let isBuffered = true;
  server.state.reply = (response, { isSingleResponse }) => {
    if (isSingleResponse) {
      const events = [{ event: "snapshot", data: { topic: "queue", atMs: 1, value: getStreamRequests().length } }];
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ id: "a.7", events }));
    } else if (!isBuffered) openStream(response);
  };
  startStream({ firstEventTimeoutMs: 300, busyPollMs: 10, initialPollingMs: 300 }).setTopics(["queue"]);
  await until("several responses arrived", () => getValues().length > 2);
  const requests = getStreamRequests().filter(({ isSingleResponse }) => isSingleResponse);
  expect(requests.slice(0, 2)).toEqual([
    { topics: [], newTopics: ["queue"], isSingleResponse: true },
    { topics: ["queue"], newTopics: [], lastId: "a.7", isSingleResponse: true },
  ]);
  expect(failures).toEqual([]);
  isBuffered = false;
  await until("the stream is open", () => states.includes(true));
});

it("falls back to requests when heartbeats stop", async () => {
  server.state.reply = (response, { isSingleResponse }) => {
    if (isSingleResponse) response.writeHead(200, { "content-type": "application/json" }).end('{"id":"a.1","events":[]}');
    else openStream(response);
  };
  startStream({ maxSilenceMs: 50 }).setTopics(["queue"]);
  await until("a request followed", () => getStreamRequests().some(({ isSingleResponse }) => isSingleResponse));
  expect(states).toEqual([true, false]);
});

it.each([429, 403, 502, 503])("falls back to requests when only streams fail with %i", async (status) => {
  let isRefused = true;
  server.state.reply = (response, { isSingleResponse }) => {
    if (isSingleResponse) {
      const events = [{ event: "snapshot", data: { topic: "queue", atMs: 1, value: getStreamRequests().length } }];
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ id: "a.7", events }));
    } else if (isRefused) response.writeHead(status, { "content-type": "text/html" }).end("<html>No streams</html>");
    else openStream(response);
  };
  startStream({ busyPollMs: 10, maxRetryMs: 100 }).setTopics(["queue"]);
  await until(
    "the stream is tried again between requests",
    () => getStreamRequests().filter(({ isSingleResponse }) => !isSingleResponse).length > 2,
  );
  expect(getValues().length).toBeGreaterThan(0);
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
  startStream().setTopics(["queue"]);
  await until("the failure is reported", () => failures.length > 0);
  expect(failures[0]).toMatchObject({ status: reportedStatus, code, message: "" });
});

it("reports why the console ended the stream and waits for a sign-in", async () => {
  const failure = { code: "UNAUTHORIZED", message: "Your session has ended.", status: 401 };
  server.state.reply = (response, { isSingleResponse }) => {
    if (isSingleResponse || getStreamRequests().length > 1) response.writeHead(401).end();
    else openStream(response, formatEvent("end", { failure }));
  };
  startStream({ initialRetryMs: 1, maxRetryMs: 60_000 }).setTopics(["queue"]);
  for (const [index, next] of (["reconnect", "reconnect", "restart"] as const).entries()) {
    await until("the failure is reported", () => failures.length === index + 1);
    for (let round = 0; round < 20; round += 1) await (await server.request("/", {})).text();
    // Each request is a stream. A 401 must not start polling.
    expect(getStreamRequests().map(({ isSingleResponse }) => isSingleResponse)).toEqual(Array(index + 1).fill(false));
    stream[next]();
  }
  await until("the sign-in is tried", () => failures.length === 4);
  expect(failures).toMatchObject([failure, { status: 401 }, { status: 401 }, { status: 401 }]);
});

it("restarts the start timeout when a stream opens after an idle period", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  server.state.reply = () => undefined;
  startStream().setTopics(["queue"]);
  await until("the stream is requested", () => getStreamRequests().length === 1);
  stream.setTopics([]);
  await until("the request is aborted", () => states.length === 1 && server.state.openResponses.size === 0);
  vi.setSystemTime(Date.now() + 60_000);
  stream.setTopics(["queue"]);
  await until("the stream is requested again", () => getStreamRequests().length === 2);
  for (let round = 0; round < 20; round += 1) await (await server.request("/", {})).text();
  expect(getStreamRequests().map(({ isSingleResponse }) => isSingleResponse)).toEqual([false, false]);
  vi.useRealTimers();
});

it("reconnects when the device wakes up after a long silence only", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  startStream().setTopics(["queue"]);
  await until("the stream is open", () => states.includes(true));
  stream.wake();
  for (let round = 0; round < 20; round += 1) await (await server.request("/", {})).text();
  expect(getStreamRequests()).toHaveLength(1);
  vi.setSystemTime(Date.now() + 21_000);
  stream.wake();
  await until("a second stream", () => getStreamRequests().length === 2 && server.state.openResponses.size === 1);
  vi.useRealTimers();
});
