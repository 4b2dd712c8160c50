// A large file through the tray of a real browser: how fast it is hashed; how long until it is stored if the service knows it, if it does
// not, and if it is sent without a hash; and the memory that browser and console take meanwhile.
import { randomBytes } from "node:crypto";
import { closeSync, openSync, readdirSync, readFileSync, rmSync, truncateSync, writeSync } from "node:fs";
import { join } from "node:path";
import { chromium, type Page } from "@playwright/test";
import { browserFlags, findBrowser } from "@/bin/browser.mjs";
import { spread, table } from "./figures";
import { type Desk, newFolder, startDesk } from "./processes";
import { residentMiB } from "./service/memory";

const MIB = 1024 ** 2;
const MAX_MS = 60 * 60_000;
const EVERY_MS = 100;

type Memory = { browser: number; desk: number };
export type UploadFigure = {
  /** MiB a second. */
  hashing: number;
  /** In a new tab: the file is offered by hash and no bytes are sent. */
  knownS: number;
  /** In a tab that has measured: which way the tray chose, and how long it took. */
  againS: number;
  againAs: string;
  plainS?: number;
  unknownS: number;
  /** Additional memory in MiB while an unknown file was hashed, sent and compared. */
  memory: Memory;
};

/** `sparse`: a file of zeros that takes no disk space; without it, a plain upload is measured too. */
export async function measureUpload(sizeMiB: number, { sparse = false } = {}): Promise<UploadFigure> {
  const folder = newFolder();
  const marker = `--lightdesk-bench=${folder}`;
  const desk = await startDesk(join(folder, "desk"), { isNew: true });
  const browser = await chromium.launch({ executablePath: findBrowser(), args: [...browserFlags, marker] });
  try {
    const page = await openDesk(desk, await browser.newPage({ locale: "en-GB" }));
    const [first, second] = ["first.bin", "second.bin"].map((name) => join(folder, name));
    if (!first || !second) throw new Error("no files");
    let plainS: number | undefined;
    if (!sparse) {
      write(second, sizeMiB);
      plainS = await plain(page, second);
      rmSync(second);
    }
    if (sparse) makeSparse(first, sizeMiB);
    else write(first, sizeMiB);
    // The worker and its library are loaded with the first file of any size.
    await throughTray(page, tiny(folder), /sent · verified/);
    const watched = watch(() => ({ browser: browserMiB(marker), desk: residentMiB(desk.process.pid) }));
    const unknown = await throughTray(page, first, /^stored, .* sent · verified/);
    const memory = watched.end();
    const repeatRun = await throughTray(page, first, / · verified/);
    const fresh = await openDesk(desk, page);
    await throughTray(fresh, tiny(folder), / · verified/);
    const deduplicated = await throughTray(fresh, first, /nothing sent · verified/);
    return {
      hashing: sizeMiB / unknown.hashedS,
      knownS: deduplicated.seconds,
      againS: repeatRun.seconds,
      againAs: repeatRun.text,
      plainS,
      unknownS: unknown.seconds,
      memory,
    };
  } finally {
    await browser.close();
    await desk.process.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

export function uploadTable(runs: readonly UploadFigure[]): string {
  const column = (pick: (run: UploadFigure) => number | undefined, digits: number) => {
    const values = runs.map(pick).filter((value) => value !== undefined);
    return values.length === 0 ? "–" : spread(values, digits);
  };
  return table(
    [
      "hashed MiB/s",
      "stored, known s",
      "plain upload s",
      "stored, unknown s",
      "browser over idle MiB",
      "console over idle MiB",
      "known, again in the same tab s",
      "which was",
    ],
    [
      [
        column((run) => run.hashing, 0),
        column((run) => run.knownS, 1),
        column((run) => run.plainS, 1),
        column((run) => run.unknownS, 1),
        column((run) => run.memory.browser, 0),
        column((run) => run.memory.desk, 0),
        column((run) => run.againS, 1),
        [...new Set(runs.map((run) => run.againAs))].join("; "),
      ],
    ],
  );
}

async function openDesk(desk: Desk, page: Page): Promise<Page> {
  const { hostname } = new URL(desk.url);
  await page.context().addCookies(
    (desk.headers.cookie ?? "").split("; ").map((pair) => {
      const at = pair.indexOf("=");
      return { name: pair.slice(0, at), value: pair.slice(at + 1), domain: hostname, path: "/" };
    }),
  );
  await page.goto(`${desk.url}/jobs`);
  await page.getByRole("heading", { name: "Jobs" }).waitFor();
  return page;
}

/** From clicking Add until the tray reports everything stored. Fails if the file took another path. */
async function throughTray(page: Page, path: string, ending: RegExp): Promise<{ seconds: number; hashedS: number; text: string }> {
  const tray = page.getByRole("region", { name: "Transfers" });
  await page.evaluate(() => performance.clearResourceTimings());
  await page.getByTestId("asset-files").setInputFiles(path);
  const press = page.getByRole("dialog").getByRole("button", { name: "Add", exact: true });
  await press.waitFor();
  const pressedMs = await press.evaluate((button: HTMLElement) => {
    const at = performance.now();
    button.click();
    return at;
  });
  await tray.getByText(/^1 (of 1 stored|already existed)/).waitFor({ timeout: MAX_MS });
  const endedMs = await page.evaluate(() => performance.now());
  const text = await tray.getByText(ending).innerText({ timeout: 5_000 });
  await tray.getByRole("button", { name: "Close" }).click();
  // Hashing ends when the page offers the hash to the service.
  const offeredMs = await page.evaluate(
    () => performance.getEntriesByType("resource").find(({ name }) => name.includes("/api/console/known-content"))?.startTime ?? Number.NaN,
  );
  return { seconds: (endedMs - pressedMs) / 1000, hashedS: (offeredMs - pressedMs) / 1000, text };
}

/** The upload as any web page would send it. */
async function plain(page: Page, path: string): Promise<number> {
  await page.evaluate(() => {
    const input = document.createElement("input");
    input.type = "file";
    input.id = "bench-file";
    document.body.append(input);
  });
  await page.locator("#bench-file").setInputFiles(path);
  return page.evaluate(async () => {
    const input = document.querySelector<HTMLInputElement>("#bench-file");
    const form = new FormData();
    form.set("tags", '["input"]');
    form.set("file", input?.files?.[0] ?? "");
    const started = performance.now();
    const response = await fetch("/api/assets", { method: "POST", body: form });
    if (!response.ok) throw new Error(`the upload was answered with ${response.status}`);
    await response.text();
    input?.remove();
    return (performance.now() - started) / 1000;
  });
}

function tiny(folder: string): string {
  const path = join(folder, "tiny.bin");
  const file = openSync(path, "w");
  writeSync(file, randomBytes(100));
  closeSync(file);
  return path;
}

function write(path: string, sizeMiB: number): void {
  const block = randomBytes(MIB);
  const file = openSync(path, "w");
  for (let index = 0; index < sizeMiB; index += 1) {
    block.writeUInt32LE(index);
    writeSync(file, block);
  }
  closeSync(file);
}

function makeSparse(path: string, sizeMiB: number): void {
  closeSync(openSync(path, "w"));
  truncateSync(path, sizeMiB * MIB);
}

function watch(look: () => Memory): { end(): Memory } {
  const idle = look();
  const peak = { ...idle };
  const note = () => {
    const now = look();
    peak.browser = Math.max(peak.browser, now.browser);
    peak.desk = Math.max(peak.desk, now.desk);
  };
  const timer = setInterval(note, EVERY_MS);
  return {
    end() {
      clearInterval(timer);
      note();
      return { browser: peak.browser - idle.browser, desk: peak.desk - idle.desk };
    },
  };
}

/** Private memory of all processes of the browser: shared pages would count many times over. */
function browserMiB(marker: string): number {
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const parents = new Map(all.map((pid) => [pid, getParent(pid)]));
  const root = all.find(
    (pid) => read(`/proc/${pid}/cmdline`).split("\0").includes(marker) && !read(`/proc/${pid}/cmdline`).includes("--type="),
  );
  const isOwn = (pid: string | undefined): boolean => pid !== undefined && (pid === root || isOwn(parents.get(pid)));
  const anonymousKB = (pid: string) => Number(/^RssAnon:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0);
  const shmemKB = (pid: string) => Number(/^RssShmem:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0);
  return all.filter(isOwn).reduce((sum, pid) => sum + anonymousKB(pid) + shmemKB(pid), 0) / 1024;
}

function getParent(pid: string): string | undefined {
  return /^PPid:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1];
}

/** The process may have ended meanwhile. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
