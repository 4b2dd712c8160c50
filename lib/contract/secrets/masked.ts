// Values that the console masked on their way out: a run with them would fail, so they are entered again or not sent.
// Guarantees: pure; bounded in depth; free of zod, since browsers load it with the first page.

import { isObject, type JsonObject } from "../json/json";
import { MASK } from "./secret-texts";

const DEEPEST = 100;

/** Whether a mask is anywhere in it; what lies too deep to be searched counts as masked. */
export function isMasked(value: unknown, depth = 0): boolean {
  if (typeof value === "string") return value.includes(MASK);
  if (typeof value !== "object" || value === null) return false;
  return depth > DEEPEST || Object.values(value).some((item) => isMasked(item, depth + 1));
}

/**
 * Leaves out fields whose text holds a mask; of an item of a list, where places matter, and of a text alone, only the mask.
 * Returns the same value where nothing is masked.
 */
export function withoutMasks(value: JsonObject): JsonObject;
export function withoutMasks(value: unknown): unknown;
export function withoutMasks(value: unknown): unknown {
  return isMasked(value) ? emptied(value) : value;
}

function emptied(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return value.replaceAll(MASK, "");
  if (typeof value !== "object" || value === null) return value;
  if (depth > DEEPEST) return null;
  if (!isObject(value)) return Object.values(value).map((item: unknown) => emptied(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, item]) =>
      typeof item === "string" && item.includes(MASK) ? [] : [[name, emptied(item, depth + 1)]],
    ),
  );
}
