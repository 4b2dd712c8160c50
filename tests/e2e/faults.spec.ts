// Pages while the service or the network fails.
import { type Page } from "@playwright/test";
import messages from "@/lib/messages/en/errors.json" with { type: "json" };
import frameMessages from "@/lib/messages/en/frame.json" with { type: "json" };
import { connectThroughProxy, cutResponse, neverRespond, respondWith, startFlakyService } from "./support/flaky-service";
import { createSlowGraph, submitJob, waitForState } from "./support/jobs";
import { goTo } from "./support/steps";
import { expect, test } from "./support/test";

type ErrorCode = Exclude<keyof typeof messages, "owner" | "at" | "reason" | "wait" | "signIn" | "openSettings">;
type ErrorOwner = keyof typeof messages.owner;

const getAge = (page: Page) => page.getByRole("main").locator("[data-freshness]");
const refusal = (code: string, message: string) => JSON.stringify({ code, message });
const badResponses = [
  { name: "handles a response that is cut in the middle", fault: cutResponse, code: "UPSTREAM_UNREACHABLE", owner: "service" },
  {
    name: "handles a rejected key",
    fault: respondWith(401, "application/json", refusal("UNAUTHORIZED", "no")),
    code: "UPSTREAM_REFUSED_KEY",
    owner: "key",
  },
  {
    name: "handles a web page instead of JSON",
    fault: respondWith(200, "text/html", "<!doctype html><h1>Welcome"),
    code: "UPSTREAM_UNREADABLE",
    owner: "service",
  },
] as const satisfies readonly { name: string; fault: unknown; code: ErrorCode; owner: ErrorOwner }[];

/** Expects a message with the failure, its cause and the remedy. */
async function expectError(page: Page, code: ErrorCode, owner: ErrorOwner): Promise<void> {
  const alert = page.getByRole("alert").filter({ hasText: messages[code].title });
  await expect(alert).toContainText(`Cause: ${messages.owner[owner]}`);
  await expect(alert).toContainText(messages[code].next);
}

test("keeps the list with its age, explains the error and recovers from bad responses", async ({
  signedIn: page,
  context,
  desk,
  service,
}) => {
  const flakyService = await startFlakyService(service.url);
  const connection = await connectThroughProxy(page, desk, service, flakyService);
  const id = await submitJob(page.request, desk, createSlowGraph(120, "-faults"), { connection });
  await waitForState(page.request, desk, id, "in_progress", connection);
  await page.goto(`${desk.url}/jobs?connection=${connection}`);
  const row = page.locator(`tr[data-row="${id}"]`);
  const age = getAge(page);
  await expect(row).toBeVisible();
  await expect(age).toHaveText("live");
  const expectRecovery = async (code: ErrorCode) => {
    // A rejected key is retried only on click. Other errors are retried automatically.
    if (code === "UPSTREAM_REFUSED_KEY") await page.getByRole("button", { name: "Try again" }).click();
    await expect(page.getByRole("alert").filter({ hasText: "Cause:" })).toHaveCount(0);
    await expect(age).toHaveText("live");
  };

  for (const { name, fault, code, owner } of badResponses) {
    await test.step(name, async () => {
      flakyService.setFault(fault);
      await expectError(page, code, owner);
      await expect(age).toHaveText(/^not updated since \d\d:\d\d$/);
      await expect(row).toBeVisible();
      flakyService.setFault();
      await expectRecovery(code);
    });
  }

  await test.step("keeps pages usable while the service is unresponsive and restores them", async () => {
    const openedPage = await context.newPage();
    await openedPage.goto(`${desk.url}/queue?connection=${connection}`);
    await expect(getAge(openedPage)).toHaveText("live");
    // Requests on this connection get no response, even after the service recovers.
    flakyService.setFault(neverRespond);
    // The next read starts within 8 s, and pages report a missing response after 10 s.
    await expect(age).toHaveText(/^not updated since/);
    await expect(row).toBeVisible();
    await goTo(openedPage, "Settings");
    await expect(openedPage.getByRole("heading", { name: "Settings", level: 1 })).toBeVisible();
    await openedPage.getByRole("button", { name: /^Switch connection/ }).click();
    await expect(openedPage.getByRole("dialog").getByRole("button", { name: `Line ${flakyService.url}` })).toBeVisible();
    await openedPage.keyboard.press("Escape");
    await openedPage.goto(`${desk.url}/assets?connection=${connection}&name_contains=photo.png`);
    await expect(openedPage.getByRole("main").getByRole("alert").filter({ hasText: messages.UPSTREAM_TIMEOUT.title })).toBeVisible();
    flakyService.setFault();
    await expect(openedPage.getByRole("list", { name: "Assets" }).getByRole("link", { name: "photo.png" })).toBeVisible();
    for (const recoveredPage of [page, openedPage]) {
      await expect(getAge(recoveredPage)).toHaveText("live");
      await expect(recoveredPage.getByRole("main").getByRole("alert")).toHaveCount(0);
    }
    await openedPage.close();
  });

  await test.step("shows an unknown state and unknown fields", async () => {
    const unknownJob = { id: "00000000-0000-4000-8000-000000000001", status: "dreaming", create_time: 1_767_225_600_000, mood: ["odd"] };
    const pagination = { offset: 0, limit: 100, total: 1, has_more: false };
    flakyService.setFault(respondWith(200, "application/json", JSON.stringify({ jobs: [unknownJob], pagination })));
    await expect(page.locator(`tr[data-row="${unknownJob.id}"]`)).toContainText("dreaming");
    await expect(age).toHaveText("live");
    flakyService.setFault();
    await expect(row).toBeVisible();
  });

  await test.step("reports offline and recovers without a click", async () => {
    await context.setOffline(true);
    await expectError(page, "CONSOLE_UNREACHABLE", "network");
    await expect(age).toHaveText(/^not updated since/);
    await page
      .getByRole("link", { name: /^Queue/ })
      .filter({ visible: true })
      .click();
    await expect(page.getByText("Couldn't reach Lightdesk. Try again in a moment.")).toBeVisible();
    await expect(row).toBeVisible();
    await context.setOffline(false);
    await expect(age).toHaveText("live");
    await expect(page.getByRole("alert").filter({ hasText: "Cause:" })).toHaveCount(0);
  });
  await page.request.post(`${desk.url}/api/jobs/${id}/cancel`, { params: { connection }, headers: { origin: desk.url } });
  await flakyService.stop();
});

test("offers to reload when part of the page can't load", async ({ signedIn: page, desk }) => {
  await page.goto(`${desk.url}/jobs`);
  await page.route("**/_next/static/chunks/**", (route) => route.abort());
  await page.getByRole("button", { name: "Columns" }).click();
  const notice = page.getByRole("alert").filter({ hasText: frameMessages.broken.chunkFailed });
  await expect(notice).toBeVisible();
  await page.unroute("**/_next/static/chunks/**");
  await notice.getByRole("button", { name: "Reload" }).click();
  await page.getByRole("button", { name: "Columns" }).click();
  await expect(page.getByRole("dialog")).toBeVisible();
});
