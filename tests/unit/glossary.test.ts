import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

const page = readFileSync("docs/glossary.md", "utf8");
const rows = [...page.matchAll(/^\| ([a-z ]+?) +\| .* \| `([^`]+)` +\|$/gm)].map(([, concept = "", source = ""]) => ({ concept, source }));

it("lists at most 15 concepts in docs/glossary.md", () => {
  expect(rows.length).toBeGreaterThan(5);
  expect(rows.length).toBeLessThanOrEqual(15);
});

it.each(rows)("uses $concept in $source", ({ concept, source }) => {
  const text = `${source} ${readFileSync(source, "utf8")}`.toLowerCase().replaceAll(/[-_]/g, " ");
  expect(text.includes(concept)).toBe(true);
});
