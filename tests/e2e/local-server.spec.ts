// A local server that is older than /api/jobs and has no assets.
import { type Page } from "@playwright/test";
import { startLocalServer } from "@/tests/support/local-server";
import { expectAccessible } from "./support/accessible";
import { saveConnection } from "./support/connections";
import { expect, test } from "./support/test";

const getRows = (page: Page) => page.locator("tbody tr[data-row]");

test("lists jobs of a server without /api/jobs and hides assets", async ({ signedIn: page, desk }) => {
  const server = await startLocalServer(undefined, { isOld: true });
  const connection = await saveConnection(page, desk, { name: "Workshop", baseUrl: server.url });
  const ids = [server.submit(), server.submit(), server.submit()];
  server.startJob();
  server.endJob({ "1": { images: [{ filename: "first_00001_.png", subfolder: "", type: "output" }] } });
  server.startJob();
  await page.goto(`${desk.url}/jobs?connection=${connection}`);
  await expect(getRows(page)).toHaveCount(3);
  const row = (id = "") => page.locator(`tr[data-row="${id}"]`);
  await expect(row(ids[0])).toContainText("completed", { ignoreCase: true });
  await expect(row(ids[1])).toContainText("running", { ignoreCase: true });
  await expect(row(ids[2])).toContainText("pending", { ignoreCase: true });
  const navigation = page.getByRole("navigation", { name: "Main" }).first();
  await expect(navigation.getByRole("link", { name: "Queue" })).toBeVisible();
  await expect(navigation.getByRole("link", { name: "Assets" })).toBeHidden();
  await expectAccessible(page);
  for (const id of ids) {
    await page.goto(`${desk.url}/jobs/${id}?connection=${connection}`);
    await expect(page.getByRole("region", { name: "Graph" }).getByText("1 node")).toBeVisible();
    await expect(page.getByText("belongs to somebody else")).toBeHidden();
  }
  await page.goto(`${desk.url}/history?connection=${connection}`);
  await expect(getRows(page)).toHaveCount(1);
  await page.goto(`${desk.url}/queue?connection=${connection}`);
  await expect(page.locator(`[data-row="${ids[2]}"]`)).toBeVisible();
  for (const path of ["/assets", `/assets/${crypto.randomUUID()}`]) {
    await page.goto(`${desk.url}${path}?connection=${connection}`);
    await expect(page.getByRole("main").getByRole("alert")).toContainText("This service does not support this");
    await expect(page.getByText("It was deleted")).toBeHidden();
  }
  await expect(page.locator("[data-freshness]")).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Add", exact: true })).toBeHidden();
  await page.goto(`${desk.url}/?connection=${connection}`);
  await expect(page.getByRole("heading", { name: "Newest pictures" })).toBeVisible();
  await expect(page.getByRole("main").locator("a[href^='/assets']")).toHaveCount(0);
  await server.close();
});
