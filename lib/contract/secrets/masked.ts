// Values that the console masked on their way out: a run with them would fail, so they are entered again or not sent.
// Guarantees: pure; bounded in depth; free of zod, since browsers load it with the first page.

import { isObject, type JsonObject } from "../json/json";
import { MASK } from "./secret-texts";

const DEEPEST = 100;

/** Whether a mask is anywhere in it. */
export function isMasked(value: unknown, depth = 0): boolean {
  if (typeof value === "string") return value.includes(MASK);
  if (typeof value !== "object" || value === null || depth > DEEPEST) return false;
  return Object.values(value).some((item) => isMasked(item, depth + 1));
}

/**
 * Leaves out fields that are nothing but a mask, and the mask where it is part of a text, or an item of a list, where places matter.
 * Returns the same value where nothing is masked.
 */
export function withoutMasks(value: JsonObject): JsonObject;
export function withoutMasks(value: unknown): unknown;
export function withoutMasks(value: unknown): unknown {
  return isMasked(value) ? emptied(value) : value;
}

function emptied(value: unknown): unknown {
  if (typeof value === "string") return value.replaceAll(MASK, "");
  if (Array.isArray(value)) return value.map(emptied);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([name, item]) => (item === MASK ? [] : [[name, emptied(item)]])));
}
