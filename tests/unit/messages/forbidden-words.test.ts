// Words that must not appear in anything a person reads: the pages' sentences, and the answers and output of console, service and commands.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";

const forbidden = [
  "run of a workflow stands here",
  "put nothing out",
  "failed in the job's details",
  "bytes go with the last",
  "say from which",
  "commas between",
  "is in its place",
  "what is wrong stands",
  "send it all the same",
  "leaves no trace",
  "may look but not run",
  "invited with the role",
  "present password",
  "goes by that name",
  "value out of the job",
  "let go of the selection",
  "what stood here",
  "does not reach that far",
  "lowered meanwhile",
  "wants to know who",
  "stands where a folder",
  "no content of yours",
  "asset of yours",
  "do not come at the moment",
  "holds no such",
  "as may be at once",
  "can mend",
  "not there any more",
  "laid out anew",
  "the page around",
  "what you may do here",
];

const pages = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".json"))
    .flatMap((name) => sentencesOf(JSON.parse(readFileSync(join(folder, name), "utf8"))));

function sentencesOf(value: unknown): string[] {
  return typeof value === "string" ? [value] : Object.values(value ?? {}).flatMap(sentencesOf);
}

/** Every string in a file of code, without its comments. */
function textsOf(path: string): string[] {
  const source = ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest, false, ts.ScriptKind.TSX);
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    if (
      ts.isStringLiteralLike(node) ||
      ts.isTemplateHead(node) ||
      ts.isTemplateMiddle(node) ||
      ts.isTemplateTail(node) ||
      ts.isJsxText(node)
    )
      texts.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return texts;
}

const code = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(tsx?|mjs)$/.test(name))
    .flatMap((name) => textsOf(join(folder, name)));

test.each([
  ["the pages", () => pages("lib/messages"), 2_000],
  ["the console, the service and the commands", () => ["lib", "app", "components", "bin"].flatMap(code), 10_000],
])("%s say none of the words that nobody says", (_, read, least) => {
  const sentences = read();
  expect(sentences.length).toBeGreaterThan(least);
  const found = sentences.filter((sentence) => forbidden.some((words) => sentence.toLowerCase().includes(words)));
  expect(found).toEqual([]);
});
