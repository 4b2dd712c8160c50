// How a person likes to add files, kept in this browser. Guarantees: only tags that are meant from now on are kept.

import { persisted } from "@/lib/browser/persisted";
import { isObject } from "@/lib/contract/json/json";
import { newDraft } from "./about";

/** Other tags than the usual belong to adding without being asked. */
type UploadHabits = { ask: boolean; tags: string };

export const usualHabits: UploadHabits = { ask: true, tags: newDraft.tags };

export const uploadHabits = persisted("lightdesk.uploads", (kept): UploadHabits => {
  if (!isObject(kept) || kept.ask !== false) return usualHabits;
  return { ask: false, tags: typeof kept.tags === "string" ? kept.tags : newDraft.tags };
});
