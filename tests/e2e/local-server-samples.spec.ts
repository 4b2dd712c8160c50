// Runs samples on a local server, uploading their pictures first.
import { createLocalFiles } from "@/tests/support/local-files";
import { startLocalServer } from "@/tests/support/local-server";
import { expectAccessible } from "./support/accessible";
import { saveConnection } from "./support/connections";
import { expect, test } from "./support/test";

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
  const errorMessage = page.getByText("photo.png could not be uploaded.");
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
