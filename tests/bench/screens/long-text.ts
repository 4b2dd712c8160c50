// Measures typing at the end of a long text in the Run form, compared with a plain field.
import { type Browser, type Locator } from "@playwright/test";
import { formatSpread, formatTable } from "../figures";
import { type ConsoleProcess } from "../processes";
import { openSlowPage, SLOWDOWN, type SlowPage } from "./open-page";
import { type CpuTime, traceCpuTime } from "./trace";

const RUNS = 3;
const KEY_COUNT = 10;
const KEY_INTERVAL_MS = 400;
const SETTLE_MS = 2_500;
/** The browser doesn't report shorter events. */
const MIN_EVENT_MS = 16;
const LINE = "a line of words in a long prompt\n";
const createText = (size: number) => LINE.repeat(Math.ceil(size / LINE.length));
const sizes = { "20 kB": createText(20_000), "1 MB": createText(1_000_000) };
const createGraph = (text: string) => ({
  "1": { class_type: "PrimitiveString", inputs: { value: text } },
  "2": { class_type: "PreviewAny", inputs: { source: ["1", 0] } },
});

type TypingRun = { cpuTime: CpuTime; slowestMs: number };
type Typing = { size: string; place: string; slowdown: number; runs: TypingRun[] };

/** Measures each page with and without CPU throttling. */
export async function measureLongText(browser: Browser, desk: ConsoleProcess, logProgress: (text: string) => void): Promise<Typing[]> {
  const results: Typing[] = [];
  for (const [size, text] of Object.entries(sizes)) {
    for (const { place, open } of cases) {
      const typings = [1, SLOWDOWN].map((slowdown) => ({ size, place, slowdown, runs: new Array<TypingRun>() }));
      for (let run = 0; run < RUNS; run += 1) {
        const slowPage = await openSlowPage(browser, desk, "/run");
        try {
          const field = await open(slowPage, text);
          for (const { slowdown, runs } of typings) {
            const keys = await typeKeys(slowPage, field, slowdown);
            runs.push(keys);
            logProgress(`  ${size} ${place}, ${slowdown} times slower: ${JSON.stringify(keys)}`);
          }
        } finally {
          await slowPage.close();
        }
      }
      results.push(...typings);
    }
  }
  return results;
}

const cases = [
  { place: "in the form", open: openForm },
  { place: "in a bare field", open: openPlainField },
];

async function openForm({ page }: SlowPage, text: string): Promise<Locator> {
  const file = { name: "long.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify(createGraph(text))) };
  await page.getByTestId("workflow-file").first().setInputFiles(file);
  return page.getByRole("textbox", { name: "value" });
}

async function openPlainField({ page }: SlowPage, text: string): Promise<Locator> {
  await page.evaluate((value) => {
    const field = document.createElement("textarea");
    field.rows = 14;
    field.value = value;
    document.body.replaceChildren(field);
  }, text);
  return page.locator("textarea");
}

async function typeKeys({ page, cdp }: SlowPage, field: Locator, slowdown: number): Promise<TypingRun> {
  await field.evaluate((element: HTMLTextAreaElement) => {
    element.focus();
    element.setSelectionRange(element.value.length, element.value.length);
  });
  await cdp.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
  // Lets the draft be saved and the checks run. Long tasks are no criterion, since the browser's own cursor may cause them.
  await page.waitForTimeout(SETTLE_MS);
  await page.evaluate(() => (window.bench.presses = []));
  const cpuTime = await traceCpuTime(cdp, () => page.keyboard.type("x".repeat(KEY_COUNT), { delay: KEY_INTERVAL_MS }));
  const presses = await page.evaluate(() => window.bench.presses);
  return { cpuTime, slowestMs: Math.max(MIN_EVENT_MS, ...presses.filter(({ name }) => name === "keydown").map(({ ms }) => ms)) };
}

export function formatLongText(typings: readonly Typing[]): string {
  return formatTable(
    ["text", "", "processor", "slowest key to its frame, ms", "processor ms per key", "longest task, processor ms"],
    typings.map(({ size, place, slowdown, runs }) => [
      size,
      place,
      slowdown === 1 ? "full speed" : `${slowdown} times slower`,
      formatSpread(
        runs.map(({ slowestMs }) => slowestMs),
        0,
      ),
      formatSpread(
        runs.map(({ cpuTime }) => cpuTime.totalMs / KEY_COUNT),
        0,
      ),
      formatSpread(
        runs.map(({ cpuTime }) => cpuTime.longestMs),
        0,
      ),
    ]),
  );
}
