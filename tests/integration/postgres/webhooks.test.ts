// Several consoles on one database share the webhooks: each delivery is sent by one of them, and each connection watched by one.
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { parseKeyRing } from "@/lib/server/keys/key-ring";
import { openStore, type Store } from "@/lib/server/store/store";
import { createDeliverer } from "@/lib/server/webhooks/deliver";
import { sealTarget } from "@/lib/server/webhooks/sealed-target";
import { createDatabase, type TestDatabase } from "@/tests/support/postgres-server";
import { until } from "@/tests/support/until";

const COUNT = 40;
const ring = parseKeyRing(`one:${Buffer.alloc(32, 1).toString("base64")}`);
const log = { info: () => undefined, warn: () => undefined, error: (fields: object) => expect.fail(JSON.stringify(fields)) };
const ID = "wh_1";

let database: TestDatabase;
let stores: Store[];
let connectionId: string;
beforeAll(async () => {
  database = await createDatabase(inject("postgres"));
  stores = [openStore("", database.url), openStore("", database.url), openStore("", database.url)];
  for (const store of stores) await store.migrate();
  const [store] = stores;
  if (!store) throw new Error("no store");
  connectionId = (await store.connections.create({ name: "Studio", baseUrl: "http://127.0.0.1:9", createdAt: 1 })).id;
  const sealed = sealTarget(ring, ID, { url: "https://example.com/hook", secret: "whsec_c2VjcmV0" });
  const rest = { includesPrompts: false, isEnabled: true, oldUntil: undefined, createdAt: 1 };
  await store.webhooks.create({
    id: ID,
    connectionId,
    name: "R",
    origin: "https://example.com",
    format: "standard",
    events: ["queue.idle"],
    ...rest,
    sealed,
  });
});
afterAll(async () => {
  await Promise.all(stores.map((store) => store.close()));
  await database.drop();
});

const delivery = (eventId: string) => {
  const data = { connection: { id: connectionId, name: "Studio" }, url: "https://desk.example.com/queue" };
  const body = JSON.stringify({ type: "queue.idle", timestamp: new Date().toISOString(), data });
  return { webhookId: ID, eventId, type: "queue.idle", body, createdAt: Date.now(), giveUpAt: Date.now() + 60_000 };
};

it("stores an event once when two consoles detect it", async () => {
  const [first, second] = stores;
  if (!first || !second) throw new Error("no stores");
  const take = (store: Store, holder: string, ms = 60_000) => store.webhooks.takeWatch(connectionId, { holder, ms, now: Date.now() });
  expect(await Promise.all([take(first, "one"), take(first, "one")])).toEqual(["", ""]);
  expect(await take(second, "other")).toBeUndefined();
  const createLease = (holder: string) => ({ holder, state: `"${holder}"`, deliveries: [delivery("evt_same")], now: Date.now() });
  await Promise.all([
    first.webhooks.recordWatch(connectionId, createLease("one")),
    second.webhooks.recordWatch(connectionId, createLease("other")),
  ]);
  await first.webhooks.releaseWatches("one");
  expect(await take(second, "other")).toBe('"one"');
  await second.webhooks.recordWatch(connectionId, createLease("other"));
  expect((await first.webhooks.listDeliveries(ID, 10)).map(({ eventId }) => eventId)).toEqual(["evt_same"]);
});

it("sends each delivery from one console", async () => {
  const sentIds: string[] = [];
  const send = async (request: Request) => {
    sentIds.push(request.headers.get("webhook-id") ?? "");
    await new Promise((resolve) => setImmediate(resolve));
    return new Response(null, { status: 204 });
  };
  const [store] = stores;
  if (!store) throw new Error("no store");
  const ids = Array.from({ length: COUNT }, (_, at) => `evt_${at}`);
  await store.webhooks.recordWatch(connectionId, { holder: "other", state: '"x"', deliveries: ids.map(delivery), now: Date.now() });
  const deliverers = stores.map(({ webhooks }) => createDeliverer({ webhooks, ring, log, now: Date.now, send }));
  for (const deliverer of deliverers) deliverer.start();
  await until("all are delivered", async () => (await store.webhooks.listDeliveries(ID, 100)).every(({ state }) => state === "delivered"));
  await Promise.all(deliverers.map((deliverer) => deliverer.stop()));
  expect(sentIds.sort()).toEqual([...ids, "evt_same"].sort());
});
