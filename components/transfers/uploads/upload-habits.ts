// How a person likes to add files, stored in this browser. Guarantees: tags are stored only if they apply from now on.

import { persisted } from "@/lib/browser/persisted";
import { anyText, object, oneOf, or } from "@/lib/contract/json/readers";
import { newDraft } from "./about";

export const usualHabits = { ask: true, tags: newDraft.tags };

/** Own default tags are used only when files are added without asking. */
const unasked = object({ ask: oneOf([false]), tags: or(anyText, newDraft.tags) });

export const uploadHabits = persisted("lightdesk.uploads", (kept): typeof usualHabits => unasked(kept) ?? usualHabits);
