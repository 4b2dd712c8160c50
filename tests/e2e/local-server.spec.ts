// A local server that is older than /api/jobs and has no assets, and samples whose pictures are uploaded first.
import { type Page } from "@playwright/test";
import { createLocalFiles } from "@/tests/support/local-files";
import { startLocalServer } from "@/tests/support/local-server";
import { expectAccessible } from "./support/accessible";
import { saveConnection } from "./support/steps";
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
  await page.goto(`${desk.url}/jobs/${ids[0]}?connection=${connection}`);
  await expect(page.getByRole("region", { name: "Graph" }).getByText("1 node")).toBeVisible();
  await expect(page.getByText("You have no access to this job")).toBeHidden();
  await page.goto(`${desk.url}/assets?connection=${connection}`);
  await expect(page.getByRole("main").getByRole("alert")).toContainText("This service doesn't support this action");
  await expect(page.locator("[data-freshness]")).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Add", exact: true })).toBeHidden();
  await page.goto(`${desk.url}/?connection=${connection}`);
  await expect(page.getByRole("heading", { name: "Newest images" })).toBeVisible();
  await expect(page.getByRole("main").locator("a[href^='/assets']")).toHaveCount(0);
  await server.close();
});

test("uploads a sample's missing picture and reports a failed upload", async ({ signedIn: page, desk }) => {
  const files = createLocalFiles();
  const server = await startLocalServer(files);
  const connection = await saveConnection(page, desk, { name: "Workshop", baseUrl: server.url });
  const uploadPattern = "**/api/upload/image*";
  await page.route(uploadPattern, (route) => route.fulfill({ status: 507, json: { code: "INSUFFICIENT_STORAGE", message: "disk full" } }));
  const runSample = async () => {
    await page.goto(`${desk.url}/?connection=${connection}`);
    await page.getByRole("button", { name: "Run Poster from a photo" }).click();
  };
  await runSample();
  const errorMessage = page.getByText("Couldn't upload photo.png.");
  await expect(errorMessage).toBeVisible();
  await expect(page.getByText("disk full")).toBeVisible();
  await expectAccessible(page);
  expect([server.state.pending.length, files.pictures.size]).toEqual([0, 0]);
  await page.unroute(uploadPattern);
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByText("photo.png uploaded")).toBeVisible();
  await expect(errorMessage).toBeHidden();
  expect([...files.pictures.keys()]).toEqual(["input/photo.png"]);

  files.pictures.clear();
  await runSample();
  await expect.poll(() => JSON.stringify(server.state.pending[0]?.[2])).toContain('"image":"photo.png"');
  expect([...files.pictures.keys()]).toEqual(["input/photo.png"]);
  await server.close();
});
