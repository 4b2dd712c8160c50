// Webhook settings, and deliveries to receivers that succeed, fail, redirect, hang or are forbidden.
import { beforeEach, describe, expect, it } from "vitest";
import { createDeliverer } from "@/lib/server/webhooks/deliver";
import { openTestServer } from "@/tests/support/servers";
import { until } from "@/tests/support/until";
import { createWebhookHarness } from "./webhook-harness";

const fixture = await createWebhookHarness();
beforeEach(() => {
  fixture.receiver.requests.length = 0;
  fixture.responses.length = 0;
});

const HOUR_MS = 60 * 60_000;

it("signs a test delivery and records its request and response", async () => {
  fixture.responses.push({ status: 200, body: `thanks\n${"x".repeat(5000)}` });
  const { webhook, secret } = await fixture.add();
  const delivery = await fixture.sendTest(webhook.id);
  const [request] = fixture.receiver.requests;
  expect(request).toMatchObject({ method: "POST", url: "/hook?token=of-the-receiver", headers: { "content-type": "application/json" } });
  expect(request?.headers["webhook-id"]).toBe(delivery.eventId);
  const [payload] = fixture.listPayloads(secret);
  expect(payload).toMatchObject({ type: "webhook.test", data: { webhook: { id: webhook.id } } });
  expect(JSON.parse(delivery.request)).toEqual(payload);
  expect(delivery).toMatchObject({
    state: "delivered",
    attempts: 1,
    last: { status: 200, response: expect.stringMatching(/^thanks x{2041}$/) },
  });
  expect(await fixture.listDeliveries(webhook.id)).toEqual([delivery]);
});

it("retries with growing delays and the same event id until it succeeds", async () => {
  const { webhook, secret } = await fixture.add();
  const eventId = await fixture.addEvent(webhook.id);
  fixture.responses.push({ status: 500, body: "out of order" }, { status: 500 }, { status: 503, headers: { "retry-after": "150" } });
  fixture.harness.console.webhooks.refresh(fixture.connection);
  const getDelivery = async () => (await fixture.listDeliveries(webhook.id))[0];
  const delays: number[] = [];
  for (const attempts of [1, 2, 3]) {
    const failedDelivery = await until(`attempt ${attempts}`, async () =>
      (await getDelivery())?.attempts === attempts ? getDelivery() : undefined,
    );
    expect(failedDelivery).toMatchObject({ state: "pending", last: { problem: "status" } });
    delays.push((failedDelivery.nextAt ?? 0) - fixture.harness.console.now());
    fixture.advanceClock(delays.at(-1) ?? 0);
  }
  const delivery = await until("the delivery succeeds", async () =>
    (await getDelivery())?.state === "delivered" ? getDelivery() : undefined,
  );
  expect(delivery).toMatchObject({ attempts: 4, last: { status: 204 } });
  expect(delays[1]).toBeGreaterThan(2 * (delays[0] ?? 0));
  expect(delays[2]).toBe(150_000);
  expect(fixture.receiver.requests.map(({ headers }) => headers["webhook-id"])).toEqual([eventId, eventId, eventId, eventId]);
  expect(() => fixture.listPayloads(secret)).not.toThrow();
});

it("stops retrying after 24 hours", async () => {
  // The clock advances by a day, and the signature library rejects future timestamps.
  const separateFixture = await createWebhookHarness();
  const { webhook } = await separateFixture.add();
  await separateFixture.addEvent(webhook.id);
  const getDelivery = async () => (await separateFixture.listDeliveries(webhook.id))[0];
  separateFixture.responses.push(...Array.from({ length: 60 }, () => ({ status: 500 })));
  separateFixture.harness.console.webhooks.refresh(separateFixture.connection);
  let attempts = 0;
  const failedDelivery = await until("the delivery fails", async () => {
    const currentDelivery = await getDelivery();
    // Advances once per attempt, since the next one may be running.
    if (currentDelivery?.state === "pending" && currentDelivery.attempts > attempts) {
      attempts = currentDelivery.attempts;
      separateFixture.advanceClock((currentDelivery.nextAt ?? 0) - separateFixture.harness.console.now());
    }
    return currentDelivery?.state === "failed" ? currentDelivery : undefined;
  });
  expect(failedDelivery.attempts).toBeGreaterThan(5);
  expect(failedDelivery.attempts).toBeLessThan(25);
  expect((failedDelivery.last?.at ?? 0) - failedDelivery.createdAt).toBe(24 * HOUR_MS);
});

it("stops retrying when the receiver returns 410", async () => {
  const { webhook } = await fixture.add();
  await fixture.addEvent(webhook.id);
  fixture.responses.push({ status: 410 });
  fixture.harness.console.webhooks.refresh(fixture.connection);
  const failed = await until("the delivery fails", async () =>
    (await fixture.listDeliveries(webhook.id)).find(({ state }) => state === "failed"),
  );
  expect(failed).toMatchObject({ attempts: 1, last: { status: 410 } });
});

it("follows no redirect", async () => {
  const internalServer = await openTestServer((_request, response) => void response.end("secret"));
  const { webhook } = await fixture.add();
  for (const status of [301, 302, 307, 308]) {
    fixture.responses.push({ status, headers: { location: `${internalServer.url}/metadata` } });
    expect(await fixture.sendTest(webhook.id)).toMatchObject({ state: "failed", last: { status, problem: "redirected" } });
  }
  expect(internalServer.requests).toEqual([]);
});

it.each([
  "https://127.0.0.1:1/hook",
  "https://10.0.0.1/hook",
  "https://[::1]/hook",
  "https://169.254.169.254/latest",
  "https://localhost/hook",
])("opens no connection to %s", async (url) => {
  const { webhook } = await fixture.add({ url });
  expect(await fixture.sendTest(webhook.id)).toMatchObject({ state: "failed", last: { problem: "forbidden" } });
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
  await expect(fixture.add({ url, ...change })).rejects.toThrow("INVALID_BODY");
});

it("reports a receiver that doesn't respond in time", async () => {
  const { store, keyRing, log, now } = fixture.harness.console;
  const sendNever = (request: Request) =>
    new Promise<Response>((_, reject) => request.signal.addEventListener("abort", () => reject(new Error("late"))));
  const deliverer = createDeliverer({ webhooks: store.webhooks, ring: keyRing, log, now, send: sendNever, timeoutMs: 20 });
  const { webhook } = await fixture.add({ isEnabled: false });
  const delivery = { webhookId: webhook.id, eventId: "evt_slow", type: "queue.idle", body: fixture.createEventBody(), createdAt: now() };
  const claimedDelivery = await store.webhooks.addClaimedDelivery({ ...delivery, giveUpAt: now() + HOUR_MS }, now());
  const attempt = claimedDelivery && (await deliverer.attempt(claimedDelivery));
  expect(attempt).toMatchObject({ state: "pending", problem: "timeout", attempts: 1 });
  await deliverer.stop();
});

it("delivers to other receivers while one hangs", async () => {
  const pendingResponses: (() => void)[] = [];
  const slowReceiver = await openTestServer((_request, response) =>
    new Promise<void>((resolve) => pendingResponses.push(resolve)).then(() => response.end()),
  );
  const separateFixture = await createWebhookHarness({ LIGHTDESK_TRUSTED_HOSTS: `${slowReceiver.host},${fixture.receiver.host}` });
  const { webhook: slowWebhook } = await separateFixture.add({ url: slowReceiver.url });
  const { webhook } = await separateFixture.add({ url: fixture.receiver.url });
  for (let count = 0; count < 20; count += 1) await separateFixture.addEvent(slowWebhook.id);
  await separateFixture.addEvent(webhook.id);
  separateFixture.harness.console.webhooks.refresh(separateFixture.connection);
  await until("the other delivery succeeds", async () => (await separateFixture.listDeliveries(webhook.id))[0]?.state === "delivered");
  expect(slowReceiver.requests.length).toBeLessThanOrEqual(2);
  for (const release of pendingResponses) release();
});

it("signs with both secrets for a day after a renewal", async () => {
  const { webhook, secret: first } = await fixture.add();
  const renewed = await (await fixture.change(webhook.id, { renewSecret: "keep-old" })).json();
  await fixture.sendTest(webhook.id);
  for (const secret of [first, renewed.secret]) expect(() => fixture.listPayloads(secret)).not.toThrow();
  fixture.receiver.requests.length = 0;
  const last = await (await fixture.change(webhook.id, { renewSecret: "at-once" })).json();
  expect(last.webhook.oldSecretUntil).toBeUndefined();
  await fixture.sendTest(webhook.id);
  expect(() => fixture.listPayloads(last.secret)).not.toThrow();
  expect(() => fixture.listPayloads(renewed.secret)).toThrow("No matching signature");
});

it("makes one manual attempt and keeps the schedule", async () => {
  const { webhook } = await fixture.add();
  const eventId = await fixture.addEvent(webhook.id);
  const getDelivery = async () => (await fixture.listDeliveries(webhook.id)).find((delivery) => delivery.eventId === eventId);
  fixture.responses.push({ status: 500 }, { status: 500 });
  fixture.harness.console.webhooks.refresh(fixture.connection);
  const pendingDelivery = await until("the first attempt", async () => ((await getDelivery())?.attempts === 1 ? getDelivery() : undefined));
  const resentDelivery = await fixture.resend(webhook.id, pendingDelivery.id);
  expect(resentDelivery).toMatchObject({ state: "pending", attempts: 2, nextAt: pendingDelivery.nextAt, last: { status: 500 } });
  const delivered = await fixture.resend(webhook.id, pendingDelivery.id);
  expect([delivered.state, delivered.attempts, delivered.nextAt]).toEqual(["delivered", 3, undefined]);
  fixture.responses.push({ status: 500 });
  const failed = await fixture.resend(webhook.id, pendingDelivery.id);
  expect([failed.state, failed.attempts, failed.nextAt]).toEqual(["failed", 4, undefined]);
  expect(await fixture.resend(webhook.id, pendingDelivery.id)).toMatchObject({ state: "delivered", attempts: 5, eventId });
  fixture.responses.push({ status: 500 });
  expect(await fixture.resend(webhook.id, pendingDelivery.id)).toMatchObject({ state: "failed", attempts: 6 });
  // Longer than any wait between attempts.
  const { store, now } = fixture.harness.console;
  expect(await store.webhooks.claimDue(now() + 12 * HOUR_MS, [])).toBeUndefined();
});

it("doesn't repeat a manual attempt when its process ends", async () => {
  const { webhook } = await fixture.add();
  const delivery = await fixture.sendTest(webhook.id);
  const { store, now } = fixture.harness.console;
  expect(await store.webhooks.claim(webhook.id, delivery.id, now())).toMatchObject({ scheduledAt: undefined });
  expect(await store.webhooks.claimDue(now() + HOUR_MS, [])).toBeUndefined();
  expect((await fixture.listDeliveries(webhook.id))[0]).toEqual(delivery);
});

describe("a disabled webhook", () => {
  const createDelivery = (webhookId: string, eventId: string, createdAt: number) => ({
    ...{ webhookId, eventId, type: "queue.idle", body: "{}", createdAt, giveUpAt: createdAt + 24 * HOUR_MS },
  });
  /** Stores deliveries like a check that started while all webhooks were enabled. */
  async function storeDeliveries(connection: string, deliveries: ReturnType<typeof createDelivery>[], nowMs: number): Promise<void> {
    const { webhooks } = fixture.harness.console.store;
    await webhooks.acquireWatch(connection, { holder: "test", ms: 0, now: nowMs });
    await webhooks.recordWatch(connection, { holder: "test", state: "{}", deliveries, now: nowMs });
  }
  const addWithConnection = async (change: Record<string, unknown>) => {
    const connection = await fixture.harness.connect("http://127.0.0.1:9", undefined);
    return { connection, ...(await fixture.add({ connection, ...change })) };
  };

  it("receives no event that was detected while it was disabled", async () => {
    const { connection, webhook } = await addWithConnection({ isEnabled: false });
    const { now } = fixture.harness.console;
    await storeDeliveries(connection, [createDelivery(webhook.id, "evt_disabled", now())], now());
    expect(await fixture.listDeliveries(webhook.id)).toEqual([]);
  });

  it("discards the stored watch state when enabled", async () => {
    const { connection, webhook } = await addWithConnection({ isEnabled: false });
    const { console: desk } = fixture.harness;
    await storeDeliveries(connection, [], desk.now());
    await fixture.change(webhook.id, { isEnabled: true });
    const { webhooks } = desk.store;
    expect(await webhooks.acquireWatch(connection, { holder: "another", ms: 0, now: desk.now() + HOUR_MS })).not.toBe("{}");
  });

  it.each([
    ["sends", 1, "delivered"],
    ["gives up", -1, "failed"],
  ])("%s a pending delivery when enabled %s h before its expiry", async (_label, hours, expected) => {
    const { webhook } = await fixture.add({ isEnabled: false });
    await fixture.addEvent(webhook.id, { giveUpAfterMs: hours * HOUR_MS });
    await fixture.change(webhook.id, { isEnabled: true });
    await until(`it is ${expected}`, async () => (await fixture.listDeliveries(webhook.id))[0]?.state === expected);
  });

  it("is deleted with its deliveries when its connection is removed", async () => {
    const { connection, webhook } = await addWithConnection({ isEnabled: false });
    await fixture.addEvent(webhook.id);
    await fixture.request(`/api/console/connections/${connection}`, { as: "admin", method: "DELETE" });
    const response = await fixture.request(`/api/console/webhooks/${webhook.id}/deliveries`, { as: "admin" });
    expect([response.status, await fixture.harness.console.store.webhooks.listDeliveries(webhook.id, 10)]).toEqual([404, []]);
    expect(fixture.receiver.requests).toEqual([]);
  });
});

it("keeps the newest 1,000 deliveries for 7 days", async () => {
  const separateFixture = await createWebhookHarness();
  const { store, now, webhooks } = separateFixture.harness.console;
  const { webhook } = await separateFixture.add();
  const startMs = now();
  for (let index = 0; index < 1003; index += 1) {
    const delivery = { webhookId: webhook.id, eventId: `evt_${index}`, type: "queue.idle", body: "{}", createdAt: startMs + index };
    await store.webhooks.addClaimedDelivery({ ...delivery, giveUpAt: startMs }, startMs);
  }
  const deliveries = await store.webhooks.listDeliveries(webhook.id, 2000);
  expect([deliveries.length, deliveries.at(-1)?.eventId]).toEqual([1000, "evt_3"]);
  separateFixture.advanceClock(8 * 24 * HOUR_MS);
  webhooks.refresh(separateFixture.connection);
  await until("they are deleted", async () => (await store.webhooks.listDeliveries(webhook.id, 1)).length === 0);
});

it("shows a secret once and encrypts the stored secret and URL", async () => {
  const { webhook, secret } = await fixture.add();
  expect(secret).toMatch(/^whsec_[\w+/=]{44}$/);
  expect(webhook.origin).toBe(fixture.receiver.url);
  const listText = await (await fixture.request("/api/console/webhooks", { as: "admin" })).text();
  const storedText = await fixture.harness.dumpStore();
  for (const text of [listText, storedText]) expect([text.includes(secret), text.includes("of-the-receiver")]).toEqual([false, false]);
});

it("keeps the URL and secret when only the name changes", async () => {
  const { webhook, secret } = await fixture.add();
  const response = await fixture.change(webhook.id, { name: "Another name" });
  expect(await response.json()).toEqual({ webhook: { ...webhook, name: "Another name" } });
  await fixture.sendTest(webhook.id);
  expect(fixture.receiver.requests[0]?.url).toBe("/hook?token=of-the-receiver");
  expect(() => fixture.listPayloads(secret)).not.toThrow();
});

it("audits each action and rejects changes while read-only", async () => {
  const { webhook } = await fixture.add({ name: "Audited" });
  const delivery = await fixture.sendTest(webhook.id);
  await fixture.resend(webhook.id, delivery.id);
  await fixture.change(webhook.id, { name: "Audited" });
  await fixture.request(`/api/console/webhooks/${webhook.id}`, { as: "admin", method: "DELETE" });
  const { entries } = await (await fixture.request("/api/console/audit?limit=5", { as: "owner" })).json();
  const rows: { action: string; target?: string }[] = entries;
  expect(rows.map(({ action, target }) => `${action} ${target}`)).toEqual(
    ["removeWebhook", "changeWebhook", "resendWebhook", "testWebhook", "addWebhook"].map((action) => `${action} Audited`),
  );
  await fixture.request("/api/console/read-only", { as: "owner", method: "PUT", json: {} });
  await expect(fixture.add()).rejects.toThrow("READ_ONLY");
  await fixture.request("/api/console/read-only", { as: "owner", method: "DELETE" });
});
