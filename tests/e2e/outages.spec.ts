// What a person sees while a service is silent, refuses or answers nonsense, and what the console sends meanwhile.
import { type IncomingMessage, type RequestListener } from "node:http";
import { type Page } from "@playwright/test";
import messages from "@/lib/messages/en/errors.json" with { type: "json" };
import { answering, connectOver, type FlakyService, silent, startFlakyService, unanswered } from "./support/flaky-service";
import { slowGraph, submit } from "./support/jobs";
import { goTo } from "./support/steps";
import { expect, test } from "./support/test";

const pathOf = ({ url = "" }: IncomingMessage) => new URL(url, "http://x").pathname;
const at = (path: string) => (request: IncomingMessage) => pathOf(request) === path;
const refusing = (status: number, more: Record<string, string> = {}, message = "because of a reason of its own") =>
  answering(status, "application/json", JSON.stringify({ error: { message } }), more);
const fault = (page: Page, title: string) => page.getByRole("main").getByRole("alert").filter({ hasText: title });

let line: FlakyService;
let connection: string;
test.beforeEach(async ({ signedIn: page, desk, service }) => {
  line = await startFlakyService(service.url);
  connection = await connectOver(page, desk, service, line);
});
test.afterEach(() => line.stop());

test("pictures that never come hold up no page, are not called unreadable, and come by themselves when the service is back", async ({
  signedIn: page,
  desk,
}) => {
  const isPicture = (request: IncomingMessage) => /\/(view|content)$/.test(pathOf(request));
  const underWay = new Set<unknown>();
  const isThumbnail = (url: string) => url.includes("/api/console/thumbnail");
  page.on("request", (request) => {
    if (isThumbnail(request.url())) underWay.add(request);
  });
  for (const ended of ["requestfinished", "requestfailed"] as const)
    page.on(ended as "requestfinished", (request) => void underWay.delete(request));

  line.spoil(answering(200, "text/html", "<h1>Back soon"), isPicture);
  await page.goto(`${desk.url}/assets?connection=${connection}`);
  const wall = page.getByRole("list", { name: "Assets" });
  const picture = wall.getByRole("link", { name: "photo.png" }).locator("img");
  await expect(wall.getByRole("link", { name: "photo.png" })).toBeVisible();
  await expect(picture).toHaveCount(0);
  await expect(page.getByText("This picture cannot be read")).toHaveCount(0);

  line.spoil(silent, isPicture);
  await page.reload();
  await expect(wall.getByRole("link", { name: "photo.png" })).toBeVisible();
  // A browser opens six connections at most: some must stay free for the page's own requests.
  await expect.poll(() => underWay.size).toBeLessThanOrEqual(4);
  await goTo(page, "Jobs");
  await expect(page.getByRole("main").locator("[data-freshness]")).toHaveText("live");
  // The pictures' page is gone, so none of their requests is under way any more.
  await expect.poll(() => underWay.size).toBe(0);
  await goTo(page, "Assets");
  await expect(wall.getByRole("link", { name: "photo.png" })).toBeVisible();
  await expect(page.getByText("This picture cannot be read")).toHaveCount(0);

  line.spoil();
  await expect(picture).toHaveJSProperty("complete", true);
  await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
});

test("a page that was opened during an outage says what it is and comes by itself, whatever the outage looked like", async ({
  signedIn: page,
  desk,
}) => {
  const lists = (request: IncomingMessage) => /^\/api\/(jobs|assets|history_v2)$/.test(pathOf(request));
  const outages = [
    ["assets", refusing(503), messages.SERVICE_UNAVAILABLE.title],
    ["jobs", refusing(402), messages.PAYMENT_REQUIRED.title],
    ["history", refusing(404), messages.UPSTREAM_NOT_FOUND.title],
    ["queue", refusing(422), messages.UNPROCESSABLE.title],
  ] as const;
  for (const [path, outage, title] of outages) {
    await test.step(path, async () => {
      line.spoil(outage, lists);
      await page.goto(`${desk.url}/${path}?connection=${connection}`);
      await expect(fault(page, title)).toBeVisible();
      line.spoil();
      await expect(fault(page, title)).toHaveCount(0);
      if (path === "assets")
        await expect(page.getByRole("list", { name: "Assets" }).getByRole("link", { name: "photo.png" })).toBeVisible();
      else await expect(page.getByRole("main").locator("[data-freshness]")).toHaveText("live");
    });
  }
  // The page says how long the service asks to wait.
  line.spoil(refusing(429, { "retry-after": "5" }), lists);
  await page.goto(`${desk.url}/jobs?connection=${connection}`);
  await expect(fault(page, messages.RATE_LIMITED.title)).toContainText("The service asks to wait 5 s.");
  line.spoil();
  await expect(page.getByRole("main").locator("[data-freshness]")).toHaveText("live");
});

test("open pages recover by themselves: from refusals that are none of theirs, and from a service that went away and came back", async ({
  signedIn,
  desk,
}) => {
  const lists = (request: IncomingMessage) => /^\/api\/(jobs|assets|history_v2)$/.test(pathOf(request));
  const asked = new Map<string, number>();
  // Each list is refused in one way and then in the other.
  line.spoil((request, response) => {
    const times = asked.get(request.url ?? "") ?? 0;
    asked.set(request.url ?? "", times + 1);
    refusing(times % 2 === 0 ? 400 : 403)(request, response);
  }, lists);
  const tabs = await Promise.all(
    ["jobs", "queue", "assets", "history"].map(async (path) => {
      const page = await signedIn.context().newPage();
      const refused: number[] = [];
      page.on("response", (answer) => {
        if (/\/api\/(console\/)?(jobs|queue|assets|history)$/.test(new URL(answer.url()).pathname) && !answer.ok())
          refused.push(answer.status());
      });
      await page.goto(`${desk.url}/${path}?connection=${connection}`);
      await expect(page.getByRole("main").getByRole("alert").first()).toBeVisible();
      return { path, page, refused };
    }),
  );
  // At least the second refusal: the first came with the page or after it.
  for (const { path, refused } of tabs) await expect.poll(() => [path, refused.length >= 2]).toEqual([path, true]);
  line.spoil();
  const become = async (kind: string) => {
    for (const { path, page } of tabs)
      await expect(page.getByRole("main").locator("[data-freshness]"), path).toHaveAttribute("data-freshness", kind);
  };
  await become("live");
  for (const { page } of tabs) await expect(page.getByRole("main").getByRole("alert")).toHaveCount(0);
  await line.stop();
  await become("offline");
  await line.again();
  await become("live");
  for (const { page } of tabs) {
    await expect(page.getByRole("main").getByRole("alert")).toHaveCount(0);
    await page.close();
  }
});

test("a job that is not found once is not called removed", async ({ signedIn: page, desk }) => {
  const id = await submit(page.request, desk, slowGraph(60, "-found"), { connection });
  await page.goto(`${desk.url}/jobs/${id}?connection=${connection}`);
  const stop = page.getByRole("button", { name: /^(Stop|Cancel) job$/ });
  await expect(stop).toBeVisible();
  let missed = 0;
  const missedOnce = new Promise<void>((resolve) => {
    line.spoil(
      (_request, response) => {
        response.writeHead(404, { "content-type": "application/json" }).end(JSON.stringify({ code: "NOT_FOUND", message: "no" }));
        missed += 1;
        line.spoil();
        resolve();
      },
      at(`/api/jobs/${id}`),
    );
  });
  const next = page.waitForResponse(async (answer) => {
    await missedOnce;
    return new URL(answer.url()).pathname === `/api/jobs/${id}`;
  });
  expect((await next).status()).toBe(200);
  expect(missed).toBe(1);
  await expect(stop).toBeVisible();
  await expect(page.getByText("removed from the history")).toHaveCount(0);
  await page.request.post(`${desk.url}/api/jobs/${id}/cancel`, { params: { connection }, headers: { origin: desk.url } });
});

test("a cancel whose answer was lost is looked up, shown as it is, and sent once", async ({ signedIn: page, desk, service }) => {
  const running = await submit(page.request, desk, slowGraph(120, "-first"), { connection });
  const waiting = await submit(page.request, desk, slowGraph(1, "-second"), { connection });
  await page.goto(`${desk.url}/jobs/${waiting}?connection=${connection}`);
  let sent = 0;
  const lose = unanswered(service.url);
  line.spoil(
    (request, response) => {
      sent += 1;
      void lose(request, response);
    },
    (request) => request.method === "POST" && pathOf(request) === "/api/queue",
  );
  await page.getByRole("button", { name: "Cancel job" }).click();
  await expect.poll(() => sent).toBe(1);
  await expect(page.getByRole("button", { name: "Undo" })).toHaveCount(0);
  await expect(page.getByRole("status").filter({ hasText: /^1 cancelled$/ })).toBeVisible();
  expect(sent).toBe(1);
  line.spoil();
  await page.request.post(`${desk.url}/api/jobs/${running}/cancel`, { params: { connection }, headers: { origin: desk.url } });
});

test("a queue and a history that were cleared without an answer are looked up, shown as they are, and cleared once", async ({
  signedIn: page,
  desk,
  service,
}) => {
  const running = await submit(page.request, desk, slowGraph(120, "-stays"), { connection });
  await submit(page.request, desk, slowGraph(1, "-goes"), { connection });
  let sent = 0;
  const lose = (fault: RequestListener) =>
    line.spoil(
      (request, response) => {
        sent += 1;
        fault(request, response);
      },
      (request) => request.method === "POST" && /^\/api\/(queue|history)$/.test(pathOf(request)),
    );
  const answerLost = "The service's answer did not arrive";
  await page.goto(`${desk.url}/queue?connection=${connection}`);
  const clear = page.getByRole("button", { name: "Clear 1 pending job" });
  const inDialog = page.getByRole("dialog").getByRole("button", { name: "Clear 1 pending job" });
  // At first the request does not even arrive.
  lose((_request, response) => void response.destroy());
  await clear.click();
  await inDialog.click();
  await expect(page.getByText(`1 job is still waiting. ${answerLost}`)).toBeVisible();
  expect(sent).toBe(1);
  lose(unanswered(service.url));
  await clear.click();
  await inDialog.click();
  await expect(page.getByText(`The job is no longer waiting. ${answerLost}`)).toBeVisible();
  expect(sent).toBe(2);

  await page.goto(`${desk.url}/history?connection=${connection}`);
  await page.getByRole("button", { name: /^Clear \d+ entr/ }).click();
  await page.getByRole("dialog").getByRole("textbox").fill("clear");
  await page
    .getByRole("dialog")
    .getByRole("button", { name: /^Clear \d+ entr/ })
    .click();
  await expect(page.getByText("History cleared")).toBeVisible();
  await expect(page.getByText("The history is empty")).toBeVisible();
  expect(sent).toBe(3);
  line.spoil();
  await page.request.post(`${desk.url}/api/jobs/${running}/cancel`, { params: { connection }, headers: { origin: desk.url } });
});

test("a row of an odd shape is left out and counted, and History shows no more than it asked for", async ({ signedIn: page, desk }) => {
  const good = { id: "00000000-0000-4000-8000-000000000007", status: "completed", create_time: 1_767_225_600_000 };
  const pagination = { offset: 0, limit: 100, total: 2, has_more: false };
  line.spoil(answering(200, "application/json", JSON.stringify({ jobs: [good, { id: ["odd"], status: 7 }], pagination })), at("/api/jobs"));
  await page.goto(`${desk.url}/jobs?connection=${connection}`);
  await expect(page.locator(`tr[data-row="${good.id}"]`)).toBeVisible();
  await expect(page.getByRole("main").getByText("1 entry couldn't be read")).toBeVisible();
  await expect(fault(page, messages.UPSTREAM_UNREADABLE.title)).toHaveCount(0);

  const asked: string[] = [];
  const history = Array.from({ length: 5_000 }, (_, index) => ({
    prompt_id: `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`,
    create_time: 1_767_225_600_000 - index,
    status: { status_str: "success", completed: true, messages: [] },
    outputs: {},
  }));
  line.spoil((request, response) => {
    asked.push(new URL(request.url ?? "", "http://x").searchParams.get("max_items") ?? "");
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ history }));
  }, at("/api/history_v2"));
  await page.goto(`${desk.url}/history?connection=${connection}&max_items=20`);
  await expect(page.locator(`tr[data-row="${history[19]?.prompt_id}"]`)).toBeVisible();
  await expect(page.locator(`tr[data-row="${history[20]?.prompt_id}"]`)).toHaveCount(0);
  expect(new Set(asked)).toEqual(new Set(["20"]));
});

test("Files whose list is not found are not called empty", async ({ signedIn: page, desk }) => {
  line.spoil(refusing(404), (request) => pathOf(request).startsWith("/api/"));
  await page.goto(`${desk.url}/files?connection=${connection}`);
  await expect(fault(page, messages.UPSTREAM_NOT_FOUND.title)).toBeVisible();
  await expect(page.getByText("No files yet")).toHaveCount(0);
});
