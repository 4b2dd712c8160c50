// A console with a reachable webhook receiver, and a service whose jobs the test controls.
import { Webhook } from "standardwebhooks";
import { type DeliveryView, type WebhookSaved } from "@/lib/contract/webhook-events";
import { type WebhookPayload, webhookPayloadSchema } from "@/lib/contract/webhooks";
import { getProcessState } from "@/lib/server/running";
import { createHarness } from "@/tests/support/harness";
import { type ReceivedRequest, sendJsonResponse, startTestServer } from "@/tests/support/test-server";
import { until } from "@/tests/support/until";

type Job = Record<string, unknown> & { id: string; status: string };
type Behaviour = { status: number; headers?: Record<string, string>; body?: string };

export async function createWebhookWorld(settings: Record<string, string> = {}) {
  let clockMs = Date.now();
  /** The receiver's next responses, in order; then 204. */
  const responses: Behaviour[] = [];
  const receiver = await startTestServer((_request, response) => {
    const { status, headers, body } = responses.shift() ?? { status: 204 };
    response.writeHead(status, headers).end(body);
  });
  const jobs: Job[] = [];
  const service = { isDown: false, answers: Promise.resolve() };
  const upstream = await startTestServer(async ({ url }, response) => {
    await service.answers;
    const { pathname, searchParams } = new URL(url, "http://service.invalid");
    if (service.isDown) return sendJsonResponse(response, { code: "BROKEN", message: "The database is away." }, 500);
    const [, id] = /^\/api\/jobs\/([^/]+)$/.exec(pathname) ?? [];
    if (id !== undefined) {
      const job = jobs.find((job) => job.id === id);
      return job ? sendJsonResponse(response, job) : sendJsonResponse(response, { code: "NOT_FOUND", message: "no" }, 404);
    }
    const states = searchParams.get("status")?.split(",");
    const rows = jobs.filter(({ status }) => states?.includes(status) ?? true).map(({ workflow: _workflow, ...row }) => row);
    if (searchParams.get("sort_order") === "desc") rows.reverse();
    const [offset, limit] = [Number(searchParams.get("offset")), Number(searchParams.get("limit") ?? 100)];
    const page = rows.slice(offset, offset + limit);
    const pagination = { offset, limit, total: rows.length, has_more: offset + page.length < rows.length };
    if (pathname === "/api/jobs") return sendJsonResponse(response, { jobs: page, pagination });
    sendJsonResponse(response, { code: "NOT_FOUND", message: "no" }, 404);
  });
  const harness = await createHarness({
    now: () => clockMs,
    settings: { LIGHTDESK_TRUSTED_HOSTS: receiver.host, ...settings },
    upstreamLimits: { attempts: 1 },
  });
  const connection = await harness.connect(upstream.url, "key-of-the-service");
  /** Handlers use the composition of their process; some tests have two worlds. */
  const request: typeof harness.request = (to, options) => {
    getProcessState().composition = harness.console;
    return harness.request(to, options);
  };
  const path = "/api/console/webhooks";
  const hookPath = "/hook?token=of-the-receiver";
  const at = (path: string) => receiver.requests.filter(({ url }) => url === path);
  const { webhooks } = harness.console.store;
  const take = webhooks.takeWatch.bind(webhooks);
  const looks = new Map<string, number>();
  webhooks.takeWatch = (id, by) => (looks.set(id, (looks.get(id) ?? 0) + 1), take(id, by));

  async function add(change: Record<string, unknown> = {}): Promise<Required<WebhookSaved>> {
    const defaults = { connection, name: "Receiver", url: receiver.url + hookPath, format: "standard" };
    const rest = { events: ["job.completed", "job.failed"], includesPrompts: false, isEnabled: true };
    const response = await request(path, { as: "admin", method: "POST", json: { ...defaults, ...rest, ...change } });
    if (response.status !== 201) throw new Error(await response.text());
    return response.json();
  }
  async function post(rest: string): Promise<DeliveryView> {
    const response = await request(`${path}/${rest}`, { as: "admin", method: "POST" });
    if (response.status !== 200) throw new Error(await response.text());
    return (await response.json()).delivery;
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
    sendAgain: (id: string, delivery: string) => post(`${id}/deliveries/${delivery}`),
    change: (id: string, json: Record<string, unknown>) => request(`${path}/${id}`, { as: "admin", method: "PATCH", json }),
    async deliveries(id: string): Promise<DeliveryView[]> {
      return (await (await request(`${path}/${id}/deliveries`, { as: "admin" })).json()).deliveries;
    },
    /** How often a check of the connection began. */
    checks: () => looks.get(connection) ?? 0,
    /** Once a check that began after this call has ended. */
    async looked(id = connection) {
      const before = looks.get(id) ?? 0;
      const look = () => harness.console.webhooks.changed(id);
      await until("the connection was looked at", () => (look(), (looks.get(id) ?? 0) >= before + 2 + Math.min(1, before)));
    },
    types: (path = hookPath) => at(path).map(({ body }) => String(JSON.parse(body.toString("utf8")).type)),
    /** Advances the console's clock, so that it checks again. */
    pass(ms: number) {
      clockMs += ms;
      harness.console.webhooks.changed(connection);
    },
    /** The payload of each request, after checking its signature. */
    received: (secret: string, path = hookPath): WebhookPayload[] => at(path).map((request) => verified(request, secret)),
    async dispose() {
      await harness.dispose();
      await Promise.all([receiver.close(), upstream.close()]);
    },
  };
}

/** Throws unless the request is signed with the secret. */
function verified({ headers, body }: Pick<ReceivedRequest, "headers" | "body">, secret: string): WebhookPayload {
  const sentHeaders = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  return webhookPayloadSchema.parse(new Webhook(secret).verify(body.toString("utf8"), sentHeaders));
}
