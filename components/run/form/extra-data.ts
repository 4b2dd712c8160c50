// What a person wrote as extra_data: read, judged, and merged over what the workflow brought.
// Guarantees: never throws; bounded. It may hold keys of partners, so it lives in this page's memory only and is never stored.

import { isObject, type JsonObject, objectOf, parseJson } from "@/lib/contract/json/json";
import { isDeeperThan } from "@/lib/shared/json-depth";

export const extraLimits = { characters: 100_000, depth: 50 } as const;

export type ExtraReading = { ok: true; value: JsonObject } | { ok: false; why: "not_json" | "no_object" | "too_large" | "too_deep" };

/** Nothing written is nothing extra. */
export function readExtra(text: string): ExtraReading {
  if (text.trim() === "") return { ok: true, value: {} };
  if (text.length > extraLimits.characters) return { ok: false, why: "too_large" };
  if (isDeeperThan(text, extraLimits.depth)) return { ok: false, why: "too_deep" };
  const value = parseJson(text);
  if (value === undefined) return { ok: false, why: "not_json" };
  return isObject(value) ? { ok: true, value } : { ok: false, why: "no_object" };
}

/** What is written wins; the information that travels in pictures is merged one level deeper, so that it loses nothing. */
export function mergedExtra(brought: JsonObject | undefined, written: JsonObject): JsonObject {
  const info = { ...objectOf(brought?.extra_pnginfo), ...objectOf(written.extra_pnginfo) };
  return { ...brought, ...written, ...(Object.keys(info).length > 0 && { extra_pnginfo: info }) };
}
