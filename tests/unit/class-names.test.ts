// Class names of one element must not conflict, since the stylesheet's order would decide. Checks every `cn` call in every combination of its
// conditions, including the class names that callers pass.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { twMerge } from "tailwind-merge";
import ts from "typescript";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const MAX_COMBINATIONS = 4096;

type Source = { name: string; tree: ts.SourceFile };

function readSources(folder: string): Source[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => {
      const path = join(folder, name);
      return { name: path, tree: ts.createSourceFile(path, readFileSync(join(root, path), "utf8"), ts.ScriptTarget.Latest, true) };
    });
}

function visit(node: ts.Node, onNode: (node: ts.Node) => void): void {
  onNode(node);
  ts.forEachChild(node, (child) => visit(child, onNode));
}

const joinLists = (lists: string[][]) =>
  lists.reduce(
    (combined, list) => combined.flatMap((value) => list.map((suffix) => `${value} ${suffix}`)).slice(0, MAX_COMBINATIONS),
    [""],
  );

/** Returns all literal texts of the expression, and "" for dynamic parts. */
function getTexts(node: ts.Expression): string[] {
  if (ts.isParenthesizedExpression(node)) return getTexts(node.expression);
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isConditionalExpression(node)) return [...getTexts(node.whenTrue), ...getTexts(node.whenFalse)];
  if (ts.isBinaryExpression(node))
    return [...getTexts(node.right), ...(node.operatorToken.getText() === "&&" ? [""] : getTexts(node.left))];
  if (ts.isTemplateExpression(node)) {
    return joinLists([
      [node.head.text],
      ...node.templateSpans.flatMap(({ expression, literal }) => [getTexts(expression), [literal.text]]),
    ]);
  }
  if (ts.isCallExpression(node) && node.expression.getText() === "cn") return joinLists(node.arguments.map(getTexts));
  return [""];
}

/** Returns the class names that callers pass to each component or function, as an attribute or an argument. */
function collectPassedClasses(sources: readonly Source[]): Map<string, string[]> {
  const classesByComponent = new Map<string, string[]>();
  const add = (name: string, passedClasses: string[]) =>
    classesByComponent.set(name, [...(classesByComponent.get(name) ?? []), ...passedClasses]);
  for (const { tree } of sources) {
    visit(tree, (node) => {
      if (ts.isJsxAttribute(node) && /className$/i.test(node.name.getText()) && node.initializer) {
        const { initializer } = node;
        const value = ts.isJsxExpression(initializer) ? initializer.expression : ts.isStringLiteral(initializer) ? initializer : undefined;
        if (value) add(node.parent.parent.tagName.getText(), getTexts(value));
      }
      if (ts.isCallExpression(node) && node.expression.getText() === "chipStyle" && node.arguments[1])
        add("chipStyle", getTexts(node.arguments[1]));
    });
  }
  return classesByComponent;
}

function getEnclosingFunctionName(node: ts.Node): string {
  for (let ancestor: ts.Node = node; ancestor.parent; ancestor = ancestor.parent) {
    if (ts.isFunctionDeclaration(ancestor) && ancestor.name) return ancestor.name.text;
  }
  return "";
}

const overriddenByText = new Map<string, string[]>();
/** Returns the class names that other names in the text override. Cached, since many calls repeat a text. */
function findOverridden(text: string): string[] {
  const names = text.split(/\s+/).filter(Boolean);
  const key = names.join(" ");
  const cached = overriddenByText.get(key);
  if (cached) return cached;
  const mergedNames = new Set(twMerge(key).split(" "));
  const overriddenNames = names.filter((className) => !mergedNames.has(className));
  overriddenByText.set(key, overriddenNames);
  return overriddenNames;
}

function findConflicts(sources: readonly Source[]): string[] {
  const passedClasses = collectPassedClasses(sources);
  const conflicts = new Set<string>();
  for (const { name, tree } of sources) {
    visit(tree, (node) => {
      if (!ts.isCallExpression(node) || node.expression.getText() !== "cn") return;
      const acceptsClass = /className/i.test(node.getText());
      for (const ownClasses of getTexts(node)) {
        for (const extraClasses of ["", ...(acceptsClass ? (passedClasses.get(getEnclosingFunctionName(node)) ?? []) : [])]) {
          const overriddenNames = findOverridden(`${ownClasses} ${extraClasses}`);
          if (overriddenNames.length > 0)
            conflicts.add(`${name}: ${overriddenNames.join(" ")} against "${extraClasses || ownClasses.trim()}"`);
        }
      }
    });
  }
  return [...conflicts];
}

test("finds no conflicting class names on an element", () => {
  const sources = [...readSources("components"), ...readSources("app")];
  expect(sources.length).toBeGreaterThan(200);
  expect(findConflicts(sources)).toEqual([]);
});

test("detects conflicts in conditions and in passed classes", () => {
  const createSource = (text: string) => ({ name: "a.tsx", tree: ts.createSourceFile("a.tsx", text, ts.ScriptTarget.Latest, true) });
  expect(findConflicts([createSource('const a = cn("p-2", isOn && "p-4");')])).toEqual(['a.tsx: p-2 against "p-2 p-4"']);
  const box = 'function Box({ className }) { return <p className={cn("w-4 flex", className)} />; }';
  expect(findConflicts([createSource(`${box} const b = <Box className="w-8" />;`)])).toEqual(['a.tsx: w-4 against "w-8"']);
  expect(findConflicts([createSource(`${box} const b = <Box className={isOn ? "mt-1" : "mt-2"} />;`)])).toEqual([]);
});
