// The gallery of a service without thumbnails: how fast they arrive, and when a full screen is shown.
import { type Browser, type Page } from "@playwright/test";
import { spread, table } from "../figures";
import { type Desk, type PortService } from "../processes";
import { noise, requestAll, REQUESTERS } from "../thumbnails";
import { openBlank, untilQuiet } from "./open-page";
import { type CpuTime, traceCpuTime } from "./trace";

const PICTURES = 400;
const EDGE_PX = 512;
const JUMPS = 3;
const BATCH_SIZE = 4;

export type ColdPreviews = { perSecond: number; openedMs: number; jumpsMs: number[]; busy: CpuTime };

export async function uploadPictures(service: PortService, logProgress: (text: string) => void): Promise<void> {
  logProgress(`Uploading ${PICTURES} pictures.`);
  const drawn = await noise(EDGE_PX);
  for (let from = 0; from < PICTURES; from += BATCH_SIZE) {
    const pictures: Buffer[] = [];
    // One at a time, because they share one pixel buffer.
    for (let at = from; at < from + BATCH_SIZE; at += 1) pictures.push(await drawn(at));
    await Promise.all(pictures.map((bytes, at) => upload(service, `cold-${from + at}.png`, bytes)));
  }
}

async function upload(service: PortService, name: string, bytes: Buffer): Promise<void> {
  const body = new FormData();
  body.set("tags", '["output"]');
  body.set("file", new File([Uint8Array.from(bytes)], name, { type: "image/png" }));
  const response = await fetch(`${service.url}/api/assets`, { method: "POST", body, headers: service.headers });
  if (!response.ok) throw new Error(`the upload was answered ${response.status}: ${await response.text()}`);
}

export async function measureColdPreviews(browser: Browser, desk: Desk, connection: string): Promise<ColdPreviews> {
  const { page, cdp, close } = await openBlank(browser, desk);
  try {
    await cdp.send("Emulation.setCPUThrottlingRate", { rate: 1 });
    await page.goto(`${desk.url}/assets?connection=${connection}`);
    const openedMs = await page.evaluate(allInView);
    await untilQuiet(page);
    const jumpsMs: number[] = [];
    const busy = await traceCpuTime(cdp, async () => {
      for (let jump = 0; jump < JUMPS; jump += 1) jumpsMs.push(await jumpTwoScreens(page));
    });
    return { perSecond: await thumbnailsPerSecond(desk, connection), openedMs, jumpsMs, busy };
  } finally {
    await close();
  }
}

/** Jumps two screens on, to pictures not yet shown, and returns the milliseconds until all in view are drawn. */
async function jumpTwoScreens(page: Page): Promise<number> {
  const from = await page.evaluate(() => {
    window.scrollBy({ top: 2 * window.innerHeight, behavior: "instant" });
    return performance.now();
  });
  return (await page.evaluate(allInView)) - from;
}

/** Reads each list before requesting its thumbnails, as the gallery does, but in a size that the gallery has not requested. */
async function thumbnailsPerSecond(desk: Desk, connection: string): Promise<number> {
  let seconds = 0;
  for (let offset = 0; offset < PICTURES; offset += 100) {
    const response = await fetch(`${desk.url}/api/assets?connection=${connection}&limit=100&offset=${offset}`, { headers: desk.headers });
    const { assets }: { assets: { id: string }[] } = await response.json();
    const address = (id: string) => `${desk.url}/api/console/thumbnail?connection=${connection}&edge=128&version=cold&asset=${id}`;
    seconds += await requestAll(
      desk,
      assets.map(({ id }) => address(id)),
    );
  }
  return PICTURES / seconds;
}

/** The time at which every tile in view shows its picture. */
function allInView(): Promise<number> {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const checkTiles = () => {
      const tiles = [...document.querySelectorAll("a[data-index]")].filter((tile) => {
        const { top, bottom } = tile.getBoundingClientRect();
        return bottom > 110 && top < window.innerHeight - 50;
      });
      const hasImage = (tile: Element) => [...tile.querySelectorAll("img")].some((image) => image.complete && image.naturalWidth > 0);
      if (tiles.length > 0 && tiles.every(hasImage)) resolve(performance.now());
      else if (performance.now() - started > 30_000) reject(new Error("the pictures did not come"));
      else requestAnimationFrame(checkTiles);
    };
    checkTiles();
  });
}

export function coldPreviewsTable({ perSecond, openedMs, jumpsMs, busy }: ColdPreviews): string {
  return table(
    ["", "target", ""],
    [
      [`thumbnails a second, ${REQUESTERS} askers, lists read before`, "200", perSecond.toFixed(0)],
      ["opened: until every picture in view is there, ms from the address", "", openedMs.toFixed(0)],
      ["two screens further: until every picture in view is there, ms", "1000", spread(jumpsMs, 0)],
      ["- tasks over 50 ms of the processor", "none", String(busy.longTasks)],
      ["- longest task, processor ms", "50", busy.longestMs.toFixed(0)],
    ],
  );
}
