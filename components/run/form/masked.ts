// Values that the console masked on their way to this browser: a run with them would fail at best, so they are entered again or not sent.
// Guarantees: pure; the same object back where nothing is masked.

import { isObject, type JsonObject } from "@/lib/contract/json/json";
import { MASK } from "@/lib/contract/secrets/secret-texts";

export function isMasked(value: unknown): boolean {
  if (typeof value === "string") return value.includes(MASK);
  if (Array.isArray(value)) return value.some(isMasked);
  return isObject(value) && Object.values(value).some(isMasked);
}

/** What only travels along: a masked text says nothing and is left empty. */
export function withoutMasks(value: JsonObject): JsonObject {
  return isMasked(value) ? Object.fromEntries(Object.entries(value).map(([name, item]) => [name, emptied(item)])) : value;
}

function emptied(value: unknown): unknown {
  if (typeof value === "string") return value.replaceAll(MASK, "");
  if (Array.isArray(value)) return value.map(emptied);
  return isObject(value) ? withoutMasks(value) : value;
}
