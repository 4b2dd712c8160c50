// How somebody likes to add files, kept in this browser.
// Guarantees: a browser that keeps nothing, or kept nonsense, asks and proposes the usual.

import { writeExactJson } from "@/lib/contract/exact-json";
import { isObject, parseJson } from "@/lib/contract/json";
import { newDraft } from "./about";

export type UploadHabits = { ask: boolean; tags: string };

const KEY = "lightdesk.uploads";

export function readHabits(): UploadHabits {
  try {
    const kept = parseJson(localStorage.getItem(KEY) ?? "");
    if (isObject(kept)) return { ask: kept.ask !== false, tags: typeof kept.tags === "string" ? kept.tags : newDraft.tags };
  } catch {
    // Storage is switched off: the usual is proposed every time.
  }
  return { ask: true, tags: newDraft.tags };
}

export function keepHabits(habits: UploadHabits): void {
  try {
    localStorage.setItem(KEY, writeExactJson(habits));
  } catch {
    // As above.
  }
}
