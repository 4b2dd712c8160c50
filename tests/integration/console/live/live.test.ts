// Live updates: rights, sources and ends of streams, with a real embedded service, real stores and real sockets.
import { afterEach, describe, expect, it, vi } from "vitest";
import { type LiveResponse, MAX_TOPICS } from "@/lib/contract/live";
import { type Role } from "@/lib/contract/members/roles";
import { storeApiKey } from "@/lib/server/keys/key-ring";
import { createColorGraph, createWaitGraph } from "@/tests/integration/service/support";
import { API_KEY, createConnectionClient, createJobPage } from "@/tests/support/connection-client";
import { createHarness } from "@/tests/support/harness";
import { createLivePath, type LiveStream, openLiveStream, type ReceivedEvent } from "@/tests/support/live-stream";
import { openTestServer } from "@/tests/support/servers";
import { type ReceivedRequest, sendJsonResponse } from "@/tests/support/test-server";
import { createAccessToken } from "@/tests/support/tokens";
import { until } from "@/tests/support/until";

const harness = await createHarness();
const openStreams: LiveStream[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const stream of openStreams.splice(0)) await stream.close();
});

type StreamOptions = Parameters<typeof openLiveStream>[2];
async function openStream(topics: readonly string[], options?: StreamOptions, extra?: Record<string, string>) {
  const stream = await openLiveStream(harness, createLivePath(topics, extra), options);
  openStreams.push(stream);
  return stream;
}
/** Opens a stream and waits for a snapshot. */
async function openSnapshot(topics: readonly string[], options?: StreamOptions) {
  const stream = await openStream(topics, options);
  await stream.waitFor("a snapshot", ({ event }) => event === "snapshot");
  return stream;
}
const requestJson = async (topics: readonly string[], as: Role, id?: string): Promise<LiveResponse> => {
  const headers: Record<string, string> = id === undefined ? {} : { "last-event-id": id };
  return (await harness.request(createLivePath(topics, { format: "json" }), { as, headers })).json();
};

const embedded = createConnectionClient(harness, "embedded", "operator");
const submit = async (prompt: object): Promise<string> => (await (await embedded.post("/api/prompt", { prompt })).json()).prompt_id;

const JOBS = "jobs?connection=embedded&limit=10";
const getRows = (item: ReceivedEvent | undefined): { id: string; status: string }[] =>
  item?.event === "snapshot" ? ((item.data.value as { jobs: { id: string; status: string }[] }).jobs ?? []) : [];
/** Returns a function that reads the job's state from an event. */
const createStateReader = (id: string) => (item: ReceivedEvent) => {
  if (item.event === "job.updated") return item.data.job.id === id ? item.data.job.status : undefined;
  return getRows(item).find((row) => row.id === id)?.status;
};

type ServiceOptions = { memberId?: string; respond?: (request: ReceivedRequest) => { status?: number; headers?: Record<string, string> } };

/** Starts an external service that lists `jobs`. `respond` can override the status and headers. */
async function startService({ memberId, respond = () => ({}) }: ServiceOptions = {}) {
  const jobs: Record<string, unknown>[] = [];
  const server = await openTestServer((request, response) => {
    const { status, headers } = respond(request);
    sendJsonResponse(response, status === undefined ? createJobPage(jobs) : { message: "no" }, status ?? 200, headers);
  });
  const { store, keyRing, now } = harness.console;
  const { id: connection } = await store.connections.create({ name: "A service", baseUrl: server.url, memberId, createdAt: now() });
  await storeApiKey(store.keys, keyRing, { connectionId: connection, apiKey: API_KEY, now: now() });
  const reads = () => server.requests.filter(({ url }) => url.startsWith("/api/jobs")).length;
  return { jobs, server, connection, topic: `jobs?connection=${connection}`, reads };
}

const createJob = (id: string, status = "pending") => ({ id, status, create_time: 1_767_225_600_000 });

describe("GET /api/console/events", () => {
  it("sends a snapshot, then the job's start and end, unbuffered and unstored", async () => {
    const stream = await openSnapshot([JOBS]);
    const headers = ["content-type", "cache-control", "x-accel-buffering"].map((name) => stream.response.headers.get(name));
    expect(headers).toEqual(["text/event-stream", "no-store, no-transform", "no"]);
    expect(stream.received.map(({ event }) => event)).toEqual(["hello", "snapshot"]);
    const id = await submit(createColorGraph(0x102030, 32));
    await stream.waitFor("the job's end", (item) => createStateReader(id)(item) === "completed");
    expect(stream.getData("failure")).toEqual([]);
  });

  it("sends a job's assets when the job ends", async () => {
    const stream = await openSnapshot(["assets?connection=embedded", JOBS]);
    const id = await submit(createWaitGraph(2));
    await stream.waitFor("the job's end", (item) => createStateReader(id)(item) === "completed");
    const hasAsset = () => stream.getData("snapshot", "assets?connection=embedded").some(({ value }) => JSON.stringify(value).includes(id));
    // Without the event, the list is read every 8 seconds.
    await until("the job's asset", hasAsset, { timeoutMs: 2000 });
  });

  it("sends the same value as the topic's GET", async () => {
    const topics = {
      [JOBS]: "/api/jobs?connection=embedded&limit=10",
      "queue?connection=embedded": "/api/console/queue?connection=embedded",
    };
    const stream = await openStream([...Object.keys(topics), "counts?connection=embedded"]);
    for (const [topic, path] of Object.entries(topics)) {
      await until(`the snapshot of ${topic}`, () => stream.getData("snapshot", topic).length > 0);
      expect(stream.getData("snapshot", topic)[0]?.value).toEqual(await (await harness.request(path, { as: "viewer" })).json());
    }
    const counts = await until("the counts", () => stream.getData("snapshot", "counts?connection=embedded")[0]);
    expect(counts.value).toEqual({ ...(await embedded.getJson("/api/console/counts")), running: 0, pending: 0 });
  });

  it("rejects a request without topics or with too many", async () => {
    const topics = Array.from({ length: MAX_TOPICS + 1 }, (_, index) => `jobs?offset=${index}`);
    for (const path of [createLivePath([]), createLivePath(topics)])
      expect((await harness.request(path, { as: "viewer" })).status).toBe(400);
  });

  it("fails only the topics that the member may not watch", async () => {
    const secret = "jobs?connection=00000000-0000-4000-8000-000000000000";
    const raw = `${JOBS}&raw=true`;
    const stream = await openStream([JOBS, "runners", "nothing", secret, raw], { as: "viewer" });
    await until("all responses", () => stream.getData("failure").length + stream.getData("snapshot").length === 5);
    const codes = Object.fromEntries(stream.getData("failure").map(({ topic, failure }) => [topic, failure.code]));
    expect(codes).toEqual({ runners: "ROLE_TOO_LOW", nothing: "NOT_FOUND", [secret]: "NOT_FOUND", [raw]: "INVALID_QUERY" });
  });

  it("limits a token to its operations", async () => {
    const { headers } = await createAccessToken(harness, "operator", { operations: ["events", "listJobs"] });
    const stream = await openStream([JOBS, "queue?connection=embedded"], { headers });
    await until("both responses", () => stream.getData("failure").length === 1 && stream.getData("snapshot", JOBS).length === 1);
    const tokenWithoutEvents = await createAccessToken(harness, "operator", { operations: ["listJobs"] });
    expect((await harness.request(createLivePath([JOBS]), { headers: tokenWithoutEvents.headers })).status).toBe(403);
  });

  it("limits a member's open streams and ignores closed and aborted ones", async () => {
    const request = (signal?: AbortSignal) => harness.request(createLivePath(["tasks"]), { as: "admin", signal });
    const controller = new AbortController();
    const responses = await Promise.all(Array.from({ length: 19 }, () => request(controller.signal)));
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
    const lastStream = await openStream(["tasks"], { as: "admin" });
    expect((await request()).status).toBe(429);
    expect((await harness.request(createLivePath([JOBS], { format: "json" }), { as: "admin" })).status).toBe(200);
    await lastStream.close();
    await openStream(["tasks"], { as: "admin" });
    expect((await request()).status).toBe(429);
    controller.abort();
    await openStream(["tasks"], { as: "admin" });
    expect((await request(AbortSignal.abort())).status).toBe(200);
  });

  it("responds with JSON, then with the changes since", async () => {
    const first = await requestJson([JOBS], "viewer");
    expect(first.events.map(({ event }) => event)).toEqual(["snapshot"]);
    expect((await requestJson([JOBS], "viewer", first.id)).events).toEqual([]);
    const id = await submit(createColorGraph(0x405060, 32));
    const states: unknown[] = [];
    let last = first.id;
    await until("the job's end", async () => {
      const liveResponse = await requestJson([JOBS], "viewer", last);
      last = liveResponse.id;
      states.push(...liveResponse.events.map((liveEvent) => createStateReader(id)({ ...liveEvent, id: undefined })));
      return states.includes("completed");
    });
  });
});

describe("an interrupted stream", () => {
  it("resumes after the last event without a gap or duplicate", async () => {
    const { jobs, topic } = await startService();
    jobs.push(createJob("a"), createJob("b"));
    const first = await openSnapshot([topic]);
    const otherStream = await openStream([topic]);
    await first.close();
    Object.assign(jobs[0] ?? {}, { status: "in_progress" });
    await otherStream.waitFor("the change", ({ event }) => event === "job.updated");
    const resumed = await openStream([topic], { as: "viewer", headers: { "last-event-id": first.state.lastId } });
    await resumed.waitFor("the change", ({ event }) => event === "job.updated");
    Object.assign(jobs[1] ?? {}, { status: "in_progress" });
    await until("the next change", () => resumed.getData("job.updated").length === 2);
    expect(resumed.received.map(({ event }) => event)).toEqual(["hello", "job.updated", "job.updated"]);
    expect(resumed.getData("job.updated").map(({ job }) => job.id)).toEqual(["a", "b"]);
  });

  it("starts with a snapshot of the member's own data for another member's event id", async () => {
    const otherStream = await openSnapshot(["session"], { as: "operator" });
    const ownStream = await openSnapshot(["session"], { as: "viewer" });
    const { events } = await requestJson(["session"], "operator", ownStream.state.lastId);
    expect(events.map(({ event }) => event)).toEqual(["snapshot"]);
    for (const [stream, role] of [
      [ownStream, "viewer"],
      [otherStream, "operator"],
    ] as const)
      expect(stream.getData("snapshot")[0]?.value).toMatchObject({ memberId: harness.getViewer(role).memberId });
  });

  it.each([
    ["from another process", (id: string) => id.replace(/^[^.]*/, "0123456789ab")],
    ["that is invalid", () => "nonsense"],
    ["from the future", (id: string) => id.replace(/\.\d+\./, ".999999.")],
  ])("starts with a snapshot for an id %s", async (_label, changeId) => {
    const first = await openSnapshot([JOBS]);
    await openSnapshot([JOBS], { as: "viewer", headers: { "last-event-id": changeId(first.state.lastId) } });
  });

  it("starts a topic named by `new` with a snapshot", async () => {
    const first = await openSnapshot([JOBS]);
    const queue = "queue?connection=embedded";
    const headers = { "last-event-id": first.state.lastId };
    const resumed = await openStream([JOBS], { as: "viewer", headers }, { new: queue });
    await resumed.waitFor("the queue", (item) => item.event === "snapshot" && item.data.topic === queue);
    expect(resumed.getData("snapshot", JOBS)).toEqual([]);
  });
});

describe("rights", () => {
  it.each(["member", "session", "token"] as const)("ends only the stream of a removed %s within a second", async (kind) => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const { store, now } = harness.console;
    const fields = { name: "Mia", email: `${kind}@desk.test`, role: "viewer" as const, passwordHash: "x", createdAt: now() };
    const member = await store.members.create(fields);
    if (!member) throw new Error("no member");
    const claims = { sub: member.id, version: member.sessionVersion };
    const cookie = await harness.mintCookie(claims);
    const token = await createAccessToken(harness, "operator");
    const stream = await openSnapshot([JOBS], kind === "token" ? { headers: token.headers } : { cookie });
    const otherStream = await openStream([JOBS]);
    const [path, options] = {
      member: [`/api/console/members/${member.id}`, { as: "owner" }] as const,
      session: ["/api/console/account/sessions", { cookie: await harness.mintCookie(claims) }] as const,
      token: [`/api/console/tokens/${token.id}`, { as: "operator" }] as const,
    }[kind];
    expect((await harness.request(path, { ...options, method: "DELETE" })).status).toBeLessThan(300);
    vi.advanceTimersByTime(1000);
    await stream.ended;
    expect(stream.received.at(-1)).toMatchObject({ event: "end", id: "", data: { failure: { code: "UNAUTHORIZED" } } });
    vi.useRealTimers();
    const id = await submit(createColorGraph(0x708090, 32));
    await otherStream.waitFor("the job", (item) => createStateReader(id)(item) !== undefined);
    expect(stream.received.some((item) => createStateReader(id)(item) !== undefined)).toBe(false);
  });

  it("end the stream when the connection's key changes", async () => {
    const { connection, topic } = await startService();
    const stream = await openSnapshot([topic]);
    const { store, keyRing, now } = harness.console;
    await storeApiKey(store.keys, keyRing, { connectionId: connection, apiKey: "comfyui-another-key-0123456789", now: now() });
    await stream.ended;
    expect(stream.received.at(-1)).toMatchObject({ event: "end", data: { failure: { code: "CONFLICT" } } });
  });

  it("limit a viewer of another member's jobs to these jobs", async () => {
    const { jobs, connection } = await startService({ memberId: harness.getViewer("operator").memberId });
    jobs.push(createJob("a", "in_progress"));
    const grantPath = `/api/console/connections/${connection}/viewers/${harness.getViewer("viewer").memberId}`;
    expect((await harness.request(grantPath, { as: "admin", method: "PUT" })).status).toBe(204);
    const topics = ["jobs", "assets", "files"].map((name) => `${name}?connection=${connection}`);
    const stream = await openStream(topics);
    await until("all responses", () => stream.getData("failure").length === 2 && stream.getData("snapshot", topics[0]).length === 1);
    expect(stream.getData("failure").map(({ failure }) => failure.code)).toEqual(["JOBS_ONLY", "JOBS_ONLY"]);
    const ownerStream = await openStream(topics.slice(0, 1), { as: "owner" });
    await ownerStream.waitFor("the refusal", (item) => item.event === "failure" && item.data.failure.code === "NOT_FOUND");
    await harness.console.store.jobViewers.revoke(connection, harness.getViewer("viewer").memberId);
    await stream.ended;
  });

  it("don't fail other viewers' topics when one viewer loses the connection", async () => {
    const { jobs, server, connection, topic } = await startService({ memberId: harness.getViewer("owner").memberId });
    const { jobViewers } = harness.console.store;
    const members = (["viewer", "operator"] as const).map((role) => harness.getViewer(role).memberId);
    const grant = { givenBy: harness.getViewer("owner").memberId, now: harness.console.now() };
    for (const id of members) await jobViewers.grant(connection, id, grant);
    const otherStream = await openSnapshot([topic], { as: "operator" });
    const revokedStream = await openSnapshot([topic], { as: "viewer" });
    await jobViewers.revoke(connection, members[0] ?? "");
    jobs.push(createJob("a"));
    harness.console.liveHub.handleChange({ baseUrl: server.url });
    await otherStream.waitFor("the job", (item) => createStateReader("a")(item) !== undefined);
    expect(otherStream.getData("failure")).toEqual([]);
    await revokedStream.ended;
  });
});

describe("one reader", () => {
  it("serves all viewers with the same rights, and stops after the last one", async () => {
    const { jobs, topic, reads } = await startService();
    jobs.push(createJob("b", "in_progress"));
    const roles = ["viewer", "operator", "admin", "owner"] as const;
    const subscribe = vi.spyOn(harness.console.liveHub, "subscribe");
    const streams: LiveStream[] = [];
    for (let count = 0; count < 24; count += 1) streams.push(await openSnapshot([topic], { as: roles[count % roles.length] }));
    jobs.push(createJob("a", "completed"));
    await Promise.all(streams.map(({ waitFor }) => waitFor("the job", (item) => createStateReader("a")(item) === "completed")));
    // A reader serves all viewers with its key.
    expect(new Set(subscribe.mock.calls.map(([{ key }]) => key)).size).toBe(1);
    // The job index reads the list too.
    expect(reads()).toBeLessThan(20);
    const before = harness.console.liveHub.countReaders();
    for (const stream of openStreams.splice(0)) await stream.close();
    await until("the reader stops", () => harness.console.liveHub.countReaders() < before);
  });

  it("honours Retry-After once for all viewers", async () => {
    let limitedUntilMs = 0;
    const refusedUrls: string[] = [];
    const { server, connection } = await startService({
      respond({ url }) {
        if (limitedUntilMs <= Date.now()) return {};
        refusedUrls.push(url);
        return { status: 429, headers: { "retry-after": "4" } };
      },
    });
    const topic = `jobs?connection=${connection}&limit=7`;
    const streams = [await openSnapshot([topic]), await openSnapshot([topic]), await openSnapshot([topic], { as: "owner" })];
    limitedUntilMs = Date.now() + 4000;
    harness.console.liveHub.handleChange({ baseUrl: server.url });
    const failures = await Promise.all(streams.map(({ waitFor }) => waitFor("the failure", ({ event }) => event === "failure")));
    expect(failures.map((failure) => failure.event === "failure" && failure.data.failure.retryAfterMs)).toEqual([4000, 4000, 4000]);
    harness.console.liveHub.handleChange({ baseUrl: server.url });
    await Promise.all(streams.map(({ getData }) => until("the stream resumes", () => getData("snapshot").length === 2)));
    expect(refusedUrls.filter((url) => url.includes("limit=7"))).toHaveLength(1);
  });

  it("keeps only the newest value when a client doesn't read", async () => {
    const { jobs, topic } = await startService();
    jobs.push(createJob("a"));
    const slowResponse = await harness.request(createLivePath([topic]), { as: "viewer" });
    const fastStream = await openSnapshot([topic]);
    for (let count = 1; count <= 3; count += 1) {
      Object.assign(jobs[0] ?? {}, { outputs_count: count });
      await fastStream.waitFor("the change", (item) => item.event === "job.updated" && item.data.job.outputs_count === count);
    }
    const reader = slowResponse.body?.pipeThrough(new TextDecoderStream()).getReader();
    const text = (await reader?.read())?.value ?? "";
    await reader?.cancel();
    expect(text.match(/^event: .*$/gm)).toEqual(["event: hello", "event: snapshot"]);
    expect(text).toContain('"outputs_count":3');
  });
});
