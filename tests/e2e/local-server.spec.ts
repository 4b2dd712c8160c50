// Plain local servers, by click: one older than /api/jobs and without assets, what its queue shows, and jobs that it has lost.
import { type Page } from "@playwright/test";
import { createLocalFiles } from "@/tests/support/local-files";
import { newerNodes } from "@/tests/support/local-nodes";
import { startLocalServer } from "@/tests/support/local-server";
import { expectAccessible } from "./support/accessible";
import { keepConnection } from "./support/connections";
import { drop } from "./support/files";
import { expect, test } from "./support/test";

/** After `begin`, only one more of these requests is answered: whatever the page shows then, it learned within one poll. */
async function onePoll(page: Page, path: string): Promise<{ begin(): void }> {
  let left = Infinity;
  await page.route(
    ({ href }) => href.includes(path),
    (route) => (left-- > 0 ? route.continue() : undefined),
  );
  return { begin: () => void (left = 1) };
}
const rows = (page: Page) => page.locator("tbody tr[data-row]");

test("a server from before /api/jobs lists its jobs and tells of each; assets, which it has none of, stand nowhere", async ({
  signedIn: page,
  desk,
}) => {
  const server = await startLocalServer(undefined, { isOld: true });
  const connection = await keepConnection(page, desk, { name: "Workshop", baseUrl: server.url });
  const ids = [server.submit(), server.submit(), server.submit()];
  server.begin();
  server.end({ "1": { images: [{ filename: "first_00001_.png", subfolder: "", type: "output" }] } });
  server.begin();
  await page.goto(`${desk.url}/jobs?connection=${connection}`);
  await expect(rows(page)).toHaveCount(3);
  const row = (id = "") => page.locator(`tr[data-row="${id}"]`);
  await expect(row(ids[0])).toContainText("completed", { ignoreCase: true });
  await expect(row(ids[1])).toContainText("running", { ignoreCase: true });
  await expect(row(ids[2])).toContainText("pending", { ignoreCase: true });
  const pages = page.getByRole("navigation", { name: "Main" }).first();
  await expect(pages.getByRole("link", { name: "Queue" })).toBeVisible();
  await expect(pages.getByRole("link", { name: "Assets" })).toBeHidden();
  await expectAccessible(page);
  for (const id of ids) {
    await page.goto(`${desk.url}/jobs/${id}?connection=${connection}`);
    await expect(page.getByRole("region", { name: "Graph" }).getByText("1 node")).toBeVisible();
    await expect(page.getByText("belongs to somebody else")).toBeHidden();
  }
  await page.goto(`${desk.url}/history?connection=${connection}`);
  await expect(rows(page)).toHaveCount(1);
  await page.goto(`${desk.url}/queue?connection=${connection}`);
  await expect(page.locator(`[data-row="${ids[2]}"]`)).toBeVisible();
  for (const path of ["/assets", `/assets/${crypto.randomUUID()}`]) {
    await page.goto(`${desk.url}${path}?connection=${connection}`);
    await expect(page.getByRole("main").getByRole("alert")).toContainText("This service does not support this");
    await expect(page.getByText("It was deleted")).toBeHidden();
  }
  await expect(page.locator("[data-freshness]")).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Add", exact: true })).toBeHidden();
  await page.goto(`${desk.url}/?connection=${connection}`);
  await expect(page.getByRole("heading", { name: "Newest pictures" })).toBeVisible();
  await expect(page.getByRole("main").locator("a[href^='/assets']")).toHaveCount(0);
  await server.close();
});

test("a history that is longer than its list is shown as such, by the list and by a search", async ({ signedIn: page, desk }) => {
  const server = await startLocalServer(undefined, { isOld: true });
  const connection = await keepConnection(page, desk, { name: "Workshop", baseUrl: server.url });
  server.submit();
  server.begin();
  server.end();
  const [entry] = server.place.history.values();
  if (!entry) throw new Error("nothing has ended");
  for (let index = 0; index < 1001; index += 1) server.place.history.set(`job-${index}`, { ...entry, prompt: [...entry.prompt] });
  await page.goto(`${desk.url}/jobs?connection=${connection}&offset=900`);
  await expect(rows(page).first()).toBeVisible();
  await expect(page.getByText("This server lists only its newest jobs. Older ones are in History.")).toBeVisible();
  await expect(page.getByRole("navigation", { name: "Pages" })).toContainText("901–1,000");
  await expect(page.getByRole("navigation", { name: "Pages" })).not.toContainText("of");
  await page.goto(`${desk.url}/jobs?connection=${connection}&offset=1000`);
  await expect(page.getByText("No jobs on this page")).toBeVisible();
  await expect(page.getByRole("navigation", { name: "Pages" })).toContainText("0 on this page");
  await page.goto(`${desk.url}/history?connection=${connection}&offset=1000`);
  await expect(rows(page)).toHaveCount(2);
  await page.goto(`${desk.url}/jobs?connection=${connection}&text=job-1`);
  await expect(page.getByText(/Older jobs are still being read\.|and no older ones\.|only the newest jobs\./)).toBeVisible();
  await expectAccessible(page);
  await server.close();
});

test("a job that left the queue without a word is gone on its open page and is not shown as started; a stopped one shows in which node", async ({
  signedIn: page,
  desk,
}) => {
  const server = await startLocalServer();
  const connection = await keepConnection(page, desk, { name: "Workshop", baseUrl: server.url });
  const [running = "", waiting = ""] = [server.submit(), server.submit()];
  server.begin();
  await page.goto(`${desk.url}/jobs/${running}?connection=${connection}`);
  await expect(page.getByRole("region", { name: "Graph" }).getByText("1 node")).toBeVisible();
  await expect(page.locator("[data-freshness]")).toHaveCount(1);
  const other = await page.context().newPage();
  await other.goto(`${desk.url}/jobs/${waiting}?connection=${connection}`);
  await expect(other.getByRole("button", { name: "Cancel job" })).toBeVisible();
  server.restart();
  for (const seen of [page, other]) {
    await seen.bringToFront();
    await expect(seen.getByText("Gone", { exact: true })).toBeVisible();
    await expect(seen.getByText("it left the queue, or the server was restarted")).toBeVisible();
    await expect(seen.locator("[data-freshness]")).toHaveCount(0);
    for (const word of ["Running", "Pending"]) await expect(seen.getByRole("main").getByText(word, { exact: true })).toHaveCount(0);
  }
  await expectAccessible(other);
  const cancelled = await page.request.post(`${desk.url}/api/queue?connection=${connection}`, {
    data: { delete: [waiting] },
    headers: { origin: desk.url },
  });
  expect(await cancelled.json()).toMatchObject({ deleted: [], gone: [waiting] });
  await page.goto(`${desk.url}/jobs?connection=${connection}`);
  await expect(rows(page)).toHaveCount(0);

  const stopped = server.submit();
  server.begin();
  server.interrupt("1");
  await page.goto(`${desk.url}/jobs/${stopped}?connection=${connection}`);
  await expect(page.getByText("stopped", { exact: true }).first()).toBeVisible();
  await expect(page.getByRole("main").getByText("done", { exact: true })).toHaveCount(0);
  await server.close();
});

test("within one poll what the server lost is gone from the overview, from the panel beside the list, and from the queue", async ({
  signedIn: page,
  desk,
}) => {
  const server = await startLocalServer();
  const connection = await keepConnection(page, desk, { name: "Workshop", baseUrl: server.url });
  server.submit();
  server.begin();
  server.end();
  const [running = "", waiting = ""] = [server.submit(), server.submit()];
  server.begin();
  const pages = { overview: page, panel: await page.context().newPage(), queue: await page.context().newPage() };
  const { overview, panel, queue } = pages;
  const runs = overview.getByRole("region", { name: "Running now" });
  await overview.goto(`${desk.url}/?connection=${connection}`);
  await expect(runs.getByRole("listitem")).toHaveCount(1);
  await panel.goto(`${desk.url}/jobs?connection=${connection}&job=${waiting}`);
  const beside = panel.getByRole("complementary", { name: `Job ${waiting.slice(0, 8)}` });
  await expect(beside.getByRole("button", { name: "Cancel job" })).toBeVisible();
  await queue.goto(`${desk.url}/queue?connection=${connection}`);
  await expect(queue.locator(`[data-row="${running}"]`)).toBeVisible();
  const polls = [
    await onePoll(overview, "/api/jobs?status=in_progress&limit=4"),
    await onePoll(panel, `/api/jobs/${waiting}`),
    await onePoll(queue, "/api/console/queue"),
  ];
  for (const poll of polls) poll.begin();
  Object.assign(server.place, { running: [], pending: [] });
  await overview.bringToFront();
  await expect(runs.getByText("Nothing is running.")).toBeVisible();
  await panel.bringToFront();
  await expect(beside.getByText("Gone", { exact: true })).toBeVisible();
  await expect(beside.getByRole("button", { name: "Cancel job" })).toHaveCount(0);
  await queue.bringToFront();
  await expect(queue.locator("[data-row]")).toHaveCount(0);
  await server.close();
});

test("what the server lost is gone on the Run page too, for one job and for copies", async ({ signedIn: page, desk }) => {
  const server = await startLocalServer(createLocalFiles(), { objectInfo: newerNodes });
  const connection = await keepConnection(page, desk, { name: "Workshop", baseUrl: server.url });
  await page.goto(`${desk.url}/run?connection=${connection}`);
  const graph = {
    "1": { class_type: "LoadImage", inputs: { image: "there.png" } },
    "3": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "lost" } },
  };
  const bytes = Buffer.from(JSON.stringify(graph));
  await drop(page.getByText("Drop a workflow file here"), { name: "lost.json", type: "application/json", bytes });
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const job = page.getByRole("region", { name: "The job that was started" });
  await expect(job.getByText("The job is in the queue")).toBeVisible();
  server.restart();
  await expect(job.getByText("The service no longer has this job")).toBeVisible();
  await expect(job.getByRole("button", { name: "Cancel" })).toHaveCount(0);
  await expectAccessible(page);

  await page.getByRole("button", { name: "Copies" }).click();
  const copies = page.getByRole("dialog", { name: "Run copies with a varied input" });
  await copies.getByLabel("Input", { exact: true }).selectOption({ label: "filename_prefix · #3 SaveImage" });
  await copies.getByLabel("One value per line").fill("a\nb");
  await copies.getByRole("button", { name: "Run 2 copies" }).click();
  const lines = page.getByRole("list", { name: "Result of each copy" }).getByRole("listitem");
  await expect(lines.filter({ hasText: "Pending" })).toHaveCount(2);
  server.restart();
  await expect(lines.filter({ hasText: "Gone" })).toHaveCount(2);
  await expectAccessible(page);
  await server.close();
});

test("a form of newer inputs sends what it shows: chosen inputs, the server's files, filled texts; a value of no list is shown with the nearest", async ({
  signedIn: page,
  desk,
}) => {
  const server = await startLocalServer(createLocalFiles(), { objectInfo: newerNodes });
  const connection = await keepConnection(page, desk, { name: "Workshop", baseUrl: server.url });
  const graph = {
    "1": { class_type: "LoadImage", inputs: { image: "gone.png" } },
    "2": {
      class_type: "Resize",
      inputs: { image: ["1", 0], resize_type: "width", "resize_type.width": 640, method: "Bilinar", words: "a {red|blue} cat" },
    },
    "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "%date:yyyy%-%Resize.method%" } },
  };
  await page.goto(`${desk.url}/run?connection=${connection}`);
  const bytes = Buffer.from(JSON.stringify(graph));
  await drop(page.getByText("Drop a workflow file here"), { name: "newer.json", type: "application/json", bytes });
  await expect(page.getByText("The nearest is bilinear.")).toBeVisible();
  await page.getByLabel("method", { exact: true }).selectOption("bilinear");
  await expect(page.getByText("The nearest is bilinear.")).toBeHidden();
  await page.getByLabel("resize_type", { exact: true }).selectOption("longer");
  await expect(page.getByLabel("resize_type.width", { exact: true })).toBeHidden();
  await page.getByLabel("resize_type.longer_size", { exact: true }).fill("700");
  const unlisted = page.getByText("Not among the files this service lists.");
  await expect(unlisted).toBeVisible();
  await page.getByLabel("Files on the server").selectOption("there.png");
  await expect(unlisted).toBeHidden();
  // The choice is kept, and the inputs that it removed stay removed.
  await page.reload();
  await expect(page.getByLabel("resize_type.longer_size", { exact: true })).toHaveValue("700");
  await expect(page.getByLabel("resize_type.width", { exact: true })).toHaveCount(0);
  const shown = (await page.getByText(/^Next run sends: a (red|blue) cat$/).innerText()).slice("Next run sends: ".length);
  const prefix = `${new Date().getFullYear()}-bilinear`;
  await expect(page.getByText(`Next run sends: ${prefix}`, { exact: true })).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect.poll(() => server.place.pending.length).toBe(1);
  expect(server.place.pending[0]?.[2]).toEqual({
    "1": { class_type: "LoadImage", inputs: { image: "there.png" } },
    "2": {
      class_type: "Resize",
      inputs: { image: ["1", 0], resize_type: "longer", "resize_type.longer_size": 700, method: "bilinear", words: shown },
    },
    "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: prefix } },
  });

  await test.step("copies show before they are sent what each of them is filled with", async () => {
    await page.getByRole("button", { name: "Copies" }).click();
    const copies = page.getByRole("dialog", { name: "Run copies with a varied input" });
    const input = copies.getByLabel("Input", { exact: true });
    await input.selectOption({ label: "method · #2 Resize" });
    await copies.getByRole("checkbox", { name: "area" }).check();
    // A choice that adds inputs is not offered here: the person would not have seen those inputs.
    await expect(input.locator("option", { hasText: "resize_type ·" })).toHaveCount(0);
    const words = await copies.getByText(/^#2 words: a (red|blue) cat$/).allInnerTexts();
    const names = await copies.getByText(/^#3 filename_prefix: /).allInnerTexts();
    await copies.getByRole("button", { name: "Run 2 copies" }).click();
    await expect.poll(() => server.place.pending.length).toBe(3);
    const sent = server.place.pending.slice(1).map(([, , graph]) => graph as Record<string, { inputs: Record<string, unknown> }>);
    expect(sent.map((each) => `#2 words: ${each["2"]?.inputs.words}`)).toEqual(words);
    expect(sent.map((each) => `#3 filename_prefix: ${each["3"]?.inputs.filename_prefix}`)).toEqual(names);
  });
  await server.close();
});
