// Webhook settings: secrets, changes and the audit log.
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { createWebhookHarness } from "./webhook-harness";

let fixture: Awaited<ReturnType<typeof createWebhookHarness>>;
beforeAll(async () => void (fixture = await createWebhookHarness()));
afterAll(() => fixture.dispose());
beforeEach(() => {
  fixture.receiver.requests.length = 0;
  fixture.responses.length = 0;
});

it("shows a secret once and encrypts the stored secret and URL", async () => {
  const { webhook, secret } = await fixture.add();
  expect(secret).toMatch(/^whsec_[\w+/=]{44}$/);
  expect(webhook.origin).toBe(fixture.receiver.url);
  const listText = await (await fixture.request("/api/console/webhooks", { as: "admin" })).text();
  const storedText = await fixture.harness.dumpStore();
  for (const text of [listText, storedText]) expect([text.includes(secret), text.includes("of-the-receiver")]).toEqual([false, false]);
});

it("keeps the URL and secret when only the name changes", async () => {
  const { webhook, secret } = await fixture.add();
  const response = await fixture.change(webhook.id, { name: "Another name" });
  expect(await response.json()).toEqual({ webhook: { ...webhook, name: "Another name" } });
  await fixture.sendTest(webhook.id);
  expect(fixture.receiver.requests[0]?.url).toBe("/hook?token=of-the-receiver");
  expect(() => fixture.listPayloads(secret)).not.toThrow();
});

it("audits each action and rejects changes while read-only", async () => {
  const { webhook } = await fixture.add({ name: "Audited" });
  const delivery = await fixture.sendTest(webhook.id);
  await fixture.resend(webhook.id, delivery.id);
  await fixture.change(webhook.id, { name: "Audited" });
  await fixture.request(`/api/console/webhooks/${webhook.id}`, { as: "admin", method: "DELETE" });
  const { entries } = await (await fixture.request("/api/console/audit?limit=5", { as: "owner" })).json();
  const rows: { action: string; target?: string }[] = entries;
  expect(rows.map(({ action, target }) => `${action} ${target}`)).toEqual(
    ["removeWebhook", "changeWebhook", "resendWebhook", "testWebhook", "addWebhook"].map((action) => `${action} Audited`),
  );
  await fixture.request("/api/console/read-only", { as: "owner", method: "PUT", json: {} });
  await expect(fixture.add()).rejects.toThrow("READ_ONLY");
  await fixture.request("/api/console/read-only", { as: "owner", method: "DELETE" });
});
