// Plain local servers by click: one from before /api/jobs and without assets, what its queue tells, and what it has lost.
import AxeBuilder from "@axe-core/playwright";
import { type Page } from "@playwright/test";
import { startLocalServer } from "@/tests/support/local-server";
import { type Desk } from "./support/desk";
import { expect, test } from "./support/test";

async function connectionTo(page: Page, desk: Desk, baseUrl: string): Promise<string> {
  const data = { name: "Workshop", baseUrl, shared: false };
  const made = await page.request.post(`${desk.url}/api/console/connections`, { data, headers: { origin: desk.url } });
  expect(made.ok(), await made.text()).toBe(true);
  return ((await made.json()) as { connection: { id: string } }).connection.id;
}
const rows = (page: Page) => page.locator("tbody tr[data-row]");
const expectNoViolations = async (page: Page) => expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);

test("a server from before /api/jobs lists its jobs and tells of each; assets, which it has none of, stand nowhere", async ({
  signedIn: page,
  desk,
}) => {
  const server = await startLocalServer(undefined, { isOld: true });
  const connection = await connectionTo(page, desk, server.url);
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
  await expectNoViolations(page);
  for (const id of ids) {
    await page.goto(`${desk.url}/jobs/${id}?connection=${connection}`);
    await expect(page.getByRole("region", { name: "Graph" }).getByText("1 node")).toBeVisible();
    await expect(page.getByText("belongs to somebody else")).toBeHidden();
  }
  await page.goto(`${desk.url}/history?connection=${connection}`);
  await expect(rows(page)).toHaveCount(1);
  await page.goto(`${desk.url}/queue?connection=${connection}`);
  await expect(page.locator(`[data-row="${ids[2]}"]`)).toBeVisible();
  await page.goto(`${desk.url}/assets?connection=${connection}`);
  await expect(page.getByRole("main").getByRole("alert")).toContainText("The service does not offer this");
  await expect(page.locator("[data-freshness]")).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Add", exact: true })).toBeHidden();
  await server.close();
});

test("a job that left the queue without a word is gone on its open page and is not said to have started; a stopped one shows in which node", async ({
  signedIn: page,
  desk,
}) => {
  const server = await startLocalServer();
  const connection = await connectionTo(page, desk, server.url);
  const [running = "", waiting = ""] = [server.submit(), server.submit()];
  server.begin();
  await page.goto(`${desk.url}/jobs/${running}?connection=${connection}`);
  await expect(page.getByRole("region", { name: "Graph" }).getByText("1 node")).toBeVisible();
  await expect(page.locator("[data-freshness]")).toHaveCount(1);
  const other = await page.context().newPage();
  await other.goto(`${desk.url}/jobs/${waiting}?connection=${connection}`);
  await expect(other.getByRole("button", { name: "Cancel job" })).toBeVisible();
  server.restart();
  for (const seen of [page, other]) {
    await seen.bringToFront();
    await expect(seen.getByText("Gone", { exact: true })).toBeVisible();
    await expect(seen.getByText("it was taken out of the queue, or the server was restarted")).toBeVisible();
    await expect(seen.locator("[data-freshness]")).toHaveCount(0);
    for (const word of ["Running", "Pending"]) await expect(seen.getByRole("main").getByText(word, { exact: true })).toHaveCount(0);
  }
  await expectNoViolations(other);
  const cancelled = await page.request.post(`${desk.url}/api/queue?connection=${connection}`, {
    data: { delete: [waiting] },
    headers: { origin: desk.url },
  });
  expect(await cancelled.json()).toMatchObject({ deleted: [], gone: [waiting] });
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
