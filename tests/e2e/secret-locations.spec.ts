// A job's owner sees where a submitted key is stored and reruns the job without it.
import { expectAccessible } from "./support/accessible";
import { createWorkflowFile, dropFile } from "./support/files";
import { expect, test } from "./support/test";

test("shows where a job contains a key and reruns the job without it", async ({ signedIn: page, desk }) => {
  const key = "sk-a-key-inside-a-prompt";
  const requestBodies: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("/api/prompt")) requestBodies.push(request.postData() ?? "");
  });
  const graph = {
    "1": { class_type: "StringConcatenate", inputs: { string_a: `a lamp ${key}`, string_b: "x", delimiter: "" } },
    "2": { class_type: "PreviewAny", inputs: { source: ["1", 0] } },
  };
  await page.goto(`${desk.url}/run`);
  await dropFile(page.getByText("Drop a workflow file here"), createWorkflowFile("lamp.json", graph));
  const runButton = page.getByRole("button", { name: "Run", exact: true }).filter({ visible: true });
  await runButton.click();
  const startedJob = page.getByRole("region", { name: "The job that was started" });
  await expect(startedJob.getByText("#1, input string_a")).toBeVisible();
  await expectAccessible(page);

  await startedJob.getByRole("link", { name: /^Open/ }).click();
  // The Run page shows the same message until the job's page is open.
  await expect(startedJob).toBeHidden();
  const notice = page.getByRole("region", { name: /key or token was sent|Keys or tokens were sent/ });
  await expect(notice.getByText("#1, input string_a")).toBeVisible();
  await expect(page.locator("body")).not.toContainText(key);
  await expectAccessible(page);
  await notice.getByRole("link", { name: "Run without it" }).click();
  await expect(page.getByText("Nothing has been sent yet", { exact: false })).toBeVisible();
  await expect(page.locator("#field-1-string_a")).toHaveValue("a lamp ");
  expect(requestBodies).toHaveLength(1);
  await runButton.click();
  await expect(startedJob.getByText("The job completed")).toBeVisible({ timeout: 60_000 });
  expect(requestBodies).toHaveLength(2);
  expect(JSON.parse(requestBodies[1] ?? "").prompt["1"].inputs).toEqual({ string_a: "a lamp ", string_b: "x", delimiter: "" });
  await expect(startedJob.getByText("input string_a")).toHaveCount(0);
});
