// Live updates in a browser whose stream is buffered, replaced, cut or flooded.
import { type Page, type Route } from "@playwright/test";
import { type WebSocket, WebSocketServer } from "ws";
import { startLocalServer } from "@/tests/support/local-server";
import { until } from "@/tests/support/until";
import { keepConnection } from "./support/connections";
import { type Desk } from "./support/desk";
import { slowGraph, submit, untilState } from "./support/jobs";
import { isLiveRequest } from "./support/live";
import { expect, test } from "./support/test";

const row = (page: Page, id: string) => page.locator(`tr[data-row="${id}"]`);
const freshness = (page: Page) => page.getByRole("main").locator("[data-freshness]");

/** Runs a job and waits until the page shows that it has ended. */
async function expectJobInList(page: Page, desk: Desk, name: string): Promise<void> {
  const id = await submit(page.request, desk, slowGraph(0.02, name));
  await untilState(page.request, desk, id, "completed");
  await expect(row(page, id)).toContainText("completed", { ignoreCase: true });
}

test("shows new jobs when a proxy buffers or replaces the stream", async ({ signedIn: page, desk }) => {
  const isStream = (url: URL) => isLiveRequest(url) && url.searchParams.get("format") === null;
  let handle: (route: Route) => unknown = () => undefined;
  const streams: Route[] = [];
  const lists: string[] = [];
  await page.route(isStream, async (route) => {
    streams.push(route);
    await handle(route);
  });
  page.on("request", (request) => new URL(request.url()).pathname === "/api/jobs" && lists.push(request.url()));
  await page.clock.install();
  await page.goto(`${desk.url}/jobs`);

  await test.step("buffered stream", async () => {
    await until("the stream is requested", () => streams.length > 0);
    await page.clock.fastForward(10_000);
    await expectJobInList(page, desk, "-buffered");
  });

  await test.step("HTML response", async () => {
    handle = (route) => route.fulfill({ contentType: "text/html", body: "<title>Sign in to the network</title>" });
    const count = streams.length;
    await page.clock.fastForward(60_000);
    await until("the stream is requested again", () => streams.length > count);
    await expectJobInList(page, desk, "-replaced");
  });

  await test.step("restored stream", async () => {
    handle = (route) => route.continue();
    const count = streams.length;
    await until("the stream is requested again", async () => {
      await page.clock.fastForward(60_000);
      return streams.length > count;
    });
    await expect(freshness(page)).toHaveText("live");
    await expectJobInList(page, desk, "-restored");
  });
  expect(lists).toEqual([]);
});

test("resumes after the device was offline and asleep", async ({ signedIn: page, context, desk }) => {
  await page.clock.install();
  await page.goto(`${desk.url}/jobs`);
  await expect(freshness(page)).toHaveText("live");
  await context.setOffline(true);
  await expect(freshness(page)).toHaveText(/^not updated since/);
  const id = await submit(page.request, desk, slowGraph(0.02, "-asleep"));
  await untilState(page.request, desk, id, "completed");
  await page.clock.fastForward("08:00:00");
  await context.setOffline(false);
  await expect(row(page, id)).toContainText("completed", { ignoreCase: true });
  await expect(freshness(page)).toHaveText("live");
});

test("shows the last step when a server floods progress and bad previews", async ({ signedIn: page, desk }) => {
  const MESSAGES_PER_TURN = 400;
  const FLOOD_SECONDS = 4;
  const peers = new WebSocketServer({ noServer: true });
  const sockets: WebSocket[] = [];
  const server = await startLocalServer(undefined, {
    upgrade: (request, socket, head) => peers.handleUpgrade(request, socket, head, (peer) => void sockets.push(peer)),
  });
  const connection = await keepConnection(page, desk, { name: "Flood", baseUrl: server.url });
  const id = server.submit();
  server.begin();
  const cdp = await page.context().newCDPSession(page);
  const received: string[] = [];
  await cdp.send("Network.enable");
  cdp.on("Network.dataReceived", ({ requestId }) => received.push(requestId));
  await page.goto(`${desk.url}/jobs?connection=${connection}`);
  await expect(row(page, id)).toContainText("running", { ignoreCase: true });
  const socket = await until("the console connects", () => sockets.at(-1));
  const send = (type: string, data: object) => socket.send(JSON.stringify({ type, data: { prompt_id: id, ...data } }));
  const invalidPreview = Buffer.concat([Buffer.from([0, 0, 0, 1, 0, 0, 0, 1]), Buffer.from("<svg onload='alert(1)'></svg>")]);
  send("execution_start", {});
  send("executing", { node: "1" });
  received.length = 0;
  const endMs = Date.now() + FLOOD_SECONDS * 1000;
  for (let value = 1; Date.now() < endMs; value += 1) {
    send("progress", { node: "1", value: value % 1000, max: 2000 });
    if (value % MESSAGES_PER_TURN === 0) {
      socket.send(invalidPreview);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  await expect(async () => {
    send("progress", { node: "1", value: 1500, max: 2000 });
    await expect(row(page, id)).toContainText("75", { timeout: 500 });
  }).toPass();
  // At most four changes a second, each in one or two parts.
  expect(received.length).toBeLessThan(FLOOD_SECONDS * 20);
  await expect(row(page, id).locator("img")).toHaveCount(0);
  await page.goto(`${desk.url}/jobs`);
  await server.close();
});
