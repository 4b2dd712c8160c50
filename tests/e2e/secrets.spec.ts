// Keys and tokens: never exposed, and reported to the owner of a job that contains one.
import { expectAccessible } from "./support/accessible";
import { createWorkflowFile, dropFile } from "./support/files";
import { connect } from "./support/steps";
import { expect, test } from "./support/test";

test("never exposes service keys, session tokens or workflow secrets", async ({ signedIn: page, context, desk, service }) => {
  const responses: { url: string; text: string }[] = [];
  const pendingReads: Promise<void>[] = [];
  page.on("response", (response) => {
    const headers = stringifyHeaders(response.url(), response.headers());
    const body = response.text().catch(() => ""); // redirects and aborted responses have no body
    pendingReads.push(body.then((text) => void responses.push({ url: response.url(), text: `${headers}\n${text}` })));
  });

  await page.goto(`${desk.url}/jobs`);
  await connect(page, { name: "Watched", url: service.url, key: service.key });
  const secretInput = "sk-secret-inside-a-workflow";
  const prompt = {
    "1": { class_type: "EmptyImage", inputs: { width: 64, height: 64, batch_size: 1, color: 255 } },
    "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "watched" } },
  };
  const submitResponse = await page.request.post(`${desk.url}/api/prompt`, {
    data: { prompt, extra_data: { api_key_comfy_org: secretInput } },
    headers: { origin: desk.url },
  });
  expect(submitResponse.status(), await submitResponse.text()).toBe(200);
  const { prompt_id: job }: { prompt_id: string } = await submitResponse.json();
  for (const path of ["jobs", `jobs/${job}`, "queue", "assets", "run", "settings"]) {
    await page.goto(`${desk.url}/${path}`);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  }
  const livePath = "/api/console/events?format=json&topic=jobs&topic=queue&topic=session";
  for (const path of ["/api/auth/session", "/api/console/connections", `/api/jobs/${job}`, "/api/history_v2?max_items=5", livePath]) {
    const response = await page.request.get(desk.url + path);
    responses.push({ url: path, text: `${stringifyHeaders(path, response.headers())}\n${await response.text()}` });
  }
  // Closing the page ends its live stream, so that every response completes.
  await page.close();
  await Promise.all(pendingReads);

  const cookies = await context.cookies(desk.url);
  const tokens = cookies.filter(({ name }) => name.includes("session")).map(({ value }) => value);
  expect(tokens.length).toBeGreaterThan(0);
  expect(responses.length).toBeGreaterThan(30);
  for (const secret of [service.key, secretInput, ...tokens]) {
    expect(responses.filter(({ text }) => text.includes(secret)).map(({ url }) => url)).toEqual([]);
    expect(desk.output()).not.toContain(secret);
  }
});

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

/** Omits the session cookie that sign-in sets. Anywhere else, a token in a header is a leak. */
function stringifyHeaders(url: string, headers: Record<string, string>): string {
  return JSON.stringify(Object.entries(headers).filter(([name]) => !(url.includes("/api/auth/") && name === "set-cookie")));
}
