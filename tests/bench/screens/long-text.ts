// Typing at the end of a text of a megabyte in the form of the Run page, beside a bare field of the browser with the same text.
import { type Browser, type Locator } from "@playwright/test";
import { spread, table } from "../figures";
import { type Desk } from "../processes";
import { openSlowly, SLOWDOWN, type SlowPage, untilQuiet } from "./open-page";
import { type Busy, traced } from "./trace";

const RUNS = 3;
const KEYS = 20;
const TYPING_MS = 200;
const LINE = "a line of words, of a prompt that is long\n";
const text = LINE.repeat(Math.ceil(1_000_000 / LINE.length));
const graph = {
  "1": { class_type: "PrimitiveString", inputs: { value: text } },
  "2": { class_type: "PreviewAny", inputs: { source: ["1", 0] } },
};

type Typing = { place: string; slowdown: number; busy: readonly Busy[] };

export async function measureLongText(browser: Browser, desk: Desk): Promise<Typing[]> {
  const found: Typing[] = [];
  for (const slowdown of [1, SLOWDOWN]) {
    for (const [place, open] of [
      ["in the form", openForm],
      ["in a bare field", openBare],
    ] as const) {
      const busy: Busy[] = [];
      for (let run = 0; run < RUNS; run += 1) {
        const opened = await openSlowly(browser, desk, "/run");
        try {
          busy.push(await type(opened, await open(opened), slowdown));
        } finally {
          await opened.close();
        }
      }
      found.push({ place, slowdown, busy });
    }
  }
  return found;
}

async function openForm({ page }: SlowPage): Promise<Locator> {
  const file = { name: "long.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify(graph)) };
  await page.getByTestId("workflow-file").first().setInputFiles(file);
  return page.getByRole("textbox", { name: "value" });
}

async function openBare({ page }: SlowPage): Promise<Locator> {
  await page.evaluate((value) => {
    const field = document.createElement("textarea");
    field.rows = 14;
    field.value = value;
    document.body.replaceChildren(field);
  }, text);
  return page.locator("textarea");
}

async function type({ page, cdp }: SlowPage, field: Locator, slowdown: number): Promise<Busy> {
  await field.evaluate((element: HTMLTextAreaElement) => {
    element.focus();
    element.setSelectionRange(element.value.length, element.value.length);
  });
  await untilQuiet(page);
  await cdp.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
  return traced(cdp, () => page.keyboard.type("x".repeat(KEYS), { delay: TYPING_MS }));
}

export function longTextTable(found: readonly Typing[]): string {
  return table(
    ["", "processor", "processor ms a key", "longest task, processor ms"],
    found.map(({ place, slowdown, busy }) => [
      place,
      slowdown === 1 ? "as it is" : `${slowdown} times slower`,
      spread(
        busy.map(({ allMs }) => allMs / KEYS),
        0,
      ),
      spread(
        busy.map(({ longestMs }) => longestMs),
        0,
      ),
    ]),
  );
}
