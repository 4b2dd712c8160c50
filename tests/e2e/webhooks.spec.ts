// Sets up a webhook in Settings, sends a test, and checks its deliveries.
import { createServer, type Server } from "node:http";
import { expectAccessibleInBothThemes } from "./support/accessible";
import { startDesk } from "./support/desk";
import { expect, test } from "./support/test";

/** Responds with 503 first, then 200. */
async function startReceiver(): Promise<{ server: Server; host: string }> {
  let count = 0;
  const server = createServer((request, response) => {
    request.resume();
    count += 1;
    response.writeHead(count === 1 ? 503 : 200).end(count === 1 ? "Not yet" : "Thank you");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("The receiver has no port.");
  return { server, host: `127.0.0.1:${address.port}` };
}

test("adds a webhook, sends a test and resends a failed delivery", async ({ page, context, request }) => {
  const { server, host } = await startReceiver();
  const desk = await startDesk({ LIGHTDESK_TRUSTED_HOSTS: host });
  await desk.setUp(request);
  await desk.signIn(context);
  await page.goto(`${desk.url}/settings/webhooks`);
  await expect(page.getByText("No webhooks yet.")).toBeVisible();

  await test.step("adds the webhook after the address is corrected", async () => {
    await page.getByRole("button", { name: "Add webhook" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Render channel");
    await page.getByLabel("Address", { exact: true }).fill("http://example.com/hook");
    await page.getByLabel("Queue empty").check();
    await page.getByRole("button", { name: "Save" }).click();
    await expect(page.getByText("Enter a public https URL")).toBeVisible();
    await expectAccessibleInBothThemes(page);
    await page.getByLabel("Address", { exact: true }).fill(`http://${host}/hook?token=secret`);
    await page.getByRole("button", { name: "Save" }).click();
    await expect(page.getByLabel("Signing secret", { exact: true })).toHaveValue(/^whsec_/);
    await page.getByRole("button", { name: "Done" }).click();
    await expect(page.getByText(`http://${host} (Standard Webhooks)`)).toBeVisible();
    await expect(page.getByText("Job completed, Job failed, Queue empty")).toBeVisible();
  });

  await test.step("reports a test event that the receiver rejects", async () => {
    await page.getByRole("button", { name: "Send test: Render channel" }).click();
    await expect(page.getByText("The test of Render channel failed: Refused with status 503")).toBeVisible();
  });

  await test.step("sends the delivery again from the log", async () => {
    await page.getByRole("button", { name: "Deliveries: Render channel" }).click();
    const dialog = page.getByRole("dialog", { name: "Deliveries of Render channel" });
    await dialog.getByText("Test", { exact: true }).click();
    await expect(dialog.getByLabel("Response", { exact: true })).toHaveText("Not yet");
    await expect(dialog.getByLabel("Request", { exact: true })).toContainText('"webhook.test"');
    await expectAccessibleInBothThemes(page);
    await dialog.getByRole("button", { name: "Send again: Test" }).click();
    await expect(dialog.getByLabel("Response", { exact: true })).toHaveText("Thank you");
    await expect(dialog.getByText("Delivered", { exact: true })).toBeVisible();
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    await dialog.getByRole("button", { name: "Close" }).click();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  });

  await test.step("removes the webhook", async () => {
    await page.getByRole("button", { name: "Remove: Render channel" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove Render channel" }).click();
    await expect(page.getByText("No webhooks yet.")).toBeVisible();
  });
  expect(await desk.stop(), desk.output()).toBe(0);
  server.close();
});
