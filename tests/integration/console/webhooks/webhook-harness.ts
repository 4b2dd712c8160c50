// A console with a reachable webhook receiver, and a service whose jobs the test controls.
import { Webhook } from "standardwebhooks";
import { type DeliveryView, type WebhookSaved } from "@/lib/contract/webhook-events";
import { type WebhookPayload, webhookPayloadSchema } from "@/lib/contract/webhooks";
import { getProcessState } from "@/lib/server/process-state";
import { createHarness } from "@/tests/support/harness";
import { openTestServer } from "@/tests/support/servers";
import { type ReceivedRequest, sendJsonResponse } from "@/tests/support/test-server";
import { until } from "@/tests/support/until";

const DAY_MS = 24 * 60 * 60_000;

/** A job without a status is unreadable. */
type Job = Record<string, unknown> & { id: string; status?: string };
type ReceiverResponse = { status: number; headers?: Record<string, string>; body?: string };

export async function createWebhookHarness(settings: Record<string, string> = {}) {
  let clockMs = Date.now();
  /** The receiver's next responses in order. Afterwards it returns 204. */
  const responses: ReceiverResponse[] = [];
  const receiver = await openTestServer((_request, response) => {
    const { status, headers, body } = responses.shift() ?? { status: 204 };
    response.writeHead(status, headers).end(body);
  });
  const jobs: Job[] = [];
  const service = { isDown: false, responseGate: Promise.resolve(), maxPageSize: 1000 };
  const upstream = await openTestServer(async ({ url }, response) => {
    await service.responseGate;
    const { pathname, searchParams } = new URL(url, "http://service.invalid");
    if (service.isDown) return sendJsonResponse(response, { code: "BROKEN", message: "The database is unavailable." }, 500);
    const [, id] = /^\/api\/jobs\/([^/]+)$/.exec(pathname) ?? [];
    if (id !== undefined) {
      const job = jobs.find((job) => job.id === id);
      return sendJsonResponse(response, job ?? { code: "NOT_FOUND", message: "no" }, job ? 200 : 404);
    }
    const states = searchParams.get("status")?.split(",");
    const rows = jobs.filter(({ status = "" }) => states?.includes(status) ?? true).map(({ workflow: _workflow, ...row }) => row);
    if (searchParams.get("sort_order") === "desc") rows.reverse();
    const [offset, limit] = [Number(searchParams.get("offset")), Number(searchParams.get("limit") ?? 100)];
    const page = rows.slice(offset, offset + Math.min(limit, service.maxPageSize));
    const pagination = { offset, limit, total: rows.length, has_more: offset + page.length < rows.length };
    if (pathname === "/api/jobs") return sendJsonResponse(response, { jobs: page, pagination });
    sendJsonResponse(response, { code: "NOT_FOUND", message: "no" }, 404);
  });
  const harness = await createHarness({
    now: () => clockMs,
    settings: { LIGHTDESK_TRUSTED_HOSTS: receiver.host, ...settings },
    upstreamLimits: { attempts: 1 },
  });
  const connection = await harness.connect(upstream.url, "service-key");
  /** Handlers use the composition of the process, but some tests create two. */
  const request: typeof harness.request = (url, options) => {
    getProcessState().composition = harness.console;
    return harness.request(url, options);
  };
  const path = "/api/console/webhooks";
  const hookPath = "/hook?token=of-the-receiver";
  const getRequestsAt = (path: string) => receiver.requests.filter(({ url }) => url === path);
  const { webhooks } = harness.console.store;
  const acquireWatch = webhooks.acquireWatch.bind(webhooks);
  const checkCounts = new Map<string, number>();
  webhooks.acquireWatch = (id, by) => (checkCounts.set(id, (checkCounts.get(id) ?? 0) + 1), acquireWatch(id, by));

  async function add(change: Record<string, unknown> = {}): Promise<Required<WebhookSaved>> {
    const defaults = { connection, name: "Receiver", url: receiver.url + hookPath, format: "standard" };
    const options = { events: ["job.completed", "job.failed"], includesPrompts: false, isEnabled: true };
    const response = await request(path, { as: "admin", method: "POST", json: { ...defaults, ...options, ...change } });
    if (response.status !== 201) throw new Error(await response.text());
    return response.json();
  }
  async function post(subpath: string): Promise<DeliveryView> {
    const response = await request(`${path}/${subpath}`, { as: "admin", method: "POST" });
    if (response.status !== 200) throw new Error(await response.text());
    return (await response.json()).delivery;
  }
  function createEventBody(): string {
    const data = { connection: { id: connection, name: "Another service" }, url: "https://desk.example.com/queue" };
    return JSON.stringify({ type: "queue.idle", timestamp: new Date(harness.console.now()).toISOString(), data });
  }
  return {
    harness,
    request,
    receiver,
    upstream,
    responses,
    jobs,
    service,
    connection,
    add,
    sendTest: (id: string) => post(`${id}/test`),
    resend: (id: string, delivery: string) => post(`${id}/deliveries/${delivery}`),
    change: (id: string, json: Record<string, unknown>) => request(`${path}/${id}`, { as: "admin", method: "PATCH", json }),
    async listDeliveries(id: string): Promise<DeliveryView[]> {
      return (await (await request(`${path}/${id}/deliveries`, { as: "admin" })).json()).deliveries;
    },
    createEventBody,
    /** Adds a delivery that is due now and returns its event id. Deliveries of disabled webhooks are only stored. */
    async addEvent(webhookId: string, { giveUpAfterMs = DAY_MS }: { giveUpAfterMs?: number } = {}): Promise<string> {
      const { now } = harness.console;
      const eventId = `evt_${crypto.randomUUID()}`;
      const delivery = { webhookId, eventId, type: "queue.idle", body: createEventBody(), createdAt: now() };
      const claimedDelivery = await webhooks.addClaimedDelivery({ ...delivery, giveUpAt: now() + giveUpAfterMs }, now());
      if (claimedDelivery) await webhooks.release(claimedDelivery, now());
      return eventId;
    },
    /** Returns how often a check of the connection started. */
    getCheckCount: () => checkCounts.get(connection) ?? 0,
    /** Resolves when a check that started after this call has ended. */
    async waitForCheck(id = connection) {
      const before = checkCounts.get(id) ?? 0;
      const checkNow = () => harness.console.webhooks.refresh(id);
      await until("the connection is checked", () => (checkNow(), (checkCounts.get(id) ?? 0) >= before + 2 + Math.min(1, before)));
    },
    listEventTypes: (path = hookPath) => getRequestsAt(path).map(({ body }) => String(JSON.parse(body.toString("utf8")).type)),
    /** Advances the console's clock, so that it checks again. */
    advanceClock(ms: number) {
      clockMs += ms;
      harness.console.webhooks.refresh(connection);
    },
    /** Returns the payload of each request after verifying its signature. */
    listPayloads: (secret: string, path = hookPath): WebhookPayload[] =>
      getRequestsAt(path).map((request) => verifyPayload(request, secret)),
  };
}

/** Throws unless the request is signed with the secret. */
function verifyPayload({ headers, body }: Pick<ReceivedRequest, "headers" | "body">, secret: string): WebhookPayload {
  const sentHeaders = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  return webhookPayloadSchema.parse(new Webhook(secret).verify(body.toString("utf8"), sentHeaders));
}
