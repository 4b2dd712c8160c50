// Tests the live hub's limits and request coalescing.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Role } from "@/lib/contract/members/roles";
import { createLiveHub, type LiveHub, type Watch } from "@/lib/server/live/hub";
import { createEventStream, readLiveEvents } from "@/lib/server/live/stream";
import { createLog } from "@/lib/server/log";
import { createResponseCache } from "@/lib/server/upstream/response-cache";
import { StoreUnavailableError } from "@/lib/shared/error-codes";
import { ok } from "@/lib/shared/result";
import { API_KEY, connectService, createJobPage } from "@/tests/support/connection-client";
import { createHarness, type HarnessRequest } from "@/tests/support/harness";
import { createLivePath } from "@/tests/support/live-stream";
import { sendJsonResponse } from "@/tests/support/test-server";
import { createAccessToken } from "@/tests/support/tokens";
import { until } from "@/tests/support/until";

describe("hub", () => {
  const hubs: LiveHub[] = [];
  afterEach(() => {
    vi.useRealTimers();
    for (const hub of hubs.splice(0)) hub.stop();
  });

  function startHub(): LiveHub {
    const hub = createLiveHub({ now: Date.now, log: createLog("silent") });
    hubs.push(hub);
    return hub;
  }

  const createWatch = (key: string, text = "{}"): Watch => ({
    name: "usage",
    key,
    connection: undefined,
    hasRights: () => Promise.resolve(true),
    read: () => Promise.resolve(ok({ text, unreadable: 0 })),
    openSource: () => Promise.resolve(undefined),
  });
  const createTopic = (watch: Watch) => ({ topic: watch.key, isNew: true, watch: ok(watch) });
  const fillLimit = (hub: LiveHub, owner: string) => {
    for (let count = 0; count < 128; count += 1)
      expect(hub.subscribe(createWatch(`${owner} ${count}`), owner, () => undefined).ok).toBe(true);
  };

  it("limits each member's subscriptions, including JSON requests", async () => {
    const hub = startHub();
    const openStream = (owner: string, from: number) => {
      const topics = Array.from({ length: 32 }, (_, index) => createTopic(createWatch(`${owner} ${from + index}`)));
      return readLiveEvents({ hub, owner, topics, lastPosition: undefined });
    };
    for (let from = 0; from < 128; from += 32) expect(await openStream("one", from)).not.toContain("SERVICE_UNAVAILABLE");
    expect(await openStream("one", 128)).toContain("SERVICE_UNAVAILABLE");
    expect(await openStream("one", 0)).not.toContain("SERVICE_UNAVAILABLE");
    expect(await openStream("two", 0)).not.toContain("SERVICE_UNAVAILABLE");
  });

  it.each([
    ["a member's cached values", ["one", "one", "one"], 2],
    ["all cached values", ["a", "a", "b", "b", "c", "c", "d", "d", "e", "e"], 8],
  ])("limits the total size of %s", async (_label, owners, expected) => {
    const hub = startHub();
    const text = JSON.stringify("x".repeat(30 * 1024 ** 2));
    const subscriptions = owners.map((owner, index) => hub.subscribe(createWatch(String(index), text), owner, () => undefined));
    const events = await until("all values", () => {
      const items = subscriptions.map((subscription) =>
        subscription.ok ? (subscription.value.getItemsSince(undefined)[0]?.event ?? "") : "refused",
      );
      return items.includes("") ? undefined : items;
    });
    expect(events.filter((event) => event === "snapshot")).toHaveLength(expected);
    expect(events.filter((event) => event === "failure")).toHaveLength(owners.length - expected);
  });

  it("closes a stream with rejected topics so that the client retries", async () => {
    const hub = startHub();
    fillLimit(hub, "one");
    vi.useFakeTimers({ toFake: ["setTimeout", "setInterval", "clearTimeout", "clearInterval"] });
    const openStream = (key: string) =>
      createEventStream({
        hub,
        owner: "one",
        topics: [createTopic(createWatch(key))],
        lastPosition: undefined,
        signal: new AbortController().signal,
        checkRights: () => Promise.resolve(undefined),
        onHeartbeat: () => undefined,
      });
    const openStreams = { accepted: true, rejected: true };
    void openStream("one 0")
      ?.pipeTo(new WritableStream())
      .then(() => (openStreams.accepted = false));
    const ended = openStream("another")
      ?.pipeTo(new WritableStream())
      .then(() => (openStreams.rejected = false));
    await vi.advanceTimersByTimeAsync(29_000);
    expect(openStreams).toEqual({ accepted: true, rejected: true });
    await vi.advanceTimersByTimeAsync(2000);
    await ended;
    expect(openStreams).toEqual({ accepted: true, rejected: false });
  });

  it("returns SERVICE_UNAVAILABLE when the database is unreachable", async () => {
    const watch: Watch = { ...createWatch("one"), read: () => Promise.reject(new StoreUnavailableError("gone")) };
    const events = await readLiveEvents({ hub: startHub(), owner: "one", topics: [createTopic(watch)], lastPosition: undefined });
    expect(events).toContain("SERVICE_UNAVAILABLE");
  });

  it("sends a running job's progress together with its new row", async () => {
    let text = JSON.stringify({ jobs: [{ id: "a", status: "in_progress" }] });
    const watch: Watch = {
      ...createWatch("jobs"),
      name: "jobs",
      read: () => Promise.resolve(ok({ text, unreadable: 0 })),
      openSource: () =>
        Promise.resolve(() => ({ hasChangeEvents: () => false, getProgress: () => ({ value: 0.5 }), stop: () => undefined })),
    };
    const received: string[][] = [];
    let cursor = 0;
    const hub = startHub();
    const subscription = hub.subscribe(watch, "one", () => {
      if (!subscription.ok) return;
      received.push(subscription.value.getItemsSince(cursor).map(({ event }) => event));
      cursor = hub.getPosition();
    });
    await until("the list", () => received.length > 0);
    text = JSON.stringify({ jobs: [{ id: "a", status: "in_progress", name: "new" }] });
    hub.handleChange(undefined);
    await until("the new row", () => received.length > 1);
    expect(received).toEqual([
      ["snapshot", "job.progress"],
      ["job.updated", "job.progress"],
    ]);
  });

  it("reports an unresponsive service after 10 s, then its late value", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    let respond: (text: string) => void = () => undefined;
    const watch: Watch = {
      ...createWatch("jobs"),
      name: "jobs",
      connection: { id: "a", baseUrl: "http://service.invalid" },
      read: () => new Promise((resolve) => (respond = (text) => resolve(ok({ text, unreadable: 0 })))),
    };
    const subscription = startHub().subscribe(watch, "one", () => undefined);
    const events = () => (subscription.ok ? subscription.value.getItemsSince(undefined).map(({ event }) => event) : []);
    await vi.advanceTimersByTimeAsync(9_900);
    expect(events()).toEqual([]);
    await vi.advanceTimersByTimeAsync(200);
    expect(events()).toEqual(["failure"]);
    respond('{"jobs":[]}');
    await vi.advanceTimersByTimeAsync(0);
    expect(events()).toEqual(["snapshot"]);
  });
});

describe("request coalescing", async () => {
  let jobs: object[] = [];
  // Longer than any test runs.
  const harness = await createHarness({ upstreamLimits: { sharedMs: 60_000 } });
  const { server, send, post, connection } = await connectService(harness, ({ method, url }, response) => {
    if (url.startsWith("/api/prompt")) {
      jobs = [...jobs, createJob("submitted")];
      return sendJsonResponse(response, { prompt_id: "submitted", number: 1, node_errors: {} });
    }
    if (method === "POST") jobs = [];
    sendJsonResponse(response, method === "POST" ? {} : url.startsWith("/api/jobs?") ? createJobPage(jobs) : (jobs[0] ?? {}));
  });
  beforeEach(() => {
    jobs = [createJob("first")];
    harness.console.jobResponses.invalidate();
    server.requests.splice(0);
  });

  const createJob = (id: string) => ({ id, status: "completed", create_time: 1_767_225_600_000 });
  const listJobs = (options?: HarnessRequest) => send("/api/jobs?limit=9", options);
  const getIds = async (response: Response): Promise<string[]> => (await response.json()).jobs.map(({ id }: { id: string }) => id);
  const countCalls = () => server.requests.filter(({ url }) => url.includes("limit=9")).length;
  const postAsOperator = (path: string, json: object) => post(path, json, { as: "operator" });

  it("makes one call for requests with the same rights", async () => {
    const responses = await Promise.all([listJobs(), listJobs({ as: "operator" }), listJobs({ as: "owner" }), listJobs()]);
    for (const response of [...responses, await listJobs()]) expect(await getIds(response)).toEqual(["first"]);
    expect(countCalls()).toBe(1);
  });

  it.each([
    ["a submission", () => postAsOperator("/api/prompt", { prompt: { "1": { class_type: "A", inputs: {} } } }), ["first", "submitted"]],
    ["a removal", () => postAsOperator("/api/history", { delete: ["first"] }), []],
  ])("makes a new call after %s", async (_label, change, expected) => {
    expect(await getIds(await listJobs())).toEqual(["first"]);
    expect((await change()).status).toBeLessThan(300);
    expect(await getIds(await listJobs())).toEqual(expected);
  });

  it("doesn't share a call that started before a change", async () => {
    const pendingList = listJobs();
    await postAsOperator("/api/history", { delete: ["first"] });
    expect(await getIds(await listJobs())).toEqual([]);
    await pendingList;
  });

  it("caches token responses separately because they contain absolute URLs", async () => {
    await listJobs();
    const { headers } = await createAccessToken(harness, "viewer");
    await listJobs({ as: undefined, headers });
    expect(countCalls()).toBe(2);
  });

  async function getReaderKeys(topics: readonly string[], roles: readonly Role[]): Promise<string[]> {
    const subscribe = vi.spyOn(harness.console.liveHub, "subscribe");
    for (const role of roles) await harness.request(createLivePath(topics, { format: "json" }), { as: role });
    const keys = subscribe.mock.calls.map(([{ key }]) => key);
    subscribe.mockRestore();
    return keys;
  }

  it("shares a reader between the viewers of a job except its submitter", async () => {
    await postAsOperator("/api/prompt", { prompt: { "1": { class_type: "A", inputs: {} } } });
    const topics = [`job:submitted?connection=${connection}`];
    const [viewer, admin, owner, submitter] = await getReaderKeys(topics, ["viewer", "admin", "owner", "operator"]);
    expect([admin, owner]).toEqual([viewer, viewer]);
    expect(submitter).not.toBe(viewer);
  });

  it("shares the readers of topics that depend only on the connection", async () => {
    const topics = ["tasks?connection=embedded", "tasks", "health", "runs-by-day?connection=embedded&zone=UTC", "usage", "session"];
    const keys = await getReaderKeys(topics, ["viewer", "admin"]);
    expect(topics.map((_, index) => keys[index] === keys[index + topics.length])).toEqual([true, true, true, true, false, false]);
    // The default connection of both members.
    expect(keys[1]).toBe(keys[0]);
  });

  it("starts a new call 250 ms after the last one", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    const cache = createResponseCache();
    let readCount = 0;
    const read = () =>
      cache.share({ key: "a", baseUrl: server.url, signal: undefined }, async () => ({ ok: true, value: (readCount += 1) }));
    await read();
    await vi.advanceTimersByTimeAsync(249);
    expect(await read()).toEqual({ ok: true, value: 1 });
    await vi.advanceTimersByTimeAsync(1);
    expect(await read()).toEqual({ ok: true, value: 2 });
    vi.useRealTimers();
  });

  it("completes a shared call when one of its clients disconnects", async () => {
    const controller = new AbortController();
    const pendingList = listJobs({ signal: controller.signal });
    const secondResponse = listJobs();
    controller.abort();
    expect((await pendingList).status).toBe(499);
    expect(await getIds(await secondResponse)).toEqual(["first"]);
  });

  it("doesn't cache a failure", async () => {
    const { jobResponses } = harness.console;
    const shared = { key: "a", baseUrl: server.url, signal: undefined };
    const failure = { code: "UPSTREAM_UNREACHABLE", message: "", status: 502 };
    expect(await jobResponses.share(shared, () => Promise.resolve({ ok: false, failure }))).toEqual({ ok: false, failure });
    expect(await jobResponses.share(shared, () => Promise.resolve({ ok: true, value: 1 }))).toEqual({ ok: true, value: 1 });
  });

  it("parses unchanged bytes once, except those that a worker parses", async () => {
    const responses = harness.console.jobResponses.getParsedResponses(connection, API_KEY);
    const readJob = async (fill: string) => {
      jobs = [{ ...createJob("first"), fill }];
      harness.console.jobResponses.invalidate();
      expect((await send("/api/jobs/first")).status).toBe(200);
    };
    const findParsed = (text: string, from = responses) => from.find(`200 ${server.url}/api/jobs/first`, Buffer.from(text));
    await readJob("small");
    const smallText = JSON.stringify(jobs[0]);
    const parsedResponse = findParsed(smallText);
    expect(parsedResponse).toMatchObject({ value: { fill: "small" } });
    await readJob("small");
    expect(findParsed(smallText)).toBe(parsedResponse);
    // Transferring a buffer to the worker detaches it.
    await readJob("x".repeat(2 * 1024 ** 2));
    expect(findParsed("")).toBeUndefined();
    expect(findParsed(smallText, harness.console.jobResponses.getParsedResponses(connection, "another key"))).toBeUndefined();
  });
});
