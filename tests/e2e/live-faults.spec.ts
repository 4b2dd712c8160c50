// Live updates in a browser whose stream is buffered, replaced, cut or flooded.
import { type Page, type Route } from "@playwright/test";
import { type WebSocket, WebSocketServer } from "ws";
import { startLocalServer } from "@/tests/support/local-server";
import { until } from "@/tests/support/until";
import { type Desk } from "./support/desk";
import { createSlowGraph, submitJob, waitForState } from "./support/jobs";
import { disableSharedWorker, isLiveRequest } from "./support/live";
import { saveConnection } from "./support/steps";
import { expect, test } from "./support/test";

const getRow = (page: Page, id: string) => page.locator(`tr[data-row="${id}"]`);
const getFreshness = (page: Page) => page.getByRole("main").locator("[data-freshness]");

/** Runs a job and waits until the page shows that it has ended. */
async function expectJobInList(page: Page, desk: Desk, name: string): Promise<void> {
  const id = await submitJob(page.request, desk, createSlowGraph(0.02, name));
  await waitForState(page.request, desk, id, "completed");
  await expect(getRow(page, id)).toContainText("completed", { ignoreCase: true });
}

test("shows new jobs when a proxy buffers or replaces the stream", async ({ signedIn: page, desk }) => {
  await disableSharedWorker(page);
  const isStream = (url: URL) => isLiveRequest(url) && url.searchParams.get("format") === null;
  let handleStream: (route: Route) => unknown = () => undefined;
  const streams: Route[] = [];
  const listRequests: string[] = [];
  await page.route(isStream, async (route) => {
    streams.push(route);
    await handleStream(route);
  });
  page.on("request", (request) => new URL(request.url()).pathname === "/api/jobs" && listRequests.push(request.url()));
  await page.clock.install();
  await page.goto(`${desk.url}/jobs`);

  await test.step("shows a job while the stream is buffered", async () => {
    await until("the stream is requested", () => streams.length > 0);
    await page.clock.fastForward(10_000);
    await expectJobInList(page, desk, "-buffered");
  });

  await test.step("shows a job when HTML replaces the stream", async () => {
    handleStream = (route) => route.fulfill({ contentType: "text/html", body: "<title>Sign in to the network</title>" });
    const count = streams.length;
    await page.clock.fastForward(60_000);
    await until("the stream is requested again", () => streams.length > count);
    await expectJobInList(page, desk, "-replaced");
  });

  await test.step("shows a job after the stream is restored", async () => {
    handleStream = (route) => route.continue();
    const count = streams.length;
    await until("the stream is requested again", async () => {
      await page.clock.fastForward(60_000);
      return streams.length > count;
    });
    await expect(getFreshness(page)).toHaveText("live");
    await expectJobInList(page, desk, "-restored");
  });
  expect(listRequests).toEqual([]);
});

test("resumes after the device was offline and asleep", async ({ signedIn: page, context, desk }) => {
  await disableSharedWorker(page);
  await page.clock.install();
  await page.goto(`${desk.url}/jobs`);
  await expect(getFreshness(page)).toHaveText("live");
  await context.setOffline(true);
  await expect(getFreshness(page)).toHaveText(/^not updated since/);
  const id = await submitJob(page.request, desk, createSlowGraph(0.02, "-asleep"));
  await waitForState(page.request, desk, id, "completed");
  await page.clock.fastForward("08:00:00");
  await context.setOffline(false);
  await expect(getRow(page, id)).toContainText("completed", { ignoreCase: true });
  await expect(getFreshness(page)).toHaveText("live");
});

test("shows the latest progress when a server floods progress and invalid previews", async ({ signedIn: page, desk }) => {
  await disableSharedWorker(page);
  const MESSAGES_PER_BATCH = 400;
  const FLOOD_SECONDS = 4;
  const webSocketServer = new WebSocketServer({ noServer: true });
  const sockets: WebSocket[] = [];
  const server = await startLocalServer(undefined, {
    upgrade: (request, socket, head) => webSocketServer.handleUpgrade(request, socket, head, (peer) => void sockets.push(peer)),
  });
  const connection = await saveConnection(page, desk, { name: "Flood", baseUrl: server.url });
  const id = server.submit();
  server.startJob();
  const cdp = await page.context().newCDPSession(page);
  const receivedChunks: string[] = [];
  await cdp.send("Network.enable");
  cdp.on("Network.dataReceived", ({ requestId }) => receivedChunks.push(requestId));
  await page.goto(`${desk.url}/jobs?connection=${connection}`);
  await expect(getRow(page, id)).toContainText("running", { ignoreCase: true });
  const socket = await until("the console connects", () => sockets.at(-1));
  const send = (type: string, data: object) => socket.send(JSON.stringify({ type, data: { prompt_id: id, ...data } }));
  const invalidPreview = Buffer.concat([Buffer.from([0, 0, 0, 1, 0, 0, 0, 1]), Buffer.from("<svg onload='alert(1)'></svg>")]);
  send("execution_start", {});
  send("executing", { node: "1" });
  receivedChunks.length = 0;
  const endMs = Date.now() + FLOOD_SECONDS * 1000;
  for (let value = 1; Date.now() < endMs; value += 1) {
    send("progress", { node: "1", value: value % 1000, max: 2000 });
    if (value % MESSAGES_PER_BATCH === 0) {
      socket.send(invalidPreview);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  await expect(async () => {
    send("progress", { node: "1", value: 1500, max: 2000 });
    await expect(getRow(page, id)).toContainText("75", { timeout: 500 });
  }).toPass();
  // At most four changes per second, each in one or two chunks.
  expect(receivedChunks.length).toBeLessThan(FLOOD_SECONDS * 20);
  await expect(getRow(page, id).locator("img")).toHaveCount(0);
  await page.goto(`${desk.url}/jobs`);
  await server.close();
});
