// Files that hold a workflow. For sounds, and photographs with two workflows, the page asks once and sends the one it shows; a drawing with
// a node that the service lacks opens read only.
import { readFileSync } from "node:fs";
import sharp from "sharp";
import { startLocalServer } from "@/tests/support/local-server";
import { expectAccessible } from "./support/accessible";
import { keepConnection } from "./support/connections";
import { drop, type DroppedFile } from "./support/files";
import { expectShownIsSent } from "./support/shown-is-sent";
import { expect, test } from "./support/test";

const sound: DroppedFile = { name: "voice.flac", type: "audio/flac", bytes: readFileSync("tests/fixtures/carriers/both.flac") };

async function photograph(): Promise<DroppedFile> {
  const [run, drawing] = [40, 56].map((width) => ({ width, height: 24, batch_size: 1, color: 0 }));
  const prompt = { "1": { class_type: "EmptyImage", inputs: run }, "2": { class_type: "PreviewImage", inputs: { images: ["1", 0] } } };
  const nodes = [
    {
      id: 1,
      type: "EmptyImage",
      mode: 0,
      outputs: [{ name: "IMAGE", type: "IMAGE", links: [1] }],
      widgets_values: Object.values(drawing ?? {}),
    },
    { id: 2, type: "PreviewImage", mode: 0, inputs: [{ name: "images", type: "IMAGE", link: 1 }] },
  ];
  const workflow = { nodes, links: [[1, 1, 0, 2, 0, "IMAGE"]], version: 0.4 };
  const tags = { Model: `prompt:${JSON.stringify(prompt)}`, Make: `workflow:${JSON.stringify(workflow)}` };
  const bytes = await sharp({ create: { width: 8, height: 8, channels: 3, background: "#3366cc" } })
    .jpeg()
    .withExif({ IFD0: tags })
    .toBuffer();
  return { name: "photograph.jpg", type: "image/jpeg", bytes };
}

test("a sound and a photograph with both formats are asked about once, and what is shown is what leaves", async ({
  signedIn: page,
  desk,
}) => {
  const question = page.getByRole("dialog", { name: /contains two workflows/ });
  const width = page.getByRole("textbox", { name: "width", exact: true });
  await page.goto(`${desk.url}/run`);
  await drop(page.getByText("Drop a workflow file here"), sound);
  await expect(question.getByText("EmptyImage #1, width: 48 in what was run, 64 in the drawing")).toBeVisible();
  await expectAccessible(page);
  await expect(question.getByRole("button", { name: /^What was run/ })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(width).toHaveValue("48");
  expect(await expectShownIsSent(page)).toMatchObject({ "field-1-width": "48", "field-2-filename_prefix": "carried ☃" });

  await page.getByRole("button", { name: "Open the editor's drawing" }).click();
  await expect(width).toHaveValue("64");
  expect(await expectShownIsSent(page)).toMatchObject({ "field-1-width": "64" });

  await drop(page.getByRole("main"), await photograph());
  await question.getByRole("button", { name: /^The editor's drawing/ }).click();
  await expect(width).toHaveValue("56");
  expect(await expectShownIsSent(page)).toMatchObject({ "field-1-width": "56" });

  // The same sound from the service, which sends it in parts: the choice is remembered.
  const file = { name: sound.name, mimeType: sound.type, buffer: sound.bytes };
  const made = await page.request.post(`${desk.url}/api/assets`, { multipart: { tags: "input", file }, headers: { origin: desk.url } });
  const { id }: { id: string } = await made.json();
  await page.goto(`${desk.url}/assets/${id}`);
  await page.getByRole("link", { name: "Open its workflow" }).click();
  await expect(width).toHaveValue("64");
  await expect(question).toBeHidden();
});

test("a drawing with a node that the service lacks opens read only with its values, and names the connection that has it", async ({
  signedIn: page,
  desk,
}) => {
  const pair = (name: string) => readFileSync(`tests/fixtures/editor-pairs/${name}`);
  const SharpenDeluxe = { input: {}, output: ["IMAGE"] };
  const studio = await startLocalServer(undefined, {
    objectInfo: { ...JSON.parse(pair("object-info.json").toString()), SharpenDeluxe },
  });
  try {
    await keepConnection(page, desk, { name: "Studio", baseUrl: studio.url });
    await page.goto(`${desk.url}/run`);
    const file = { name: "missing.json", type: "application/json", bytes: pair("13-missing-class.editor.json") };
    await drop(page.getByText("Drop a workflow file here"), file);
    await expect(page.getByRole("list", { name: "Missing nodes" })).toContainText("SharpenDeluxe one node · from sharpen-pack");
    await expect(page.getByRole("link", { name: "Studio" })).toBeVisible();
    const inputs = page.getByRole("group", { name: "Inputs, read only" });
    await expect(inputs.getByText("Values in the file")).toBeVisible();
    await expect(inputs.getByText('[3,"strong",true]')).toBeVisible();
    await expectAccessible(page);
  } finally {
    await studio.close();
  }
});
