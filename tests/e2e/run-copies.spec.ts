// Copies of a run with one varied input, and the graph next to the form.
import { expectAccessible } from "./support/accessible";
import { createWorkflowFile, dropFile } from "./support/files";
import { createSlowGraph } from "./support/jobs";
import { expect, test } from "./support/test";

test("runs copies over a range, labels them in Jobs and cancels waiting ones", async ({ signedIn: page, desk }) => {
  await page.goto(`${desk.url}/run`);
  await dropFile(page.getByText("Drop a workflow file here"), createWorkflowFile("slow.json", createSlowGraph(60, "-copies")));
  await page.getByRole("button", { name: "Copies", exact: true }).filter({ visible: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Input").selectOption({ label: "width · #1 Empty Image" });
  await dialog.getByLabel("From").fill("64");
  await dialog.getByLabel("to", { exact: true }).fill("256");
  await dialog.getByLabel("in steps of").fill("64");
  await expect(dialog.getByText("4 jobs: width 64 … 256")).toBeVisible();
  await dialog.getByRole("button", { name: "Run 4 copies" }).click();
  // Jobs of other tests may occupy the only worker slot.
  await expect(page.getByText(/^(1 running · 3|4) pending$/)).toBeVisible();
  await expect(page.getByText("0 of 4 finished")).toBeVisible();
  await expectAccessible(page);

  const jobs = (await page.getByRole("link", { name: "Open in Jobs" }).getAttribute("href")) ?? "";
  await page.getByRole("button", { name: "Cancel pending" }).click();
  await page.goto(desk.url + jobs);
  await expect(page.getByText("3/4 · width 192").filter({ visible: true })).toBeVisible();
  // Another test may have run a similar workflow, which is listed here too.
  await expect(page.locator("tr[data-row]").filter({ hasText: /[1-4]\/4 · width/ })).toHaveCount(4);
  await page.goto(`${desk.url}/history`);
  await expect(page.getByText("3/4 · width 192").filter({ visible: true })).toBeVisible();
  await page.goto(`${desk.url}/run`);
  await expect(page.getByText(/^(1 running · 3|4) cancelled$/).filter({ visible: true })).toBeVisible();
});

test("uses an asset in a run, links graph nodes to fields and confirms a replacement", async ({ signedIn: page, desk }) => {
  const response = await page.request.get(`${desk.url}/api/assets?name_contains=product&limit=1`);
  const { assets }: { assets: { id: string; asset_hash: string }[] } = await response.json();
  await page.goto(`${desk.url}/run?asset=${assets[0]?.id}`);
  await page.getByRole("button", { name: /^Poster from a photo/ }).click();
  const name = page.getByRole("textbox", { name: "Image name" });
  // The focused field shows the name that is sent.
  await name.focus();
  await expect(name).toHaveValue(`${assets[0]?.asset_hash.replace("blake3:", "")}.png`);
  await page.getByRole("button", { name: "From assets" }).click();
  await expectAccessible(page);
  // Other tests have filled the first page by now, so search for the file by name.
  await page.getByRole("dialog").getByRole("searchbox", { name: "Name contains" }).fill("photo.png");
  await page.getByRole("dialog").getByRole("button", { name: "photo.png", exact: true }).click();
  await expect(name).toHaveValue("photo.png");

  await test.step("links nodes in the graph to fields in the form", async () => {
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
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  for (const buttonName of ["Save", "Replace"]) {
    await page.getByRole("button", { name: "Save", exact: true }).filter({ visible: true }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("saved/poster");
    await dialog.getByRole("button", { name: "Save", exact: true }).click();
    if (buttonName !== "Save") await dialog.getByRole("button", { name: buttonName }).click();
    await expect(dialog).toHaveCount(0);
  }
  await page.goto(`${desk.url}/run?file=${encodeURIComponent("workflows/saved/poster.json")}`);
  await expect(page.getByRole("heading", { name: "poster" })).toBeVisible();
});
