// Measures the mask editor on large pictures: stroke latency, main thread load, memory and save time.
import { readFileSync } from "node:fs";
import { type Browser, type Page } from "@playwright/test";
import sharp from "sharp";
import { formatTable, percentile } from "../figures";
import { type ConsoleProcess } from "../processes";
import { openSlowPage } from "./open-page";
import { type CpuTime, traceCpuTime } from "./trace";

const SIZES = [
  { name: "4K", width: 3840, height: 2160 },
  { name: "64 megapixels", width: 8192, height: 8192 },
] as const;
const MOVE_COUNT = 120;
const STROKE_COUNT = 200;

type Stroke = { p50Ms: number; p95Ms: number; cpuTime: CpuTime };
export type MaskFigure = {
  name: string;
  openMs: number;
  defaultBrush: Stroke;
  largest: Stroke;
  fill: { ms: number; cpuTime: CpuTime };
  undo: { ms: number; cpuTime: CpuTime };
  /** Memory of the page's process before and after many strokes of the largest brush. */
  memory: { beforeMiB: number; afterMiB: number };
  save: { ms: number; cpuTime: CpuTime };
  reopenMs: number;
};

declare global {
  interface Window {
    /** Milliseconds from a move of the pointer to the frame that shows it. */
    lags: number[];
  }
}

export async function measureMask(browser: Browser, desk: ConsoleProcess): Promise<MaskFigure[]> {
  const figures: MaskFigure[] = [];
  for (const size of SIZES) figures.push(await measureSize(browser, desk, size));
  return figures;
}

async function measureSize(browser: Browser, desk: ConsoleProcess, size: (typeof SIZES)[number]): Promise<MaskFigure> {
  const asset = await uploadPicture(desk, size);
  const { page, cdp, close } = await openSlowPage(browser, desk, "/assets");
  try {
    await cdp.send("Emulation.setCPUThrottlingRate", { rate: 1 });
    await page.addInitScript(watchLags);
    const drawing = page.getByRole("application");
    const openedAtMs = performance.now();
    await page.goto(`${desk.url}/assets/${asset}/mask`);
    await drawing.waitFor();
    const openMs = performance.now() - openedAtMs;
    const box = await drawing.boundingBox();
    if (!box) throw new Error("the drawing has no bounding box");
    const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    const measureTime = async (work: () => Promise<void>) => {
      const from = performance.now();
      const cpuTime = await traceCpuTime(cdp, work);
      return { ms: performance.now() - from, cpuTime };
    };
    const measureStroke = async (): Promise<Stroke> => {
      await page.evaluate(() => (window.lags = []));
      const cpuTime = await traceCpuTime(cdp, () => drawStroke(page, middle));
      const lags = await page.evaluate(() => window.lags);
      return { p50Ms: percentile(lags, 0.5), p95Ms: percentile(lags, 0.95), cpuTime };
    };
    const defaultBrush = await measureStroke();
    for (let step = 0; step < 30; step += 1) await page.keyboard.press("]");
    for (let step = 0; step < 10; step += 1) await page.keyboard.press("{");
    const largest = await measureStroke();
    await page.keyboard.press("g");
    const fill = await measureTime(async () => {
      await page.mouse.click(middle.x, middle.y + 215);
      await page.getByRole("button", { name: /^Undo: fill/ }).waitFor();
    });
    const undo = await measureTime(async () => {
      await page.keyboard.press("Control+z");
      await page.getByRole("button", { name: /^Redo: fill/ }).waitFor();
    });
    const save = await measureTime(async () => {
      await page.keyboard.press("Control+s");
      await page.getByText(/^Saved as/).waitFor({ timeout: 120_000 });
    });
    const href = (await page.getByRole("link", { name: "Open asset" }).getAttribute("href")) ?? "";
    await page.keyboard.press("b");
    const beforeMiB = await getLargestRendererMiB(browser);
    for (let index = 0; index < STROKE_COUNT; index += 1) await drawDistinctStroke(page, box, index);
    const afterMiB = await getLargestRendererMiB(browser);
    await page.keyboard.press("Control+z");
    page.once("dialog", (dialog) => void dialog.accept());
    const leftAtMs = performance.now();
    await page.goto(desk.url + href.replace(/\?|$/, (separator) => `/mask${separator}`));
    await page.getByText("Continues the earlier mask.").waitFor({ timeout: 120_000 });
    const reopenMs = performance.now() - leftAtMs;
    return { name: size.name, openMs, defaultBrush, largest, fill, undo, memory: { beforeMiB, afterMiB }, save, reopenMs };
  } finally {
    await close();
  }
}

async function drawStroke(page: Page, { x, y }: { x: number; y: number }): Promise<void> {
  await page.mouse.move(x - 250, y);
  await page.mouse.down();
  for (let move = 0; move < MOVE_COUNT; move += 1) await page.mouse.move(x - 250 + move * 4, y + Math.sin(move / 9) * 80);
  await page.mouse.up();
}

/** Draws each stroke in a different place, so that it allocates new tiles. */
async function drawDistinctStroke(page: Page, box: { x: number; y: number; width: number; height: number }, index: number): Promise<void> {
  const coordinate = (share: number, edge: number) => edge * (0.2 + 0.6 * (share % 1));
  const [x, y] = [box.x + coordinate(index * 0.37, box.width), box.y + coordinate(index * 0.61, box.height)];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 90, y + 40, { steps: 3 });
  await page.mouse.up();
}

/** Returns private memory in MiB, or NaN if the system doesn't report it. */
async function getLargestRendererMiB(browser: Browser): Promise<number> {
  const cdp = await browser.newBrowserCDPSession();
  const { processInfo } = await cdp.send("SystemInfo.getProcessInfo");
  await cdp.detach();
  const sizes = processInfo.filter(({ type }) => type === "renderer").map(({ id }) => getPrivateMiB(id));
  return Math.max(...sizes);
}
function getPrivateMiB(pid: number): number {
  try {
    return Number(/^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
  } catch {
    return NaN;
  }
}

/** Runs in the page. The message arrives after the frame that shows the move. */
function watchLags(): void {
  window.lags = [];
  const recordLag = ({ timeStamp }: PointerEvent) =>
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => window.lags.push(performance.now() - timeStamp);
      port2.postMessage(0);
    });
  window.addEventListener("pointermove", recordLag, { capture: true });
}

async function uploadPicture(desk: ConsoleProcess, { width, height }: (typeof SIZES)[number]): Promise<string> {
  const bytes = await sharp({ create: { width, height, channels: 3, background: { r: 90, g: 140, b: 180 } } })
    .jpeg()
    .toBuffer();
  const form = new FormData();
  form.set("tags", '["input"]');
  form.set("file", new Blob([new Uint8Array(bytes)], { type: "image/jpeg" }), `${width}.jpg`);
  const response = await fetch(`${desk.url}/api/assets`, { method: "POST", body: form, headers: desk.headers });
  if (!response.ok) throw new Error(`upload responded with ${response.status}: ${await response.text()}`);
  const { id }: { id: string } = await response.json();
  return id;
}

export function formatMask(figures: readonly MaskFigure[]): string {
  const row = (name: string, pick: (figure: MaskFigure) => number) => [name, ...figures.map((figure) => pick(figure).toFixed(0))];
  return formatTable(
    ["", ...figures.map(({ name }) => name)],
    [
      row("open, ms", ({ openMs }) => openMs),
      row("default brush, move to frame, ms p50", ({ defaultBrush }) => defaultBrush.p50Ms),
      row("- p95", ({ defaultBrush }) => defaultBrush.p95Ms),
      row("- longest task, processor ms", ({ defaultBrush }) => defaultBrush.cpuTime.longestMs),
      row("largest brush, fully soft, move to frame, ms p50", ({ largest }) => largest.p50Ms),
      row("- p95", ({ largest }) => largest.p95Ms),
      row("- longest task, processor ms", ({ largest }) => largest.cpuTime.longestMs),
      row("fill almost the whole picture, ms", ({ fill }) => fill.ms),
      row("- longest task, processor ms", ({ fill }) => fill.cpuTime.longestMs),
      row("undo the fill, ms", ({ undo }) => undo.ms),
      row("- longest task, processor ms", ({ undo }) => undo.cpuTime.longestMs),
      row("page memory, MiB", ({ memory }) => memory.beforeMiB),
      row(`- after ${STROKE_COUNT} strokes of the largest brush`, ({ memory }) => memory.afterMiB),
      row("save: encode, send and store, ms", ({ save }) => save.ms),
      row("- longest task, processor ms", ({ save }) => save.cpuTime.longestMs),
      row("reopen the saved mask, ms", ({ reopenMs }) => reopenMs),
    ],
  );
}
