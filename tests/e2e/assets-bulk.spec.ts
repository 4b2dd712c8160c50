// Bulk actions on assets: downloading one ZIP with their exact bytes, and deleting all of them.
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { readZip } from "@/tests/support/read-zip";
import { sha256 } from "./support/files";
import { expect, test } from "./support/test";

test("downloads selected assets as one exact ZIP and deletes all matching", async ({ signedIn: page, desk }) => {
  const tag = `zip-${randomBytes(4).toString("hex")}`;
  // Two files have the same name, and one is larger than any buffer.
  const files = new Map([
    ["same.bin", randomBytes(1000)],
    ["same (2).bin", randomBytes(5 * 1024 ** 2)],
    ["größe 100%.bin", randomBytes(77)],
  ]);
  for (const [name, buffer] of files) {
    const response = await page.request.post(`${desk.url}/api/assets`, {
      headers: { origin: desk.url },
      multipart: {
        ...{ tags: JSON.stringify([tag]), name: name.replace(" (2)", "") },
        file: { name: "a.bin", mimeType: "application/octet-stream", buffer },
      },
    });
    expect(response.status(), await response.text()).toBe(201);
  }
  await page.goto(`${desk.url}/assets?include_tags=${tag}&include_public=false&sort=created_at&order=asc`);
  await expect(page.locator("a[data-index][href]")).toHaveCount(3);
  await page.getByRole("button", { name: "Select visible" }).click();
  const bar = page.getByRole("region", { name: "Selected rows" });
  const [download] = await Promise.all([page.waitForEvent("download"), bar.getByRole("button", { name: "Download ZIP" }).click()]);
  expect(download.suggestedFilename()).toMatch(/^assets-\d{4}-\d\d-\d\d\.zip$/);
  const unzippedFiles = readZip(await readFile(await download.path()));
  const hashes = (filesByName: ReadonlyMap<string, Buffer>) =>
    Object.fromEntries([...filesByName].map(([name, bytes]) => [name, sha256(bytes)]));
  expect(hashes(unzippedFiles)).toEqual(hashes(files));

  await bar.getByRole("button", { name: "Delete" }).click();
  const outcome = page.getByRole("region", { name: "Actions for the selected assets" });
  await expect(outcome).toContainText("3 assets will be deleted in 5 seconds");
  await expect(outcome).toContainText("3 deleted");
  await outcome.getByRole("button", { name: "Show results" }).click();
  await expect(page.getByRole("dialog").getByRole("row", { name: /Deleted$/ })).toHaveCount(3);
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
  await expect(page.getByText("No assets match")).toBeVisible();

  // The audit log and its export have one row for the deletion, with the three names.
  await page.goto(`${desk.url}/settings/audit?action=deleteAsset`);
  const entry = page.locator("tr[data-entry]").first();
  await entry.getByText("3 items").click();
  const names = ["größe 100%.bin", "same.bin", "same.bin"];
  await expect(entry.getByRole("listitem")).toHaveCount(3);
  await expect(entry.getByRole("listitem").filter({ hasText: "same.bin" })).toHaveCount(2);
  await expect(entry.getByRole("listitem").filter({ hasText: "größe 100%.bin" })).toHaveCount(1);
  const [csvDownload] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Export CSV" }).click()]);
  const [, csvRow = ""] = (await readFile(await csvDownload.path(), "utf8")).split("\r\n");
  expect(csvRow).toContain("deleteAsset");
  for (const name of names) expect(csvRow).toContain(`${name} (`);
});
