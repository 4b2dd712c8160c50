// Consoles on one database share webhooks. One console sends each delivery, and one watches each connection.
import { afterAll, expect, it } from "vitest";
import { parseKeyRing } from "@/lib/server/keys/key-ring";
import { openStore, type Store } from "@/lib/server/store/store";
import { createDeliverer } from "@/lib/server/webhooks/deliver";
import { sealTarget } from "@/lib/server/webhooks/sealed-target";
import { openTestDatabase } from "@/tests/support/postgres-proxy";
import { until } from "@/tests/support/until";

const DELIVERY_COUNT = 40;
const ring = parseKeyRing(`one:${Buffer.alloc(32, 1).toString("base64")}`);
const log = { info: () => undefined, warn: () => undefined, error: (fields: object) => expect.fail(JSON.stringify(fields)) };
const WEBHOOK_ID = "wh_1";

const databaseUrl = await openTestDatabase();
const [first, second, third] = [openStore("", databaseUrl), openStore("", databaseUrl), openStore("", databaseUrl)];
const stores = [first, second, third];
for (const store of stores) await store.migrate();
const connectionId = (await first.connections.create({ name: "Studio", baseUrl: "http://127.0.0.1:9", createdAt: 1 })).id;
await first.webhooks.create({
  ...{ id: WEBHOOK_ID, connectionId, name: "R", origin: "https://example.com" },
  ...{ includesPrompts: false, isEnabled: true, oldUntil: undefined, createdAt: 1 },
  format: "standard",
  events: ["queue.idle"],
  sealed: sealTarget(ring, WEBHOOK_ID, { url: "https://example.com/hook", secret: "whsec_c2VjcmV0" }),
});
afterAll(() => Promise.all(stores.map((store) => store.close())));

const createDelivery = (eventId: string) => {
  const data = { connection: { id: connectionId, name: "Studio" }, url: "https://desk.example.com/queue" };
  const body = JSON.stringify({ type: "queue.idle", timestamp: new Date().toISOString(), data });
  return { webhookId: WEBHOOK_ID, eventId, type: "queue.idle", body, createdAt: Date.now(), giveUpAt: Date.now() + 60_000 };
};

it("stores an event once when two consoles detect it", async () => {
  const acquireWatch = (store: Store, holder: string, ms = 60_000) =>
    store.webhooks.acquireWatch(connectionId, { holder, ms, now: Date.now() });
  expect(await Promise.all([acquireWatch(first, "one"), acquireWatch(first, "one")])).toEqual(["", ""]);
  expect(await acquireWatch(second, "other")).toBeUndefined();
  const createLease = (holder: string) => ({ holder, state: `"${holder}"`, deliveries: [createDelivery("evt_same")], now: Date.now() });
  await Promise.all([
    first.webhooks.recordWatch(connectionId, createLease("one")),
    second.webhooks.recordWatch(connectionId, createLease("other")),
  ]);
  await first.webhooks.releaseWatches("one");
  expect(await acquireWatch(second, "other")).toBe('"one"');
  await second.webhooks.recordWatch(connectionId, createLease("other"));
  expect((await first.webhooks.listDeliveries(WEBHOOK_ID, 10)).map(({ eventId }) => eventId)).toEqual(["evt_same"]);
});

it("sends each delivery from one console", async () => {
  const sentIds: string[] = [];
  const send = async (request: Request) => {
    sentIds.push(request.headers.get("webhook-id") ?? "");
    await new Promise((resolve) => setImmediate(resolve));
    return new Response(null, { status: 204 });
  };
  const ids = Array.from({ length: DELIVERY_COUNT }, (_, index) => `evt_${index}`);
  await first.webhooks.recordWatch(connectionId, { holder: "other", state: '"x"', deliveries: ids.map(createDelivery), now: Date.now() });
  const deliverers = stores.map(({ webhooks }) => createDeliverer({ webhooks, ring, log, now: Date.now, send }));
  for (const deliverer of deliverers) deliverer.start();
  await until("all deliveries are sent", async () =>
    (await first.webhooks.listDeliveries(WEBHOOK_ID, 100)).every(({ state }) => state === "delivered"),
  );
  await Promise.all(deliverers.map((deliverer) => deliverer.stop()));
  expect(sentIds.sort()).toEqual([...ids, "evt_same"].sort());
});
