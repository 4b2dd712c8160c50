// Converts metadata to rows of path and value, and back. In a path, `a.b` is b inside a, and `\.` is a dot within a name.
// Guarantees: metadata survives a round trip, including the spelling of numbers. Keys can't cause prototype pollution.

import { getSpelling, setSpelling, writeExactJson } from "@/lib/contract/json/exact-json";
import { isObject } from "@/lib/contract/json/json";
import { parseExactJson } from "@/lib/contract/json/parse-json";

export const valueTypes = ["guess", "text", "number", "truth", "json"] as const;
export type ValueType = (typeof valueTypes)[number];
export type MetadataRow = { path: string; type: ValueType; value: string };
export type RowProblem = "path" | "twice" | "number" | "truth" | "json";
export type ParsedRows = { metadata: Record<string, unknown>; problems: ReadonlyMap<number, RowProblem> };

const numberPattern = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

export function toRows(metadata: unknown): MetadataRow[] {
  return isObject(metadata) ? flatten("", metadata) : [];
}

function flatten(prefix: string, values: Record<string, unknown>): MetadataRow[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const path = prefix + name.replace(/[\\.]/g, "\\$&");
    if (isObject(value) && Object.keys(value).length > 0) return flatten(`${path}.`, value);
    return [{ path, ...toTypedValue(value, getSpelling(values, name)) }];
  });
}

function toTypedValue(value: unknown, spelling?: string): Omit<MetadataRow, "path"> {
  if (typeof value === "string") return { type: typeof guessValue(value) === "string" && value === value.trim() ? "guess" : "text", value };
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean" || value === null) {
    return { type: "guess", value: spelling ?? writeExactJson(value) };
  }
  return { type: "json", value: writeExactJson(value) };
}

/** Ignores empty rows. */
export function parseRows(rows: readonly MetadataRow[]): ParsedRows {
  const problems = new Map<number, RowProblem>();
  const root: Branch = new Map();
  rows.forEach((row, index) => {
    if (row.path.trim() === "" && row.value === "") return;
    const names = splitPath(row.path.trim());
    const value = parseValue(row);
    if (names.some((name) => name === "")) problems.set(index, "path");
    else if ("problem" in value) problems.set(index, value.problem);
    else if (!insertLeaf(root, names, { value: value.value, spelling: row.value.trim() })) problems.set(index, "twice");
  });
  return { metadata: toObject(root), problems };
}

/** Returns the filter as JSON for the URL, or undefined if it is empty. */
export function toFilter(metadata: Record<string, unknown>): string | undefined {
  return Object.keys(metadata).length === 0 ? undefined : writeExactJson(metadata);
}

export function parseFilter(text: string | undefined): MetadataRow[] {
  if (text === undefined) return [];
  try {
    return toRows(parseExactJson(text));
  } catch {
    // The page has already validated the filter, so invalid JSON means no filter.
    return [];
  }
}

/** `spelling`: the number's source text. */
type Leaf = { value: unknown; spelling: string };
type Branch = Map<string, Branch | Leaf>;

function insertLeaf(root: Branch, names: readonly string[], leaf: Leaf): boolean {
  const lastName = names.at(-1) ?? "";
  let branch = root;
  for (const name of names.slice(0, -1)) {
    const child = branch.get(name) ?? new Map<string, Branch | Leaf>();
    if (!(child instanceof Map)) return false;
    branch.set(name, child);
    branch = child;
  }
  if (branch.has(lastName)) return false;
  branch.set(lastName, leaf);
  return true;
}

/** fromEntries defines properties, so `__proto__` is an ordinary name. */
function toObject(branch: Branch): Record<string, unknown> {
  const object = Object.fromEntries([...branch].map(([name, node]) => [name, node instanceof Map ? toObject(node) : node.value]));
  for (const [name, node] of branch) if (!(node instanceof Map) && typeof node.value === "number") setSpelling(object, name, node.spelling);
  return object;
}

function splitPath(path: string): string[] {
  const names = [""];
  for (let index = 0; index < path.length; index += 1) {
    const character = path.charAt(index);
    if (character === ".") names.push("");
    else names[names.length - 1] += character === "\\" ? path.charAt(++index) : character;
  }
  return names;
}

function guessValue(text: string): unknown {
  const trimmedText = text.trim();
  if (numberPattern.test(trimmedText)) return parseExactJson(trimmedText);
  if (trimmedText === "null") return null;
  return trimmedText === "true" ? true : trimmedText === "false" ? false : text;
}

function parseValue({ type, value }: MetadataRow): { value: unknown } | { problem: RowProblem } {
  const trimmedText = value.trim();
  switch (type) {
    case "guess":
      return { value: guessValue(value) };
    case "text":
      return { value };
    case "number":
      return numberPattern.test(trimmedText) ? { value: parseExactJson(trimmedText) } : { problem: "number" };
    case "truth":
      return trimmedText === "true" || trimmedText === "false" ? { value: trimmedText === "true" } : { problem: "truth" };
    case "json":
      try {
        return { value: parseExactJson(trimmedText) };
      } catch {
        return { problem: "json" };
      }
  }
}
