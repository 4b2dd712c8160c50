// How somebody likes to add files, kept in this browser.
// Guarantees: a browser that keeps nothing, or kept nonsense, asks and proposes the usual; only tags that are meant from now on are kept.

import { writeExactJson } from "@/lib/contract/exact-json";
import { isObject, parseJson } from "@/lib/contract/json";
import { newDraft } from "./about";

/** Other tags than the usual belong to adding without being asked. */
type UploadHabits = { ask: boolean; tags: string };

export const usualHabits: UploadHabits = { ask: true, tags: newDraft.tags };
const KEY = "lightdesk.uploads";

export function readHabits(): UploadHabits {
  try {
    const kept = parseJson(localStorage.getItem(KEY) ?? "");
    if (isObject(kept) && kept.ask === false) return { ask: false, tags: typeof kept.tags === "string" ? kept.tags : newDraft.tags };
  } catch {
    // Storage is switched off: the usual is proposed every time.
  }
  return usualHabits;
}

export function keepHabits(habits: UploadHabits): void {
  try {
    localStorage.setItem(KEY, writeExactJson(habits));
  } catch {
    // As above.
  }
}
