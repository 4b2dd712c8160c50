// Requests of webhooks in each format: Standard Webhooks JSON with its signature, or a message for a chat.

import "server-only";
import { Webhook as Signer } from "standardwebhooks";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { decodePercent, truncateText } from "@/lib/contract/plain-line";
import { type WebhookFormat } from "@/lib/contract/webhook-events";
import { type WebhookPayload, webhookPayloadSchema } from "@/lib/contract/webhooks";
import { formatCount } from "@/lib/shared/text";

/** Below Discord's limit for messages. The other formats allow more. */
const MAX_TEXT_LENGTH = 1800;

type Message = { title: string; text: string; url: string; isFailure: boolean };
type OutgoingMessage = {
  id: string;
  payload: WebhookPayload;
  body: string;
  format: WebhookFormat;
  url: string;
  secrets: readonly string[];
  now: number;
};

/** Builds the URL, headers and body of one attempt. Each attempt has its own time and signature. */
export function buildRequest({ id, payload, body, format, url, secrets, now }: OutgoingMessage): {
  url: string;
  headers: Record<string, string>;
  body: string;
} {
  const formattedMessage = formatMessage(format, payload, body, url);
  const sentAt = new Date(now);
  return {
    ...formattedMessage,
    headers: {
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(formattedMessage.body)),
      "user-agent": "Lightdesk-Webhooks",
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(now / 1000)),
      "webhook-signature": secrets.map((secret) => new Signer(secret).sign(id, sentAt, formattedMessage.body)).join(" "),
    },
  };
}

/** Formats the sent body for the log, without the topic of an ntfy address, which acts as a password. */
export function formatLoggedBody(format: WebhookFormat, body: string): string {
  const payload = webhookPayloadSchema.safeParse(parseJson(body)).data;
  return payload ? formatMessage(format, payload, body, "https://ntfy.sh/…").body : body;
}

function formatMessage(format: WebhookFormat, payload: WebhookPayload, body: string, url: string): { url: string; body: string } {
  if (format === "standard") return { url, body };
  const { title, text, url: link, isFailure } = toMessage(payload);
  if (format === "slack") {
    const lines = [`*${escapeForSlack(title)}*`, ...(text === "" ? [] : [escapeForSlack(text)]), `<${link}|Open in Lightdesk>`];
    return { url, body: writeExactJson({ text: lines.join("\n") }) };
  }
  if (format === "discord") {
    const lines = [`**${escapeForDiscord(title)}**`, ...(text === "" ? [] : [escapeForDiscord(text)]), `<${link}>`];
    // Prevents names that look like mentions from notifying anyone.
    return { url, body: writeExactJson({ content: lines.join("\n"), allowed_mentions: { parse: [] } }) };
  }
  const { topic, server } = splitTopic(url);
  const priority = isFailure ? 4 : 3;
  const tags = [isFailure ? "x" : "white_check_mark"];
  return { url: server, body: writeExactJson({ topic, title, message: text === "" ? title : text, click: link, tags, priority }) };
}

/** ntfy accepts JSON at its root URL, with the topic in the body. */
function splitTopic(topicUrl: string): { topic: string; server: string } {
  const url = new URL(topicUrl);
  const segments = url.pathname.split("/").filter((segment) => segment !== "");
  const topicSegment = segments.pop() ?? "";
  url.pathname = `/${segments.join("/")}`;
  return { topic: decodePercent(topicSegment) ?? topicSegment, server: url.href };
}

const escapeForSlack = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const escapeForDiscord = (text: string) => text.replaceAll(/[\\*_~`|>#[\]()<@-]/g, String.raw`\$&`);

function toMessage(payload: WebhookPayload): Message {
  const { data } = payload;
  const connectionName = data.connection.name;
  const createMessage = (title: string, lines: readonly (string | undefined)[], isFailure = false): Message => {
    const text = lines.filter((line) => line !== undefined && line !== "").join("\n");
    return { title: truncateText(title, 200), text: truncateText(text, MAX_TEXT_LENGTH), url: data.url, isFailure };
  };
  switch (payload.type) {
    case "job.completed":
    case "job.failed":
      return toJobMessage(payload, createMessage);
    case "batch.ended": {
      const { name, member, jobs, completed, failed } = payload.data.batch;
      const counts = [formatCount(jobs, "job"), `${completed} completed`, `${failed} failed`];
      return createMessage(
        `Batch ${name} finished`,
        [[connectionName, member, ...counts].filter((detail) => detail !== undefined).join(" · ")],
        failed > 0,
      );
    }
    case "queue.idle":
      return createMessage(`Queue of ${connectionName} is empty`, []);
    case "connection.down":
      return createMessage(`${connectionName} is down`, [payload.data.failure?.message], true);
    case "connection.up":
      return createMessage(`${connectionName} is up again`, [describeDowntime(payload.data.downMs)]);
    case "runner.down":
      return createMessage(`Runner ${payload.data.runner.label} is down`, [payload.data.failure?.message], true);
    case "runner.up":
      return createMessage(`Runner ${payload.data.runner.label} is up again`, [describeDowntime(payload.data.downMs)]);
    case "webhook.test":
      return createMessage(`Test of the webhook ${payload.data.webhook.name}`, [`It reports events of ${connectionName}.`]);
  }
}

type JobPayload = Extract<WebhookPayload, { type: "job.completed" | "job.failed" }>;

function toJobMessage(
  payload: JobPayload,
  createMessage: (title: string, lines: readonly (string | undefined)[], isFailure?: boolean) => Message,
): Message {
  const { connection, job } = payload.data;
  const isFailure = payload.type === "job.failed";
  const outputs = job.outputs === undefined ? undefined : formatCount(job.outputs, "output");
  const details = [connection.name, job.member, job.runMs === undefined ? undefined : formatDuration(job.runMs), outputs];
  const lines = [details.filter((detail) => detail !== undefined).join(" · "), job.failure?.message, job.prompt];
  return createMessage(`${job.name} ${isFailure ? "failed" : "completed"}`, lines, isFailure);
}

const describeDowntime = (ms: number | undefined) => (ms === undefined ? undefined : `It was down for ${formatDuration(ms)}.`);

function formatDuration(ms: number): string {
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const minutes = Math.round(ms / 60_000);
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
