// A workflow opened in every possible way, and run: one press makes one job.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Page } from "@playwright/test";
import { expectAccessible } from "./support/accessible";
import { drop, photograph } from "./support/files";
import { slowGraph, submit } from "./support/jobs";
import { expect, test } from "./support/test";

const sample = readFileSync(join(process.cwd(), "public", "samples", "01-invert.json"), "utf8");

async function openSample(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/run`);
  await page.getByRole("button", { name: /^Invert/ }).click();
  await expect(page.getByRole("heading", { name: "Invert", exact: true })).toBeVisible();
}

const runButton = (page: Page) => page.getByRole("button", { name: "Run", exact: true }).filter({ visible: true });

async function jobsTotal(page: Page, url: string): Promise<number> {
  const answer: { pagination: { total: number } } = await (await page.request.get(`${url}/api/jobs?limit=1`)).json();
  return answer.pagination.total;
}

test("a double click makes one job, which opens again as a form with what was typed", async ({ signedIn: page, desk }) => {
  await openSample(page, desk.url);
  const before = await jobsTotal(page, desk.url);
  let presses = 0;
  page.on("request", (request) => void (request.method() === "POST" && request.url().includes("/api/prompt") && presses++));
  await page.getByRole("textbox", { name: "width" }).fill("72");
  await runButton(page).dblclick();
  const receipt = page.getByRole("link", { name: /^Open job/ });
  await expect(receipt).toBeVisible();
  expect(presses).toBe(1);
  expect(await jobsTotal(page, desk.url)).toBe(before + 1);
  const id = ((await receipt.getAttribute("href")) ?? "").split("/").at(-1) ?? "";

  await page.evaluate(() => sessionStorage.clear());
  await page.goto(`${desk.url}/run?job=${id}`);
  await expect(page.getByRole("textbox", { name: "width" })).toHaveValue("72");
  await expect(page).toHaveURL(`${desk.url}/run`);
  await expectAccessible(page);
});

test("an answer that is lost on the way is asked after, and nothing is sent twice", async ({ signedIn: page, desk }) => {
  await openSample(page, desk.url);
  const before = await jobsTotal(page, desk.url);
  // The connection breaks behind the console: it has the answer, the browser does not.
  await page.route("**/api/prompt*", async (route) => {
    await route.fetch();
    await route.abort("connectionreset");
  });
  await runButton(page).click();
  await expect(page.getByRole("link", { name: /^Open job/ })).toBeVisible();
  expect(await jobsTotal(page, desk.url)).toBe(before + 1);
});

test("where nobody can tell, the jobs that may be it are named, and the person decides", async ({ signedIn: page, desk }) => {
  await openSample(page, desk.url);
  await page.route("**/api/console/submissions/**", (route) => route.abort("connectionreset"));
  let other = "";
  await page.route("**/api/prompt*", async (route) => {
    await route.fetch();
    other = await submit(page.request, desk, slowGraph(0.02, "-of-another-workflow"));
    await route.abort("connectionreset");
  });
  await runButton(page).click();
  const note = page.getByRole("alert").filter({ hasText: "may or may not have been accepted" });
  await expect(note.locator("a[href*='/jobs/']").first()).toBeVisible();
  await expect(note.locator(`a[href*='${other}']`)).toHaveCount(0);
  await expect(note.getByRole("button", { name: "It did not arrive: send again" })).toBeVisible();
  await expectAccessible(page);
  await page.unroute("**/api/console/submissions/**");
  await note.getByRole("button", { name: "Check again" }).click();
  await expect(page.getByRole("link", { name: /^Open job/ })).toBeVisible();
});

test("a stored file and a picture that a service saved open as forms", async ({ signedIn: page, desk }) => {
  const headers = { origin: desk.url, "content-type": "application/json" };
  const stored = await page.request.post(`${desk.url}/api/userdata/workflows%2Fhero.json`, { data: sample, headers });
  expect(stored.ok(), await stored.text()).toBe(true);
  await page.goto(`${desk.url}/run`);
  await page.getByRole("button", { name: "Show saved files" }).click();
  await page.getByRole("button", { name: "hero.json" }).click();
  await expect(page.getByRole("heading", { name: "hero" })).toBeVisible();
  await page.getByRole("button", { name: /^Pin width of/ }).click();
  const pinned = page.getByRole("region", { name: "Pinned" }).getByRole("textbox", { name: "width" });
  await expect(pinned).toHaveValue("512");
  await page.reload();
  await expect(pinned).toHaveValue("512");
  await runButton(page).click();
  const href = (await page.getByRole("link", { name: /^Open job/ }).getAttribute("href")) ?? "";
  const output = async () => {
    const job: { outputs?: Record<string, { images?: { filename: string }[] }> } = await (
      await page.request.get(`${desk.url}/api${href}`)
    ).json();
    return Object.values(job.outputs ?? {})[0]?.images?.[0]?.filename ?? "";
  };
  await expect.poll(output).not.toBe("");
  const picture = await (await page.request.get(`${desk.url}/api/view?filename=${await output()}&type=output`)).body();
  await page.getByRole("button", { name: "Open another" }).click();
  await page.getByTestId("workflow-file").first().setInputFiles({ name: "made-here.png", mimeType: "image/png", buffer: picture });
  await expect(page.getByRole("heading", { name: "made-here" })).toBeVisible();
});

test("the tab is called as the page that is open, with the workflow's name on Run alone, there and back", async ({
  signedIn: page,
  desk,
}) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await openSample(page, desk.url);
  const navigation = page.getByRole("navigation", { name: "Main" });
  for (const round of [1, 2, 3]) {
    for (const [link, title] of [
      [/^Jobs/, "Jobs · Lightdesk"],
      [/^Run/, "Invert · Run a workflow · Lightdesk"],
      [/^Assets/, "Assets · Lightdesk"],
      [/^Run/, "Invert · Run a workflow · Lightdesk"],
    ] as const) {
      await test.step(`${title}, round ${round}`, async () => {
        await navigation.getByRole("link", { name: link }).click();
        await expect(page.getByRole("heading", { name: title.split(" · ")[0], level: 1 })).toBeVisible();
        await page.waitForLoadState("networkidle");
        await expect(page).toHaveTitle(title);
      });
    }
  }
  await page.reload();
  await expect(page).toHaveTitle("Invert · Run a workflow · Lightdesk");
  await page.getByRole("button", { name: "Close the workflow" }).click();
  await expect(page).toHaveTitle("Run a workflow · Lightdesk");
});

test("a photograph on its way into a sample says so and can be stopped, and is not sent on", async ({ signedIn: page, desk }) => {
  const photo = await photograph({ r: 71, g: 13, b: 147 });
  await page.goto(`${desk.url}/run`);
  let letGo = () => {};
  const gate = new Promise<void>((resolve) => (letGo = resolve));
  await page.route("**/api/upload/image*", async (route) => {
    await gate;
    await route.continue().catch(() => undefined);
  });
  const begun = page.waitForRequest("**/api/upload/image*");
  const ended = page.waitForEvent("requestfailed", (request) => request.url().includes("/api/upload/image"));
  await drop(page.getByText("Drop a workflow file here"), photo);
  await expect(page.getByRole("progressbar", { name: `Uploading ${photo.name}` })).toBeVisible();
  await expectAccessible(page);
  await begun;
  await page.getByRole("button", { name: "Stop" }).click();
  await ended;
  await expect(page.getByText("Drop a workflow file here")).toBeVisible();
  letGo();
  await page.unrouteAll({ behavior: "wait" });
  await drop(page.getByText("Drop a workflow file here"), photo);
  await expect(page.getByRole("textbox", { name: "Picture name" })).toHaveValue(photo.name);
  await expect(page.getByText(`${photo.name} has no workflow, so it was opened in a sample.`)).toBeVisible();
});
