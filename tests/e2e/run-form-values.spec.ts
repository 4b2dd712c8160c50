// Compares every form control with the request body, however its value was entered.
import { type Page } from "@playwright/test";
import { createLocalFiles } from "@/tests/support/local-files";
import { newerNodes } from "@/tests/support/local-nodes";
import { startLocalServer } from "@/tests/support/local-server";
import { expectAccessible } from "./support/accessible";
import { createWorkflowFile, dropFile } from "./support/files";
import { expectFormIsSent, type Graph, readControls } from "./support/form-values";
import { saveConnection } from "./support/steps";
import { expect, test } from "./support/test";
import { createTextWorkflow, POEM } from "./support/text-workflow";

// This is one of the last files, so its tests are spread over the workers.
test.describe.configure({ mode: "parallel" });

const getCopiesButton = (page: Page) => page.getByRole("button", { name: "Copies", exact: true }).filter({ visible: true });
const getDropZone = (page: Page) => page.getByText("Drop a workflow file here");

/** Delays the node list until the returned function is called, like a slow service. */
async function delayNodeList(page: Page, catalogue?: unknown): Promise<() => void> {
  let release = () => {};
  const gate = new Promise<void>((resolve) => (release = resolve));
  await page.route("**/api/object_info*", async (route) => {
    await gate;
    await (catalogue === undefined ? route.continue() : route.fulfill({ json: catalogue }));
  });
  return release;
}

test("shows sixty texts before the node list loads and sends them as shown", async ({ signedIn: page, desk }) => {
  const { graph, catalogue } = createTextWorkflow();
  const release = await delayNodeList(page, catalogue);
  await page.goto(`${desk.url}/run`);
  await dropFile(getDropZone(page), createWorkflowFile("texts.json", graph));
  await expect(getCopiesButton(page)).toBeVisible();
  const initialControls = await readControls(page);
  // The user types before the node list arrives.
  const textField = page.locator("#field-2-text_g");
  await textField.click();
  await textField.press("End");
  await page.keyboard.type(", fog");
  const listResponse = page.waitForResponse("**/api/object_info*");
  release();
  await listResponse;
  await expect(page.locator("select#field-3-mode")).toBeVisible();
  await page.keyboard.type(" rolls in");
  await expect(textField).toHaveValue("wide shot, fog rolls in");
  const sentValues = await expectFormIsSent(page);
  expect(sentValues["field-1-part_60"]).toBe("part_60 of a long text");
  expect(sentValues["field-2-text_l"]).toBe(POEM);
  expect(sentValues["field-4-part_1"]).toBe("two\nlines in an input of one");
  expect(Object.keys(sentValues)).toEqual(expect.arrayContaining(Object.keys(initialControls)));

  // Values typed just before a reload are restored.
  await page.locator("#field-1-part_60").fill("last\nchange");
  await page.locator("#field-1-part_1").fill("a filled one");
  await page.reload();
  await expect(page.locator("select#field-3-mode")).toBeVisible();
  const secondValues = await expectFormIsSent(page);
  expect(secondValues).toMatchObject({
    "field-1-part_60": "last\nchange",
    "field-1-part_1": "a filled one",
    "field-2-text_g": "wide shot, fog rolls in",
  });

  // Undo with the keyboard, then close the workflow and reopen it.
  const changedField = page.locator("#field-1-part_2");
  await changedField.focus();
  await changedField.press("End");
  await page.keyboard.type("!");
  await page.keyboard.press("Control+z");
  expect(await expectFormIsSent(page)).toEqual(secondValues);
  await changedField.fill("kept");
  await page.getByRole("button", { name: "Close the workflow" }).click();
  await page.getByRole("button", { name: "Back to texts" }).click();
  expect(await expectFormIsSent(page)).toEqual({ ...secondValues, "field-1-part_2": "kept" });
});

test("sends newer inputs, media, boxes, colours, outputs and extra_data as shown", async ({ signedIn: page, desk }) => {
  const server = await startLocalServer(createLocalFiles(), { objectInfo: newerNodes });
  const connection = await saveConnection(page, desk, { name: "Workshop", baseUrl: server.url });
  const crop = { x: 1, y: 2, width: 300, height: 40 };
  const graph: Graph = {
    "1": { class_type: "LoadImage", inputs: { image: "there.png" } },
    "2": { class_type: "LoadVideo", inputs: { file: "there.mp4" } },
    "3": { class_type: "LoadAudio", inputs: { audio: "gone.flac" } },
    "4": { class_type: "Crop", inputs: { image: ["1", 0], crop, fill: "#1a2b3c", color: 14394438, sizes: [[64, 64], { scale: 0.5 }] } },
    "5": {
      class_type: "Batch",
      inputs: { "images.image0": ["4", 0], "images.image1": ["1", 0], "words.a": POEM, "words.b": "", "weights.weight0": 0.25 },
    },
    "6": { class_type: "SaveImage", inputs: { images: ["5", 0], filename_prefix: "batch" } },
    "7": { class_type: "SaveVideo", inputs: { video: ["2", 0], codec: "h264" } },
    "8": { class_type: "PreviewAudio", inputs: { audio: ["3", 0] } },
  };
  await page.goto(`${desk.url}/run?connection=${connection}`);
  await dropFile(getDropZone(page), createWorkflowFile("newer.json", graph));
  const field = (id: string) => page.locator(`[id="field-${id}"]`);
  await expect(field("5-words.c")).toBeVisible();
  expect(await expectFormIsSent(page)).toMatchObject({
    "field-2-file": "there.mp4",
    "field-3-audio": "gone.flac",
    "field-4-crop": "1",
    "field-4-crop-height": "40",
    "field-4-fill": "#1a2b3c",
    "field-4-sizes": '[[64,64],{"scale":0.5}]',
    "field-5-words.b": "",
  });

  await field("5-words.c").fill("third\nline");
  await expect(field("5-words.d")).toBeVisible();
  await field("5-weights.weight1").fill("0.5");
  await field("4-crop").fill("16");
  await field("4-crop-width").fill("320");
  await field("4-color").fill("255");
  // The swatch next to a colour shows that colour, in any notation.
  const swatches = [page.getByLabel("fill as a colour"), page.getByLabel("color as a colour")];
  for (const [writtenValue, shownValue] of Object.entries({ "#F80": "#ff8800", "1a2b3cff": "#1a2b3c", "#ff8800": "#ff8800" })) {
    await field("4-fill").fill(writtenValue);
    for (const [index, colour] of [shownValue, "#0000ff"].entries())
      await expect(swatches[index] ?? page.locator("none")).toHaveValue(colour);
  }
  await page.getByLabel("Files on the server").nth(1).selectOption("other.mp4");
  const sound = { name: "my own sound.flac", mimeType: "audio/flac", buffer: Buffer.from("sound") };
  await page.getByTestId("media-file").nth(1).setInputFiles(sound);
  await expect(field("3-audio")).toHaveText("my own sound.flac");
  await page.getByText("Advanced", { exact: true }).click();
  await page.getByRole("checkbox", { name: /#7$/ }).uncheck();
  await page.locator("#run-extra-data").fill('{"comment": {"text": "hello"}, "number": 7}');
  const sentValues = await expectFormIsSent(page);
  expect(sentValues).toMatchObject({
    "field-2-file": "other.mp4",
    "field-3-audio": "my own sound.flac",
    "field-4-crop": "16",
    "field-4-crop-width": "320",
    "field-4-fill": "#ff8800",
    "field-4-color": "255",
    "field-5-words.c": "third\nline",
    "field-5-weights.weight1": "0.5",
  });
  await expectAccessible(page);

  // After a reload, extra_data is neither shown nor sent.
  await page.reload();
  await expect(field("5-words.d")).toBeVisible();
  await expect(page.locator("#run-extra-data")).toHaveValue("");
  expect(await expectFormIsSent(page)).toEqual(sentValues);
  await server.close();
});
