// Events of a connection: which jobs, queues and outages a webhook reports, once each, and with which fields.
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { openForConsole } from "@/lib/server/connections/access";
import { checkConnection } from "@/lib/server/webhooks/detect-events";
import { findEndedJobs, type JobsState } from "@/lib/server/webhooks/detect-jobs";
import { createWatcher } from "@/lib/server/webhooks/watch";
import { until } from "@/tests/support/until";
import { createWebhookWorld } from "./webhook-world";

let world: Awaited<ReturnType<typeof createWebhookWorld>>;
let savedWebhook: Awaited<ReturnType<typeof world.add>>;
const ALL = ["job.completed", "job.failed", "queue.idle", "connection.down", "connection.up", "runner.down", "runner.up"];
const PROMPT = "a secret garden in the first light";

beforeAll(async () => {
  world = await createWebhookWorld({ LIGHTDESK_PUBLIC_URL: "http://desk.test" });
  world.jobs.push(job("old", { status: "completed" }));
  savedWebhook = await world.add({ events: ALL });
  await world.looked();
});
afterAll(() => world.dispose());
beforeEach(() => void (world.receiver.requests.length = 0));

let count = 0;
function job(id: string, change: Record<string, unknown>) {
  const at = world.harness.console.now() + (count += 1);
  return {
    ...{ id, status: "pending", create_time: at, workflow_id: "w", outputs_count: 2 },
    workflow: { prompt: { "1": { class_type: "CLIPTextEncode", inputs: { text: PROMPT } } } },
    ...change,
  };
}
const look = () => world.harness.console.webhooks.changed(world.connection);
const getPayload = (type: string) => world.received(savedWebhook.secret).find((payload) => payload.type === type);

it("reports the end of a job and of the queue", async () => {
  const item = job("one", {});
  world.jobs.push(item);
  look();
  const start = world.harness.console.now();
  Object.assign(item, { status: "completed", execution_start_time: start, execution_end_time: start + 4200 });
  await until("both arrive", () => (look(), world.types().length === 2));
  expect(world.types().sort()).toEqual(["job.completed", "queue.idle"]);
  expect(getPayload("job.completed")).toMatchObject({
    data: {
      connection: { id: world.connection, name: "Another service" },
      job: { id: "one", state: "completed", name: "one", runMs: 4200, outputs: 2 },
      url: `http://desk.test/jobs/one?connection=${world.connection}`,
    },
  });
});

it("reports a failure without the prompt that its reason quotes", async () => {
  const message = `Could not parse '${PROMPT}' at line 1`;
  world.jobs.push(job("bad", { status: "failed", execution_error: { node_id: "1", node_type: "CLIPTextEncode", exception_type: "ValueError", exception_message: message } })); // prettier-ignore
  await until("it arrives", () => (look(), getPayload("job.failed")));
  expect(getPayload("job.failed")).toMatchObject({
    data: { job: { failure: { code: "ValueError", message: "CLIPTextEncode: Could not parse '…" } } },
  });
  for (const { body } of world.receiver.requests) expect(body.toString()).not.toContain("secret garden");
});

it("includes the prompt only where the webhook is set to", async () => {
  const { webhook } = await world.add({ events: ["job.completed"], includesPrompts: true, url: `${world.receiver.url}/prompts` });
  await world.looked();
  world.jobs.push(job("prompted", { status: "completed" }));
  await until("both arrive", () => (look(), getPayload("job.completed") && world.types("/prompts").length === 1));
  const [withPrompt] = await world.deliveries(webhook.id);
  const [without] = (await world.deliveries(savedWebhook.webhook.id)).filter(({ type }) => type === "job.completed");
  expect([withPrompt?.request, without?.request].map((text) => text?.includes(PROMPT))).toEqual([true, false]);
  await world.request(`/api/console/webhooks/${webhook.id}`, { as: "admin", method: "DELETE" });
});

it("ignores cancelled, removed and earlier jobs", async () => {
  const [cancelled, removed] = [job("cancelled", {}), job("removed", {})];
  world.jobs.push(cancelled, removed);
  look();
  cancelled.status = "cancelled";
  world.jobs.splice(world.jobs.indexOf(removed), 1);
  world.jobs.push(job("after", { status: "completed" }));
  await until("the one after them arrives", () => (look(), getPayload("job.completed")));
  const ids = world.received(savedWebhook.secret).flatMap(({ data }) => ("job" in data ? [data.job.id] : []));
  expect(ids).toEqual(["after"]);
});

/** Jobs of a separate service, `everyMs` apart, and checks of them. */
async function startChecks(length: number, everyMs: number) {
  const ownWorld = await createWebhookWorld();
  const access = await openForConsole(ownWorld.harness.console, ownWorld.connection);
  if (!access.ok) throw new Error(access.failure.message);
  const create_time = 1_767_225_600_000;
  const queue = Array.from({ length }, (_, index) => ({ ...job(`q${index}`, {}), create_time: create_time + index * everyMs }));
  ownWorld.jobs.push(...queue);
  let before: JobsState | undefined;
  const lookOnce = async (...ended: number[]) => {
    for (const index of ended) Object.assign(queue[index] ?? {}, { status: "completed" });
    // These checks run faster than shared responses expire.
    ownWorld.harness.console.jobAnswers.changed();
    const requests = ownWorld.upstream.requests.length;
    const result = await findEndedJobs(access.value, before, new AbortController().signal);
    if (!result.ok) throw new Error(result.failure.message);
    before = result.value.state;
    return { requests: ownWorld.upstream.requests.length - requests, ended: result.value.ended.map(({ id }) => id) };
  };
  return { own: ownWorld, queue, lookOnce, openCount: () => before?.open.length ?? 0 };
}

it("reports each job of a burst once", async () => {
  const { own, queue, lookOnce } = await startChecks(250, 1);
  await lookOnce();
  const { ended } = await lookOnce(...queue.keys());
  for (const _check of [1, 2, 3]) ended.push(...(await lookOnce()).ended);
  expect(ended.sort()).toEqual(queue.map(({ id }) => id).sort());
  expect(await lookOnce()).toEqual({ requests: 1, ended: [] });
  own.jobs.push({ ...job("next", { status: "completed" }), create_time: 1_767_225_601_000 });
  expect((await lookOnce()).ended).toEqual(["next"]);
  await own.dispose();
});

it("reports a job that ends out of order among more than 1,000", async () => {
  const { own, lookOnce } = await startChecks(1500, 120_000);
  await lookOnce();
  await lookOnce();
  expect((await lookOnce(500)).ended).toEqual(["q500"]);
  await own.dispose();
});

it("reads a long queue in few requests and misses no end", async () => {
  const { own, queue, lookOnce, openCount } = await startChecks(900, 120_000);
  await lookOnce();
  expect(await lookOnce()).toEqual({ requests: 2, ended: [] });
  expect(await lookOnce(0)).toEqual({ requests: 3, ended: ["q0"] });
  expect(await lookOnce(...Array.from({ length: 60 }, (_, index) => index + 1))).toMatchObject({ requests: 3, ended: { length: 60 } });
  // Out of order: all pages are read until the totals agree.
  expect((await lookOnce(500)).ended).toEqual(["q500"]);
  expect(await lookOnce(899)).toEqual({ requests: 2, ended: ["q899"] });
  queue.splice(70, 1);
  own.jobs.splice(70, 1);
  expect((await lookOnce()).ended).toEqual([]);
  const rest = queue.flatMap(({ status }, index) => (status === "pending" ? [index] : []));
  const last = [await lookOnce(...rest)];
  while (openCount() > 0) last.push(await lookOnce());
  expect(last.flatMap(({ ended }) => ended)).toHaveLength(rest.length);
  for (const { requests } of last) expect(requests).toBeLessThanOrEqual(53);
  await own.dispose();
});

it("sends an event once when several processes detect it", async () => {
  const { console: desk } = world.harness;
  const watchers = [1, 2, 3].map(() => createWatcher(desk, () => undefined));
  for (const watcher of watchers) watcher.start();
  world.jobs.push(...["a", "b", "c"].map((id) => job(id, { status: "completed" })));
  const all = [
    ...watchers.map(
      ({ wake }) =>
        () =>
          wake(world.connection),
    ),
    look,
  ];
  await until("they arrive", () => (all.forEach((wake) => wake()), world.types().filter((type) => type === "job.completed").length >= 3));
  await Promise.all(watchers.map((other) => other.stop()));
  world.jobs.push(job("d", { status: "completed" }));
  await until("the next arrives", () => (look(), world.types().filter((type) => type === "job.completed").length >= 4));
  const ids = world.received(savedWebhook.secret).flatMap(({ data }) => ("job" in data ? [data.job.id] : []));
  expect(ids.sort()).toEqual(["a", "b", "c", "d"]);
});

it("runs one check per connection at a time", async () => {
  let release = (): void => undefined;
  world.service.answers = new Promise((resolve) => (release = resolve));
  const before = world.upstream.requests.length;
  const reads = () => world.upstream.requests.length - before;
  await until("the check waits", () => (look(), reads() > 0));
  const checksBefore = world.checks();
  for (let count = 0; count < 5; count += 1) {
    look();
    // A request through the same store triggers the watcher.
    await world.deliveries(savedWebhook.webhook.id);
  }
  expect([reads(), world.checks()]).toEqual([1, checksBefore]);
  release();
});

it("reports an outage once after three failures, and its end", async () => {
  world.service.isDown = true;
  await until("it is reported", () => (look(), getPayload("connection.down")));
  expect(getPayload("connection.down")).toMatchObject({
    data: { connection: { id: world.connection }, failure: { message: "The database is away." } },
  });
  world.service.isDown = false;
  await until("its end is reported", () => (look(), getPayload("connection.up")));
  expect(world.types()).toEqual(["connection.down", "connection.up"]);
});

it("doesn't report the end of an unreported outage", async () => {
  const { console: desk } = world.harness;
  const access = await openForConsole(desk, world.connection);
  if (!access.ok) throw new Error(access.failure.message);
  const failing = { sinceMs: desk.now(), count: 2, isTold: false };
  const before = { atMs: desk.now(), place: "", runners: {}, failing };
  const input = { composition: desk, webhooks: await desk.store.webhooks.list(), before, signal: new AbortController().signal };
  expect((await checkConnection(input, access.value)).detected).toEqual([]);
});

it("reports jobs of the built-in service without their prompts", async () => {
  const { webhook, secret } = await world.add({ connection: "embedded", events: ALL, url: `${world.receiver.url}/built-in` });
  await world.looked("embedded");
  const prompt = {
    "1": { class_type: "PrimitiveString", inputs: { value: PROMPT } },
    "2": { class_type: "PreviewAny", inputs: { source: ["1", 0] } },
  };
  const json = { prompt, extra_data: { extra_pnginfo: { workflow: { id: crypto.randomUUID(), name: "Poster" } } } };
  await world.request("/api/prompt?connection=embedded", { as: "operator", method: "POST", json });
  const delivered = async (type: string) =>
    (await world.deliveries(webhook.id)).find((delivery) => delivery.type === type && delivery.state === "delivered");
  const done = await until("it is delivered", () => delivered("job.completed"));
  expect(JSON.parse(done.request).data).toMatchObject({
    connection: { id: "embedded" },
    job: { state: "completed", name: "Poster", workflow: "Poster", member: "operator", outputs: expect.any(Number) },
    url: expect.stringMatching(/^http:\/\/desk\.test\/jobs\/[\w-]+\?connection=embedded$/),
  });
  expect(done.request).not.toContain("secret garden");
  await until("the queue is reported empty", () => delivered("queue.idle"));
  expect(() => world.received(secret, "/built-in")).not.toThrow();
});

it("reports once that a runner is down, and that it is up", async () => {
  const { console: desk } = world.harness;
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
    batches.push(checkResult.detected.map(({ payload }) => payload.type).filter((type) => type.startsWith("runner")));
    before = checkResult.state;
  }
  expect(batches).toEqual([[], ["runner.down"], [], [], ["runner.up"], [], ["runner.down"]]);
});

it("reports a batch once, after its last job or a minute after its sender stopped", async () => {
  const { webhook, secret } = await world.add({ connection: "embedded", events: ["batch.ended"], url: `${world.receiver.url}/batches` });
  await world.looked("embedded");
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
    const response = await world.request("/api/prompt?connection=embedded", { as: "operator", method: "POST", json, headers });
    const { prompt_id: id } = await response.json();
    const path = `/api/jobs/${id}?connection=embedded`;
    const status = async () => (await (await world.request(path, { as: "operator" })).json()).status;
    await until("it ended", async () => ["completed", "failed"].includes(await status()));
    await world.looked("embedded");
  };
  const [whole, abandoned] = [crypto.randomUUID(), crypto.randomUUID()];
  const delivered = async () => (await world.deliveries(webhook.id)).filter(({ state }) => state === "delivered");
  for (const message of ["", "no such file"]) await submit(whole, 3, message);
  expect(await delivered()).toEqual([]);
  await submit(whole, 3, "");
  await until("the batch is reported", async () => (await delivered()).length === 1);
  await submit(abandoned, 2, "");
  expect(await delivered()).toHaveLength(1);
  world.pass(60_000);
  await until("the other is reported", async () => (await world.looked("embedded"), (await delivered()).length === 2));
  const batches = world.received(secret, "/batches").map(({ data }) => ("batch" in data ? { ...data.batch, url: data.url } : {}));
  const url = `http://desk.test/jobs?workflow_id=${workflow.id}&connection=embedded`;
  const about = { name: "Poster", member: "operator", url };
  expect(batches).toEqual([
    { ...about, id: whole, jobs: 3, completed: 2, failed: 1 },
    { ...about, id: abandoned, jobs: 1, completed: 1, failed: 0 },
  ]);
});

it("logs the sent chat message without the ntfy topic", async () => {
  const [slack, ntfy] = [await world.add({ format: "slack" }), await world.add({ format: "ntfy" })];
  const [message, topic] = [await world.sendTest(slack.webhook.id), await world.sendTest(ntfy.webhook.id)];
  const sentBody = ({ eventId }: { eventId: string }) =>
    world.receiver.requests.find(({ headers }) => headers["webhook-id"] === eventId)?.body.toString("utf8") ?? "";
  expect(message.request).toBe(sentBody(message));
  const sent: unknown = JSON.parse(sentBody(topic));
  expect(sent).toMatchObject({ topic: "hook" });
  expect(JSON.parse(topic.request)).toEqual({ ...Object(sent), topic: "…" });
});
