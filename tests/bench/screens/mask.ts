// The mask editor on large pictures: line latency, main thread load and save time.
import { readFileSync } from "node:fs";
import { type Browser, type Page } from "@playwright/test";
import sharp from "sharp";
import { percentile, table } from "../figures";
import { type Desk } from "../processes";
import { openSlowly } from "./open-page";
import { type CpuTime, traceCpuTime } from "./trace";

const SIZES = [
  { name: "4K", width: 3840, height: 2160 },
  { name: "64 megapixels", width: 8192, height: 8192 },
] as const;
const MOVES = 120;
const STROKES = 200;

type Stroke = { p50Ms: number; p95Ms: number; busy: CpuTime };
export type MaskFigure = {
  name: string;
  openMs: number;
  defaultBrush: Stroke;
  largest: Stroke;
  fill: { ms: number; busy: CpuTime };
  undo: { ms: number; busy: CpuTime };
  /** Memory of the page's process, before and after many strokes of the largest brush. */
  memory: { beforeMiB: number; afterMiB: number };
  save: { ms: number; busy: CpuTime };
  reopenMs: number;
};

declare global {
  interface Window {
    /** Milliseconds from a move of the pointer to the frame that shows it. */
    lags: number[];
  }
}

export async function measureMask(browser: Browser, desk: Desk): Promise<MaskFigure[]> {
  const figures: MaskFigure[] = [];
  for (const size of SIZES) figures.push(await measureOne(browser, desk, size));
  return figures;
}

async function measureOne(browser: Browser, desk: Desk, size: (typeof SIZES)[number]): Promise<MaskFigure> {
  const asset = await uploadPicture(desk, size);
  const { page, cdp, close } = await openSlowly(browser, desk, "/assets");
  try {
    await cdp.send("Emulation.setCPUThrottlingRate", { rate: 1 });
    await page.addInitScript(watchLags);
    const drawing = page.getByRole("application");
    const openedAt = performance.now();
    await page.goto(`${desk.url}/assets/${asset}/mask`);
    await drawing.waitFor();
    const openMs = performance.now() - openedAt;
    const box = await drawing.boundingBox();
    if (!box) throw new Error("the drawing has no bounding box");
    const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    const timed = async (work: () => Promise<void>) => {
      const from = performance.now();
      const busy = await traceCpuTime(cdp, work);
      return { ms: performance.now() - from, busy };
    };
    const stroke = async (): Promise<Stroke> => {
      await page.evaluate(() => (window.lags = []));
      const busy = await traceCpuTime(cdp, () => strokeAcross(page, middle));
      const lags = await page.evaluate(() => window.lags);
      return { p50Ms: percentile(lags, 0.5), p95Ms: percentile(lags, 0.95), busy };
    };
    const defaultBrush = await stroke();
    for (let step = 0; step < 30; step += 1) await page.keyboard.press("]");
    for (let step = 0; step < 10; step += 1) await page.keyboard.press("{");
    const largest = await stroke();
    await page.keyboard.press("g");
    const fill = await timed(async () => {
      await page.mouse.click(middle.x, middle.y + 215);
      await page.getByRole("button", { name: /^Undo: fill/ }).waitFor();
    });
    const undo = await timed(async () => {
      await page.keyboard.press("Control+z");
      await page.getByRole("button", { name: /^Redo: fill/ }).waitFor();
    });
    const save = await timed(async () => {
      await page.keyboard.press("Control+s");
      await page.getByText(/^Saved as/).waitFor({ timeout: 120_000 });
    });
    const href = (await page.getByRole("link", { name: "Open asset" }).getAttribute("href")) ?? "";
    await page.keyboard.press("b");
    const beforeMiB = await largestRenderer(browser);
    for (let stroke = 0; stroke < STROKES; stroke += 1) await strokeAside(page, box, stroke);
    const afterMiB = await largestRenderer(browser);
    await page.keyboard.press("Control+z");
    page.once("dialog", (dialog) => void dialog.accept());
    const leftAt = performance.now();
    await page.goto(desk.url + href.replace(/\?|$/, (rest) => `/mask${rest}`));
    await page.getByText("Continues the earlier mask.").waitFor({ timeout: 120_000 });
    const reopenMs = performance.now() - leftAt;
    return { name: size.name, openMs, defaultBrush, largest, fill, undo, memory: { beforeMiB, afterMiB }, save, reopenMs };
  } finally {
    await close();
  }
}

async function strokeAcross(page: Page, { x, y }: { x: number; y: number }): Promise<void> {
  await page.mouse.move(x - 250, y);
  await page.mouse.down();
  for (let move = 0; move < MOVES; move += 1) await page.mouse.move(x - 250 + move * 4, y + Math.sin(move / 9) * 80);
  await page.mouse.up();
}

/** Each stroke is elsewhere, so that it allocates its own tiles. */
async function strokeAside(page: Page, box: { x: number; y: number; width: number; height: number }, turn: number): Promise<void> {
  const coordinate = (share: number, edge: number) => edge * (0.2 + 0.6 * (share % 1));
  const [x, y] = [box.x + coordinate(turn * 0.37, box.width), box.y + coordinate(turn * 0.61, box.height)];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 90, y + 40, { steps: 3 });
  await page.mouse.up();
}

/** Private memory in MiB; NaN where the system does not report it. */
async function largestRenderer(browser: Browser): Promise<number> {
  const cdp = await browser.newBrowserCDPSession();
  const { processInfo } = await cdp.send("SystemInfo.getProcessInfo");
  await cdp.detach();
  const sizes = processInfo.filter(({ type }) => type === "renderer").map(({ id }) => ownMiB(id));
  return Math.max(...sizes);
}
function ownMiB(pid: number): number {
  try {
    return Number(/^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
  } catch {
    return NaN;
  }
}

/** Runs in the page. The message arrives when the frame after the move is done. */
function watchLags(): void {
  window.lags = [];
  const note = ({ timeStamp }: PointerEvent) =>
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => window.lags.push(performance.now() - timeStamp);
      port2.postMessage(0);
    });
  window.addEventListener("pointermove", note, { capture: true });
}

async function uploadPicture(desk: Desk, { width, height }: (typeof SIZES)[number]): Promise<string> {
  const bytes = await sharp({ create: { width, height, channels: 3, background: { r: 90, g: 140, b: 180 } } })
    .jpeg()
    .toBuffer();
  const form = new FormData();
  form.set("tags", '["input"]');
  form.set("file", new Blob([new Uint8Array(bytes)], { type: "image/jpeg" }), `${width}.jpg`);
  const response = await fetch(`${desk.url}/api/assets`, { method: "POST", body: form, headers: desk.headers });
  if (!response.ok) throw new Error(`the picture was refused with ${response.status}: ${await response.text()}`);
  const { id }: { id: string } = await response.json();
  return id;
}

export function maskTable(figures: readonly MaskFigure[]): string {
  const row = (name: string, pick: (figure: MaskFigure) => number) => [name, ...figures.map((figure) => pick(figure).toFixed(0))];
  return table(
    ["", ...figures.map(({ name }) => name)],
    [
      row("opened, ms", ({ openMs }) => openMs),
      row("usual brush, move to frame, ms p50", ({ defaultBrush }) => defaultBrush.p50Ms),
      row("- p95", ({ defaultBrush }) => defaultBrush.p95Ms),
      row("- longest task, processor ms", ({ defaultBrush }) => defaultBrush.busy.longestMs),
      row("largest brush, all soft, move to frame, ms p50", ({ largest }) => largest.p50Ms),
      row("- p95", ({ largest }) => largest.p95Ms),
      row("- longest task, processor ms", ({ largest }) => largest.busy.longestMs),
      row("fill nearly all of it, ms", ({ fill }) => fill.ms),
      row("- longest task, processor ms", ({ fill }) => fill.busy.longestMs),
      row("undo it, ms", ({ undo }) => undo.ms),
      row("- longest task, processor ms", ({ undo }) => undo.busy.longestMs),
      row("the page's memory then, MiB", ({ memory }) => memory.beforeMiB),
      row(`- after ${STROKES} strokes of the largest brush`, ({ memory }) => memory.afterMiB),
      row("packed, sent and stored, ms", ({ save }) => save.ms),
      row("- longest task, processor ms", ({ save }) => save.busy.longestMs),
      row("the saved mask opened again, ms", ({ reopenMs }) => reopenMs),
    ],
  );
}
