import { setTimeout as wait } from "node:timers/promises";
import { type Page } from "@playwright/test";
import { type WebSocket, WebSocketServer } from "ws";
import { startLocalServer } from "@/tests/support/local-server";
import { type EventViewer, openViewer } from "../event-stream";
import { formatSpread, formatTable, percentile } from "../figures";
import { FEW_JOBS, getDeskFolder, graph } from "../many-jobs";
import { addMember, connect, type ConsoleProcess, createTempFolder, post, startBareProxy, startConsole, startService } from "../processes";
import { openBlankPage, startBrowser } from "../screens/open-page";
import { type Report, type Section } from "../section";
import { getResidentMiB } from "../service/memory";

const RUNS = 3;
const CHANGES = 20;
const IDLE_SECONDS = 60;
const MEMBERS = 5;
const WATCH_SECONDS = 30;
const FLOOD_MESSAGES = 1_000_000;
const FLOOD_SECONDS = 60;
const MEMORY_STREAMS = 50;
const MEMORY_MINUTES = 10;
const QUIET_MS = 20_000;

const createWaitGraph = (seconds: number, color: number) => ({
  "1": { class_type: "EmptyImage", inputs: { width: 64, height: 64, batch_size: 1, color } },
  "2": { class_type: "Wait", inputs: { seconds, anything: ["1", 0] } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "live" } },
});

async function submit({ url, headers }: Pick<ConsoleProcess, "url" | "headers">, prompt: object): Promise<string> {
  const { prompt_id } = await post<{ prompt_id: string }>(`${url}/api/prompt`, { prompt }, headers);
  return prompt_id;
}

export const live: Section = {
  name: "live",
  async measure(report) {
    await measureBrowser(report);
    await measureUpstream(report);
    await measureFlood(report);
  },
};

export const liveMemory: Section = { name: "live-memory", isOnDemand: true, measure: measureMemory };

/** The times at which the row was first painted and painted as completed, in milliseconds since 1970. */
type PaintTimes = { row?: number; completed?: number };

declare global {
  interface Window {
    painted: Map<string, PaintTimes>;
  }
}

/** Runs in the page. */
function watchRows(): void {
  const painted = new Map<string, PaintTimes>();
  window.painted = painted;
  const recordPaint = (id: string, name: keyof PaintTimes) => {
    const times = painted.get(id) ?? {};
    painted.set(id, times);
    if (times[name] !== undefined) return;
    times[name] = NaN;
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => (times[name] = Date.now());
      port2.postMessage(undefined);
    });
  };
  const recordRows = () => {
    for (const row of document.querySelectorAll<HTMLElement>("tr[data-row]")) {
      const id = row.dataset.row ?? "";
      recordPaint(id, "row");
      if (/completed/i.test(row.textContent)) recordPaint(id, "completed");
    }
  };
  new MutationObserver(recordRows).observe(document.body, { subtree: true, childList: true, characterData: true });
  recordRows();
}

async function waitForPaint(page: Page, id: string, name: keyof PaintTimes): Promise<number> {
  const paintedAt = await page.waitForFunction(([row, time]) => window.painted.get(row)?.[time], [id, name] as const, { timeout: 30_000 });
  return Number(await paintedAt.jsonValue());
}

/** Submits jobs from another program while an open tab shows the list. */
async function measureBrowser(report: Report): Promise<void> {
  const { print, logProgress } = report;
  const desk = await startConsole(await getDeskFolder(FEW_JOBS, report));
  const browser = await startBrowser();
  try {
    const { page, cdp, close } = await openBlankPage(browser, desk);
    await cdp.send("Emulation.setCPUThrottlingRate", { rate: 1 });
    await page.goto(`${desk.url}/jobs`);
    await page.locator("[data-freshness]").filter({ hasText: "live" }).first().waitFor();
    await page.evaluate(watchRows);
    const paintTimes: number[][] = [];
    const completionTimes: number[][] = [];
    for (let run = 0; run <= RUNS; run += 1) {
      logProgress(`Changes painted in another tab, run ${run}.`);
      const [rows, completions]: [number[], number[]] = [[], []];
      for (let change = 0; change < CHANGES; change += 1) {
        const submittedMs = Date.now();
        const id = await submit(desk, graph);
        rows.push((await waitForPaint(page, id, "row")) - submittedMs);
        const completedMs = await waitForPaint(page, id, "completed");
        const job: { execution_end_time: number } = await (await fetch(`${desk.url}/api/jobs/${id}`, { headers: desk.headers })).json();
        completions.push(completedMs - job.execution_end_time);
      }
      // The first run warms up.
      if (run > 0) [paintTimes[run - 1], completionTimes[run - 1]] = [rows, completions];
    }
    const cells = (runs: number[][]) =>
      [0.5, 0.95].map(
        (share) =>
          `${formatSpread(
            runs.map((times) => percentile(times, share)),
            0,
          )} ms`,
      );
    const idlePage = await page.context().newPage();
    await page.close();
    // Requests from a shared worker can't be counted. Without one, the tab sends the same requests.
    await idlePage.addInitScript(() => Reflect.deleteProperty(window, "SharedWorker"));
    await idlePage.goto(`${desk.url}/jobs`);
    await idlePage.locator("[data-freshness]").filter({ hasText: "live" }).first().waitFor();
    await idlePage.waitForTimeout(QUIET_MS);
    let requests = 0;
    idlePage.on("request", () => (requests += 1));
    await idlePage.waitForTimeout(IDLE_SECONDS * 1000);
    print(`## Live updates in another tab, ${RUNS} runs of ${CHANGES} jobs`);
    print(
      formatTable(
        ["change", "p50", "p95"],
        [
          ["submission sent → row painted", ...cells(paintTimes)],
          ["job ended → row painted as completed", ...cells(completionTimes)],
        ],
      ),
    );
    print(`Requests of an idle, connected tab in ${IDLE_SECONDS} s: ${requests}.`);
    await close();
  } finally {
    await browser.close();
    await desk.process.stop();
  }
}

/** Counts requests to a service that the console polls. */
async function measureUpstream({ print, logProgress }: Report): Promise<void> {
  const desk = await startConsole(createTempFolder(), { isNew: true });
  const service = await startService(createTempFolder());
  const proxy = await startBareProxy(service.url);
  try {
    const connection = await connect(desk, { url: proxy.url, headers: service.headers });
    const sessions = [desk.headers];
    for (let member = 1; member < MEMBERS; member += 1) sessions.push(await addMember(desk, `member${member}`));
    const topics = [`jobs?connection=${connection}&limit=50`, `queue?connection=${connection}`, `counts?connection=${connection}`];
    const rows: string[][] = [];
    for (const count of [1, 10, 50]) {
      logProgress(`Upstream requests for ${count} viewers.`);
      const viewers: EventViewer[] = [];
      for (let index = 0; index < count; index += 1) viewers.push(await openViewer(desk.url, sessions[index % MEMBERS] ?? {}, topics));
      await wait(QUIET_MS);
      const countPerMinute = async (seconds: number) => {
        await proxy.readCount();
        await wait(seconds * 1000);
        return String(Math.round(((await proxy.readCount()) * 60) / seconds));
      };
      const idle = await countPerMinute(WATCH_SECONDS);
      await submit({ url: service.url, headers: service.headers }, createWaitGraph(WATCH_SECONDS + 10, count));
      await wait(5_000);
      const busy = await countPerMinute(WATCH_SECONDS);
      rows.push([String(count), idle, busy]);
      viewers.forEach((viewer) => viewer.close());
      await wait(QUIET_MS);
    }
    print(`## Requests per minute to a polled service, for streams of ${MEMBERS} members on jobs, queue and counts`);
    print(formatTable(["streams", "idle", "with a running job"], rows));
  } finally {
    await desk.process.stop();
    await proxy.process.stop();
    await service.process.stop();
  }
}

/** Connects a plain server whose WebSocket sends a million messages per minute. */
async function measureFlood({ print, logProgress }: Report): Promise<void> {
  const desk = await startConsole(createTempFolder(), { isNew: true });
  const peers = new WebSocketServer({ noServer: true });
  const sockets: WebSocket[] = [];
  const server = await startLocalServer(undefined, {
    upgrade: (request, socket, head) => peers.handleUpgrade(request, socket, head, (peer) => void sockets.push(peer)),
  });
  try {
    const body = { name: "Plain", baseUrl: server.url };
    const { connection } = await post<{ connection: { id: string } }>(`${desk.url}/api/console/connections`, body, desk.headers);
    const id = server.submit();
    server.startJob();
    const viewer = await openViewer(desk.url, desk.headers, [`jobs?connection=${connection.id}&limit=50`]);
    while (sockets.length === 0) await wait(50);
    const sendEvent = (type: string, data: object) => sockets.at(-1)?.send(JSON.stringify({ type, data }));
    sendEvent("execution_start", { prompt_id: id });
    sendEvent("executing", { prompt_id: id, node: "1" });
    await wait(2_000);
    logProgress("A flood of progress messages.");
    const before = getResidentMiB(desk.process.pid);
    let peak = before;
    const health: number[] = [];
    const startedMs = Date.now();
    let sentCount = 0;
    while (sentCount < FLOOD_MESSAGES) {
      const due = Math.min(FLOOD_MESSAGES, ((Date.now() - startedMs) / (FLOOD_SECONDS * 1000)) * FLOOD_MESSAGES);
      for (; sentCount < due; sentCount += 1) sendEvent("progress", { prompt_id: id, node: "1", value: sentCount, max: FLOOD_MESSAGES });
      const requestedMs = performance.now();
      await fetch(`${desk.url}/api/health`).then((response) => response.arrayBuffer());
      health.push(performance.now() - requestedMs);
      peak = Math.max(peak, getResidentMiB(desk.process.pid));
      await wait(50);
    }
    const seconds = (Date.now() - startedMs) / 1000;
    print("## A plain server that floods the console with progress");
    print(
      formatTable(
        ["messages sent", "in", "events to a viewer", "memory before", "highest", "GET /api/health p95"],
        [
          [
            sentCount.toLocaleString("en"),
            `${seconds.toFixed(0)} s`,
            String(viewer.counts.get("job.progress") ?? 0),
            `${before.toFixed(0)} MiB`,
            `${peak.toFixed(0)} MiB`,
            `${percentile(health, 0.95).toFixed(0)} ms`,
          ],
        ],
      ),
    );
    viewer.close();
  } finally {
    await desk.process.stop();
    sockets.forEach((socket) => socket.terminate());
    await server.close();
  }
}

/** Opens fifty streams of five members on a console that runs one job after the other. */
async function measureMemory({ print, logProgress }: Report): Promise<void> {
  const desk = await startConsole(createTempFolder(), { isNew: true });
  try {
    const sessions = [desk.headers];
    for (let member = 1; member < MEMBERS; member += 1) sessions.push(await addMember(desk, `member${member}`));
    const viewers: EventViewer[] = [];
    for (let index = 0; index < MEMORY_STREAMS; index += 1)
      viewers.push(await openViewer(desk.url, sessions[index % MEMBERS] ?? {}, ["jobs?limit=50", "queue", "counts"]));
    const minutes: string[][] = [];
    for (let minute = 1; minute <= MEMORY_MINUTES; minute += 1) {
      logProgress(`Minute ${minute}.`);
      const samples: number[] = [];
      for (let second = 0; second < 60; second += 2) {
        await submit(desk, createWaitGraph(1, minute * 60 + second));
        await wait(2_000);
        samples.push(getResidentMiB(desk.process.pid));
      }
      minutes.push([String(minute), formatSpread(samples, 0)]);
    }
    const events = viewers.reduce((sum, { counts }) => sum + [...counts.values()].reduce((all, count) => all + count, 0), 0);
    viewers.forEach((viewer) => viewer.close());
    print(`## Memory of the console with ${MEMORY_STREAMS} streams and a job every two seconds`);
    print(formatTable(["minute", "MiB"], minutes));
    print(`Events sent: ${events.toLocaleString("en")}.`);
  } finally {
    await desk.process.stop();
  }
}
