import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const page = readFileSync("docs/asvs.md", "utf8");
const chapters = page.split(/^## V/m).slice(1);
const results = ["met", "partly", "not met"] as const;

/** Counts requirement numbers. "1.2.3 to 1.2.5" counts as three. */
function countRequirements(text: string): number {
  const ranges = text.matchAll(/(\d+\.\d+)\.(\d+)(?: to \1\.(\d+))?/g);
  return [...ranges].reduce((sum, [, , first, last = first]) => sum + Number(last) - Number(first) + 1, 0);
}

test("counts the 253 rows that docs/asvs.md states at the top", () => {
  const chapterCounts = chapters.map((chapter) => {
    const rows = [...chapter.matchAll(/^\| \d+\.\d+\.\d+ +\|[^|]+\| ([a-z ]+?) +\|/gm)].map(([, verdict]) => verdict);
    const [, notApplicable = ""] = chapter.split("Not applicable:");
    const notApplicableCounts = [...notApplicable.split(/^## /m)[0]!.matchAll(/^- ([\d., to]+):/gm)].map(([, numbers = ""]) =>
      countRequirements(numbers),
    );
    return [
      `V${Number.parseInt(chapter, 10)}`,
      ...results.map((verdict) => rows.filter((row) => row === verdict).length),
      notApplicableCounts.reduce((sum, value) => sum + value, 0),
    ];
  });
  const sums = [1, 2, 3, 4].map((column) => chapterCounts.reduce((sum, row) => sum + Number(row[column]), 0));
  const statedCounts = [...page.matchAll(/^\| (V\d+|all) +\| (\d+) +\| (\d+) +\| (\d+) +\| (\d+) +\|$/gm)].map(([, name, ...counts]) => [
    name,
    ...counts.map(Number),
  ]);
  expect(statedCounts).toEqual([...chapterCounts, ["all", ...sums]]);
  expect(sums.reduce((sum, value) => sum + value, 0)).toBe(253);
});

test("finds every test, title and file that docs/asvs.md lists", () => {
  const missing: string[] = [];
  const testReferences = [...page.matchAll(/`((?:[\w.-]+\/)+[\w.()-]+\.(?:test|spec)\.tsx?)`((?:,? "[^"]+")*)/g)];
  for (const [, file = "", titles = ""] of testReferences) {
    const source = existsSync(`tests/${file}`) ? readFileSync(`tests/${file}`, "utf8") : undefined;
    if (source === undefined) missing.push(file);
    for (const [, title = ""] of titles.matchAll(/"([^"]+)"/g)) if (source?.includes(title) === false) missing.push(`${file}: ${title}`);
  }
  for (const [, file = ""] of page.matchAll(/`((?:lib|components|app|bin)\/[\w./()[\]-]+)`/g)) if (!existsSync(file)) missing.push(file);
  expect(missing).toEqual([]);
  expect(testReferences.length).toBeGreaterThan(100);
});
