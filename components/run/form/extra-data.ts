// What a person wrote as extra_data: parsed, checked, and merged over what came with the workflow.
// Guarantees: never throws; bounded. It may hold partners' keys, so it stays in this page's memory and is never stored.

import { withSpellingsOf } from "@/lib/contract/json/exact-json";
import { isObject, type JsonObject, objectOf } from "@/lib/contract/json/json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { isDeeperThan } from "@/lib/shared/json-depth";

export const extraLimits = { characters: 100_000, depth: 50 } as const;

export type ExtraReading = { ok: true; value: JsonObject } | { ok: false; why: "not_json" | "no_object" | "too_large" | "too_deep" };

/** An empty text means no extra data. */
export function readExtra(text: string): ExtraReading {
  if (text.trim() === "") return { ok: true, value: {} };
  if (text.length > extraLimits.characters) return { ok: false, why: "too_large" };
  if (isDeeperThan(text, extraLimits.depth)) return { ok: false, why: "too_deep" };
  const value = parseJson(text);
  if (value === undefined) return { ok: false, why: "not_json" };
  return isObject(value) ? { ok: true, value } : { ok: false, why: "no_object" };
}

/** What is written wins; extra_pnginfo, which is embedded in pictures, is merged one level deeper, so that nothing in it is lost. */
export function mergedExtra(opened: JsonObject | undefined, written: JsonObject): JsonObject {
  const info = merged(objectOf(opened?.extra_pnginfo) ?? {}, objectOf(written.extra_pnginfo) ?? {});
  const extra = merged(opened ?? {}, written);
  return Object.keys(info).length > 0 ? withSpellingsOf(extra, { ...extra, extra_pnginfo: info }) : extra;
}

function merged(opened: JsonObject, written: JsonObject): JsonObject {
  return withSpellingsOf(opened, withSpellingsOf(written, { ...opened, ...written }));
}
