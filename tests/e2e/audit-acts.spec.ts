// One press by a person is one row of the audit log, with names.
import { expect, test } from "./support/test";
import { add, fresh, picked, tray } from "./support/ways-in";

test("files that are added together are one row with their names", async ({ signedIn: page, desk }) => {
  const files = Array.from({ length: 5 }, (_, index) => fresh(`together-${index}.bin`));
  await page.goto(`${desk.url}/assets`);
  await page.getByTestId("asset-files").setInputFiles(files.map(picked));
  await add(page);
  await expect(tray(page).getByText("5 of 5 stored")).toBeVisible();
  await page.goto(`${desk.url}/settings/audit?within=1`);
  const row = page.locator("tr[data-entry]").filter({ hasText: "uploaded an asset" }).first();
  await row.getByText("5 items").click();
  for (const { name } of files) await expect(row.getByRole("listitem").filter({ hasText: name })).toHaveCount(1);
  // Each file was looked up by its hash before it was sent: that is part of the act and gets no row.
  await expect(page.locator("tr[data-entry]").filter({ hasText: "by its hash" })).toHaveCount(0);
});
