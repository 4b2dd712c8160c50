// Typing at the end of a long text in the Run form, compared with a plain field.
import { type Browser, type Locator } from "@playwright/test";
import { spread, table } from "../figures";
import { type Desk } from "../processes";
import { openSlowly, SLOWDOWN, type SlowPage } from "./open-page";
import { type CpuTime, traceCpuTime } from "./trace";

const RUNS = 3;
const KEYS = 10;
const TYPING_MS = 400;
const SETTLED_MS = 2_500;
/** The browser reports nothing shorter. */
const LEAST_MS = 16;
const LINE = "a line of words, of a prompt that is long\n";
const getText = (size: number) => LINE.repeat(Math.ceil(size / LINE.length));
const sizes = { "20 kB": getText(20_000), "1 MB": getText(1_000_000) };
const createGraph = (text: string) => ({
  "1": { class_type: "PrimitiveString", inputs: { value: text } },
  "2": { class_type: "PreviewAny", inputs: { source: ["1", 0] } },
});

type Keys = { busy: CpuTime; slowestMs: number };
type Typing = { size: string; place: string; slowdown: number; runs: Keys[] };

/** Each page is measured at both speeds of the processor. */
export async function measureLongText(browser: Browser, desk: Desk, logProgress: (text: string) => void): Promise<Typing[]> {
  const found: Typing[] = [];
  for (const [size, text] of Object.entries(sizes)) {
    for (const { place, open } of cases) {
      const typings = [1, SLOWDOWN].map((slowdown) => ({ size, place, slowdown, runs: new Array<Keys>() }));
      for (let run = 0; run < RUNS; run += 1) {
        const slowPage = await openSlowly(browser, desk, "/run");
        try {
          const field = await open(slowPage, text);
          for (const { slowdown, runs } of typings) {
            const keys = await type(slowPage, field, slowdown);
            runs.push(keys);
            logProgress(`  ${size} ${place}, ${slowdown} times slower: ${JSON.stringify(keys)}`);
          }
        } finally {
          await slowPage.close();
        }
      }
      found.push(...typings);
    }
  }
  return found;
}

const cases = [
  { place: "in the form", open: openForm },
  { place: "in a bare field", open: openBare },
];

async function openForm({ page }: SlowPage, text: string): Promise<Locator> {
  const file = { name: "long.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify(createGraph(text))) };
  await page.getByTestId("workflow-file").first().setInputFiles(file);
  return page.getByRole("textbox", { name: "value" });
}

async function openBare({ page }: SlowPage, text: string): Promise<Locator> {
  await page.evaluate((value) => {
    const field = document.createElement("textarea");
    field.rows = 14;
    field.value = value;
    document.body.replaceChildren(field);
  }, text);
  return page.locator("textarea");
}

async function type({ page, cdp }: SlowPage, field: Locator, slowdown: number): Promise<Keys> {
  await field.evaluate((element: HTMLTextAreaElement) => {
    element.focus();
    element.setSelectionRange(element.value.length, element.value.length);
  });
  await cdp.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
  // Until the draft is saved and the checks have run. Not until no task is long: in such a field the browser's own cursor may be that slow.
  await page.waitForTimeout(SETTLED_MS);
  await page.evaluate(() => (window.bench.presses = []));
  const busy = await traceCpuTime(cdp, () => page.keyboard.type("x".repeat(KEYS), { delay: TYPING_MS }));
  const presses = await page.evaluate(() => window.bench.presses);
  return { busy, slowestMs: Math.max(LEAST_MS, ...presses.filter(({ name }) => name === "keydown").map(({ ms }) => ms)) };
}

export function longTextTable(typings: readonly Typing[]): string {
  return table(
    ["text", "", "processor", "slowest key to its frame, ms", "processor ms a key", "longest task, processor ms"],
    typings.map(({ size, place, slowdown, runs }) => [
      size,
      place,
      slowdown === 1 ? "as it is" : `${slowdown} times slower`,
      spread(
        runs.map(({ slowestMs }) => slowestMs),
        0,
      ),
      spread(
        runs.map(({ busy }) => busy.totalMs / KEYS),
        0,
      ),
      spread(
        runs.map(({ busy }) => busy.longestMs),
        0,
      ),
    ]),
  );
}
