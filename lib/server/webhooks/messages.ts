// Requests of webhooks in each format: Standard Webhooks JSON with its signature, or a message for a chat.

import "server-only";
import { Webhook as Signer } from "standardwebhooks";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { decodePercent } from "@/lib/contract/plain-line";
import { type WebhookFormat } from "@/lib/contract/webhook-events";
import { type WebhookPayload, webhookPayloadSchema } from "@/lib/contract/webhooks";

/** Discord refuses longer messages, and the others have higher limits. */
const MAX_TEXT = 1800;

type Message = { title: string; text: string; url: string; isBad: boolean };
type OutgoingMessage = {
  id: string;
  payload: WebhookPayload;
  body: string;
  format: WebhookFormat;
  url: string;
  secrets: readonly string[];
  now: number;
};

/** The address, headers and body of one attempt. Each attempt has its own time and signature. */
export function toRequest({ id, payload, body, format, url, secrets, now }: OutgoingMessage): {
  url: string;
  headers: Record<string, string>;
  body: string;
} {
  const shaped = shape(format, payload, body, url);
  const at = new Date(now);
  return {
    ...shaped,
    headers: {
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(shaped.body)),
      "user-agent": "Lightdesk-Webhooks",
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(now / 1000)),
      "webhook-signature": secrets.map((secret) => new Signer(secret).sign(id, at, shaped.body)).join(" "),
    },
  };
}

/** The body that a receiver gets, for the log. The topic of an ntfy address is as good as a password, so it is left out. */
export function loggedBody(format: WebhookFormat, body: string): string {
  const payload = webhookPayloadSchema.safeParse(parseJson(body)).data;
  return payload ? shape(format, payload, body, "https://ntfy.sh/…").body : body;
}

function shape(format: WebhookFormat, payload: WebhookPayload, body: string, url: string): { url: string; body: string } {
  if (format === "standard") return { url, body };
  const { title, text, url: link, isBad } = messageOf(payload);
  if (format === "slack") {
    const lines = [`*${forSlack(title)}*`, ...(text === "" ? [] : [forSlack(text)]), `<${link}|Open in Lightdesk>`];
    return { url, body: writeExactJson({ text: lines.join("\n") }) };
  }
  if (format === "discord") {
    const lines = [`**${forDiscord(title)}**`, ...(text === "" ? [] : [forDiscord(text)]), `<${link}>`];
    // Names that look like mentions notify nobody.
    return { url, body: writeExactJson({ content: lines.join("\n"), allowed_mentions: { parse: [] } }) };
  }
  const { topic, server } = topicOf(url);
  const priority = isBad ? 4 : 3;
  const tags = [isBad ? "x" : "white_check_mark"];
  return { url: server, body: writeExactJson({ topic, title, message: text === "" ? title : text, click: link, tags, priority }) };
}

/** ntfy accepts JSON at its root URL, with the topic in the body. */
function topicOf(address: string): { topic: string; server: string } {
  const url = new URL(address);
  const parts = url.pathname.split("/").filter((part) => part !== "");
  const last = parts.pop() ?? "";
  url.pathname = `/${parts.join("/")}`;
  return { topic: decodePercent(last) ?? last, server: url.href };
}

const forSlack = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const forDiscord = (text: string) => text.replaceAll(/[\\*_~`|>#[\]()<@-]/g, String.raw`\$&`);

function messageOf(payload: WebhookPayload): Message {
  const { data } = payload;
  const on = data.connection.name;
  const message = (title: string, lines: readonly (string | undefined)[], isBad = false): Message => {
    const text = lines.filter((line) => line !== undefined && line !== "").join("\n");
    return { title: cut(title, 200), text: cut(text, MAX_TEXT), url: data.url, isBad };
  };
  switch (payload.type) {
    case "job.completed":
    case "job.failed":
      return jobMessage(payload, message);
    case "batch.ended": {
      const { name, member, jobs, completed, failed } = payload.data.batch;
      const counts = [`${jobs} ${jobs === 1 ? "job" : "jobs"}`, `${completed} completed`, `${failed} failed`];
      return message(`Batch ${name} finished`, [[on, member, ...counts].filter((fact) => fact !== undefined).join(" · ")], failed > 0);
    }
    case "queue.idle":
      return message(`Queue of ${on} is empty`, []);
    case "connection.down":
      return message(`${on} is down`, [payload.data.failure?.message], true);
    case "connection.up":
      return message(`${on} is up again`, [downFor(payload.data.downMs)]);
    case "runner.down":
      return message(`Runner ${payload.data.runner.label} is down`, [payload.data.failure?.message], true);
    case "runner.up":
      return message(`Runner ${payload.data.runner.label} is up again`, [downFor(payload.data.downMs)]);
    case "webhook.test":
      return message(`Test of the webhook ${payload.data.webhook.name}`, [`It reports events of ${on}.`]);
  }
}

type JobPayload = Extract<WebhookPayload, { type: "job.completed" | "job.failed" }>;

function jobMessage(
  payload: JobPayload,
  message: (title: string, lines: readonly (string | undefined)[], isBad?: boolean) => Message,
): Message {
  const { connection, job } = payload.data;
  const isBad = payload.type === "job.failed";
  const outputs = job.outputs === undefined ? undefined : `${job.outputs} ${job.outputs === 1 ? "output" : "outputs"}`;
  const facts = [connection.name, job.member, job.runMs === undefined ? undefined : seconds(job.runMs), outputs];
  const lines = [facts.filter((fact) => fact !== undefined).join(" · "), job.failure?.message, job.prompt];
  return message(`${job.name} ${isBad ? "failed" : "completed"}`, lines, isBad);
}

const downFor = (ms: number | undefined) => (ms === undefined ? undefined : `It was down for ${seconds(ms)}.`);

function seconds(ms: number): string {
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const minutes = Math.round(ms / 60_000);
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}

function cut(text: string, maxLength: number): string {
  const letters = Array.from(text);
  return letters.length > maxLength ? `${letters.slice(0, maxLength - 1).join("")}…` : text;
}
