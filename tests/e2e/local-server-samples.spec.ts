// Samples on a local server, with their pictures uploaded.
import { createLocalFiles } from "@/tests/support/local-files";
import { startLocalServer } from "@/tests/support/local-server";
import { expectAccessible } from "./support/accessible";
import { keepConnection } from "./support/connections";
import { expect, test } from "./support/test";

test("uploads a sample picture the server lacks and names one it can't send", async ({ signedIn: page, desk }) => {
  const files = createLocalFiles();
  const server = await startLocalServer(files);
  const connection = await keepConnection(page, desk, { name: "Workshop", baseUrl: server.url });
  const upload = "**/api/upload/image*";
  await page.route(upload, (route) => route.fulfill({ status: 507, json: { code: "INSUFFICIENT_STORAGE", message: "disk full" } }));
  const runFromFirstPage = async () => {
    await page.goto(`${desk.url}/?connection=${connection}`);
    await page.getByRole("button", { name: "Run Poster from a photo" }).click();
  };
  await runFromFirstPage();
  const refusal = page.getByText("photo.png could not be uploaded.");
  await expect(refusal).toBeVisible();
  await expect(page.getByText("disk full")).toBeVisible();
  await expectAccessible(page);
  expect([server.place.pending.length, files.pictures.size]).toEqual([0, 0]);
  await page.unroute(upload);
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByText("photo.png uploaded")).toBeVisible();
  await expect(refusal).toBeHidden();
  expect([...files.pictures.keys()]).toEqual(["input/photo.png"]);

  files.pictures.clear();
  await runFromFirstPage();
  await expect.poll(() => JSON.stringify(server.place.pending[0]?.[2])).toContain('"image":"photo.png"');
  expect([...files.pictures.keys()]).toEqual(["input/photo.png"]);
  await server.close();
});
