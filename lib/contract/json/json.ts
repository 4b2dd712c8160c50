// Reads JSON from others without schemas: objects, texts, numbers, or undefined.
// Guarantees: never throws; whole numbers keep every digit (exact-json.ts). Free of zod: browsers load it with the first page.

import { parseExactJson } from "./exact-json";

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The parsed value; undefined if the text is not JSON (undefined is no JSON value, so the two cannot be confused). */
export function parseJson(text: string): unknown {
  try {
    return parseExactJson(text);
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

/** Of numbers whose spelling has to be kept in one answer; a thousand jobs with their graphs have fewer. */
const MAX_EXACT_NUMBERS = 200_000;

/** Like parseLenientJson, but throws SyntaxError as JSON.parse does, and RangeError for too many exact numbers. */
export function parseServiceJson<T = unknown>(text: string): T {
  const bound = { maxExactNumbers: MAX_EXACT_NUMBERS };
  try {
    return parseExactJson<T>(text, bound);
  } catch (error) {
    if (error instanceof RangeError) throw error;
    return parseExactJson<T>(withoutNaN(text), bound);
  }
}

/** Also reads NaN and Infinity, which some programs write and JSON does not have, as null. A text that is JSON is read as it is. */
export function parseLenientJson(text: string): unknown {
  return parseJson(text) ?? parseJson(withoutNaN(text));
}

const textOrNaN = /"[^"\\]*(?:\\[^][^"\\]*)*"|-?\b(?:NaN|Infinity)\b/g;

/** `as`: what replaces each NaN and Infinity, filled up to its length. Texts in quotes stay as they are. */
export function withoutNaN(text: string, as: "null" | "0" = "null"): string {
  return text.replace(textOrNaN, (found) => (found.startsWith('"') ? found : as.padEnd(found.length)));
}
