/* eslint-disable max-lines -- the tests share one set-up */
// Live updates: rights, sources and ends of streams, with a real embedded service, real stores and real sockets.
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { type LiveResponse, MAX_TOPICS } from "@/lib/contract/live";
import { storeApiKey } from "@/lib/server/keys/key-ring";
import { createColorGraph, createWaitGraph } from "@/tests/integration/service/support";
import { createHarness, type Harness } from "@/tests/support/harness";
import { createLivePath, type LiveStream, openLiveStream, type ReceivedEvent } from "@/tests/support/live-stream";
import { type ReceivedRequest, sendJsonResponse, startTestServer, type TestServer } from "@/tests/support/test-server";
import { createAccessToken } from "@/tests/support/tokens";
import { until } from "@/tests/support/until";

let harness: Harness;
const openStreams: LiveStream[] = [];
const servers: TestServer[] = [];
beforeAll(async () => {
  harness = await createHarness();
});
afterEach(async () => {
  for (const stream of openStreams.splice(0)) await stream.close();
  for (const server of servers.splice(0)) await server.close();
});
afterAll(() => harness.dispose());

async function openStream(topics: readonly string[], options?: Parameters<typeof openLiveStream>[2], extra?: Record<string, string>) {
  const stream = await openLiveStream(harness, createLivePath(topics, extra), options);
  openStreams.push(stream);
  return stream;
}

async function submit(color: number, size = 32): Promise<string> {
  return submitPrompt(createColorGraph(color, size));
}

async function submitPrompt(prompt: Record<string, unknown>): Promise<string> {
  const json = { prompt };
  const response = await harness.request("/api/prompt?connection=embedded", { as: "operator", method: "POST", json });
  return (await response.json()).prompt_id;
}

const JOBS = "jobs?connection=embedded&limit=10";
const getRows = (item: ReceivedEvent | undefined): { id: string; status: string }[] =>
  item?.event === "snapshot" ? ((item.data.value as { jobs: { id: string; status: string }[] }).jobs ?? []) : [];
/** Returns a function that reads the job's state from an event. */
const createStateReader = (id: string) => (item: ReceivedEvent) => {
  if (item.event === "job.updated") return item.data.job.id === id ? item.data.job.status : undefined;
  return getRows(item).find((row) => row.id === id)?.status;
};

/** Options of an external service that lists `jobs`. `respond` can override the status and headers. */
type ServiceOptions = { memberId?: string; respond?: (request: ReceivedRequest) => { status?: number; headers?: Record<string, string> } };

async function startService({ memberId, respond: respond = () => ({}) }: ServiceOptions = {}) {
  const jobs: Record<string, unknown>[] = [];
  const server = await startTestServer((request, response) => {
    const { status, headers } = respond(request);
    const pagination = { offset: 0, limit: 100, total: jobs.length, has_more: false };
    sendJsonResponse(response, status === undefined ? { jobs, pagination } : { message: "no" }, status ?? 200, headers);
  });
  servers.push(server);
  const { store, keyRing, now } = harness.console;
  const { id: connection } = await store.connections.create({ name: "A service", baseUrl: server.url, memberId, createdAt: now() });
  await storeApiKey(store.keys, keyRing, { connectionId: connection, apiKey: "comfyui-0123456789abcdef0123456789abcdef", now: now() });
  const countReads = () => server.requests.filter(({ url }) => url.startsWith("/api/jobs")).length;
  return { jobs, server, connection, reads: countReads };
}

const createJob = (id: string, status = "pending") => ({ id, status, create_time: 1_767_225_600_000 });

describe("GET /api/console/events", () => {
  it("sends a snapshot, then the job's start and end", async () => {
    const stream = await openStream([JOBS]);
    await stream.waitFor("a snapshot", ({ event }) => event === "snapshot");
    expect(stream.received.map(({ event }) => event)).toEqual(["hello", "snapshot"]);
    const id = await submit(0x102030);
    await stream.waitFor("the job's end", (item) => createStateReader(id)(item) === "completed");
    expect(stream.getData("failure")).toEqual([]);
  });

  it("sends a job's assets when the job ends", async () => {
    const stream = await openStream(["assets?connection=embedded", JOBS]);
    await stream.waitFor("a snapshot", ({ event }) => event === "snapshot");
    const id = await submitPrompt(createWaitGraph(2));
    await stream.waitFor("the job's end", (item) => createStateReader(id)(item) === "completed");
    const hasAsset = () => stream.getData("snapshot", "assets?connection=embedded").some(({ value }) => JSON.stringify(value).includes(id));
    // Without the event, the list is read every 8 seconds.
    await until("the job's asset", hasAsset, { timeoutMs: 2000 });
  });

  it("forbids proxies to buffer, compress or store the stream", async () => {
    const { response } = await openStream([JOBS]);
    expect(
      Object.fromEntries(["content-type", "cache-control", "x-accel-buffering"].map((name) => [name, response.headers.get(name)])),
    ).toEqual({
      "content-type": "text/event-stream",
      "cache-control": "no-store, no-transform",
      "x-accel-buffering": "no",
    });
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
    const { jobs } = (await (await harness.request("/api/console/counts?connection=embedded", { as: "viewer" })).json()) as {
      jobs: number;
    };
    expect(counts.value).toEqual({ jobs, running: 0, pending: 0 });
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
    expect(Object.fromEntries(stream.getData("failure").map(({ topic, failure }) => [topic, failure.code]))).toEqual({
      runners: "ROLE_TOO_LOW",
      nothing: "NOT_FOUND",
      [secret]: "NOT_FOUND",
      [raw]: "INVALID_QUERY",
    });
  });

  it("limits a token to its operations", async () => {
    const { headers } = await createAccessToken(harness, "operator", { operations: ["events", "listJobs"] });
    const stream = await openStream([JOBS, "queue?connection=embedded"], { headers });
    await until("both responses", () => stream.getData("failure").length === 1 && stream.getData("snapshot", JOBS).length === 1);
    const tokenWithoutEvents = await createAccessToken(harness, "operator", { operations: ["listJobs"] });
    expect((await harness.request(createLivePath([JOBS]), { headers: tokenWithoutEvents.headers })).status).toBe(403);
  });

  it("limits the open streams of a member", async () => {
    for (let count = 0; count < 20; count += 1) await openStream([JOBS], { as: "admin" });
    expect((await harness.request(createLivePath([JOBS]), { as: "admin" })).status).toBe(429);
    expect((await harness.request(createLivePath([JOBS], { format: "json" }), { as: "admin" })).status).toBe(200);
    await openStreams.pop()?.close();
    await openStream([JOBS], { as: "admin" });
  });

  it("doesn't count a stream whose client disconnected before the response", async () => {
    const controller = new AbortController();
    const responses = Array.from({ length: 20 }, () =>
      harness.request(createLivePath(["tasks"]), { as: "admin", signal: controller.signal }),
    );
    expect((await Promise.all(responses)).map(({ status }) => status)).toEqual(responses.map(() => 200));
    expect((await harness.request(createLivePath(["tasks"]), { as: "admin" })).status).toBe(429);
    controller.abort();
    await openStream(["tasks"], { as: "admin" });
    expect((await harness.request(createLivePath(["tasks"]), { as: "admin", signal: AbortSignal.abort() })).status).toBe(200);
  });

  it("responds with JSON, then with the changes since", async () => {
    const requestLive = async (id?: string): Promise<LiveResponse> =>
      (
        await harness.request(createLivePath([JOBS], { format: "json" }), { as: "viewer", headers: id ? { "last-event-id": id } : {} })
      ).json();
    const first = await requestLive();
    expect(first.events.map(({ event }) => event)).toEqual(["snapshot"]);
    expect((await requestLive(first.id)).events).toEqual([]);
    const id = await submit(0x405060);
    const states: unknown[] = [];
    let last = first.id;
    await until("the job's end", async () => {
      const liveResponse = await requestLive(last);
      last = liveResponse.id;
      states.push(...liveResponse.events.map((liveEvent) => createStateReader(id)({ ...liveEvent, id: undefined })));
      return states.includes("completed");
    });
  });
});

describe("an interrupted stream", () => {
  it("resumes after the last event without a gap or duplicate", async () => {
    const { jobs, connection } = await startService();
    jobs.push(createJob("a"), createJob("b"));
    const topic = `jobs?connection=${connection}`;
    const first = await openStream([topic]);
    const otherStream = await openStream([topic]);
    await first.waitFor("a snapshot", ({ event }) => event === "snapshot");
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

  it("starts with a snapshot for an id of another member", async () => {
    const otherStream = await openStream(["session"], { as: "operator" });
    await otherStream.waitFor("a snapshot", ({ event }) => event === "snapshot");
    const ownStream = await openStream(["session"], { as: "viewer" });
    await ownStream.waitFor("a snapshot", ({ event }) => event === "snapshot");
    const query = createLivePath(["session"], { format: "json" });
    const response = await harness.request(query, { as: "operator", headers: { "last-event-id": ownStream.state.lastId } });
    expect(((await response.json()) as LiveResponse).events.map(({ event }) => event)).toEqual(["snapshot"]);
  });

  it.each([
    ["from another process", (id: string) => id.replace(/^[^.]*/, "0123456789ab")],
    ["that is invalid", () => "nonsense"],
    ["from the future", (id: string) => id.replace(/\.\d+\./, ".999999.")],
  ])("starts with a snapshot for an id %s", async (_label, changeId) => {
    const first = await openStream([JOBS]);
    await first.waitFor("a snapshot", ({ event }) => event === "snapshot");
    const resumed = await openStream([JOBS], { as: "viewer", headers: { "last-event-id": changeId(first.state.lastId) } });
    await resumed.waitFor("a snapshot", ({ event }) => event === "snapshot");
  });

  it("starts a topic named by `new` with a snapshot", async () => {
    const first = await openStream([JOBS]);
    await first.waitFor("a snapshot", ({ event }) => event === "snapshot");
    const queue = "queue?connection=embedded";
    const headers = { "last-event-id": first.state.lastId };
    const resumed = await openStream([JOBS], { as: "viewer", headers }, { new: queue });
    await resumed.waitFor("the queue", (item) => item.event === "snapshot" && item.data.topic === queue);
    expect(resumed.getData("snapshot", JOBS)).toEqual([]);
  });
});

describe("rights", () => {
  it("end only the removed member's stream", async () => {
    const { store, now } = harness.console;
    const fields = { name: "Mia", email: "mia@desk.test", role: "viewer" as const, passwordHash: "x", createdAt: now() };
    const member = await store.members.create(fields);
    if (!member) throw new Error("no member");
    const cookie = await harness.mintCookie({ sub: member.id, version: member.sessionVersion });
    const stream = await openStream([JOBS], { cookie });
    const otherStream = await openStream([JOBS]);
    await stream.waitFor("a snapshot", ({ event }) => event === "snapshot");
    const removeResponse = await harness.request(`/api/console/members/${member.id}`, { as: "owner", method: "DELETE" });
    expect(removeResponse.status).toBeLessThan(300);
    await stream.ended;
    expect(stream.received.at(-1)).toMatchObject({ event: "end", id: "", data: { failure: { code: "UNAUTHORIZED" } } });
    const id = await submit(0x708090);
    await otherStream.waitFor("the job", (item) => createStateReader(id)(item) !== undefined);
    expect(stream.received.some((item) => createStateReader(id)(item) !== undefined)).toBe(false);
  });

  it("end the stream when the connection's key changes", async () => {
    const { connection } = await startService();
    const stream = await openStream([`jobs?connection=${connection}`]);
    await stream.waitFor("a snapshot", ({ event }) => event === "snapshot");
    const { store, keyRing, now } = harness.console;
    await storeApiKey(store.keys, keyRing, { connectionId: connection, apiKey: "comfyui-another-key-0123456789", now: now() });
    await stream.ended;
    expect(stream.received.at(-1)).toMatchObject({ event: "end", data: { failure: { code: "CONFLICT" } } });
  });

  it("limit a viewer of another member's jobs to these jobs", async () => {
    const { jobs, connection } = await startService({ memberId: harness.getViewer("operator").memberId });
    jobs.push(createJob("a", "in_progress"));
    const grantResponse = await harness.request(`/api/console/connections/${connection}/viewers/${harness.getViewer("viewer").memberId}`, {
      as: "admin",
      method: "PUT",
    });
    expect(grantResponse.status).toBe(204);
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
    const { jobs, server, connection } = await startService({ memberId: harness.getViewer("owner").memberId });
    const topics = [`jobs?connection=${connection}`];
    const { jobViewers } = harness.console.store;
    const members = (["viewer", "operator"] as const).map((role) => harness.getViewer(role).memberId);
    const grant = { givenBy: harness.getViewer("owner").memberId, now: harness.console.now() };
    for (const id of members) await jobViewers.grant(connection, id, grant);
    const otherStream = await openStream(topics, { as: "operator" });
    await otherStream.waitFor("a snapshot", ({ event }) => event === "snapshot");
    const revokedStream = await openStream(topics, { as: "viewer" });
    await revokedStream.waitFor("a snapshot", ({ event }) => event === "snapshot");
    await jobViewers.revoke(connection, members[0] ?? "");
    jobs.push(createJob("a"));
    harness.console.liveHub.handleChange({ baseUrl: server.url });
    await otherStream.waitFor("the job", (item) => createStateReader("a")(item) !== undefined);
    expect(otherStream.getData("failure")).toEqual([]);
    await revokedStream.ended;
  });

  it("hide one member's updates from others", async () => {
    const topic = "session";
    const ownStream = await openStream([topic], { as: "viewer" });
    const otherStream = await openStream([topic], { as: "operator" });
    const [first, second] = await Promise.all(
      [ownStream, otherStream].map(({ waitFor }) => waitFor("a snapshot", ({ event }) => event === "snapshot")),
    );
    expect([first, second].map((event) => event?.event === "snapshot" && (event.data.value as { memberId: string }).memberId)).toEqual([
      harness.getViewer("viewer").memberId,
      harness.getViewer("operator").memberId,
    ]);
  });
});

describe("one reader", () => {
  it("serves all viewers with the same rights, and stops after the last one", async () => {
    const { jobs, connection, reads } = await startService();
    jobs.push(createJob("b", "in_progress"));
    const topic = `jobs?connection=${connection}`;
    const roles = ["viewer", "operator", "admin", "owner"] as const;
    const subscribe = vi.spyOn(harness.console.liveHub, "subscribe");
    const streams: LiveStream[] = [];
    for (let count = 0; count < 50; count += 1) streams.push(await openStream([topic], { as: roles[count % roles.length] }));
    await Promise.all(streams.map(({ waitFor }) => waitFor("a snapshot", ({ event }) => event === "snapshot")));
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

  it("shares a reader between the viewers of a job except its submitter", async () => {
    const id = await submit(0x90a0b0);
    const subscribe = vi.spyOn(harness.console.liveHub, "subscribe");
    subscribe.mockClear();
    for (const role of ["viewer", "admin", "owner", "operator"] as const) {
      const stream = await openStream([`job:${id}?connection=embedded`], { as: role });
      await stream.waitFor("a snapshot", ({ event }) => event === "snapshot");
    }
    const [viewer, admin, owner, submitter] = subscribe.mock.calls.map(([{ key }]) => key);
    expect([admin, owner]).toEqual([viewer, viewer]);
    expect(submitter).not.toBe(viewer);
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
    const streams = [await openStream([topic]), await openStream([topic]), await openStream([topic], { as: "owner" })];
    await Promise.all(streams.map(({ waitFor }) => waitFor("a snapshot", ({ event }) => event === "snapshot")));
    limitedUntilMs = Date.now() + 4000;
    harness.console.liveHub.handleChange({ baseUrl: server.url });
    const failures = await Promise.all(streams.map(({ waitFor }) => waitFor("the failure", ({ event }) => event === "failure")));
    expect(failures.map((failure) => failure.event === "failure" && failure.data.failure.retryAfterMs)).toEqual([4000, 4000, 4000]);
    harness.console.liveHub.handleChange({ baseUrl: server.url });
    await Promise.all(streams.map(({ getData }) => until("the stream resumes", () => getData("snapshot").length === 2)));
    expect(refusedUrls.filter((url) => url.includes("limit=7"))).toHaveLength(1);
  });

  it("keeps only the newest value when a client doesn't read", async () => {
    const { jobs, connection } = await startService();
    jobs.push(createJob("a"));
    const topic = `jobs?connection=${connection}`;
    const slowResponse = await harness.request(createLivePath([topic]), { as: "viewer" });
    const fastStream = await openStream([topic]);
    await fastStream.waitFor("a snapshot", ({ event }) => event === "snapshot");
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
