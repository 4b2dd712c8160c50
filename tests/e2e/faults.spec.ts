// What a person sees and keeps when the service or the network fails in the middle of their work.
import { type Page } from "@playwright/test";
import messages from "@/lib/messages/en/errors.json" with { type: "json" };
import { type Desk } from "./support/desk";
import { answering, connectOver, cut, startFlakyService } from "./support/flaky-service";
import { slowGraph, submit } from "./support/jobs";
import { expect, test } from "./support/test";

type CodeWithSentence = Exclude<keyof typeof messages, "owner" | "at" | "reason" | "wait" | "signIn" | "openSettings">;
type FaultOwner = keyof typeof messages.owner;

const refusal = (code: string, message: string) => JSON.stringify({ code, message });
const faults = [
  { name: "cut in the middle", fault: cut, code: "UPSTREAM_UNREACHABLE", owner: "service" },
  {
    name: "another key is wanted",
    fault: answering(401, "application/json", refusal("UNAUTHORIZED", "no")),
    code: "UPSTREAM_REFUSED_KEY",
    owner: "key",
  },
  {
    name: "too many requests",
    fault: answering(429, "application/json", refusal("RATE_LIMITED", "slower"), { "retry-after": "4" }),
    code: "RATE_LIMITED",
    owner: "service",
  },
  { name: "a web page", fault: answering(200, "text/html", "<!doctype html><h1>Welcome"), code: "UPSTREAM_UNREADABLE", owner: "service" },
  { name: "another shape", fault: answering(200, "application/json", '{"jobs":"none"}'), code: "UPSTREAM_UNREADABLE", owner: "service" },
] as const satisfies readonly { name: string; fault: unknown; code: CodeWithSentence; owner: FaultOwner }[];

/** The message says what failed, whose fault it is, and what to do. */
async function expectShown(page: Page, code: CodeWithSentence, owner: FaultOwner): Promise<void> {
  const note = page.getByRole("alert").filter({ hasText: messages[code].title });
  await expect(note).toContainText(`Cause: ${messages.owner[owner]}`);
  await expect(note).toContainText(messages[code].next);
}

test("whatever comes instead of an answer, the list stays with its age, the fault is named, and it goes on afterwards", async ({
  signedIn: page,
  context,
  desk,
  service,
}) => {
  const line = await startFlakyService(service.url);
  const connection = await connectOver(page, desk, service, line);
  const id = await submit(page.request, desk, slowGraph(120, "-faults"), { connection });
  await untilRunning(page, desk, id, connection);
  await page.goto(`${desk.url}/jobs?connection=${connection}`);
  const row = page.locator(`tr[data-row="${id}"]`);
  const age = page.getByRole("main").locator("[data-freshness]");
  await expect(row).toBeVisible();
  await expect(age).toHaveText("live");
  const goesOn = async (code: CodeWithSentence) => {
    // A refusal that would only be repeated waits for a press; after other faults the page retries by itself.
    if (code === "UPSTREAM_REFUSED_KEY") await page.getByRole("button", { name: "Try again" }).click();
    await expect(page.getByRole("alert").filter({ hasText: "Cause:" })).toHaveCount(0);
    await expect(age).toHaveText("live");
  };

  for (const { name, fault, code, owner } of faults) {
    await test.step(name, async () => {
      line.spoil(fault);
      await expectShown(page, code, owner);
      await expect(age).toHaveText(/^not updated since \d\d:\d\d$/);
      await expect(row).toBeVisible();
      line.spoil();
      await goesOn(code);
    });
  }

  await test.step("slow", async () => {
    line.hold();
    await expect(age).toHaveText(/^\d+ s old$/);
    await expect(row).toBeVisible();
    line.spoil();
    await expect(age).toHaveText("live");
  });

  await test.step("a state and fields that nobody knows", async () => {
    const stranger = { id: "00000000-0000-4000-8000-000000000001", status: "dreaming", create_time: 1_767_225_600_000, mood: ["odd"] };
    const pagination = { offset: 0, limit: 100, total: 1, has_more: false };
    line.spoil(answering(200, "application/json", JSON.stringify({ jobs: [stranger], pagination })));
    await expect(page.locator(`tr[data-row="${stranger.id}"]`)).toContainText("dreaming");
    await expect(age).toHaveText("live");
    line.spoil();
    await expect(row).toBeVisible();
  });

  await test.step("offline, and back without a press", async () => {
    await context.setOffline(true);
    await expectShown(page, "CONSOLE_UNREACHABLE", "network");
    await expect(age).toHaveText(/^not updated since/);
    await page
      .getByRole("link", { name: /^Queue/ })
      .filter({ visible: true })
      .click();
    await expect(page.getByText("Lightdesk cannot be reached, so this page stays open.")).toBeVisible();
    await expect(row).toBeVisible();
    await context.setOffline(false);
    await expect(age).toHaveText("live");
    await expect(page.getByRole("alert").filter({ hasText: "Cause:" })).toHaveCount(0);
  });
  await page.request.post(`${desk.url}/api/jobs/${id}/cancel`, { params: { connection }, headers: { origin: desk.url } });
  await line.stop();
});

test("a filled form outlives every fault of its run, and then runs as it was typed", async ({ signedIn: page, context, desk, service }) => {
  const line = await startFlakyService(service.url);
  const connection = await connectOver(page, desk, service, line);
  await page.goto(`${desk.url}/run?connection=${connection}`);
  await page.getByRole("button", { name: /^Invert/ }).click();
  const width = page.getByRole("textbox", { name: "width" });
  const run = page.getByRole("button", { name: "Run", exact: true }).filter({ visible: true });
  await width.fill("72");
  for (const { name, fault, code, owner } of faults.filter(({ code }) => code === "UPSTREAM_REFUSED_KEY" || code === "RATE_LIMITED")) {
    await test.step(name, async () => {
      line.spoil(fault);
      await run.click();
      await expectShown(page, code, owner);
      await expect(page.getByText("Nothing was started. Your inputs are unchanged.")).toBeVisible();
      await expect(width).toHaveValue("72");
      line.spoil();
    });
  }
  for (const { name, fault } of faults.filter(({ code }) => code === "UPSTREAM_UNREADABLE" || code === "UPSTREAM_UNREACHABLE")) {
    await test.step(name, async () => {
      line.spoil(fault);
      await run.click();
      const note = page.getByRole("alert").filter({ hasText: "The job may or may not have been accepted" });
      await expect(note).toContainText("Cause: the service");
      await expect(note).toContainText("before you send it again");
      await expect(width).toHaveValue("72");
      line.spoil();
      await page.getByRole("button", { name: "Dismiss" }).click();
    });
  }
  await context.setOffline(true);
  await run.click();
  await expect(page.getByRole("alert").filter({ hasText: /Nothing was started|may or may not/ })).toContainText("Cause: the network");
  await expect(width).toHaveValue("72");
  await context.setOffline(false);
  const leave = page.getByRole("button", { name: "Dismiss" });
  await expect(leave.or(run)).not.toHaveCount(0);
  if (await leave.isVisible()) await leave.click();
  await run.click();
  await expect(page.getByRole("link", { name: /^Open job/ })).toBeVisible();
  await line.stop();
});

test("a filter that is typed while the service fails, and a form of the settings offline, keep every letter", async ({
  signedIn: page,
  context,
  desk,
  service,
}) => {
  const line = await startFlakyService(service.url);
  const connection = await connectOver(page, desk, service, line);
  await page.goto(`${desk.url}/assets?connection=${connection}`);
  const filter = page.getByRole("searchbox", { name: "Name contains" });
  await expect(page.getByText("photo.png").first()).toBeVisible();
  line.spoil(cut);
  await filter.pressSequentially("pho");
  await expectShown(page, "UPSTREAM_UNREACHABLE", "service");
  await filter.pressSequentially("to");
  await expect(filter).toHaveValue("photo");
  line.spoil();
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByText("photo.png").first()).toBeVisible();
  await expect(filter).toHaveValue("photo");
  await expect(page).toHaveURL(/name_contains=photo/);

  await page.goto(`${desk.url}/settings`);
  await page.getByRole("button", { name: "Add a connection" }).click();
  const form = page.getByRole("region", { name: "Add a connection" });
  const typed = { Name: "Typed with care", "Base URL": service.url, Key: service.key };
  for (const [name, value] of Object.entries(typed)) await form.getByLabel(name, { exact: true }).fill(value);
  await context.setOffline(true);
  await form.getByRole("button", { name: "Save and check" }).click();
  await expectShown(page, "CONSOLE_UNREACHABLE", "network");
  for (const [name, value] of Object.entries(typed)) await expect(form.getByLabel(name, { exact: true })).toHaveValue(value);
  await context.setOffline(false);
  await form.getByRole("button", { name: "Save and check" }).click();
  await expect(page.getByText("Connected")).toBeVisible();
  await line.stop();
});

async function untilRunning(page: Page, desk: Desk, id: string, connection: string): Promise<void> {
  const state = async () => {
    const answer = await page.request.get(`${desk.url}/api/jobs/${id}`, { params: { connection } });
    const { status }: { status: string } = await answer.json();
    return status;
  };
  await expect.poll(state, { timeout: 30_000, intervals: [100] }).toBe("in_progress");
}
