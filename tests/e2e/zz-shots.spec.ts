import { readFileSync } from "node:fs";
import { type Page } from "@playwright/test";
import { failingGraph, slowGraph, submit, untilState } from "./support/jobs";
import { expect, test } from "./support/test";

const out = "/dev/shm/faults/shots";
const only = process.env.SHOTS?.split(",");
test("shots", async ({ signedIn: page, desk, browser }) => {
  test.setTimeout(300_000);
  const who = { name: "Grace Operator", email: "grace@example.com", password: "another long password" };
  await desk.addOperator(page.request, who);
  const grace = await (await browser.newContext()).newPage();
  await desk.signIn(grace.context(), who);
  const names = [
    "Portrait of a lighthouse keeper, four variants",
    "Product shots",
    undefined,
    "Poster from photo with a long descriptive name of its own",
  ];
  const workflow = (file: string) => JSON.parse(readFileSync(`public/samples/${file}.json`, "utf8"));
  const ids: string[] = [];
  for (const [i, name] of names.entries())
    ids.push(
      await submit(
        i % 2 ? grace.request : page.request,
        desk,
        workflow(["01-invert", "09-colour-field", "10-light-leaks", "04-four-variants"][i] ?? "01-invert"),
        { name },
      ),
    );
  const failed = await submit(page.request, desk, failingGraph, { name: "Fails" });
  await untilState(page.request, desk, failed, "failed");
  for (const _ of [1, 2, 3]) await submit(page.request, desk, slowGraph(600), { name: "Slow one" });
  const shoot = async (name: string, p: Page = page, sizes = [1440, 1280, 390], themes: ("light" | "dark")[] = ["light", "dark"]) => {
    for (const w of sizes)
      for (const theme of themes) {
        if (theme === "dark" && w === 1280) continue;
        await p.setViewportSize({ width: w, height: w === 390 ? 844 : 900 });
        await p.emulateMedia({ colorScheme: theme });
        await p.waitForTimeout(400);
        await p.screenshot({ path: `${out}/${name}-${w}-${theme}.png` });
      }
    await p.setViewportSize({ width: 1440, height: 900 });
    await p.emulateMedia({ colorScheme: "light" });
  };
  const step = async (name: string, act: () => Promise<void>) => {
    if (!only || only.includes(name)) await act();
  };
  const bar = (label: string) =>
    page
      .evaluate(() => {
        const bar = document.querySelector("[data-filters]");
        return (
          bar && {
            h: bar.getBoundingClientRect().height,
            sw: bar.scrollWidth,
            cw: bar.clientWidth,
            kids: [...bar.children].map((c) => Math.round(c.getBoundingClientRect().width)),
          }
        );
      })
      .then((x) => console.log(label, JSON.stringify(x)));
  await step("jobs", async () => {
    await page.goto(`${desk.url}/jobs`);
    await expect(page.getByText("Completed").first()).toBeVisible();
    for (const w of [1440, 1300, 1280, 1100]) {
      await page.setViewportSize({ width: w, height: 900 });
      await page.waitForTimeout(300);
      await bar(`jobs ${w}`);
    }
    await shoot("jobs");
    await page.goto(`${desk.url}/jobs?status=failed&within=24&output_type=image`);
    await page.waitForTimeout(1500);
    for (const w of [1440, 1280]) {
      await page.setViewportSize({ width: w, height: 900 });
      await page.waitForTimeout(300);
      await bar(`jobs filtered ${w}`);
    }
    await page
      .getByRole("button", { name: /^Filters|Filters/ })
      .first()
      .click();
    await page.waitForTimeout(700);
    await shoot("filters");
  });
  await step("columns", async () => {
    await page.goto(`${desk.url}/jobs`);
    await page.getByRole("button", { name: /Columns/ }).click();
    await page.waitForTimeout(1500);
    await shoot("columns", page, [1440, 390]);
  });
  await step("job", async () => {
    await page.goto(`${desk.url}/jobs/${failed}`);
    await page.waitForTimeout(1500);
    await shoot("job");
    await page.goto(`${desk.url}/jobs/${ids[3]}`);
    await page.waitForTimeout(1500);
    await shoot("job-done", page, [1440, 390]);
  });
  await step("assets", async () => {
    await page.goto(`${desk.url}/assets`);
    await page.waitForTimeout(1500);
    await bar("assets 1440");
    await shoot("assets");
    await page.goto(`${desk.url}/assets?include_tags=input,a-rather-long-tag-of-a-person-who-writes-much&exclude_tags=output`);
    await page.waitForTimeout(1500);
    for (const w of [1440, 1280]) {
      await page.setViewportSize({ width: w, height: 900 });
      await bar(`assets tags ${w}`);
    }
    await shoot("assets-tags");
    await page.goto(`${desk.url}/assets`);
    await page.waitForTimeout(1000);
    const view = page.getByRole("button", { name: "Slideshow" }).first();
    await view.click();
    await page.waitForTimeout(1500);
    await shoot("slideshow");
  });
  await step("queue", async () => {
    await page.goto(`${desk.url}/queue`);
    await page.waitForTimeout(1000);
    await shoot("queue");
    await page.getByRole("button", { name: /Clear/ }).first().click();
    await page.waitForTimeout(500);
    await shoot("queue-clear", page, [1440, 390]);
    await page.goto(`${desk.url}/history`);
    await page.waitForTimeout(1000);
    await shoot("history");
  });
  await step("members", async () => {
    await page.goto(`${desk.url}/settings/members`);
    await page.waitForTimeout(1000);
    await shoot("members");
    await page
      .getByRole("combobox")
      .first()
      .selectOption({ index: 2 })
      .catch((e: Error) => console.log(e.message));
    await page.waitForTimeout(500);
    await shoot("members-role");
    await grace.goto(`${desk.url}/jobs`);
    await page.goto(`${desk.url}/settings/members`);
    await page.getByRole("button", { name: "Change role: Grace Operator" }).click();
    await page
      .getByRole("dialog")
      .getByRole("radio", { name: /^viewer/ })
      .check();
    await page.getByRole("dialog").getByRole("button", { name: "Change role" }).click();
    await expect(grace.getByText("Your role changed from operator to viewer")).toBeVisible({ timeout: 10_000 });
    await shoot("banner", grace);
  });
});
