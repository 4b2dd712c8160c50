// How a person likes to add files, kept in this browser. Guarantees: only tags that are meant from now on are kept.

import { persisted } from "@/lib/browser/persisted";
import { anyText, object, oneOf, or } from "@/lib/contract/json/readers";
import { newDraft } from "./about";

export const usualHabits = { ask: true, tags: newDraft.tags };

/** Other tags than the usual belong to adding without being asked. */
const unasked = object({ ask: oneOf([false]), tags: or(anyText, newDraft.tags) });

export const uploadHabits = persisted("lightdesk.uploads", (kept): typeof usualHabits => unasked(kept) ?? usualHabits);
