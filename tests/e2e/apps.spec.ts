// Creates an app from an editor file and runs it on a phone and by a script.
import { readFile } from "node:fs/promises";
import { type Browser, type Page } from "@playwright/test";
import sharp from "sharp";
import { expectAccessibleInBothThemes } from "./support/accessible";
import { type Desk } from "./support/desk";
import { createPhoto, createWorkflowFile, dropFile } from "./support/files";
import { expect, test } from "./support/test";

const picture = { name: "IMAGE", type: "IMAGE", links: [1] };
/** An editor file with App mode: the picture is an input, and the last node's picture is the result. */
const editorFile = {
  version: 0.4,
  last_node_id: 3,
  last_link_id: 2,
  nodes: [
    { id: 1, type: "LoadImage", title: "Picture", mode: 0, inputs: [], outputs: [picture], widgets_values: ["photo.png", "image"] },
    { id: 2, type: "ImageInvert", mode: 0, inputs: [{ name: "image", type: "IMAGE", link: 1 }], outputs: [{ ...picture, links: [2] }] },
    { id: 3, type: "SaveImage", mode: 0, inputs: [{ name: "images", type: "IMAGE", link: 2 }], outputs: [], widgets_values: ["negative"] },
  ],
  links: [
    [1, 1, 0, 2, 0, "IMAGE"],
    [2, 2, 0, 3, 0, "IMAGE"],
  ],
  groups: [],
  extra: {
    linearData: {
      inputs: [
        [1, "image"],
        [3, "filename_prefix"],
      ],
      outputs: [3],
    },
  },
};

test("runs an app made from an editor file on a phone and by a script", async ({ signedIn: page, browser, desk }) => {
  test.slow(); // two members, four runs, and accessibility checks in both themes
  const address = await test.step("creates the app as its author", () => createApp(page, desk));
  const phone = await test.step("shows only apps to the member", () => openMemberPhone(page, browser, desk));
  await phone.getByRole("link", { name: "Negative" }).tap();
  await expect(phone).toHaveURL(new RegExp(`${address}$`));

  await test.step("labels the form with the app's names", async () => {
    await phone.getByRole("button", { name: "Run", exact: true }).tap();
    await expect(phone.getByText("Picture: needs an image")).toBeVisible();
    await expectAccessibleInBothThemes(phone);
  });

  const photo = await createPhoto({ r: 255, g: 30, b: 60 });
  await phone.getByTestId("picture-file").setInputFiles({ name: photo.name, mimeType: photo.type, buffer: photo.bytes });
  await expect(phone.getByText(/^my-photograph.png (uploaded|is already)/)).toBeVisible();
  const image = await test.step("sends the form's values on the first run", () => runOnce(phone, 1));
  await test.step("edits a mask in full screen", async () => {
    await paintMask(phone);
    expect(await runOnce(phone, 2)).not.toBe(image);
  });
  await test.step("offers an earlier picture again", async () => {
    await phone.getByRole("button", { name: "From your images" }).tap();
    const uploadedPictures = phone.getByRole("region", { name: "Uploaded by you" });
    // The masked picture has the same name as the original but is newer, so the original comes last.
    await uploadedPictures.getByRole("button", { name: photo.name }).last().tap();
    expect(await runOnce(phone, 3)).toBe(image);
  });
  await expect(phone.getByRole("article", { name: "Completed" })).toHaveCount(3);

  await test.step("downloads the resulting picture", async () => {
    const pendingDownload = phone.waitForEvent("download");
    await phone.getByRole("link", { name: /^Download run-1_/ }).tap();
    const { channels } = await sharp(await readFile(await (await pendingDownload).path())).stats();
    expect(channels.slice(0, 3).map(({ mean }) => Math.round(mean))).toEqual([0, 225, 195]);
  });
  await expectAccessibleInBothThemes(phone);
  expect(await phone.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await test.step("runs once when a script reuses an idempotency key", () => runByScript(phone, desk, `/api${address}/runs`));
  await phone.goto(`${desk.url}/jobs`);
  await expect(phone).toHaveURL(/\/apps$/);
  await phone.context().close();
});

/** Returns the name that the run sent for the picture. */
async function runOnce(phone: Page, number: number): Promise<string> {
  const name = `run-${number}`;
  await phone.getByLabel("Filename prefix").fill(name);
  const pending = phone.waitForRequest((request) => request.method() === "POST" && request.url().endsWith("/runs"));
  await phone.getByRole("button", { name: "Run", exact: true }).tap();
  const { inputs }: { inputs: Record<string, string> } = (await pending).postDataJSON();
  expect(inputs).toEqual({ image: expect.any(String), filename_prefix: name });
  await expect(phone.getByRole("link", { name: new RegExp(`^Download ${name}_`) })).toBeVisible();
  await expect(phone.getByRole("article").first()).toBeInViewport({ ratio: 0.9 });
  return inputs.image ?? "";
}

async function paintMask(phone: Page): Promise<void> {
  await phone.getByRole("button", { name: "Draw a mask" }).tap();
  const drawing = phone.getByRole("application", { name: /^Mask of/ });
  await expect(drawing).toBeVisible();
  const box = await phone.getByRole("dialog", { name: "Draw a mask" }).boundingBox();
  expect(box).toMatchObject({ width: 390, height: 844 });
  await drawing.tap();
  await expect(phone.getByText("0% painted", { exact: true })).toHaveCount(0);
  await phone.getByRole("button", { name: "Save mask" }).tap();
  await expect(drawing).toHaveCount(0);
}

async function runByScript(phone: Page, desk: Desk, path: string): Promise<void> {
  const data = { name: "Script", role: "runner", connection: "embedded", operations: ["apps"], days: 7 };
  const createResponse = await phone.request.post(`${desk.url}/api/console/tokens`, { data, headers: { origin: desk.url } });
  expect(createResponse.status(), await createResponse.text()).toBe(201);
  const { token }: { token: string } = await createResponse.json();
  const bytes = new Uint8Array((await createPhoto({ r: 1, g: 2, b: 3 })).bytes);
  const headers = { "x-api-key": token, "idempotency-key": "the-key-of-a-script" };
  const readRun = async (response: Response): Promise<{ id: string; state: string; inputs: object }> => (await response.json()).run;
  const send = async () => {
    const form = new FormData();
    form.set("image", new File([bytes], "of-a-script.png", { type: "image/png" }));
    form.set("filename_prefix", "script");
    return readRun(await fetch(`${desk.url}${path}`, { method: "POST", body: form, headers }));
  };
  const [first, second] = [await send(), await send()];
  expect([second.id, second.inputs]).toEqual([first.id, expect.objectContaining({ filename_prefix: "script" })]);
  await expect(async () =>
    expect((await readRun(await fetch(`${desk.url}${path}/${first.id}`, { headers }))).state).toBe("completed"),
  ).toPass();
  const { runs }: { runs: object[] } = await (await fetch(`${desk.url}${path}`, { headers })).json();
  expect(runs).toHaveLength(4);
}

async function createApp(page: Page, desk: Desk): Promise<string> {
  await page.goto(`${desk.url}/run`);
  await dropFile(page.getByText("Drop a workflow file here"), createWorkflowFile("Negative.json", editorFile));
  await page.getByRole("link", { name: "Create an app" }).click();
  await expect(page.getByLabel("Title")).toHaveValue("Negative");
  const preview = page.getByRole("region", { name: "Preview of the form" });
  await expect(preview.getByRole("group", { name: "Picture" })).toBeVisible();
  await page.getByRole("button", { name: /^Picture/ }).click();
  await page.getByLabel("Field type").selectOption("masked");
  await page.getByLabel("Available to").selectOption("members");
  await page.getByRole("checkbox", { name: "All app users" }).check();
  await expectAccessibleInBothThemes(page);
  await page.getByRole("button", { name: "Create app" }).click();
  await expect(page.getByRole("heading", { name: "Negative" })).toBeVisible();
  return new URL(page.url()).pathname;
}

async function openMemberPhone(page: Page, browser: Browser, desk: Desk): Promise<Page> {
  const member = { name: "Rita Runner", email: "rita@example.com", password: "correct horse battery" };
  await desk.addOperator(page.request, member, "runner");
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true });
  await desk.signIn(context, member);
  const phone = await context.newPage();
  await phone.goto(desk.url);
  await expect(phone).toHaveURL(/\/apps$/);
  const bar = phone.getByRole("navigation", { name: "Main" }).filter({ visible: true });
  await expect(bar.getByRole("link")).toHaveText(["Apps"]);
  return phone;
}
