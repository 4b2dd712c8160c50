// Sends due deliveries, a few at a time, and retries them with exponential backoff. Processes on one database share the work.

import "server-only";
import { parseJson } from "@/lib/contract/json/parse-json";
import { type DeliveryProblem, RETRY_HOURS } from "@/lib/contract/webhook-events";
import { webhookPayloadSchema } from "@/lib/contract/webhooks";
import { createLoop } from "@/lib/shared/async";
import { getErrorCode } from "@/lib/shared/error-codes";
import { getTelemetry } from "@/lib/shared/telemetry";
import { type KeyRing } from "../keys/key-ring";
import { type Log } from "../log";
import { type Attempt, type Delivery, type Webhook, type WebhookStore } from "../store/webhooks";
import { type Send } from "../upstream/send";
import { readHead } from "../upstream/streams";
import { buildRequest } from "./messages";
import { openTarget } from "./sealed-target";

const MAX_IN_FLIGHT = 8;
/** Limits how much a slow receiver can delay other deliveries. */
const MAX_PER_WEBHOOK = 2;
const TIMEOUT_MS = 10_000;
const MAX_RESPONSE_BYTES = 2048;
const POLL_MS = 5000;
const PRUNE_INTERVAL_MS = 60 * 60_000;
const FIRST_RETRY_MS = 10_000;
const RETRY_FACTOR = 3;
const MAX_RETRY_MS = 4 * 60 * 60_000;
export const RETRY_PERIOD_MS = RETRY_HOURS * 60 * 60_000;

type DelivererOptions = { webhooks: WebhookStore; ring: KeyRing; log: Log; now: () => number; send: Send; timeoutMs?: number };
type Outcome = Pick<Attempt, "status" | "problem" | "response"> & { retryAfterMs?: number };

export function createDeliverer({ webhooks, ring, log, now, send, timeoutMs = TIMEOUT_MS }: DelivererOptions) {
  const stopController = new AbortController();
  const activeAttempts = new Map<Promise<void>, string>();
  let nextPruneMs = 0;
  const loop = createLoop(
    () =>
      sendDue().catch((err: unknown) => {
        log.error({ err }, "webhook delivery failed");
        return POLL_MS;
      }),
    stopController.signal,
  );

  /** Returns the milliseconds until the next call. The end of each attempt also wakes the loop. */
  async function sendDue(): Promise<number> {
    if (now() >= nextPruneMs) {
      nextPruneMs = now() + PRUNE_INTERVAL_MS;
      await webhooks.prune(now());
    }
    while (activeAttempts.size < MAX_IN_FLIGHT && !stopController.signal.aborted) {
      const counts = new Map<string, number>();
      for (const id of activeAttempts.values()) counts.set(id, (counts.get(id) ?? 0) + 1);
      const busyWebhooks = [...counts].filter(([, count]) => count >= MAX_PER_WEBHOOK).map(([id]) => id);
      const delivery = await webhooks.claimDue(now(), busyWebhooks);
      if (!delivery) break;
      const attemptPromise: Promise<void> = attempt(delivery)
        .then(
          () => undefined,
          (err: unknown) => log.error({ err, webhookId: delivery.webhookId }, "webhook delivery failed"),
        )
        .finally(() => {
          activeAttempts.delete(attemptPromise);
          loop.wake();
        });
      activeAttempts.set(attemptPromise, delivery.webhookId);
    }
    return POLL_MS;
  }

  /** With `resend`, this is an attempt on demand, which doesn't change the schedule. */
  async function attempt(delivery: Delivery, resend?: { scheduledAt: number | undefined }): Promise<Delivery | undefined> {
    const webhook = await webhooks.get(delivery.webhookId);
    if (!webhook) return undefined;
    const lastAt = now();
    const startedMs = performance.now();
    const outcome = await exchange(webhook, delivery);
    if (stopController.signal.aborted && outcome.status === undefined)
      return void (await webhooks.release(delivery, now(), resend?.scheduledAt));
    const { retryAfterMs: _retryAfterMs, ...attemptFields } = outcome;
    const durationMs = Math.round(performance.now() - startedMs);
    const hasFailed = outcome.problem !== undefined;
    const retryMs = hasFailed && !resend ? getRetryMs(delivery, outcome, now()) : undefined;
    const retryAt = hasFailed && delivery.state === "pending" ? resend?.scheduledAt : undefined;
    const state = !hasFailed ? "delivered" : retryMs === undefined && retryAt === undefined ? "failed" : "pending";
    getTelemetry().metrics?.count("lightdesk_webhook_attempts_total", { outcome: outcome.problem ?? "delivered" });
    return webhooks.finish(delivery, { ...attemptFields, state, lastAt, durationMs, retryMs, retryAt }, now());
  }

  async function exchange(webhook: Webhook, { eventId, body }: Delivery): Promise<Outcome> {
    const target = openTarget(ring, webhook);
    const payload = webhookPayloadSchema.safeParse(parseJson(body)).data;
    if (!target || !payload) return { problem: "sealed" };
    const isOldSecretValid = target.oldSecret !== undefined && (webhook.oldUntil ?? 0) > now();
    const secrets = [target.secret, ...(isOldSecretValid ? [target.oldSecret ?? ""] : [])];
    const {
      url,
      headers,
      body: requestBody,
    } = buildRequest({ id: eventId, payload, body, format: webhook.format, url: target.url, secrets, now: now() });
    const timeoutSignal = AbortSignal.timeout(timeoutMs);
    const signal = AbortSignal.any([timeoutSignal, stopController.signal]);
    try {
      const receiverResponse = await send(new Request(url, { method: "POST", headers, body: requestBody, signal, redirect: "manual" }));
      const response = await readExcerpt(receiverResponse.body, signal);
      const { status } = receiverResponse;
      if (status >= 200 && status < 300) return { status, response };
      const retryAfterMs = Number(receiverResponse.headers.get("retry-after") ?? Number.NaN) * 1000;
      const problem = status >= 300 && status < 400 ? "redirected" : "status";
      return { status, response, problem, ...(Number.isFinite(retryAfterMs) && { retryAfterMs }) };
    } catch (error) {
      return { problem: timeoutSignal.aborted ? "timeout" : toProblem(error) };
    }
  }

  return {
    start: loop.start,
    /** Call after a delivery was added, or a webhook changed. */
    wake: loop.wake,
    /** Sends a claimed delivery once. Undefined if it was deleted. */
    attempt,
    async stop(): Promise<void> {
      stopController.abort();
      await Promise.all([loop.waitForEnd(), ...activeAttempts.keys()]);
    },
  };
}

/** The delay until the next attempt, or undefined if there is none. Status 410 means that the receiver no longer exists. */
function getRetryMs({ attempts, giveUpAt }: Delivery, { status, retryAfterMs = 0 }: Outcome, now: number): number | undefined {
  const remainingMs = giveUpAt - now;
  if (remainingMs <= 0 || status === 410) return undefined;
  const backOffMs = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * RETRY_FACTOR ** Math.min(attempts, 20));
  // Jitter spreads the retries after an outage.
  const jitteredMs = backOffMs * (0.9 + Math.random() * 0.2);
  return Math.min(remainingMs, Math.max(jitteredMs, Math.min(retryAfterMs, MAX_RETRY_MS)));
}

function toProblem(error: unknown): DeliveryProblem {
  const codes = [getErrorCode(error), error instanceof Error ? getErrorCode(error.cause) : undefined];
  return codes.includes("FORBIDDEN_ADDRESS") ? "forbidden" : "unreachable";
}

async function readExcerpt(source: ReadableStream<Uint8Array> | null, signal: AbortSignal): Promise<string> {
  return new TextDecoder()
    .decode(await readHead(source, MAX_RESPONSE_BYTES, { signal }))
    .replaceAll(/[\p{Cc}\p{Cs}]/gu, " ")
    .trim();
}
