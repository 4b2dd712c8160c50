// Values that an input does not accept are reported where they are typed and never sent, by Run and by Copies.
import { expectAccessible } from "./support/accessible";
import { drop, workflow } from "./support/files";
import { expect, test } from "./support/test";

const graph = {
  "1": { class_type: "EmptyImage", inputs: { width: 512, height: 512, batch_size: 1, color: 255 } },
  "2": { class_type: "Crop", inputs: { image: ["1", 0], crop: { x: 0, y: 0, width: 64, height: 64 }, fill: "#102030" } },
  "3": { class_type: "PreviewImage", inputs: { images: ["2", 0] } },
};
const int = (min: number, max: number, step = 1) => ["INT", { min, max, step }];
const catalogue = {
  EmptyImage: {
    input: { required: { width: int(1, 16384), height: int(1, 16384), batch_size: int(1, 64), color: int(0, 16777215) } },
    output: ["IMAGE"],
  },
  Crop: { input: { required: { image: ["IMAGE"], crop: ["BOUNDING_BOX", {}], fill: ["COLOR", {}] } }, output: ["IMAGE"] },
  PreviewImage: { input: { required: { images: ["IMAGE"] } }, output: [], output_node: true },
};

test("a fraction or letters are reported at the number, the box and the colour, and only what is shown without a fault is sent", async ({
  signedIn: page,
  desk,
}) => {
  const sent: Record<string, { inputs: Record<string, unknown> }>[] = [];
  await page.route("**/api/object_info*", (route) => route.fulfill({ json: catalogue }));
  await page.route("**/api/prompt*", (route) => {
    sent.push(route.request().postDataJSON().prompt);
    return route.fulfill({ json: { prompt_id: crypto.randomUUID(), number: 1, node_errors: {} } });
  });
  await page.goto(`${desk.url}/run`);
  await drop(page.getByText("Drop a workflow file here"), workflow("limits.json", graph));
  const run = page.getByRole("button", { name: "Run", exact: true }).filter({ visible: true });
  const crop = page.getByRole("group", { name: "crop" });
  for (const [field, wrong, right, told] of [
    [page.getByRole("textbox", { name: "width" }).first(), "12.5", "640", "width takes whole numbers only, and 12.5 is not one."],
    [crop.getByRole("textbox", { name: "crop X" }), "12.5", "12", "crop x takes whole numbers only, and 12.5 is not one."],
    [crop.getByRole("textbox", { name: "Height" }), "1.5", "48", "crop Height takes whole numbers only, and 1.5 is not one."],
  ] as const) {
    await field.fill(wrong);
    await expect(page.getByText(told)).toBeVisible();
    await run.click();
    await expect(page.getByRole("alert").filter({ hasText: "One node needs a fix" })).toBeVisible();
    await expect(page.getByRole("button", { name: "Run anyway" })).toHaveCount(0);
    await expectAccessible(page);
    await field.fill(right);
    await expect(page.getByText(told)).toHaveCount(0);
  }
  await crop.getByRole("textbox", { name: "Y" }).fill("top");
  await expect(page.getByText("top is not a valid value for crop y.")).toBeVisible();
  await crop.getByRole("textbox", { name: "Y" }).fill("8");
  const fill = page.getByRole("textbox", { name: "fill", exact: true });
  await fill.fill("bluish");
  await expect(page.getByText("bluish is not a valid value for fill.")).toBeVisible();
  await fill.fill("#ff8800");
  expect(sent).toEqual([]);
  await run.click();
  await expect.poll(() => sent).toHaveLength(1);
  expect(sent[0]?.["1"]?.inputs).toMatchObject({ width: 640 });
  expect(sent[0]?.["2"]?.inputs).toMatchObject({ crop: { x: 12, y: 8, width: 64, height: 48 }, fill: "#ff8800" });

  await test.step("copies begin with a whole step, hold to the same limits, and more than 20 are asked about with their number", async () => {
    await page.getByRole("button", { name: "Copies", exact: true }).filter({ visible: true }).click();
    const copies = page.getByRole("dialog");
    const input = copies.getByLabel("Input", { exact: true });
    await input.selectOption({ label: "width · #1 EmptyImage" });
    await expect(copies.getByLabel("in steps of")).toHaveValue("1");
    await input.selectOption({ label: "color · #1 EmptyImage" });
    const list = copies.getByRole("textbox", { name: "Numbers, separated by commas or new lines" });
    for (const [values, told] of [
      ["255, 12.5", "12.5 is not a whole number."],
      ["-1", "-1 is too small. The minimum is 0."],
      ["16777216", "16777216 is too large. The maximum is 16777215."],
    ] as const) {
      await list.fill(values);
      await expect(copies.getByText(told)).toBeVisible();
      await expect(copies.getByRole("button", { name: /^Run/ })).toBeDisabled();
    }
    await list.fill(Array.from({ length: 21 }, (_, index) => index * 1000).join(" "));
    await copies.getByRole("button", { name: "Run 21 copies" }).click();
    await expect(copies.getByText(/^This starts 21 jobs/)).toBeVisible();
    await expectAccessible(page);
    expect(sent).toHaveLength(1);
    await copies.getByRole("button", { name: "Start 21 jobs" }).click();
    await expect.poll(() => sent).toHaveLength(22);
    expect(sent.slice(1).map((each) => each["1"]?.inputs.color)).toEqual(Array.from({ length: 21 }, (_, index) => index * 1000));
  });
});
