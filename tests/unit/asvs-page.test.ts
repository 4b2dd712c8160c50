import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const page = readFileSync("docs/asvs.md", "utf8");
const chapters = page.split(/^## V/m).slice(1);
const verdicts = ["met", "partly", "not met"] as const;

/** "1.2.3 to 1.2.5" counts as three. */
function countListed(text: string): number {
  const ranges = text.matchAll(/(\d+\.\d+)\.(\d+)(?: to \1\.(\d+))?/g);
  return [...ranges].reduce((sum, [, , first, last = first]) => sum + Number(last) - Number(first) + 1, 0);
}

test("counts 253 rows, as stated at the top of docs/asvs.md", () => {
  const chapterCounts = chapters.map((chapter) => {
    const rows = [...chapter.matchAll(/^\| \d+\.\d+\.\d+ +\|[^|]+\| ([a-z ]+?) +\|/gm)].map(([, verdict]) => verdict);
    const [, apart = ""] = chapter.split("Not applicable:");
    const apartNumbers = [...apart.split(/^## /m)[0]!.matchAll(/^- ([\d., to]+):/gm)].map(([, numbers = ""]) => countListed(numbers));
    return [
      `V${Number.parseInt(chapter, 10)}`,
      ...verdicts.map((verdict) => rows.filter((row) => row === verdict).length),
      apartNumbers.reduce((sum, value) => sum + value, 0),
    ];
  });
  const sums = [1, 2, 3, 4].map((column) => chapterCounts.reduce((sum, row) => sum + Number(row[column]), 0));
  const stated = [...page.matchAll(/^\| (V\d+|all) +\| (\d+) +\| (\d+) +\| (\d+) +\| (\d+) +\|$/gm)].map(([, name, ...counts]) => [
    name,
    ...counts.map(Number),
  ]);
  expect(stated).toEqual([...chapterCounts, ["all", ...sums]]);
  expect(sums.reduce((sum, value) => sum + value, 0)).toBe(253);
});

test("finds every test, title and file that docs/asvs.md names", () => {
  const missing: string[] = [];
  const testPaths = [...page.matchAll(/`((?:[\w.-]+\/)+[\w.()-]+\.(?:test|spec)\.tsx?)`((?:,? "[^"]+")*)/g)];
  for (const [, file = "", titles = ""] of testPaths) {
    const source = existsSync(`tests/${file}`) ? readFileSync(`tests/${file}`, "utf8") : undefined;
    if (source === undefined) missing.push(file);
    for (const [, title = ""] of titles.matchAll(/"([^"]+)"/g)) if (source?.includes(title) === false) missing.push(`${file}: ${title}`);
  }
  for (const [, file = ""] of page.matchAll(/`((?:lib|components|app|bin)\/[\w./()[\]-]+)`/g)) if (!existsSync(file)) missing.push(file);
  expect(missing).toEqual([]);
  expect(testPaths.length).toBeGreaterThan(100);
});
