// Deliveries to a receiver that succeeds, fails, redirects, is slow or forbidden, and webhook settings.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createDeliverer } from "@/lib/server/webhooks/deliver";
import { startTestServer } from "@/tests/support/test-server";
import { until } from "@/tests/support/until";
import { createWebhookWorld } from "./webhook-world";

let world: Awaited<ReturnType<typeof createWebhookWorld>>;
beforeAll(async () => void (world = await createWebhookWorld()));
afterAll(() => world.dispose());
beforeEach(() => {
  world.receiver.requests.length = 0;
  world.responses.length = 0;
});

const HOUR_MS = 60 * 60_000;

it("shows a secret once and stores secret and address sealed", async () => {
  const { webhook, secret } = await world.add();
  expect(secret).toMatch(/^whsec_[\w+/=]{44}$/);
  expect(webhook.origin).toBe(world.receiver.url);
  const listText = await (await world.request("/api/console/webhooks", { as: "admin" })).text();
  const storedText = await world.harness.stored();
  for (const text of [listText, storedText]) expect([text.includes(secret), text.includes("of-the-receiver")]).toEqual([false, false]);
});

it("signs a test and records its request and response", async () => {
  world.responses.push({ status: 200, body: `thanks\n${"x".repeat(5000)}` });
  const { webhook, secret } = await world.add();
  const delivery = await world.sendTest(webhook.id);
  const [request] = world.receiver.requests;
  expect(request).toMatchObject({ method: "POST", url: "/hook?token=of-the-receiver", headers: { "content-type": "application/json" } });
  expect(request?.headers["webhook-id"]).toBe(delivery.eventId);
  const [payload] = world.received(secret);
  expect(payload).toMatchObject({ type: "webhook.test", data: { webhook: { id: webhook.id } } });
  expect(JSON.parse(delivery.request)).toEqual(payload);
  expect(delivery).toMatchObject({
    state: "delivered",
    attempts: 1,
    last: { status: 200, response: expect.stringMatching(/^thanks x{2041}$/) },
  });
  expect(await world.deliveries(webhook.id)).toEqual([delivery]);
});

it("retries with growing waits and the same event id until the receiver recovers", async () => {
  const { webhook, secret } = await world.add();
  const event = await addEvent(webhook.id);
  world.responses.push({ status: 500, body: "out of order" }, { status: 500 }, { status: 503, headers: { "retry-after": "150" } });
  world.harness.console.webhooks.changed(world.connection);
  const state = async () => (await world.deliveries(webhook.id))[0];
  const waits: number[] = [];
  for (const attempts of [1, 2, 3]) {
    const failed = await until(`attempt ${attempts}`, async () => ((await state())?.attempts === attempts ? state() : undefined));
    expect(failed).toMatchObject({ state: "pending", last: { problem: "status" } });
    waits.push((failed.nextAt ?? 0) - world.harness.console.now());
    world.pass(waits.at(-1) ?? 0);
  }
  const delivery = await until("it is delivered", async () => ((await state())?.state === "delivered" ? state() : undefined));
  expect(delivery).toMatchObject({ attempts: 4, last: { status: 204 } });
  expect(waits[1]).toBeGreaterThan(2 * (waits[0] ?? 0));
  expect(waits[2]).toBe(150_000);
  expect(world.receiver.requests.map(({ headers }) => headers["webhook-id"])).toEqual([event, event, event, event]);
  expect(() => world.received(secret)).not.toThrow();
});

it("stops retrying after 24 hours", async () => {
  // Its clock advances by a day, and the library accepts no signature from tomorrow.
  const ownWorld = await createWebhookWorld();
  const { webhook } = await ownWorld.add();
  await addEvent(webhook.id, ownWorld);
  const state = async () => (await ownWorld.deliveries(webhook.id))[0];
  ownWorld.responses.push(...Array.from({ length: 60 }, () => ({ status: 500 })));
  ownWorld.harness.console.webhooks.changed(ownWorld.connection);
  let attempts = 0;
  const failedDelivery = await until("it is given up", async () => {
    const now = await state();
    // Once per attempt: a later one may be running.
    if (now?.state === "pending" && now.attempts > attempts) {
      attempts = now.attempts;
      ownWorld.pass((now.nextAt ?? 0) - ownWorld.harness.console.now());
    }
    return now?.state === "failed" ? now : undefined;
  });
  expect(failedDelivery.attempts).toBeGreaterThan(5);
  expect(failedDelivery.attempts).toBeLessThan(25);
  expect((failedDelivery.last?.at ?? 0) - failedDelivery.createdAt).toBe(24 * HOUR_MS);
  await ownWorld.dispose();
});

it("stops retrying when the receiver returns 410", async () => {
  const { webhook } = await world.add();
  await addEvent(webhook.id);
  world.responses.push({ status: 410 });
  world.harness.console.webhooks.changed(world.connection);
  const failed = await until("it is given up", async () => (await world.deliveries(webhook.id)).find(({ state }) => state === "failed"));
  expect(failed).toMatchObject({ attempts: 1, last: { status: 410 } });
});

it("follows no redirect", async () => {
  const inside = await startTestServer((_request, response) => void response.end("secret"));
  try {
    const { webhook } = await world.add();
    for (const status of [301, 302, 307, 308]) {
      world.responses.push({ status, headers: { location: `${inside.url}/metadata` } });
      expect(await world.sendTest(webhook.id)).toMatchObject({ state: "failed", last: { status, problem: "redirected" } });
    }
    expect(inside.requests).toEqual([]);
  } finally {
    await inside.close();
  }
});

it.each([
  "https://127.0.0.1:1/hook",
  "https://10.0.0.1/hook",
  "https://[::1]/hook",
  "https://169.254.169.254/latest",
  "https://localhost/hook",
])("opens no connection to %s", async (url) => {
  const { webhook } = await world.add({ url });
  expect(await world.sendTest(webhook.id)).toMatchObject({ state: "failed", last: { problem: "forbidden" } });
});

it.each([
  ["http://example.com/hook", {}],
  ["ftp://example.com/hook", {}],
  ["https://user:password@example.com/hook", {}],
  ["https://example.com/hook#part", {}],
  ["https://ntfy.example.com/", { format: "ntfy" }],
  ["https://example.com/hook", { events: [] }],
  ["https://example.com/hook", { events: ["job.renamed"] }],
  ["https://example.com/hook", { connection: "another" }],
])("rejects the settings %s %j", async (url, change) => {
  await expect(world.add({ url, ...change })).rejects.toThrow("INVALID_BODY");
});

it("reports a receiver that doesn't respond in time", async () => {
  const { store, ring, log, now } = world.harness.console;
  const never = (request: Request) =>
    new Promise<Response>((_, reject) => request.signal.addEventListener("abort", () => reject(new Error("late"))));
  const deliverer = createDeliverer({ webhooks: store.webhooks, ring, log, now, send: never, timeoutMs: 20 });
  const { webhook } = await world.add({ isEnabled: false });
  const delivery = { webhookId: webhook.id, eventId: "evt_slow", type: "queue.idle", body: bodyOfEvent(), createdAt: now() };
  const claimed = await store.webhooks.addClaimed({ ...delivery, giveUpAt: now() + HOUR_MS }, now());
  expect(claimed && (await deliverer.attempt(claimed))).toMatchObject({ state: "pending", problem: "timeout", attempts: 1 });
  await deliverer.stop();
});

it("delivers to other receivers while one hangs", async () => {
  const pendingResponses: (() => void)[] = [];
  const slow = await startTestServer((_request, response) =>
    new Promise<void>((resolve) => pendingResponses.push(resolve)).then(() => response.end()),
  );
  const ownWorld = await createWebhookWorld({ LIGHTDESK_TRUSTED_HOSTS: `${slow.host},${world.receiver.host}` });
  try {
    const { webhook: hanging } = await ownWorld.add({ url: slow.url });
    const { webhook } = await ownWorld.add({ url: world.receiver.url });
    for (let count = 0; count < 20; count += 1) await addEvent(hanging.id, ownWorld);
    await addEvent(webhook.id, ownWorld);
    ownWorld.harness.console.webhooks.changed(ownWorld.connection);
    await until("the other one is delivered", async () => (await ownWorld.deliveries(webhook.id))[0]?.state === "delivered");
    expect(slow.requests.length).toBeLessThanOrEqual(2);
  } finally {
    for (const release of pendingResponses) release();
    await ownWorld.dispose();
    await slow.close();
  }
});

it("signs with both secrets for a day after a renewal", async () => {
  const { webhook, secret: first } = await world.add();
  const renewed = await (await world.change(webhook.id, { renewSecret: "keep-old" })).json();
  await world.sendTest(webhook.id);
  for (const secret of [first, renewed.secret]) expect(() => world.received(secret)).not.toThrow();
  world.receiver.requests.length = 0;
  const last = await (await world.change(webhook.id, { renewSecret: "at-once" })).json();
  expect(last.webhook.oldSecretUntil).toBeUndefined();
  await world.sendTest(webhook.id);
  expect(() => world.received(last.secret)).not.toThrow();
  expect(() => world.received(renewed.secret)).toThrow("No matching signature");
});

it("keeps address and secret when only the name changes", async () => {
  const { webhook, secret } = await world.add();
  const response = await world.change(webhook.id, { name: "Another name" });
  expect(await response.json()).toEqual({ webhook: { ...webhook, name: "Another name" } });
  await world.sendTest(webhook.id);
  expect(world.receiver.requests[0]?.url).toBe("/hook?token=of-the-receiver");
  expect(() => world.received(secret)).not.toThrow();
});

it("makes one attempt on demand and keeps the schedule", async () => {
  const { webhook } = await world.add();
  const eventId = await addEvent(webhook.id);
  const state = async () => (await world.deliveries(webhook.id)).find((delivery) => delivery.eventId === eventId);
  world.responses.push({ status: 500 }, { status: 500 });
  world.harness.console.webhooks.changed(world.connection);
  const waiting = await until("the first attempt", async () => ((await state())?.attempts === 1 ? state() : undefined));
  const resentDelivery = await world.sendAgain(webhook.id, waiting.id);
  expect(resentDelivery).toMatchObject({ state: "pending", attempts: 2, nextAt: waiting.nextAt, last: { status: 500 } });
  const delivered = await world.sendAgain(webhook.id, waiting.id);
  expect([delivered.state, delivered.attempts, delivered.nextAt]).toEqual(["delivered", 3, undefined]);
  world.responses.push({ status: 500 });
  const failed = await world.sendAgain(webhook.id, waiting.id);
  expect([failed.state, failed.attempts, failed.nextAt]).toEqual(["failed", 4, undefined]);
  expect(await world.sendAgain(webhook.id, waiting.id)).toMatchObject({ state: "delivered", attempts: 5, eventId });
  world.responses.push({ status: 500 });
  expect(await world.sendAgain(webhook.id, waiting.id)).toMatchObject({ state: "failed", attempts: 6 });
  // Longer than any wait between attempts.
  const { store, now } = world.harness.console;
  expect(await store.webhooks.claimDue(now() + 12 * HOUR_MS, [])).toBeUndefined();
});

it("doesn't repeat an attempt on demand when its process ends", async () => {
  const { webhook } = await world.add();
  const delivery = await world.sendTest(webhook.id);
  const { store, now } = world.harness.console;
  expect(await store.webhooks.claim(webhook.id, delivery.id, now())).toMatchObject({ scheduledAt: undefined });
  expect(await store.webhooks.claimDue(now() + HOUR_MS, [])).toBeUndefined();
  expect((await world.deliveries(webhook.id))[0]).toEqual(delivery);
});

describe("a disabled webhook", () => {
  const createDelivery = (webhookId: string, eventId: string, createdAt: number) => ({
    ...{ webhookId, eventId, type: "queue.idle", body: "{}", createdAt, giveUpAt: createdAt + 24 * HOUR_MS },
  });
  /** Like a check that began while all were enabled. */
  async function record(connection: string, deliveries: ReturnType<typeof createDelivery>[], at: number): Promise<void> {
    const { webhooks } = world.harness.console.store;
    await webhooks.takeWatch(connection, { holder: "test", ms: 0, now: at });
    await webhooks.recordWatch(connection, { holder: "test", state: "{}", deliveries, now: at });
  }
  const begin = async (change: Record<string, unknown>) => {
    const connection = await world.harness.connect("http://127.0.0.1:9", undefined);
    return { connection, ...(await world.add({ connection, ...change })) };
  };

  it("receives no event that was detected while it was disabled", async () => {
    const { connection, webhook } = await begin({ isEnabled: false });
    await record(connection, [createDelivery(webhook.id, "evt_disabled", world.harness.console.now())], world.harness.console.now());
    expect(await world.deliveries(webhook.id)).toEqual([]);
  });

  it("restarts when enabled after another process stored its state", async () => {
    const { connection, webhook } = await begin({ isEnabled: false });
    const { console: desk } = world.harness;
    await record(connection, [], desk.now());
    await world.change(webhook.id, { isEnabled: true });
    const { webhooks } = desk.store;
    expect(await webhooks.takeWatch(connection, { holder: "another", ms: 0, now: desk.now() + HOUR_MS })).not.toBe("{}");
  });

  it.each([
    ["sends", 1, "delivered"],
    ["gives up", -1, "failed"],
  ])("%s a pending delivery when enabled %s h before its expiry", async (_what, hours, expected) => {
    const { webhook } = await world.add({ isEnabled: false });
    const { store, now } = world.harness.console;
    const delivery = { webhookId: webhook.id, eventId: "evt_waiting", type: "queue.idle", body: bodyOfEvent(), createdAt: now() };
    const claimed = await store.webhooks.addClaimed({ ...delivery, giveUpAt: now() + hours * HOUR_MS }, now());
    if (claimed) await store.webhooks.release(claimed, now());
    await world.change(webhook.id, { isEnabled: true });
    await until(`it is ${expected}`, async () => (await world.deliveries(webhook.id))[0]?.state === expected);
  });

  it("is deleted with its deliveries when its connection is removed", async () => {
    const { connection, webhook } = await begin({ isEnabled: false });
    await addEvent(webhook.id);
    await world.request(`/api/console/connections/${connection}`, { as: "admin", method: "DELETE" });
    const response = await world.request(`/api/console/webhooks/${webhook.id}/deliveries`, { as: "admin" });
    expect([response.status, await world.harness.console.store.webhooks.listDeliveries(webhook.id, 10)]).toEqual([404, []]);
    expect(world.receiver.requests).toEqual([]);
  });
});

it("keeps the newest 1,000 deliveries for 7 days", async () => {
  const ownWorld = await createWebhookWorld();
  const { store, now, webhooks } = ownWorld.harness.console;
  const { webhook } = await ownWorld.add();
  const at = now();
  for (let index = 0; index < 1003; index += 1) {
    const delivery = { webhookId: webhook.id, eventId: `evt_${index}`, type: "queue.idle", body: "{}", createdAt: at + index };
    await store.webhooks.addClaimed({ ...delivery, giveUpAt: at }, at);
  }
  const deliveries = await store.webhooks.listDeliveries(webhook.id, 2000);
  expect([deliveries.length, deliveries.at(-1)?.eventId]).toEqual([1000, "evt_3"]);
  ownWorld.pass(8 * 24 * HOUR_MS);
  webhooks.changed(ownWorld.connection);
  await until("they are deleted", async () => (await store.webhooks.listDeliveries(webhook.id, 1)).length === 0);
  await ownWorld.dispose();
});

it("audits each action and rejects changes while read-only", async () => {
  const { webhook } = await world.add({ name: "Audited" });
  const delivery = await world.sendTest(webhook.id);
  await world.sendAgain(webhook.id, delivery.id);
  await world.change(webhook.id, { name: "Audited" });
  await world.request(`/api/console/webhooks/${webhook.id}`, { as: "admin", method: "DELETE" });
  const { entries } = await (await world.request("/api/console/audit?limit=5", { as: "owner" })).json();
  const rows: { action: string; target?: string }[] = entries;
  expect(rows.map(({ action, target }) => `${action} ${target}`)).toEqual(
    ["removeWebhook", "changeWebhook", "resendWebhook", "testWebhook", "addWebhook"].map((action) => `${action} Audited`),
  );
  await world.request("/api/console/read-only", { as: "owner", method: "PUT", json: {} });
  await expect(world.add()).rejects.toThrow("READ_ONLY");
  await world.request("/api/console/read-only", { as: "owner", method: "DELETE" });
});

function bodyOfEvent(): string {
  const { now } = world.harness.console;
  const data = { connection: { id: world.connection, name: "Another service" }, url: "https://desk.example.com/queue" };
  return JSON.stringify({ type: "queue.idle", timestamp: new Date(now()).toISOString(), data });
}

/** An event that is due now; its id. */
async function addEvent(webhookId: string, { harness: { console: desk } } = world): Promise<string> {
  const eventId = `evt_${crypto.randomUUID()}`;
  const delivery = {
    webhookId,
    eventId,
    type: "queue.idle",
    body: bodyOfEvent(),
    createdAt: desk.now(),
    giveUpAt: desk.now() + 24 * HOUR_MS,
  };
  const claimed = await desk.store.webhooks.addClaimed(delivery, desk.now());
  if (claimed) await desk.store.webhooks.release(claimed, desk.now());
  return eventId;
}
