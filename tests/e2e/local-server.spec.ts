// Local servers: one older than /api/jobs and without assets, its queue, and lost jobs.
import { type Page } from "@playwright/test";
import { startLocalServer } from "@/tests/support/local-server";
import { expectAccessible } from "./support/accessible";
import { keepConnection } from "./support/connections";
import { expect, test } from "./support/test";

const rows = (page: Page) => page.locator("tbody tr[data-row]");

test("lists jobs of a server without /api/jobs and hides assets", async ({ signedIn: page, desk }) => {
  const server = await startLocalServer(undefined, { isOld: true });
  const connection = await keepConnection(page, desk, { name: "Workshop", baseUrl: server.url });
  const ids = [server.submit(), server.submit(), server.submit()];
  server.begin();
  server.end({ "1": { images: [{ filename: "first_00001_.png", subfolder: "", type: "output" }] } });
  server.begin();
  await page.goto(`${desk.url}/jobs?connection=${connection}`);
  await expect(rows(page)).toHaveCount(3);
  const row = (id = "") => page.locator(`tr[data-row="${id}"]`);
  await expect(row(ids[0])).toContainText("completed", { ignoreCase: true });
  await expect(row(ids[1])).toContainText("running", { ignoreCase: true });
  await expect(row(ids[2])).toContainText("pending", { ignoreCase: true });
  const pages = page.getByRole("navigation", { name: "Main" }).first();
  await expect(pages.getByRole("link", { name: "Queue" })).toBeVisible();
  await expect(pages.getByRole("link", { name: "Assets" })).toBeHidden();
  await expectAccessible(page);
  for (const id of ids) {
    await page.goto(`${desk.url}/jobs/${id}?connection=${connection}`);
    await expect(page.getByRole("region", { name: "Graph" }).getByText("1 node")).toBeVisible();
    await expect(page.getByText("belongs to somebody else")).toBeHidden();
  }
  await page.goto(`${desk.url}/history?connection=${connection}`);
  await expect(rows(page)).toHaveCount(1);
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

test("marks a truncated history in the list and in a search", async ({ signedIn: page, desk }) => {
  const server = await startLocalServer(undefined, { isOld: true });
  const connection = await keepConnection(page, desk, { name: "Workshop", baseUrl: server.url });
  server.submit();
  server.begin();
  server.end();
  const [entry] = server.place.history.values();
  if (!entry) throw new Error("nothing has ended");
  for (let index = 0; index < 1001; index += 1) server.place.history.set(`job-${index}`, { ...entry, prompt: [...entry.prompt] });
  await page.goto(`${desk.url}/jobs?connection=${connection}&offset=900`);
  await expect(rows(page).first()).toBeVisible();
  await expect(page.getByText("This server lists only its newest jobs. Older ones are in History.")).toBeVisible();
  await expect(page.getByRole("navigation", { name: "Pages" })).toContainText("901–1,000");
  await expect(page.getByRole("navigation", { name: "Pages" })).not.toContainText("of");
  await page.goto(`${desk.url}/jobs?connection=${connection}&offset=1000`);
  await expect(page.getByText("No jobs on this page")).toBeVisible();
  await expect(page.getByRole("navigation", { name: "Pages" })).toContainText("0 on this page");
  await page.goto(`${desk.url}/history?connection=${connection}&offset=1000`);
  await expect(rows(page)).toHaveCount(2);
  await page.goto(`${desk.url}/jobs?connection=${connection}&text=job-1`);
  await expect(page.getByText(/Older jobs are still loading\.|Search covers only /)).toBeVisible();
  await expectAccessible(page);
  await server.close();
});

test("shows a vanished job as removed and a stopped one with its node", async ({ signedIn: page, desk }) => {
  const server = await startLocalServer();
  const connection = await keepConnection(page, desk, { name: "Workshop", baseUrl: server.url });
  const [running = "", waiting = ""] = [server.submit(), server.submit()];
  server.begin();
  await page.goto(`${desk.url}/jobs/${running}?connection=${connection}`);
  await expect(page.getByRole("region", { name: "Graph" }).getByText("1 node")).toBeVisible();
  await expect(page.locator("[data-freshness]")).toHaveCount(1);
  const otherPage = await page.context().newPage();
  await otherPage.goto(`${desk.url}/jobs/${waiting}?connection=${connection}`);
  await expect(otherPage.getByRole("button", { name: "Cancel job" })).toBeVisible();
  server.restart();
  for (const openPage of [page, otherPage]) {
    await openPage.bringToFront();
    await expect(openPage.getByText("Gone", { exact: true })).toBeVisible();
    await expect(openPage.getByText("for example after a restart")).toBeVisible();
    await expect(openPage.locator("[data-freshness]")).toHaveCount(0);
    for (const word of ["Running", "Pending"]) await expect(openPage.getByRole("main").getByText(word, { exact: true })).toHaveCount(0);
  }
  await expectAccessible(otherPage);
  const cancelResponse = await page.request.post(`${desk.url}/api/queue?connection=${connection}`, {
    data: { delete: [waiting] },
    headers: { origin: desk.url },
  });
  expect(await cancelResponse.json()).toMatchObject({ deleted: [], gone: [waiting] });
  await page.goto(`${desk.url}/jobs?connection=${connection}`);
  await expect(rows(page)).toHaveCount(0);

  const stopped = server.submit();
  server.begin();
  server.interrupt("1");
  await page.goto(`${desk.url}/jobs/${stopped}?connection=${connection}`);
  await expect(page.getByText("stopped", { exact: true }).first()).toBeVisible();
  await expect(page.getByRole("main").getByText("done", { exact: true })).toHaveCount(0);
  await server.close();
});
