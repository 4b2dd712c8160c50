// The result of a run is visible at any scroll position and screen width.
import { expectAccessible } from "./support/accessible";
import { createWorkflowFile, dropFile } from "./support/files";
import { createSlowGraph } from "./support/jobs";
import { expect, test } from "./support/test";

/** A workflow whose form is longer than any screen. */
function createLongGraph(seconds: number, salt: string): Record<string, unknown> {
  const texts = Array.from({ length: 12 }, (_, index) => [
    `t${index}`,
    { class_type: "StringConcatenate", inputs: { string_a: `a ${index}`, string_b: `b ${index}`, delimiter: " " } },
  ]);
  return {
    ...createSlowGraph(seconds, salt),
    ...Object.fromEntries(texts),
    show: { class_type: "PreviewAny", inputs: { source: ["t0", 0] } },
  };
}

const sizes = { phone: { width: 390, height: 844 }, laptop: { width: 1440, height: 900 } };

test("keeps a refusal, progress, result and Stop in view on a phone and a laptop", async ({ signedIn: page, desk }) => {
  await page.setViewportSize(sizes.phone);
  await page.goto(`${desk.url}/run`);
  await dropFile(page.getByText("Drop a workflow file here"), createWorkflowFile("long.json", createLongGraph(12, "-answer")));
  const openAnotherButton = page.getByRole("button", { name: "Open another" });
  await expect(openAnotherButton).toBeInViewport({ ratio: 1 });
  await openAnotherButton.click();
  const cancelButton = page.getByRole("dialog").getByRole("button", { name: "Cancel", exact: true });
  await expect(cancelButton).toBeInViewport({ ratio: 1 });
  await cancelButton.click();
  await expect(page.getByRole("dialog")).toHaveCount(0);
  const runButton = page.getByRole("button", { name: "Run", exact: true }).filter({ visible: true });
  const lastField = page.locator("#field-t11-string_b");
  // Cards get their real height only near the viewport, so the first jump may fall short.
  const scrollDown = () =>
    expect(async () => {
      await lastField.evaluate((field) => field.scrollIntoView({ block: "center" }));
      await expect(lastField).toBeInViewport({ timeout: 500 });
    }).toPass();
  const job = page.getByRole("region", { name: "The job that was started" });

  await test.step("shows a refusal", async () => {
    await page.setViewportSize(sizes.laptop);
    await scrollDown();
    await page.route("**/api/prompt*", (route) => route.fulfill({ status: 429, json: { code: "RATE_LIMITED", message: "slow down" } }));
    await runButton.click();
    await expect(page.getByText("Nothing was started. Your inputs are unchanged.")).toBeInViewport({ ratio: 1 });
    await page.unroute("**/api/prompt*");
  });

  await test.step("shows a running job with Stop", async () => {
    await page.setViewportSize(sizes.phone);
    await scrollDown();
    await runButton.click();
    await expect(job.getByText(/^The job is (in the queue|running)$/)).toBeInViewport({ ratio: 1 });
    for (const size of [sizes.phone, sizes.laptop]) {
      await page.setViewportSize(size);
      await expect(job.getByRole("button", { name: /^(Cancel|Stop)$/ })).toBeInViewport({ ratio: 1 });
      await expect(job.getByText(/^running (First|Second) wait/)).toBeInViewport({ ratio: 1 });
    }
    await expect(page.locator("button[data-node]").filter({ hasText: /^(First|Second) wait.*running/ })).toBeVisible();
  });

  await test.step("shows the result", async () => {
    await expect(job.getByText("The job completed")).toBeInViewport({ ratio: 1, timeout: 60_000 });
    await expect(job.getByText("a 0 b 0")).toBeAttached();
    for (const { width, height } of [sizes.laptop, sizes.phone]) {
      await page.setViewportSize({ width, height });
      await scrollDown();
      await expect(job.getByText("The job completed")).toBeInViewport({ ratio: 1 });
      // The picture is fully visible and fills a narrow column.
      const picture = job.getByRole("img").first();
      await expect(picture).toBeInViewport({ ratio: 0.95 });
      await expect.poll(async () => (await picture.boundingBox())?.height).toBeGreaterThanOrEqual(width === 390 ? 240 : 320);
      if (width === 390) await expect.poll(async () => (await picture.boundingBox())?.width).toBeGreaterThanOrEqual(width - 2 * 24);
      else {
        const form = await page.getByRole("region", { name: "Workflow inputs" }).boundingBox();
        expect((await job.boundingBox())?.x ?? 0).toBeGreaterThanOrEqual(form?.x ?? Infinity);
      }
      // The first fields are visible above the result.
      await page.evaluate(() => window.scrollTo(0, 0));
      const firstField = page.getByRole("region", { name: "Workflow inputs" }).getByRole("textbox").first();
      await expect(firstField).toBeInViewport({ ratio: 1 });
      const [field, card] = [await firstField.boundingBox(), await job.boundingBox()];
      expect((field?.y ?? Infinity) + (field?.height ?? 0)).toBeLessThan(card?.y ?? 0);
      await expectAccessible(page);
    }
  });

  await test.step("hides and dismisses the result", async () => {
    await scrollDown();
    await job.getByRole("button", { name: "Hide result" }).click();
    await expect(lastField).toBeInViewport();
    await expect(page).toHaveURL(`${desk.url}/run`);
    await job.getByRole("button", { name: "Dismiss" }).click();
    await expect(job.getByText("The job completed")).toHaveCount(0);
  });
});

test("shows started copies in view when the form is scrolled down", async ({ signedIn: page, desk }) => {
  await page.goto(`${desk.url}/run`);
  await dropFile(page.getByText("Drop a workflow file here"), createWorkflowFile("long.json", createLongGraph(0.1, "-copies-far-down")));
  await page.locator("#field-t11-string_b").scrollIntoViewIfNeeded();
  await page.getByRole("button", { name: "Copies", exact: true }).filter({ visible: true }).click();
  const copies = page.getByRole("dialog", { name: "Run copies with a varied input" });
  await copies.getByLabel("Input", { exact: true }).selectOption({ label: "width · #1 Empty Image" });
  // The default step is whole pixels.
  await expect(copies.getByLabel("in steps of")).toHaveValue("1");
  await copies.getByLabel("From").fill("64");
  await copies.getByLabel("to", { exact: true }).fill("65");
  await copies.getByRole("button", { name: "Run 2 copies" }).click();
  const resultList = page.getByRole("list", { name: "Result of each copy" });
  await expect(resultList.getByRole("listitem").filter({ hasText: "Completed" })).toHaveCount(2);
  await expect(resultList).toBeInViewport({ ratio: 0.9 });
  await expect(page.getByText("2 of 2 finished")).toBeInViewport({ ratio: 1 });
});
