// Samples on a plain local server: each brings its picture along.
import { createLocalFiles } from "@/tests/support/local-files";
import { startLocalServer } from "@/tests/support/local-server";
import { expectAccessible } from "./support/accessible";
import { keepConnection } from "./support/connections";
import { expect, test } from "./support/test";

test("a sample that is run from the first page brings its picture to a server that lacks it; one that cannot be sent is named, and nothing runs without it", async ({
  signedIn: page,
  desk,
}) => {
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

test("a sample brings its picture to a server that lacks it, once", async ({ signedIn: page, desk }) => {
  const files = createLocalFiles();
  const server = await startLocalServer(files);
  const connection = await keepConnection(page, desk, { name: "Workshop", baseUrl: server.url });
  for (let time = 0; time < 2; time++) {
    await page.goto(`${desk.url}/run?connection=${connection}&sample=02-poster-from-photo`);
    const picture = page.getByRole("img", { name: "Picture of Photo" });
    await expect.poll(() => picture.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBeGreaterThan(0);
    expect([...files.pictures.keys()]).toEqual(["input/photo.png"]);
  }
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect.poll(() => JSON.stringify(server.place.pending[0]?.[2])).toContain('"image":"photo.png"');
  await server.close();
});
