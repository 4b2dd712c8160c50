// Class names of one element must not conflict, since the stylesheet's order would decide. Checks every call of `cn` in the sources, with the class
// names that callers pass, in every combination of its conditions.
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

function visit(node: ts.Node, look: (node: ts.Node) => void): void {
  look(node);
  ts.forEachChild(node, (child) => visit(child, look));
}

const joinLists = (lists: string[][]) =>
  lists.reduce((all, list) => all.flatMap((value) => list.map((other) => `${value} ${other}`)).slice(0, MAX_COMBINATIONS), [""]);

/** All literal texts of the expression; "" for dynamic parts. */
function texts(node: ts.Expression): string[] {
  if (ts.isParenthesizedExpression(node)) return texts(node.expression);
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isConditionalExpression(node)) return [...texts(node.whenTrue), ...texts(node.whenFalse)];
  if (ts.isBinaryExpression(node)) return [...texts(node.right), ...(node.operatorToken.getText() === "&&" ? [""] : texts(node.left))];
  if (ts.isTemplateExpression(node)) {
    return joinLists([[node.head.text], ...node.templateSpans.flatMap(({ expression, literal }) => [texts(expression), [literal.text]])]);
  }
  if (ts.isCallExpression(node) && node.expression.getText() === "cn") return joinLists(node.arguments.map(texts));
  return [""];
}

/** By component or function name: the class names that its callers pass, as an attribute or as an argument. */
function collectClasses(sources: readonly Source[]): Map<string, string[]> {
  const classesByComponent = new Map<string, string[]>();
  const add = (name: string, extra: string[]) => classesByComponent.set(name, [...(classesByComponent.get(name) ?? []), ...extra]);
  for (const { tree } of sources) {
    visit(tree, (node) => {
      if (ts.isJsxAttribute(node) && /className$/i.test(node.name.getText()) && node.initializer) {
        const { initializer } = node;
        const value = ts.isJsxExpression(initializer) ? initializer.expression : ts.isStringLiteral(initializer) ? initializer : undefined;
        if (value) add(node.parent.parent.tagName.getText(), texts(value));
      }
      if (ts.isCallExpression(node) && node.expression.getText() === "chipStyle" && node.arguments[1])
        add("chipStyle", texts(node.arguments[1]));
    });
  }
  return classesByComponent;
}

function nameAround(node: ts.Node): string {
  for (let around: ts.Node = node; around.parent; around = around.parent) {
    if (ts.isFunctionDeclaration(around) && around.name) return around.name.text;
  }
  return "";
}

const unmergedByText = new Map<string, string[]>();
/** The class names that others of the text override. Many calls repeat a text. */
function findUnmerged(text: string): string[] {
  const names = text.split(/\s+/).filter(Boolean);
  const key = names.join(" ");
  const cached = unmergedByText.get(key);
  if (cached) return cached;
  const mergedNames = new Set(twMerge(key).split(" "));
  const unmergedNames = names.filter((each) => !mergedNames.has(each));
  unmergedByText.set(key, unmergedNames);
  return unmergedNames;
}

function contradictions(sources: readonly Source[]): string[] {
  const passedClasses = collectClasses(sources);
  const classNames = new Set<string>();
  for (const { name, tree } of sources) {
    visit(tree, (node) => {
      if (!ts.isCallExpression(node) || node.expression.getText() !== "cn") return;
      const acceptsClass = /className/i.test(node.getText());
      for (const ownClass of texts(node)) {
        for (const more of ["", ...(acceptsClass ? (passedClasses.get(nameAround(node)) ?? []) : [])]) {
          const unmergedNames = findUnmerged(`${ownClass} ${more}`);
          if (unmergedNames.length > 0) classNames.add(`${name}: ${unmergedNames.join(" ")} against "${more || ownClass.trim()}"`);
        }
      }
    });
  }
  return [...classNames];
}

test("finds no contradicting class names on an element", () => {
  const sources = [...readSources("components"), ...readSources("app")];
  expect(sources.length).toBeGreaterThan(200);
  expect(contradictions(sources)).toEqual([]);
});

test("detects a contradiction in conditions and passed classes", () => {
  const tree = (text: string) => ({ name: "a.tsx", tree: ts.createSourceFile("a.tsx", text, ts.ScriptTarget.Latest, true) });
  expect(contradictions([tree('const a = cn("p-2", isOn && "p-4");')])).toEqual(['a.tsx: p-2 against "p-2 p-4"']);
  const box = 'function Box({ className }) { return <p className={cn("w-4 flex", className)} />; }';
  expect(contradictions([tree(`${box} const b = <Box className="w-8" />;`)])).toEqual(['a.tsx: w-4 against "w-8"']);
  expect(contradictions([tree(`${box} const b = <Box className={isOn ? "mt-1" : "mt-2"} />;`)])).toEqual([]);
});
