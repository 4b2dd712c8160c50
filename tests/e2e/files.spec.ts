import { expectAccessible } from "./support/accessible";
import { sha256 } from "./support/files";
import { expect, test } from "./support/test";

test("stores, reads, moves and deletes files byte for byte", async ({ signedIn: page, desk }) => {
  await page.goto(`${desk.url}/files`);
  await expect(page.getByRole("heading", { name: "Files" })).toBeVisible();
  await page.getByRole("button", { name: "New folder" }).click();
  await page.getByRole("dialog").getByRole("textbox").fill("a b/100% ü");
  await expect(page.getByText("Empty folders are not stored")).toBeVisible();
  const pendingFileChooser = page.waitForEvent("filechooser");
  await page.getByRole("dialog").getByRole("button", { name: "Choose files…" }).click();

  const largeIntegerJson = Buffer.from('{"1":{"class_type":"PrimitiveInt","inputs":{"value":18446744073709551615}}}');
  const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, index) => (index * 7) % 256));
  const jsonFile = { name: "plan #1.json", mimeType: "application/json", buffer: largeIntegerJson };
  const binaryFile = { name: "100%.bin", mimeType: "", buffer: bytes };
  await (await pendingFileChooser).setFiles([jsonFile, binaryFile]);
  const rows = page.locator("tbody tr");
  await expect(rows).toHaveCount(2);
  const response = await page.request.get(`${desk.url}/api/userdata/${encodeURIComponent("a b/100% ü/100%.bin")}`);
  expect([sha256(await response.body()), response.headers()["content-length"]]).toEqual([sha256(bytes), String(bytes.length)]);

  await rows.getByRole("link", { name: "plan #1.json" }).click();
  const panel = page.getByRole("complementary", { name: "File plan #1.json" });
  await expect(panel.locator("pre")).toHaveText(largeIntegerJson.toString());
  await expect(panel.getByRole("link", { name: "Open in Run" })).toBeVisible();
  await expectAccessible(page);

  await panel.getByRole("button", { name: "Rename or move" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox").fill("workflows/plan.json");
  await dialog.getByRole("textbox").press("Enter");
  await expect(page.getByRole("complementary", { name: "File plan.json" })).toBeVisible();
  await expect(rows).toHaveCount(1);

  await page.goto(`${desk.url}/files`);
  await expect(rows).toHaveCount(2);
  await page.getByRole("checkbox", { name: "Select a b" }).check();
  await page.getByRole("button", { name: "Delete 1 file" }).click();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByText("Kept 1 file")).toBeVisible();
  await expect(rows).toHaveCount(2);
  await page.getByRole("checkbox", { name: "Select a b" }).check();
  await page.getByRole("button", { name: "Delete 1 file" }).click();
  await expect(page.getByText("1 file deleted")).toBeVisible();
  await expect(rows).toHaveCount(1);
  await page.getByRole("link", { name: "workflows/" }).click();
  await expect(page.getByRole("link", { name: "plan.json" })).toBeVisible();
});
