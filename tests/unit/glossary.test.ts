import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { expect, it } from "vitest";

const page = readFileSync("docs/glossary.md", "utf8");
const rows = [...page.matchAll(/^\| ([a-z][a-z ,]+?) +\| .* \| `([^`]+)` +\|$/gm)].map(([, words = "", home = ""]) => ({ words, home }));

/** The text of a file, or of all files in a folder. */
function textOf(home: string): string {
  const files = statSync(home).isDirectory() ? readdirSync(home).map((name) => `${home}/${name}`) : [home];
  return files
    .map((file) => `${file} ${readFileSync(file, "utf8")}`)
    .join("\n")
    .toLowerCase();
}

it("docs/glossary.md fits on a page, and each word is used where it is listed as at home", () => {
  expect(page.split("\n").length).toBeLessThanOrEqual(40);
  expect(rows.length).toBeGreaterThan(20);
  const lost = rows.flatMap(({ words, home }) => {
    if (!existsSync(home)) return [`${home} does not exist`];
    const text = textOf(home).replaceAll(/[-_]/g, " ");
    return words
      .split(", ")
      .filter((word) => !text.includes(word) && !text.includes(word.replaceAll(" ", "")))
      .map((word) => `${word} is not in ${home}`);
  });
  expect(lost).toEqual([]);
});
