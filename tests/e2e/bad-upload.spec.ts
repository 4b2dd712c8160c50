import { type Page } from "@playwright/test";
import { type Desk, filesOf } from "./support/desk";
import { drop, photograph, sample } from "./support/files";
import { beginUpload } from "./support/half-upload";
import { expect, test } from "./support/test";

test("an upload that breaks off says so, keeps the picture before it, and can be sent again", async ({ signedIn: page, desk }) => {
  await page.goto(`${desk.url}/run`);
  await drop(page.getByText("Drop a workflow file here"), sample("02-poster-from-photo"));
  await page.route("**/api/upload/image*", (route) => route.abort("connectionreset"));
  await drop(page.getByRole("img", { name: "Picture of Photo" }), await photograph({ r: 10, g: 90, b: 200 }));
  await expect(page.getByText("my-photograph.png could not be uploaded. The previous picture was kept.")).toBeVisible();
  await expect(page.getByLabel("Picture name")).toHaveValue("photo.png");
  await page.unroute("**/api/upload/image*");
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByText("my-photograph.png uploaded")).toBeVisible();
});

test("a truncated upload leaves no asset and no file behind", async ({ signedIn: page, context, desk }) => {
  const assetsBefore = await assetTotal(page, desk);
  const filesBefore = filesOf(desk);
  const upload = await beginUpload(context, desk);
  await expect.poll(() => filesOf(desk).length).toBe(filesBefore.length + 1);
  await upload.hangUp();
  await expect.poll(() => filesOf(desk)).toEqual(filesBefore);
  expect(await assetTotal(page, desk)).toBe(assetsBefore);
});

async function assetTotal(page: Page, desk: Desk): Promise<number> {
  const { total }: { total: number } = await (await page.request.get(`${desk.url}/api/assets?limit=1&include_public=true`)).json();
  return total;
}
