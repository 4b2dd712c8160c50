import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { allOperations } from "@/lib/contract/operations";
import { isTerminalWord, toJobState } from "@/lib/contract/states";

const page = readFileSync("docs/interface.md", "utf8");

it("docs/interface.md names every operation of the table and no other", () => {
  const named = [...page.matchAll(/^\| .*$/gm)].flatMap(([row]) =>
    [...row.matchAll(/`((?:GET|HEAD|POST|PUT|DELETE) \/api\/[^`]+)`/g)].map((match) => match[1]),
  );
  expect(named.sort()).toEqual(allOperations.map((operation) => `${operation.method} ${operation.path}`).sort());
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
