import { readdirSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { type BrowserContext, type Page } from "@playwright/test";
import { type Desk } from "./support/desk";
import { drop, photograph, sample } from "./support/files";
import { expect, test } from "./support/test";

test("an upload that breaks off says so, keeps the picture before it, and can be sent again", async ({ signedIn: page, desk }) => {
  await page.goto(`${desk.url}/run`);
  await drop(page.getByText("Drop a workflow file here"), sample("02-poster-from-photo"));
  await page.route("**/api/upload/image*", (route) => route.abort("connectionreset"));
  await drop(page.getByRole("img", { name: "Picture of Photo" }), await photograph({ r: 10, g: 90, b: 200 }));
  await expect(page.getByText("my-photograph.png did not arrive. The picture that was here stays.")).toBeVisible();
  await expect(page.getByLabel("Name of the picture")).toHaveValue("photo.png");
  await page.unroute("**/api/upload/image*");
  await page.getByRole("button", { name: "Send again" }).click();
  await expect(page.getByText("my-photograph.png is in its place")).toBeVisible();
});

test("a truncated upload leaves no asset and no file behind", async ({ signedIn: page, context, desk }) => {
  const assetsBefore = await assetTotal(page, desk);
  const filesBefore = serviceFiles(desk);
  const hangUp = await sendHalf(context, desk);
  await expect.poll(() => serviceFiles(desk).length).toBe(filesBefore.length + 1);
  await hangUp();
  await expect.poll(() => serviceFiles(desk)).toEqual(filesBefore);
  expect(await assetTotal(page, desk)).toBe(assetsBefore);
});

/** Announces a megabyte of multipart and sends half of it; answers the way to hang up. */
async function sendHalf(context: BrowserContext, desk: Desk): Promise<() => Promise<void>> {
  const cookies = await context.cookies(desk.url);
  const head = '--edge\r\nContent-Disposition: form-data; name="image"; filename="half.png"\r\nContent-Type: image/png\r\n\r\n';
  const request = httpRequest(`${desk.url}/api/upload/image`, {
    method: "POST",
    headers: {
      origin: desk.url,
      cookie: cookies.map(({ name, value }) => `${name}=${value}`).join("; "),
      "content-type": "multipart/form-data; boundary=edge",
      "content-length": 1_000_000,
    },
  });
  const ended = new Promise<void>((resolve) => request.once("close", resolve));
  request.on("error", () => undefined); // hanging up is the point
  request.write(head);
  await new Promise<void>((resolve) => request.write(Buffer.alloc(500_000), () => resolve()));
  return () => {
    request.destroy();
    return ended;
  };
}

/** Names of all files of the service but its database, whose journal comes and goes. */
function serviceFiles(desk: Desk): string[] {
  return readdirSync(`${desk.dataDir}/service`, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.(db|sqlite)(-wal|-shm)?$/.test(entry.name))
    .map((entry) => `${entry.parentPath}/${entry.name}`)
    .sort();
}

async function assetTotal(page: Page, desk: Desk): Promise<number> {
  const { total }: { total: number } = await (await page.request.get(`${desk.url}/api/assets?limit=1&include_public=true`)).json();
  return total;
}
