// Uploads a large file through the upload list of a real browser. Measures the hashing speed, the time to store known and unknown
// content and a plain upload without a hash, and the memory of browser and console.
import { randomBytes } from "node:crypto";
import { closeSync, openSync, readdirSync, readFileSync, rmSync, truncateSync, writeSync } from "node:fs";
import { join } from "node:path";
import { chromium, type Page } from "@playwright/test";
import { browserFlags, findBrowser } from "@/bin/browser.mjs";
import { formatSpread, formatTable } from "./figures";
import { type ConsoleProcess, createTempFolder, startConsole } from "./processes";
import { getResidentMiB } from "./service/memory";

const MIB = 1024 ** 2;
const TIMEOUT_MS = 60 * 60_000;
const SAMPLE_INTERVAL_MS = 100;

type Memory = { browser: number; desk: number };
export type UploadFigure = {
  /** MiB per second. */
  hashing: number;
  /** In a new tab, where the file is offered by hash and no bytes are sent. */
  knownS: number;
  /** In a tab that has already uploaded the file. `repeatedMethod` is the method that the upload list chose. */
  repeatedS: number;
  repeatedMethod: string;
  plainS?: number;
  unknownS: number;
  /** Additional memory in MiB while an unknown file was hashed, sent and compared. */
  memory: Memory;
};

/** `sparse` uses a file of zeros that takes no disk space. Otherwise, a plain upload is measured too. */
export async function measureUpload(sizeMiB: number, { sparse = false } = {}): Promise<UploadFigure> {
  const folder = createTempFolder();
  const marker = `--lightdesk-bench=${folder}`;
  const desk = await startConsole(join(folder, "desk"), { isNew: true });
  const browser = await chromium.launch({ executablePath: findBrowser(), args: [...browserFlags, marker] });
  try {
    const page = await openDesk(desk, await browser.newPage({ locale: "en-GB" }));
    const [first, second] = ["first.bin", "second.bin"].map((name) => join(folder, name));
    if (!first || !second) throw new Error("the file names are missing");
    let plainS: number | undefined;
    if (!sparse) {
      writeRandomFile(second, sizeMiB);
      plainS = await uploadPlainly(page, second);
      rmSync(second);
    }
    if (sparse) writeSparseFile(first, sizeMiB);
    else writeRandomFile(first, sizeMiB);
    // The first file of any size loads the worker and its library.
    await uploadThroughTray(page, writeTinyFile(folder), /sent · verified/);
    const memoryWatch = watchMemory(() => ({ browser: getBrowserMiB(marker), desk: getResidentMiB(desk.process.pid) }));
    const unknown = await uploadThroughTray(page, first, /^stored, .* sent · verified/);
    const memory = memoryWatch.end();
    const repeatRun = await uploadThroughTray(page, first, / · verified/);
    const fresh = await openDesk(desk, page);
    await uploadThroughTray(fresh, writeTinyFile(folder), / · verified/);
    const deduplicated = await uploadThroughTray(fresh, first, /nothing sent · verified/);
    return {
      hashing: sizeMiB / unknown.hashedS,
      knownS: deduplicated.seconds,
      repeatedS: repeatRun.seconds,
      repeatedMethod: repeatRun.text,
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
    return values.length === 0 ? "–" : formatSpread(values, digits);
  };
  return formatTable(
    [
      "hashed MiB/s",
      "stored, known s",
      "plain upload s",
      "stored, unknown s",
      "browser over idle MiB",
      "console over idle MiB",
      "known, same tab s",
      "method in the same tab",
    ],
    [
      [
        column((run) => run.hashing, 0),
        column((run) => run.knownS, 1),
        column((run) => run.plainS, 1),
        column((run) => run.unknownS, 1),
        column((run) => run.memory.browser, 0),
        column((run) => run.memory.desk, 0),
        column((run) => run.repeatedS, 1),
        [...new Set(runs.map((run) => run.repeatedMethod))].join("; "),
      ],
    ],
  );
}

async function openDesk(desk: ConsoleProcess, page: Page): Promise<Page> {
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

/** Measures from clicking Add until the upload list reports everything stored. Fails if `ending` doesn't appear. */
async function uploadThroughTray(page: Page, path: string, ending: RegExp): Promise<{ seconds: number; hashedS: number; text: string }> {
  const tray = page.getByRole("region", { name: "Transfers" });
  await page.evaluate(() => performance.clearResourceTimings());
  await page.getByTestId("asset-files").setInputFiles(path);
  const addButton = page.getByRole("dialog").getByRole("button", { name: "Add", exact: true });
  await addButton.waitFor();
  const pressedMs = await addButton.evaluate((button: HTMLElement) => {
    const at = performance.now();
    button.click();
    return at;
  });
  await tray.getByText(/^1 (of 1 stored|already existed)/).waitFor({ timeout: TIMEOUT_MS });
  const endedMs = await page.evaluate(() => performance.now());
  const text = await tray.getByText(ending).innerText({ timeout: 5_000 });
  await tray.getByRole("button", { name: "Close" }).click();
  // Hashing ends when the page offers the hash to the service.
  const offeredMs = await page.evaluate(
    () => performance.getEntriesByType("resource").find(({ name }) => name.includes("/api/console/known-content"))?.startTime ?? Number.NaN,
  );
  return { seconds: (endedMs - pressedMs) / 1000, hashedS: (offeredMs - pressedMs) / 1000, text };
}

/** Uploads the file like any web page. Returns the seconds. */
async function uploadPlainly(page: Page, path: string): Promise<number> {
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
    if (!response.ok) throw new Error(`upload responded with ${response.status}`);
    await response.text();
    input?.remove();
    return (performance.now() - started) / 1000;
  });
}

function writeTinyFile(folder: string): string {
  const path = join(folder, "tiny.bin");
  const file = openSync(path, "w");
  writeSync(file, randomBytes(100));
  closeSync(file);
  return path;
}

function writeRandomFile(path: string, sizeMiB: number): void {
  const block = randomBytes(MIB);
  const file = openSync(path, "w");
  for (let index = 0; index < sizeMiB; index += 1) {
    block.writeUInt32LE(index);
    writeSync(file, block);
  }
  closeSync(file);
}

function writeSparseFile(path: string, sizeMiB: number): void {
  closeSync(openSync(path, "w"));
  truncateSync(path, sizeMiB * MIB);
}

function watchMemory(readMemory: () => Memory): { end(): Memory } {
  const idle = readMemory();
  const peak = { ...idle };
  const updatePeak = () => {
    const current = readMemory();
    peak.browser = Math.max(peak.browser, current.browser);
    peak.desk = Math.max(peak.desk, current.desk);
  };
  const timer = setInterval(updatePeak, SAMPLE_INTERVAL_MS);
  return {
    end() {
      clearInterval(timer);
      updatePeak();
      return { browser: peak.browser - idle.browser, desk: peak.desk - idle.desk };
    },
  };
}

/** Returns the private memory of all browser processes, since shared pages would be counted several times. */
function getBrowserMiB(marker: string): number {
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const parents = new Map(all.map((pid) => [pid, getParent(pid)]));
  const root = all.find(
    (pid) => readProcFile(`/proc/${pid}/cmdline`).split("\0").includes(marker) && !readProcFile(`/proc/${pid}/cmdline`).includes("--type="),
  );
  const isBrowserProcess = (pid: string | undefined): boolean => pid !== undefined && (pid === root || isBrowserProcess(parents.get(pid)));
  const getAnonymousKB = (pid: string) => Number(/^RssAnon:\s+(\d+) kB/m.exec(readProcFile(`/proc/${pid}/status`))?.[1] ?? 0);
  const getSharedKB = (pid: string) => Number(/^RssShmem:\s+(\d+) kB/m.exec(readProcFile(`/proc/${pid}/status`))?.[1] ?? 0);
  return all.filter(isBrowserProcess).reduce((sum, pid) => sum + getAnonymousKB(pid) + getSharedKB(pid), 0) / 1024;
}

function getParent(pid: string): string | undefined {
  return /^PPid:\s+(\d+)/m.exec(readProcFile(`/proc/${pid}/status`))?.[1];
}

/** The process may have ended meanwhile. */
function readProcFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
