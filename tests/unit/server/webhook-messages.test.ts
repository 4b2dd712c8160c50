import { describe, expect, it } from "vitest";
import { type WebhookFormat } from "@/lib/contract/webhook-events";
import { type WebhookPayload } from "@/lib/contract/webhooks";
import { buildRequest } from "@/lib/server/webhooks/messages";

const secret = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
const connection = { id: "c", name: "Studio <!channel> & @everyone" };
const url = "https://desk.example.com/jobs/1?connection=c";
const failure = { code: "E", message: "Out of memory" };
const failedPayload = {
  type: "job.failed",
  timestamp: "2026-01-01T00:00:00.000Z",
  data: {
    connection,
    job: { id: "1", state: "failed", name: "*Poster*", member: "Ada", runMs: 61_000, outputs: 1, failure },
    url,
  },
} satisfies WebhookPayload;

function buildMessage(format: WebhookFormat, targetUrl: string, payload: WebhookPayload = failedPayload) {
  const request = buildRequest({ id: "evt_1", payload, body: JSON.stringify(payload), format, url: targetUrl, secrets: [secret], now: 0 });
  return { url: request.url, headers: request.headers, json: JSON.parse(request.body) };
}

describe("a message", () => {
  it("is the unchanged payload in the Standard Webhooks format", () => {
    const { url: requestUrl, headers, json } = buildMessage("standard", "https://example.com/hook?a=1");
    expect([requestUrl, json]).toEqual(["https://example.com/hook?a=1", failedPayload]);
    expect(headers).toMatchObject({
      "webhook-id": "evt_1",
      "webhook-timestamp": "0",
      "webhook-signature": expect.stringMatching(/^v1,.{44}$/),
    });
  });

  it("escapes names for Slack to prevent mentions", () => {
    const { json } = buildMessage("slack", "https://hooks.slack.com/services/x");
    expect(json).toEqual({
      text: `**Poster* failed*\nStudio &lt;!channel&gt; &amp; @everyone · Ada · 1 min · 1 output\nOut of memory\n<${url}|Open in Lightdesk>`,
    });
  });

  it("escapes names for Discord and disables mentions", () => {
    const { json } = buildMessage("discord", "https://discord.com/api/webhooks/1/x");
    expect(json).toEqual({
      content: `**\\*Poster\\* failed**\nStudio \\<!channel\\> & \\@everyone · Ada · 1 min · 1 output\nOut of memory\n<${url}>`,
      allowed_mentions: { parse: [] },
    });
  });

  it.each([
    ["https://ntfy.sh/my-topic", "https://ntfy.sh/", "my-topic"],
    ["https://example.com/ntfy/my%20topic?auth=x", "https://example.com/ntfy?auth=x", "my topic"],
  ])("is JSON for the ntfy server of topic URL %s", (address, server, topic) => {
    const { url: requestUrl, json } = buildMessage("ntfy", address);
    expect(requestUrl).toBe(server);
    const message = expect.stringContaining(failure.message);
    expect(json).toMatchObject({ topic, title: "*Poster* failed", message, click: url, priority: 4 });
  });

  it("is truncated to the chat's size limit", () => {
    const { job } = failedPayload.data;
    const longPayload = {
      ...failedPayload,
      data: { ...failedPayload.data, job: { ...job, name: "n".repeat(3000), failure: { code: "E", message: "m".repeat(9000) } } },
    };
    expect(buildMessage("discord", "https://discord.com/x", longPayload).json.content.length).toBeLessThan(2100);
  });
});
