// Copies of a run with one varied input, and the drawing beside the form.
import { type Page } from "@playwright/test";
import { expectAccessible } from "./support/accessible";
import { drop, workflow } from "./support/files";
import { slowGraph } from "./support/jobs";
import { expect, test } from "./support/test";

async function openSample(page: Page, url: string, name: RegExp): Promise<void> {
  await page.goto(`${url}/run`);
  await page.getByRole("button", { name }).click();
  await expect(page.getByRole("button", { name: "Copies", exact: true }).filter({ visible: true })).toBeVisible();
}

test("copies over a range are seen, sent, labelled in the list of jobs, and cancelled where they still wait", async ({
  signedIn: page,
  desk,
}) => {
  await page.goto(`${desk.url}/run`);
  await drop(page.getByText("Drop a workflow file here"), workflow("slow.json", slowGraph(60, "-copies")));
  await page.getByRole("button", { name: "Copies", exact: true }).filter({ visible: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Input").selectOption({ label: "width · #1 Empty Image" });
  await dialog.getByLabel("From").fill("64");
  await dialog.getByLabel("to", { exact: true }).fill("256");
  await dialog.getByLabel("in steps of").fill("64");
  await expect(dialog.getByText("4 jobs: width 64 … 256")).toBeVisible();
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Run 4 copies" }).click();
  // Jobs of other tests may hold the only slot.
  await expect(page.getByText(/^(1 running · 3|4) pending$/)).toBeVisible();
  await expect(page.getByText("0 of 4 finished")).toBeVisible();
  await expectAccessible(page);

  const jobs = (await page.getByRole("link", { name: "Open in Jobs" }).getAttribute("href")) ?? "";
  await page.getByRole("button", { name: "Cancel waiting" }).click();
  await page.goto(desk.url + jobs);
  await expect(page.getByText("3/4 · width 192").filter({ visible: true })).toBeVisible();
  // Another test may have run a workflow of the same shape, which is listed here too.
  await expect(page.locator("tr[data-row]").filter({ hasText: /[1-4]\/4 · width/ })).toHaveCount(4);
  await page.goto(`${desk.url}/history`);
  await expect(page.getByText("3/4 · width 192").filter({ visible: true })).toBeVisible();
  await page.goto(`${desk.url}/run`);
  await expect(page.getByText(/^(1 running · 3|4) cancelled$/).filter({ visible: true })).toBeVisible();
});

test("the drawing leads to the fields, and a field marks its node", async ({ signedIn: page, desk }) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await openSample(page, desk.url, /^Poster from a photo/);
  await page.locator("[data-node='3']").click();
  await expect(page.getByRole("textbox", { name: "sharpen_radius" })).toBeFocused();
  await page.getByRole("combobox", { name: "crop" }).focus();
  await expect(page.locator("[data-node='2']")).toHaveAttribute("aria-pressed", "true");
  await page.getByRole("separator", { name: "Graph width" }).press("ArrowLeft");
  await expectAccessible(page);

  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole("button", { name: "Graph", exact: true }).click();
  await page.locator("[data-node='4']").click();
  await expect(page.getByRole("textbox", { name: "batch_size" })).toBeVisible();
  await expect(page.getByRole("region", { name: "Workflow graph" })).toHaveCount(0);
});

test("a workflow that no service could run opens, says what is wrong, and is not run", async ({ signedIn: page, desk }) => {
  const loop = {
    "1": { class_type: "ImageInvert", inputs: { image: ["2", 0] } },
    "2": { class_type: "ImageInvert", inputs: { image: ["1", 0] } },
    "3": { class_type: "SaveImage", inputs: { images: ["9", 0], filename_prefix: "x" } },
  };
  await page.goto(`${desk.url}/run`);
  await drop(page.getByText("Drop a workflow file here"), workflow("loop.json", loop));
  const note = page.getByRole("alert").filter({ hasText: "3 nodes prevent this workflow from running" });
  await expect(note).toContainText("images is connected to node #9, which is not in the workflow.");
  await expect(page.getByRole("button", { name: "Run", exact: true }).filter({ visible: true })).toHaveAttribute("aria-disabled", "true");
  await expectAccessible(page);
});

test("a picture of the assets goes into a run, a workflow is saved and asks before it replaces another", async ({
  signedIn: page,
  desk,
}) => {
  const answer = await page.request.get(`${desk.url}/api/assets?name_contains=product&limit=1`);
  const { assets }: { assets: { id: string; asset_hash: string }[] } = await answer.json();
  await page.goto(`${desk.url}/run?asset=${assets[0]?.id}`);
  await page.getByRole("button", { name: /^Poster from a photo/ }).click();
  const name = page.getByRole("textbox", { name: "Picture name" });
  // The field with the focus shows the name that is sent.
  await name.focus();
  await expect(name).toHaveValue(`${assets[0]?.asset_hash.replace("blake3:", "")}.png`);
  await page.getByRole("button", { name: "From assets" }).click();
  await expectAccessible(page);
  // By now, other tests have filled the first page, so the file is found by its name.
  await page.getByRole("dialog").getByRole("searchbox", { name: "Name contains" }).fill("photo.png");
  await page.getByRole("dialog").getByRole("button", { name: "photo.png", exact: true }).click();
  await expect(name).toHaveValue("photo.png");

  for (const press of ["Save", "Replace"]) {
    await page.getByRole("button", { name: "Save", exact: true }).filter({ visible: true }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("saved/poster");
    await dialog.getByRole("button", { name: "Save", exact: true }).click();
    if (press !== "Save") await dialog.getByRole("button", { name: press }).click();
    await expect(dialog).toHaveCount(0);
  }
  await page.goto(`${desk.url}/run?file=${encodeURIComponent("workflows/saved/poster.json")}`);
  await expect(page.getByRole("heading", { name: "poster" })).toBeVisible();
});

test("a seed of twenty digits is sent as it was typed", async ({ signedIn: page, desk }) => {
  const seed = "18446744073709551615";
  const graph = `{"1": {"class_type": "PrimitiveInt", "inputs": {"value": ${seed}}}, "2": {"class_type": "PreviewAny", "inputs": {"source": ["1", 0]}}}`;
  await page.goto(`${desk.url}/run`);
  await drop(page.getByText("Drop a workflow file here"), workflow("seed.json", graph));
  const field = page.getByRole("textbox", { name: "value" });
  await expect(field).toHaveValue(seed);
  await field.fill("9007199254740993");
  const request = page.waitForRequest("**/api/prompt*");
  await page.getByRole("button", { name: "Run", exact: true }).filter({ visible: true }).click();
  expect((await request).postData()).toContain('"value":9007199254740993}');
});
