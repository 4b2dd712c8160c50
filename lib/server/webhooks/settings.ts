// Webhook settings for admins: create, change, test and remove. A secret is shown once.

import "server-only";
import { randomBytes, randomUUID } from "node:crypto";
import { CONNECTION_PARAMETER } from "@/lib/contract/console";
import { createFailure, createFieldFailure, type Failure } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type DeliveryView, OLD_WEBHOOK_SECRET_MS, type WebhookSaved, type WebhookView } from "@/lib/contract/webhook-events";
import { type WebhookBody, type WebhookChange, type WebhookPayload } from "@/lib/contract/webhooks";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Composition, type Dependencies } from "../composition-type";
import { getConsoleUrl } from "../env";
import { type Delivery, type Webhook } from "../store/webhooks";
import { isTrustedHost } from "../upstream/send";
import { formatLoggedBody } from "./messages";
import { openTarget, sealTarget, type WebhookTarget } from "./sealed-target";

const MAX_WEBHOOKS = 100;
const MAX_LISTED_DELIVERIES = 200;
const webhookNotFound = createFailure("NOT_FOUND", "There is no such webhook.");
const deliveryNotFound = createFailure("NOT_FOUND", "There is no such delivery.");

export async function listWebhooks({ store, now }: Dependencies<"store" | "now">): Promise<WebhookView[]> {
  const [webhooks, lastDeliveries] = await Promise.all([store.webhooks.list(), store.webhooks.listLastDeliveries()]);
  return webhooks.map((webhook) => toView(webhook, now(), lastDeliveries.get(webhook.id)));
}

export async function createWebhook(composition: Composition, body: WebhookBody): Promise<Result<WebhookSaved, Failure>> {
  const { store, keyRing, now, webhooks } = composition;
  if (!(await store.connections.getFor("", body.connection))) return failed(createFieldFailure("connection", "is not a team connection"));
  const urlFailure = checkUrl(composition, body);
  if (urlFailure) return failed(urlFailure);
  if ((await store.webhooks.list()).length >= MAX_WEBHOOKS)
    return failed(createFailure("CONFLICT", `There can be at most ${MAX_WEBHOOKS} webhooks. Remove one first.`));
  const id = `wh_${randomBytes(9).toString("hex")}`;
  const secret = createSecret();
  const { connection: connectionId, name, url, format, events, includesPrompts, isEnabled } = body;
  const settings = { name, format, events, includesPrompts, isEnabled, origin: new URL(url).origin };
  const webhook: Webhook = {
    id,
    connectionId,
    ...settings,
    sealed: sealTarget(keyRing, id, { url, secret }),
    oldUntil: undefined,
    createdAt: now(),
  };
  await store.webhooks.create(webhook);
  webhooks.refresh(connectionId);
  return ok({ webhook: toView(webhook, now()), ...(format === "standard" && { secret }) });
}

export async function changeWebhook(composition: Composition, id: string, change: WebhookChange): Promise<Result<WebhookSaved, Failure>> {
  const { store, keyRing, now, webhooks } = composition;
  const { url, renewSecret, ...settings } = change;
  const previousWebhook = await store.webhooks.get(id);
  const target = previousWebhook && openTarget(keyRing, previousWebhook);
  if (!previousWebhook) return failed(webhookNotFound);
  if (!target && (url === undefined || renewSecret === undefined))
    return failed(
      createFailure(
        "CONFLICT",
        "The stored address can't be decrypted with the console's encryption keys. Enter it again, with a new secret.",
      ),
    );
  const changedWebhook = { ...previousWebhook, ...settings };
  const urlFailure = checkUrl(composition, { url: url ?? target?.url ?? "", format: changedWebhook.format });
  if (urlFailure) return failed(urlFailure);
  const isSecretRenewed = renewSecret !== undefined || !target;
  const oldSecret = renewSecret === "keep-old" ? target?.secret : isSecretRenewed ? undefined : target.oldSecret;
  const newTarget: WebhookTarget = {
    url: url ?? target?.url ?? "",
    secret: isSecretRenewed ? createSecret() : target.secret,
    ...(oldSecret !== undefined && { oldSecret }),
  };
  const oldUntil = isSecretRenewed ? (oldSecret === undefined ? undefined : now() + OLD_WEBHOOK_SECRET_MS) : previousWebhook.oldUntil;
  const webhook = { ...changedWebhook, origin: new URL(newTarget.url).origin, sealed: sealTarget(keyRing, id, newTarget), oldUntil };
  if (!(await store.webhooks.change(previousWebhook, webhook, now())))
    return failed(createFailure("CONFLICT", "The webhook has changed since you loaded it. Reload, then try again."));
  webhooks.refresh(webhook.connectionId);
  // A chat webhook's secret was never shown.
  const showsSecret = changedWebhook.format === "standard" && (isSecretRenewed || previousWebhook.format !== "standard");
  return ok({ webhook: toView(webhook, now()), ...(showsSecret && { secret: newTarget.secret }) });
}

export async function removeWebhook({ store }: Dependencies<"store">, id: string): Promise<Result<Webhook, Failure>> {
  const webhook = await store.webhooks.get(id);
  return webhook && (await store.webhooks.remove(id)) ? ok(webhook) : failed(webhookNotFound);
}

export async function listDeliveries({ store }: Dependencies<"store">, id: string): Promise<Result<DeliveryView[], Failure>> {
  const webhook = await store.webhooks.get(id);
  if (!webhook) return failed(webhookNotFound);
  return ok((await store.webhooks.listDeliveries(id, MAX_LISTED_DELIVERIES)).map((delivery) => toDeliveryView(delivery, webhook)));
}

/** Sends a test event once. */
export async function sendTest(
  { store, now, env, webhooks }: Composition,
  id: string,
): Promise<Result<{ webhook: Webhook; delivery: DeliveryView }, Failure>> {
  const webhook = await store.webhooks.get(id);
  const connection = webhook && (await store.connections.getFor("", webhook.connectionId));
  if (!webhook || !connection) return failed(webhookNotFound);
  const payload: WebhookPayload = {
    type: "webhook.test",
    timestamp: new Date(now()).toISOString(),
    data: {
      connection: { id: connection.id, name: connection.name },
      webhook: { id, name: webhook.name },
      url: `${getConsoleUrl(env)}/?${new URLSearchParams({ [CONNECTION_PARAMETER]: connection.id }).toString()}`,
    },
  };
  const testFields = {
    webhookId: id,
    eventId: `evt_${randomUUID().replaceAll("-", "")}`,
    type: payload.type,
    body: writeExactJson(payload),
  };
  const claimedDelivery = await store.webhooks.addClaimedDelivery({ ...testFields, createdAt: now(), giveUpAt: now() }, now());
  const delivery = claimedDelivery && (await webhooks.attempt(claimedDelivery));
  return delivery ? ok({ webhook, delivery: toDeliveryView(delivery, webhook) }) : failed(deliveryNotFound);
}

/** Sends the event once more, with the same id. A pending delivery keeps its schedule. */
export async function resendDelivery(
  { store, now, webhooks }: Composition,
  id: string,
  deliveryId: string,
): Promise<Result<{ webhook: Webhook; delivery: DeliveryView }, Failure>> {
  const webhook = await store.webhooks.get(id);
  if (!webhook) return failed(webhookNotFound);
  const claim = await store.webhooks.claim(id, deliveryId, now());
  const delivery = claim && (await webhooks.attempt(claim.delivery, claim));
  return delivery ? ok({ webhook, delivery: toDeliveryView(delivery, webhook) }) : failed(deliveryNotFound);
}

/** Rejects URLs that the guard of outgoing calls would reject later. */
function checkUrl({ env }: Dependencies<"env">, { url, format }: Pick<WebhookBody, "url" | "format">): Failure | undefined {
  const { protocol, hostname, port, pathname } = new URL(url);
  if (protocol !== "https:" && !isTrustedHost(env.trustedHosts, hostname, port))
    return createFieldFailure("url", "must begin with https://, unless its host is in LIGHTDESK_TRUSTED_HOSTS");
  if (format === "ntfy" && pathname.replaceAll("/", "") === "")
    return createFieldFailure("url", "must end with a topic, such as https://ntfy.sh/my-topic");
  return undefined;
}

/** Creates a secret in the format of Standard Webhooks. */
function createSecret(): string {
  return `whsec_${randomBytes(32).toString("base64")}`;
}

function toView(webhook: Webhook, now: number, lastDelivery?: WebhookView["last"]): WebhookView {
  const { id, connectionId: connection, name, origin, format, events, includesPrompts, isEnabled, createdAt, oldUntil = 0 } = webhook;
  const view = { id, connection, name, origin, format, events, includesPrompts, isEnabled, createdAt };
  return { ...view, ...(oldUntil > now && { oldSecretUntil: oldUntil }), ...(lastDelivery && { last: lastDelivery }) };
}

function toDeliveryView(delivery: Delivery, { format }: Pick<Webhook, "format">): DeliveryView {
  const { id, eventId, type, state, createdAt, attempts, body, nextAt } = delivery;
  const { lastAt, durationMs = 0, status, problem, response } = delivery;
  const view = { id, eventId, type, state, createdAt, attempts, request: formatLoggedBody(format, body) };
  const lastAttempt = lastAt === undefined ? undefined : { at: lastAt, durationMs, status, problem, response };
  return { ...view, ...(state === "pending" && nextAt !== undefined && { nextAt }), ...(lastAttempt && { last: lastAttempt }) };
}
