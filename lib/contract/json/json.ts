// Reads JSON from others without schemas: objects, texts, numbers, or undefined.
// Guarantees: never throws; whole numbers keep every digit (exact-json.ts). Free of zod: browsers load it with the first page.

import { maxExactNumbers, parseExactJson, TooManyExactNumbers } from "./exact-json";

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Undefined if the text is not JSON (JSON has no undefined), or has too many exact numbers. */
export function parseJson(text: string): unknown {
  try {
    return parseExactJson(text, { most: maxExactNumbers.text });
  } catch {
    return undefined;
  }
}

export function objectOf(value: unknown): JsonObject | undefined {
  return isObject(value) ? value : undefined;
}

/** A text that is not blank; a blank one counts as absent. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

/** For arithmetic: a whole number beyond what a double holds becomes the nearest one. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === "bigint") return Number(value);
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/**
 * Also parses NaN and Infinity as null: some programs write them, although JSON has neither. Valid JSON is parsed unchanged.
 * Throws SyntaxError, and TooManyExactNumbers beyond `most`.
 */
export function readLenientJson<T = unknown>(text: string, most: number = maxExactNumbers.text): T {
  try {
    return parseExactJson<T>(text, { most });
  } catch (error) {
    if (error instanceof TooManyExactNumbers) throw error;
    return parseExactJson<T>(withoutNaN(text), { most });
  }
}

/** For service responses. */
export function parseServiceJson<T = unknown>(text: string): T {
  return readLenientJson<T>(text, maxExactNumbers.answer);
}

/** Like readLenientJson, but returns undefined where it throws. */
export function parseLenientJson(text: string): unknown {
  try {
    return readLenientJson(text);
  } catch {
    return undefined;
  }
}

const textOrNaN = /"[^"\\]*(?:\\[^][^"\\]*)*"|-?\b(?:NaN|Infinity)\b/g;

/** `as`: replaces each NaN and Infinity, padded to its length. Quoted strings are unchanged. */
export function withoutNaN(text: string, as: "null" | "0" = "null"): string {
  return text.replace(textOrNaN, (found) => (found.startsWith('"') ? found : as.padEnd(found.length)));
}
