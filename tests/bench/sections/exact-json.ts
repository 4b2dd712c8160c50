import { writeExactJson } from "@/lib/contract/json/exact-json";
import { maxExactNumbers, parseExactJson } from "@/lib/contract/json/parse-json";
import { formatSpread, formatTable } from "../figures";
import { type Section } from "../section";

const RUNS = 9;
const joinItems = (count: number, createItem: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => createItem(index)).join(",");
const createInteger = (index: number) => `1${String(index).padStart(19, "7")}`;

const inputs: readonly (readonly [name: string, text: string])[] = [
  ["450,000 integers of 20 digits in a list: refused", `[${joinItems(450_000, createInteger)}]`],
  ["50,000 integers of 20 digits in a list", `[${joinItems(50_000, createInteger)}]`],
  ["50,000 numbers such as 7.0 in a list", `[${joinItems(50_000, (index) => `${index}.0`)}]`],
  ["50,000 properties with numbers such as 7.0", `{${joinItems(50_000, (index) => `"k${index}":${index}.0`)}}`],
  ["50,000 objects with 5.0", `[${joinItems(50_000, () => '{"a":5.0}')}]`],
  ["1,000 integers of 999 digits", `[${joinItems(1000, () => "7".repeat(999))}]`],
  ["450,000 numbers as JavaScript writes them", `[${joinItems(450_000, (index) => String(index / 7))}]`],
];

function measure(work: () => unknown): string {
  const runs = Array.from({ length: RUNS }, () => {
    const startedMs = performance.now();
    work();
    return performance.now() - startedMs;
  });
  return formatSpread(runs);
}

function isRejected(text: string): boolean {
  try {
    parseExactJson(text, { maxNumbers: maxExactNumbers.text });
    return false;
  } catch {
    return true;
  }
}

/** Parses and writes numbers with their exact spelling, compared with JSON.parse and JSON.stringify of the same text. */
export const exactJson: Section = {
  name: "exact-json",
  measure({ print, logProgress }) {
    logProgress("Parsing and writing numbers with their exact spelling.");
    const rows = inputs.map(([name, text]) => {
      const value: unknown = JSON.parse(text);
      const isRefused = isRejected(text);
      const exact = isRefused ? undefined : parseExactJson(text);
      return [
        name,
        `${(text.length / 1e6).toFixed(1)} MB`,
        measure(() => (isRefused ? isRejected(text) : parseExactJson(text))),
        measure(() => JSON.parse(text)),
        isRefused ? "" : measure(() => writeExactJson(exact)),
        measure(() => JSON.stringify(value)),
      ];
    });
    print("## JSON numbers with their exact spelling, milliseconds");
    print(formatTable(["text", "size", "parse", "JSON.parse", "write", "JSON.stringify"], rows));
    return Promise.resolve();
  },
};
