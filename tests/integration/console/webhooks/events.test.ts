// Events of a connection: which jobs, queues and outages a webhook reports, once each, and with which fields.
import { beforeEach, expect, it } from "vitest";
import { openForConsole } from "@/lib/server/connections/access";
import { checkConnection } from "@/lib/server/webhooks/detect-events";
import { findEndedJobs, type JobsState } from "@/lib/server/webhooks/detect-jobs";
import { createWatcher } from "@/lib/server/webhooks/watch";
import { until } from "@/tests/support/until";
import { createWebhookHarness } from "./webhook-harness";

const fixture = await createWebhookHarness({ LIGHTDESK_PUBLIC_URL: "http://desk.test" });
const ALL_EVENTS = ["job.completed", "job.failed", "queue.idle", "connection.down", "connection.up", "runner.down", "runner.up"];
const PROMPT = "a secret garden in the first light";

let count = 0;
function createJob(id: string, change: Record<string, unknown>) {
  const createdAt = fixture.harness.console.now() + (count += 1);
  return {
    ...{ id, status: "pending", create_time: createdAt, workflow_id: "w", outputs_count: 2 },
    workflow: { prompt: { "1": { class_type: "CLIPTextEncode", inputs: { text: PROMPT } } } },
    ...change,
  };
}
fixture.jobs.push(createJob("old", { status: "completed" }));
const savedWebhook = await fixture.add({ events: ALL_EVENTS });
await fixture.waitForCheck();
beforeEach(() => void (fixture.receiver.requests.length = 0));

const checkNow = () => fixture.harness.console.webhooks.refresh(fixture.connection);
const getPayload = (type: string) => fixture.listPayloads(savedWebhook.secret).find((payload) => payload.type === type);

it("reports the end of a job and of the queue", async () => {
  const item = createJob("one", {});
  fixture.jobs.push(item);
  checkNow();
  const start = fixture.harness.console.now();
  Object.assign(item, { status: "completed", execution_start_time: start, execution_end_time: start + 4200 });
  await until("both arrive", () => (checkNow(), fixture.listEventTypes().length === 2));
  expect(fixture.listEventTypes().sort()).toEqual(["job.completed", "queue.idle"]);
  expect(getPayload("job.completed")).toMatchObject({
    data: {
      connection: { id: fixture.connection, name: "Another service" },
      job: { id: "one", state: "completed", name: "one", runMs: 4200, outputs: 2 },
      url: `http://desk.test/jobs/one?connection=${fixture.connection}`,
    },
  });
});

it("reports a failure without the prompt quoted in its message", async () => {
  const message = `Could not parse '${PROMPT}' at line 1`;
  const node = { node_id: "1", node_type: "CLIPTextEncode" };
  const execution_error = { ...node, exception_type: "ValueError", exception_message: message };
  fixture.jobs.push(createJob("bad", { status: "failed", execution_error }));
  await until("it arrives", () => (checkNow(), getPayload("job.failed")));
  expect(getPayload("job.failed")).toMatchObject({
    data: { job: { failure: { code: "ValueError", message: "CLIPTextEncode: Could not parse '…" } } },
  });
  for (const { body } of fixture.receiver.requests) expect(body.toString()).not.toContain("secret garden");
});

it("includes the prompt only when the webhook is set to", async () => {
  const { webhook } = await fixture.add({ events: ["job.completed"], includesPrompts: true, url: `${fixture.receiver.url}/prompts` });
  await fixture.waitForCheck();
  fixture.jobs.push(createJob("prompted", { status: "completed" }));
  await until("both arrive", () => (checkNow(), getPayload("job.completed") && fixture.listEventTypes("/prompts").length === 1));
  const [withPrompt] = await fixture.listDeliveries(webhook.id);
  const [without] = (await fixture.listDeliveries(savedWebhook.webhook.id)).filter(({ type }) => type === "job.completed");
  expect([withPrompt?.request, without?.request].map((text) => text?.includes(PROMPT))).toEqual([true, false]);
  await fixture.request(`/api/console/webhooks/${webhook.id}`, { as: "admin", method: "DELETE" });
});

it("ignores cancelled, removed and earlier jobs", async () => {
  const [cancelled, removed] = [createJob("cancelled", {}), createJob("removed", {})];
  fixture.jobs.push(cancelled, removed);
  checkNow();
  cancelled.status = "cancelled";
  fixture.jobs.splice(fixture.jobs.indexOf(removed), 1);
  fixture.jobs.push(createJob("after", { status: "completed" }));
  await until("the later job arrives", () => (checkNow(), getPayload("job.completed")));
  const ids = fixture.listPayloads(savedWebhook.secret).flatMap(({ data }) => ("job" in data ? [data.job.id] : []));
  expect(ids).toEqual(["after"]);
});

/** Starts a separate service with jobs created `everyMs` apart, to be checked on demand. */
async function startChecks(length: number, everyMs: number) {
  const separateFixture = await createWebhookHarness();
  const access = await openForConsole(separateFixture.harness.console, separateFixture.connection);
  if (!access.ok) throw new Error(access.failure.message);
  const create_time = 1_767_225_600_000;
  const queue = Array.from({ length }, (_, index) => ({ ...createJob(`q${index}`, {}), create_time: create_time + index * everyMs }));
  separateFixture.jobs.push(...queue);
  let before: JobsState | undefined;
  const checkOnce = async (...ended: number[]) => {
    for (const index of ended) Object.assign(queue[index] ?? {}, { status: "completed" });
    // These checks run faster than shared responses expire.
    separateFixture.harness.console.jobResponses.invalidate();
    const requests = separateFixture.upstream.requests.length;
    const result = await findEndedJobs(access.value, before, new AbortController().signal);
    if (!result.ok) throw new Error(result.failure.message);
    before = result.value.state;
    return { requests: separateFixture.upstream.requests.length - requests, ended: result.value.ended.map(({ id }) => id) };
  };
  return { separateFixture, queue, checkOnce, openCount: () => before?.open.length ?? 0 };
}

it("reports each job of a burst once", async () => {
  const { separateFixture, queue, checkOnce } = await startChecks(250, 1);
  await checkOnce();
  const { ended } = await checkOnce(...queue.keys());
  for (const _check of [1, 2, 3]) ended.push(...(await checkOnce()).ended);
  expect(ended.sort()).toEqual(queue.map(({ id }) => id).sort());
  expect(await checkOnce()).toEqual({ requests: 1, ended: [] });
  separateFixture.jobs.push({ ...createJob("next", { status: "completed" }), create_time: 1_767_225_601_000 });
  expect((await checkOnce()).ended).toEqual(["next"]);
});

it.each([
  ["short pages", 20, 0],
  ["a page of unreadable rows", 100, 100],
])("reports new jobs after %s", async (_label, maxPageSize, unreadableCount) => {
  const { separateFixture, checkOnce } = await startChecks(1, 1);
  await checkOnce();
  const jobs = Array.from({ length: 250 }, (_, index) => createJob(`n${index}`, { status: "completed" }));
  separateFixture.jobs.push(...jobs, ...Array.from({ length: unreadableCount }, () => ({ id: "unreadable" })));
  separateFixture.service.maxPageSize = maxPageSize;
  expect((await checkOnce()).ended.sort()).toEqual(jobs.map(({ id }) => id).sort());
});

it("reports a job that ends out of order among more than 1,000", async () => {
  const { checkOnce } = await startChecks(1500, 120_000);
  await checkOnce();
  await checkOnce();
  expect((await checkOnce(500)).ended).toEqual(["q500"]);
});

it("reads a long queue in few requests and reports every ended job", async () => {
  const { separateFixture, queue, checkOnce, openCount } = await startChecks(900, 120_000);
  await checkOnce();
  expect(await checkOnce()).toEqual({ requests: 2, ended: [] });
  expect(await checkOnce(0)).toEqual({ requests: 3, ended: ["q0"] });
  expect(await checkOnce(...Array.from({ length: 60 }, (_, index) => index + 1))).toMatchObject({ requests: 3, ended: { length: 60 } });
  // Out of order: all pages are read until the totals agree.
  expect((await checkOnce(500)).ended).toEqual(["q500"]);
  expect(await checkOnce(899)).toEqual({ requests: 2, ended: ["q899"] });
  queue.splice(70, 1);
  separateFixture.jobs.splice(70, 1);
  expect((await checkOnce()).ended).toEqual([]);
  const remainingIndexes = queue.flatMap(({ status }, index) => (status === "pending" ? [index] : []));
  const lastChecks = [await checkOnce(...remainingIndexes)];
  while (openCount() > 0) lastChecks.push(await checkOnce());
  expect(lastChecks.flatMap(({ ended }) => ended)).toHaveLength(remainingIndexes.length);
  for (const { requests } of lastChecks) expect(requests).toBeLessThanOrEqual(53);
});

it("sends an event once when several processes detect it", async () => {
  const { console: desk } = fixture.harness;
  const watchers = [1, 2, 3].map(() => createWatcher(desk, () => undefined));
  for (const watcher of watchers) watcher.start();
  fixture.jobs.push(...["a", "b", "c"].map((id) => createJob(id, { status: "completed" })));
  const countCompleted = () => fixture.listEventTypes().filter((type) => type === "job.completed").length;
  await until("they arrive", () => {
    for (const { wake } of watchers) wake(fixture.connection);
    checkNow();
    return countCompleted() >= 3;
  });
  await Promise.all(watchers.map((watcher) => watcher.stop()));
  fixture.jobs.push(createJob("d", { status: "completed" }));
  await until("the next arrives", () => (checkNow(), countCompleted() >= 4));
  const ids = fixture.listPayloads(savedWebhook.secret).flatMap(({ data }) => ("job" in data ? [data.job.id] : []));
  expect(ids.sort()).toEqual(["a", "b", "c", "d"]);
});

it("runs one check per connection at a time", async () => {
  let release = (): void => undefined;
  fixture.service.responseGate = new Promise((resolve) => (release = resolve));
  const before = fixture.upstream.requests.length;
  const countReads = () => fixture.upstream.requests.length - before;
  await until("the check waits", () => (checkNow(), countReads() > 0));
  const checksBefore = fixture.getCheckCount();
  for (let count = 0; count < 5; count += 1) {
    checkNow();
    // A request through the same store triggers the watcher.
    await fixture.listDeliveries(savedWebhook.webhook.id);
  }
  expect([countReads(), fixture.getCheckCount()]).toEqual([1, checksBefore]);
  release();
});

it("reports an outage after three failures and its end, each once", async () => {
  fixture.service.isDown = true;
  await until("it is reported", () => (checkNow(), getPayload("connection.down")));
  expect(getPayload("connection.down")).toMatchObject({
    data: { connection: { id: fixture.connection }, failure: { message: "The database is unavailable." } },
  });
  fixture.service.isDown = false;
  await until("its end is reported", () => (checkNow(), getPayload("connection.up")));
  expect(fixture.listEventTypes()).toEqual(["connection.down", "connection.up"]);
});

it("doesn't report the end of an unreported outage", async () => {
  const { console: desk } = fixture.harness;
  const access = await openForConsole(desk, fixture.connection);
  if (!access.ok) throw new Error(access.failure.message);
  const failing = { sinceMs: desk.now(), count: 2, isTold: false };
  const before = { atMs: desk.now(), place: "", runners: {}, failing };
  const input = { composition: desk, webhooks: await desk.store.webhooks.list(), before, signal: new AbortController().signal };
  expect((await checkConnection(input, access.value)).detectedEvents).toEqual([]);
});

it("reports jobs of the built-in service without their prompts", async () => {
  const { webhook, secret } = await fixture.add({ connection: "embedded", events: ALL_EVENTS, url: `${fixture.receiver.url}/built-in` });
  await fixture.waitForCheck("embedded");
  const prompt = {
    "1": { class_type: "PrimitiveString", inputs: { value: PROMPT } },
    "2": { class_type: "PreviewAny", inputs: { source: ["1", 0] } },
  };
  const json = { prompt, extra_data: { extra_pnginfo: { workflow: { id: crypto.randomUUID(), name: "Poster" } } } };
  await fixture.request("/api/prompt?connection=embedded", { as: "operator", method: "POST", json });
  const findDelivered = async (type: string) =>
    (await fixture.listDeliveries(webhook.id)).find((delivery) => delivery.type === type && delivery.state === "delivered");
  const completedDelivery = await until("the event is delivered", () => findDelivered("job.completed"));
  expect(JSON.parse(completedDelivery.request).data).toMatchObject({
    connection: { id: "embedded" },
    job: { state: "completed", name: "Poster", workflow: "Poster", member: "operator", outputs: expect.any(Number) },
    url: expect.stringMatching(/^http:\/\/desk\.test\/jobs\/[\w-]+\?connection=embedded$/),
  });
  expect(completedDelivery.request).not.toContain("secret garden");
  await until("the queue is reported empty", () => findDelivered("queue.idle"));
  expect(() => fixture.listPayloads(secret, "/built-in")).not.toThrow();
});

it("closes a feed that opens after the last webhook was disabled", async () => {
  const { harness, add, change } = await createWebhookHarness();
  const [desk, { openFeed }] = [harness.console, harness.console];
  let release = (): void => undefined;
  const gate = new Promise<void>((resolve) => (release = resolve));
  let [openCount, stopCount, loopCount] = [0, 0, 0];
  desk.openFeed = async (...options) => {
    openCount += 1;
    await gate;
    const feed = await openFeed(...options);
    return feed && { ...feed, stop: () => ((stopCount += 1), feed.stop()) };
  };
  const { webhooks } = desk.store;
  const listEnabledByConnection = webhooks.listEnabledByConnection.bind(webhooks);
  webhooks.listEnabledByConnection = () => ((loopCount += 1), listEnabledByConnection());
  const { webhook } = await add({ connection: "embedded" });
  await until("the feed opens", () => openCount > 0);
  expect((await change(webhook.id, { isEnabled: false })).status).toBe(200);
  loopCount = 0;
  await until("the change is read", () => (desk.webhooks.refresh("embedded"), loopCount >= 2));
  release();
  await until("the feed is stopped", () => stopCount === 1);
});

it("reports a runner's outage and its end, each once", async () => {
  const { console: desk } = fixture.harness;
  const access = await openForConsole(desk, "embedded");
  const webhooks = await desk.store.webhooks.list();
  if (!access.ok) throw new Error(access.failure.message);
  const [builtIn] = await desk.serviceRunners().list();
  if (!builtIn) throw new Error("no runner");
  let before: Awaited<ReturnType<typeof checkConnection>>["state"] | undefined;
  const batches: string[][] = [];
  for (const state of ["ready", "unreachable", "unreachable", "checking", "ready", "paused", "set_aside"] as const) {
    const runner = { ...builtIn, id: "gpu", label: "GPU", state, reason: null };
    const composition = { ...desk, serviceRunners: () => ({ ...desk.serviceRunners(), list: async () => [runner] }) };
    const checkResult = await checkConnection({ composition, webhooks, before, signal: new AbortController().signal }, access.value);
    batches.push(checkResult.detectedEvents.map(({ payload }) => payload.type).filter((type) => type.startsWith("runner")));
    before = checkResult.state;
  }
  expect(batches).toEqual([[], ["runner.down"], [], [], ["runner.up"], [], ["runner.down"]]);
});

it("reports a batch once, after its last job or a minute without jobs", async () => {
  const url = `${fixture.receiver.url}/batches`;
  const { webhook, secret } = await fixture.add({ connection: "embedded", events: ["batch.ended"], url });
  await fixture.waitForCheck("embedded");
  const workflow = { id: crypto.randomUUID(), name: "Poster" };
  const submit = async (batch: string, size: number, message: string) => {
    const nodes = message === "" ? {} : { "2": { class_type: "Fail", inputs: { message, anything: ["1", 0] } } };
    const prompt = {
      "1": { class_type: "EmptyImage", inputs: { width: 64, height: 64, batch_size: 1, color: 1 } },
      ...nodes,
      "3": { class_type: "PreviewImage", inputs: { images: [message === "" ? "1" : "2", 0] } },
    };
    const headers = { "idempotency-key": crypto.randomUUID(), "x-lightdesk-batch": `${batch}; size=${size}` };
    const json = { prompt, extra_data: { extra_pnginfo: { workflow } } };
    const response = await fixture.request("/api/prompt?connection=embedded", { as: "operator", method: "POST", json, headers });
    const { prompt_id: id } = await response.json();
    const path = `/api/jobs/${id}?connection=embedded`;
    const getStatus = async () => (await (await fixture.request(path, { as: "operator" })).json()).status;
    await until("the job ends", async () => ["completed", "failed"].includes(await getStatus()));
    await fixture.waitForCheck("embedded");
  };
  const [completeBatch, incompleteBatch] = [crypto.randomUUID(), crypto.randomUUID()];
  const listDelivered = async () => (await fixture.listDeliveries(webhook.id)).filter(({ state }) => state === "delivered");
  for (const message of ["", "no such file"]) await submit(completeBatch, 3, message);
  expect(await listDelivered()).toEqual([]);
  await submit(completeBatch, 3, "");
  await until("the batch is reported", async () => (await listDelivered()).length === 1);
  await submit(incompleteBatch, 2, "");
  expect(await listDelivered()).toHaveLength(1);
  fixture.advanceClock(60_000);
  await until("the incomplete batch is reported", async () => {
    await fixture.waitForCheck("embedded");
    return (await listDelivered()).length === 2;
  });
  const batches = fixture.listPayloads(secret, "/batches").map(({ data }) => ("batch" in data ? { ...data.batch, url: data.url } : {}));
  const jobsUrl = `http://desk.test/jobs?workflow_id=${workflow.id}&connection=embedded`;
  const expectedFields = { name: "Poster", member: "operator", url: jobsUrl };
  expect(batches).toEqual([
    { ...expectedFields, id: completeBatch, jobs: 3, completed: 2, failed: 1 },
    { ...expectedFields, id: incompleteBatch, jobs: 1, completed: 1, failed: 0 },
  ]);
});

it("logs the sent chat message without the ntfy topic", async () => {
  const [slack, ntfy] = [await fixture.add({ format: "slack" }), await fixture.add({ format: "ntfy" })];
  const [message, topic] = [await fixture.sendTest(slack.webhook.id), await fixture.sendTest(ntfy.webhook.id)];
  const getSentBody = ({ eventId }: { eventId: string }) =>
    fixture.receiver.requests.find(({ headers }) => headers["webhook-id"] === eventId)?.body.toString("utf8") ?? "";
  expect(message.request).toBe(getSentBody(message));
  const sentMessage: unknown = JSON.parse(getSentBody(topic));
  expect(sentMessage).toMatchObject({ topic: "hook" });
  expect(JSON.parse(topic.request)).toEqual({ ...Object(sentMessage), topic: "…" });
});
