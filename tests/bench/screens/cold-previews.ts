// Measures the gallery of a service without thumbnails: thumbnails per second, and the time until all pictures in view are shown.
import { type Browser, type Page } from "@playwright/test";
import { formatSpread, formatTable } from "../figures";
import { type ConsoleProcess, type ServiceProcess } from "../processes";
import { CLIENT_COUNT, createNoisePictures, requestAll } from "../thumbnails";
import { openBlankPage, waitUntilQuiet } from "./open-page";
import { type CpuTime, traceCpuTime } from "./trace";

const PICTURE_COUNT = 400;
const EDGE_PX = 512;
const JUMPS = 3;
const BATCH_SIZE = 4;

export type ColdPreviews = { perSecond: number; openedMs: number; jumpsMs: number[]; cpuTime: CpuTime };

export async function uploadPictures(service: ServiceProcess, logProgress: (text: string) => void): Promise<void> {
  logProgress(`Uploading ${PICTURE_COUNT} pictures.`);
  const createPicture = await createNoisePictures(EDGE_PX);
  for (let from = 0; from < PICTURE_COUNT; from += BATCH_SIZE) {
    const pictures: Buffer[] = [];
    // One at a time, because they share one pixel buffer.
    for (let at = from; at < from + BATCH_SIZE; at += 1) pictures.push(await createPicture(at));
    await Promise.all(pictures.map((bytes, at) => upload(service, `cold-${from + at}.png`, bytes)));
  }
}

async function upload(service: ServiceProcess, name: string, bytes: Buffer): Promise<void> {
  const body = new FormData();
  body.set("tags", '["output"]');
  body.set("file", new File([Uint8Array.from(bytes)], name, { type: "image/png" }));
  const response = await fetch(`${service.url}/api/assets`, { method: "POST", body, headers: service.headers });
  if (!response.ok) throw new Error(`upload responded with ${response.status}: ${await response.text()}`);
}

export async function measureColdPreviews(browser: Browser, desk: ConsoleProcess, connection: string): Promise<ColdPreviews> {
  const { page, cdp, close } = await openBlankPage(browser, desk);
  try {
    await cdp.send("Emulation.setCPUThrottlingRate", { rate: 1 });
    await page.goto(`${desk.url}/assets?connection=${connection}`);
    const openedMs = await page.evaluate(waitForPicturesInView);
    await waitUntilQuiet(page);
    const jumpsMs: number[] = [];
    const cpuTime = await traceCpuTime(cdp, async () => {
      for (let jump = 0; jump < JUMPS; jump += 1) jumpsMs.push(await scrollTwoScreens(page));
    });
    return { perSecond: await measureThumbnailRate(desk, connection), openedMs, jumpsMs, cpuTime };
  } finally {
    await close();
  }
}

/** Scrolls two screens down to new pictures. Returns the milliseconds until all pictures in view are shown. */
async function scrollTwoScreens(page: Page): Promise<number> {
  const from = await page.evaluate(() => {
    window.scrollBy({ top: 2 * window.innerHeight, behavior: "instant" });
    return performance.now();
  });
  return (await page.evaluate(waitForPicturesInView)) - from;
}

/** Reads each list before its thumbnails, like the gallery, but requests a size that the gallery doesn't. */
async function measureThumbnailRate(desk: ConsoleProcess, connection: string): Promise<number> {
  let seconds = 0;
  for (let offset = 0; offset < PICTURE_COUNT; offset += 100) {
    const response = await fetch(`${desk.url}/api/assets?connection=${connection}&limit=100&offset=${offset}`, { headers: desk.headers });
    const { assets }: { assets: { id: string }[] } = await response.json();
    const getThumbnailUrl = (id: string) => `${desk.url}/api/console/thumbnail?connection=${connection}&edge=128&version=cold&asset=${id}`;
    seconds += await requestAll(
      desk,
      assets.map(({ id }) => getThumbnailUrl(id)),
    );
  }
  return PICTURE_COUNT / seconds;
}

/** Resolves with the time at which every tile in view shows its picture. */
function waitForPicturesInView(): Promise<number> {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const checkTiles = () => {
      const tiles = [...document.querySelectorAll("a[data-index]")].filter((tile) => {
        const { top, bottom } = tile.getBoundingClientRect();
        return bottom > 110 && top < window.innerHeight - 50;
      });
      const hasImage = (tile: Element) => [...tile.querySelectorAll("img")].some((image) => image.complete && image.naturalWidth > 0);
      if (tiles.length > 0 && tiles.every(hasImage)) resolve(performance.now());
      else if (performance.now() - started > 30_000) reject(new Error("the pictures in view did not load within 30 s"));
      else requestAnimationFrame(checkTiles);
    };
    checkTiles();
  });
}

export function formatColdPreviews({ perSecond, openedMs, jumpsMs, cpuTime }: ColdPreviews): string {
  return formatTable(
    ["", "target", ""],
    [
      [`thumbnails per second, ${CLIENT_COUNT} clients, lists already read`, "200", perSecond.toFixed(0)],
      ["opening: until every picture in view is shown, ms from navigation", "", openedMs.toFixed(0)],
      ["two screens down: until every picture in view is shown, ms", "1000", formatSpread(jumpsMs, 0)],
      ["- tasks over 50 ms processor time", "none", String(cpuTime.longTasks)],
      ["- longest task, processor ms", "50", cpuTime.longestMs.toFixed(0)],
    ],
  );
}
