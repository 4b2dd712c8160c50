// Twenty-digit seeds keep every digit when typed, sent, shown and reopened in a browser.
import { readFileSync } from "node:fs";
import { dropFile, type DroppedFile } from "./support/files";
import { waitForState } from "./support/jobs";
import { expect, test } from "./support/test";

const SEED = "18446744073709551615";
const TYPED_VALUE = "9007199254740993";
const graph = `{
  "1": { "class_type": "EmptyImage", "inputs": { "width": 8, "height": 8, "batch_size": 1, "color": 7, "noise_seed": ${SEED} } },
  "2": { "class_type": "SaveImage", "inputs": { "images": ["1", 0], "filename_prefix": "seeded" } },
  "3": { "class_type": "PrimitiveInt", "inputs": { "value": 9223372036854775807 } },
  "4": { "class_type": "PreviewAny", "inputs": { "source": ["3", 0] } }
}`;
const file: DroppedFile = { name: "seeded.json", type: "application/json", bytes: Buffer.from(graph) };

test("keeps every digit of a seed from a file or keyboard to the job and back", async ({ signedIn: page, desk }) => {
  await page.goto(`${desk.url}/run`);
  await dropFile(page.getByText("Drop a workflow file here"), file);
  await expect(page.getByRole("textbox", { name: "noise_seed" })).toHaveValue(SEED);
  const valueField = page.getByRole("textbox", { name: "value" });
  await expect(valueField).toHaveValue("9223372036854775807");
  await valueField.fill(TYPED_VALUE);
  const pendingRequest = page.waitForRequest((request) => request.method() === "POST" && request.url().includes("/api/prompt"));
  await page.getByRole("button", { name: "Run", exact: true }).filter({ visible: true }).click();
  const postData = (await pendingRequest).postData() ?? "";
  expect(postData).toContain(`"noise_seed":${SEED}`);
  expect(postData).toContain(`"value":${TYPED_VALUE}`);

  const jobLink = page.getByRole("link", { name: /^Open job/ });
  const id = ((await jobLink.getAttribute("href")) ?? "").split("/").at(-1) ?? "";
  await waitForState(page.request, desk, id, "completed");
  await page.goto(`${desk.url}/jobs/${id}`);
  await expect(page.getByText(TYPED_VALUE).first()).toBeVisible();
  await page.getByRole("button", { name: "JSON", exact: true }).click();
  await expect(page.getByLabel("The workflow as JSON", { exact: true })).toContainText(`"noise_seed": ${SEED}`);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download", exact: true }).click(),
  ]);
  expect(readFileSync(await download.path(), "utf8")).toContain(`"value": ${TYPED_VALUE}`);

  await page.evaluate(() => sessionStorage.clear());
  await page.goto(`${desk.url}/run?job=${id}`);
  await expect(page.getByRole("textbox", { name: "noise_seed" })).toHaveValue(SEED);
  await expect(page.getByRole("textbox", { name: "value" })).toHaveValue(TYPED_VALUE);
});
