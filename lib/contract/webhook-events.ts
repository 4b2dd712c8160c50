// Events, message formats and views of webhooks. Doesn't import zod, to keep it out of the settings page's scripts.

export const webhookEvents = [
  "job.completed",
  "job.failed",
  "batch.ended",
  "queue.idle",
  "connection.down",
  "connection.up",
  "runner.down",
  "runner.up",
] as const;
export type WebhookEvent = (typeof webhookEvents)[number];

/** `standard`: JSON in the format of Standard Webhooks. The others are messages for people. */
export const webhookFormats = ["standard", "slack", "discord", "ntfy"] as const;
export type WebhookFormat = (typeof webhookFormats)[number];
/** Product names, which are not translated. */
export const webhookFormatNames: Readonly<Record<WebhookFormat, string>> = {
  standard: "Standard Webhooks",
  slack: "Slack",
  discord: "Discord",
  ntfy: "ntfy",
};

export type DeliveryState = "pending" | "delivered" | "failed";

/** `status`: the receiver rejected it. `forbidden`: the address is neither public nor trusted. `sealed`: the key ring lacks the key. */
export type DeliveryProblem = "status" | "redirected" | "timeout" | "unreachable" | "forbidden" | "sealed";

export const RETRY_HOURS = 24;
/** How long a replaced secret is still used, together with the new one. */
export const OLD_WEBHOOK_SECRET_MS = 24 * 60 * 60_000;
export const secretRenewals = ["keep-old", "at-once"] as const;
export type RenewWebhookSecret = (typeof secretRenewals)[number];

export type WebhookView = {
  id: string;
  connection: string;
  name: string;
  /** Only the origin, because a chat webhook's path is a secret. */
  origin: string;
  format: WebhookFormat;
  events: WebhookEvent[];
  includesPrompts: boolean;
  isEnabled: boolean;
  createdAt: number;
  oldSecretUntil?: number;
  /** The newest delivery. */
  last?: { state: DeliveryState; at: number };
};
/** `secret` is returned only once, after its creation. */
export type WebhookSaved = { webhook: WebhookView; secret?: string };

export type DeliveryView = {
  id: string;
  eventId: string;
  type: string;
  state: DeliveryState;
  createdAt: number;
  attempts: number;
  /** The sent body, without the topic of an ntfy address. */
  request: string;
  /** Only for pending deliveries. */
  nextAt?: number;
  last?: { at: number; durationMs: number; status?: number; problem?: DeliveryProblem; response?: string };
};
export type DeliveryList = { deliveries: DeliveryView[] };
export type DeliveryResult = { delivery: DeliveryView };
