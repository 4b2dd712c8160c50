// Writes JSON with the number spellings that parse-json.ts stored. Use it instead of JSON.stringify for graphs and metadata.

import { getSharedWeakMap } from "./json";

const spellings = getSharedWeakMap<object, ReadonlyMap<string | number, string>>("number-spellings");

export function copySpellings<T extends object>(original: object, copy: T): T {
  const originalSpellings = spellings.get(original);
  if (originalSpellings) spellings.set(copy, new Map([...originalSpellings, ...(spellings.get(copy) ?? [])]));
  return copy;
}

export function getSpelling(container: object, key: string | number): string | undefined {
  const spelling = spellings.get(container)?.get(Array.isArray(container) ? Number(key) : key);
  return spelling !== undefined && Object.is(Reflect.get(container, key), Number(spelling)) ? spelling : undefined;
}

export function storeSpellings(container: object, spellingsByKey: ReadonlyMap<string | number, string>): void {
  spellings.set(container, spellingsByKey);
}

export function setSpelling(container: object, key: string, spelling: string): void {
  spellings.set(container, new Map([...(spellings.get(container) ?? []), [key, spelling]]));
}

/** Like JSON.stringify. Values that JSON cannot express (undefined, functions) become null. */
export function writeExactJson(value: unknown, indent = 0): string {
  // eslint-disable-next-line no-restricted-syntax -- this is the serializer
  if (!needsSpelling(value)) return JSON.stringify(value, null, indent) ?? "null";
  return writeValue(value, indent, "\n") ?? "null";
}

/** Deeper values are searched iteratively, which is seven times slower. */
const MAX_RECURSION = 500;

function needsSpelling(value: unknown, depth = 0): boolean {
  if (typeof value === "bigint") return true;
  if (typeof value !== "object" || value === null) return false;
  if (depth > MAX_RECURSION) return needsSpellingDeep(value);
  if (spellings.has(value)) return true;
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    if ((typeof item === "object" || typeof item === "bigint") && needsSpelling(item, depth + 1)) return true;
  }
  return false;
}

function needsSpellingDeep(root: object): boolean {
  const stack: unknown[] = [root];
  const visited = new Set<unknown>();
  for (let size = 1; size > 0; size = stack.length) {
    const value = stack.pop();
    if (typeof value === "bigint") return true;
    if (typeof value !== "object" || value === null || visited.has(value)) continue;
    if (spellings.has(value)) return true;
    visited.add(value);
    for (const item of Array.isArray(value) ? value : Object.values(value))
      if (typeof item === "object" || typeof item === "bigint") stack.push(item);
  }
  return false;
}

function writeValue(value: unknown, indent: number, lineBreak: string): string | undefined {
  if (typeof value === "bigint") return String(value);
  const isAtomic = typeof value !== "object" || value === null || ("toJSON" in value && typeof value.toJSON === "function");
  // eslint-disable-next-line no-restricted-syntax -- this is the serializer
  if (isAtomic) return JSON.stringify(value);
  const innerBreak = lineBreak + " ".repeat(indent);
  const [openBracket, closeBracket] = Array.isArray(value) ? "[]" : "{}";
  const valueSpellings = spellings.get(value);
  let output = "";
  const appendEntry = (key: string | number, item: unknown, prefix: string) => {
    const spelling = valueSpellings && typeof item === "number" ? getSpelling(value, key) : undefined;
    const text = spelling ?? (typeof item === "number" && Number.isFinite(item) ? String(item + 0) : writeValue(item, indent, innerBreak));
    if (text === undefined && openBracket === "{") return;
    output += `${output === "" ? "" : ","}${indent > 0 ? innerBreak : ""}${prefix}${text ?? "null"}`;
  };
  if (Array.isArray(value)) for (let index = 0; index < value.length; index += 1) appendEntry(index, value[index], "");
  else {
    for (const [key, item] of Object.entries(value)) {
      // eslint-disable-next-line no-restricted-syntax -- this is the serializer
      const name = JSON.stringify(key);
      appendEntry(key, item, indent > 0 ? `${name}: ` : `${name}:`);
    }
  }
  return output === "" ? `${openBracket}${closeBracket}` : `${openBracket}${output}${indent > 0 ? lineBreak : ""}${closeBracket}`;
}
