import { writeExactJson } from "@/lib/contract/json/exact-json";
import { maxExactNumbers, parseExactJson } from "@/lib/contract/json/parse-json";
import { spread, table } from "../figures";
import { type Section } from "../section";

const RUNS = 9;
const times = (count: number, item: (index: number) => string) => Array.from({ length: count }, (_, index) => item(index)).join(",");
const integer = (index: number) => `1${String(index).padStart(19, "7")}`;

const inputs: readonly (readonly [name: string, text: string])[] = [
  ["450,000 integers of 20 digits in a list: refused", `[${times(450_000, integer)}]`],
  ["50,000 integers of 20 digits in a list", `[${times(50_000, integer)}]`],
  ["50,000 numbers such as 7.0 in a list", `[${times(50_000, (index) => `${index}.0`)}]`],
  ["50,000 numbers such as 7.0, each with a name of its own", `{${times(50_000, (index) => `"k${index}":${index}.0`)}}`],
  ["50,000 objects with 5.0", `[${times(50_000, () => '{"a":5.0}')}]`],
  ["1,000 integers of 999 digits", `[${times(1000, () => "7".repeat(999))}]`],
  ["450,000 numbers as JavaScript writes them", `[${times(450_000, (index) => String(index / 7))}]`],
];

function measure(work: () => unknown): string {
  const runs = Array.from({ length: RUNS }, () => {
    const startedMs = performance.now();
    work();
    return performance.now() - startedMs;
  });
  return spread(runs);
}

function refuses(text: string): boolean {
  try {
    parseExactJson(text, { maxNumbers: maxExactNumbers.text });
    return false;
  } catch {
    return true;
  }
}

/** Numbers that keep their spelling, beside JSON.parse and JSON.stringify of the same text. */
export const exactJson: Section = {
  name: "exact-json",
  measure({ print, logProgress }) {
    logProgress("Parsing and writing numbers that keep their spelling.");
    const rows = inputs.map(([name, text]) => {
      const value: unknown = JSON.parse(text);
      const isRefused = refuses(text);
      const exact = isRefused ? undefined : parseExactJson(text);
      return [
        name,
        `${(text.length / 1e6).toFixed(1)} MB`,
        measure(() => (isRefused ? refuses(text) : parseExactJson(text))),
        measure(() => JSON.parse(text)),
        isRefused ? "" : measure(() => writeExactJson(exact)),
        measure(() => JSON.stringify(value)),
      ];
    });
    print("## JSON whose numbers keep their spelling, milliseconds");
    print(table(["text", "size", "parse", "JSON.parse", "write", "JSON.stringify"], rows));
    return Promise.resolve();
  },
};
