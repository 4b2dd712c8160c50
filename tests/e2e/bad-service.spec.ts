import { type Page } from "@playwright/test";
import { startFakeService } from "./support/service";
import { addConnection } from "./support/steps";
import { expect, test } from "./support/test";

test("shows a down service when saving and on every page", async ({ signedIn: page, desk }) => {
  const emptyService = await startFakeService((_request, response) => response.end());
  await emptyService.stop();
  await page.goto(`${desk.url}/settings`);
  await addConnection(page, { name: "Gone", url: emptyService.url, key: "k" });
  await expect(page.getByText("The service could not be reached").first()).toBeVisible();
  await saveAnyway(page);
  const id = await connectionId(page, desk.url, "Gone");
  // The sidebar and Settings show the same state.
  const card = page.getByRole("button", { name: "Switch connection, now Gone" }).filter({ visible: true });
  const row = page.locator(`[data-connection="${id}"]`);
  await page.goto(`${desk.url}/settings?connection=${id}`);
  await expect(card).toContainText("unreachable");
  await expect(row.getByText("unreachable", { exact: true })).toBeVisible();
  for (const path of ["jobs", "queue", "assets"]) {
    await page.goto(`${desk.url}/${path}?connection=${id}`);
    await expect(page.getByText("The service cannot be reached").first()).toBeVisible();
    await expect(page.getByText("No jobs yet")).toHaveCount(0);
  }
});

/** Settings that the service rejected are saved only on demand. */
async function saveAnyway(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Save anyway" }).click();
  await expect(page.getByRole("button", { name: "Save anyway" })).toHaveCount(0);
}

async function connectionId(page: Page, url: string, name: string): Promise<string> {
  const response: { connections: { id: string; name: string }[] } = await (await page.request.get(`${url}/api/console/connections`)).json();
  return response.connections.find((connection) => connection.name === name)?.id ?? "";
}
