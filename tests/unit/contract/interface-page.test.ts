import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { isTerminalWord, toJobState } from "@/lib/contract/jobs/job-list";
import { type Operation } from "@/lib/contract/operation";
import { allOperations, coreOperations } from "@/lib/contract/operations";

const page = readFileSync("docs/interface.md", "utf8");

/** The rows of a section's table, as cells. */
function rowsOf(section: string): string[][] {
  const text = page.split(`## ${section}\n`)[1]?.split("\n## ")[0] ?? "";
  const rows = text.split("\n").filter((line) => line.startsWith("| `"));
  return rows.map((row) => row.split(" | "));
}
const quoted = (cell = "") => [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text);

it("docs/interface.md names every operation of the table and no other: the core, and each extension with its capability", () => {
  const core = rowsOf("Core operations").flatMap(([names]) => quoted(names));
  const extensions = rowsOf("Extensions").flatMap(([names, capability]) => quoted(names).map((name) => [name, ...quoted(capability)]));
  const signature = ({ method, path }: Operation) => `${method} ${path}`;
  expect(core.sort()).toEqual(coreOperations.map(signature).sort());
  const others = allOperations.filter(({ tier }) => tier === "extension");
  expect(extensions.sort()).toEqual(others.map((operation) => [signature(operation), operation.capability]).sort());
});

it("docs/interface.md says of every status word what the program does with it", () => {
  const rows = page.split("## Job states")[1]?.split("##")[0]?.split("\n") ?? [];
  const cells = rows
    .map((row) => row.split("|").map((cell) => cell.trim()))
    .filter((row) => /^(yes|no)$/.test(row[3] ?? "") && row[1] !== "unknown");
  expect(cells).toHaveLength(6);
  for (const [, state, words, terminal] of cells) {
    for (const word of words?.split(", ") ?? [])
      expect([word, toJobState(word), isTerminalWord(word)]).toEqual([word, state, terminal === "yes"]);
  }
});
