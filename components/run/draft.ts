// The opened workflow and what was typed into it, kept in this tab's sessionStorage so that a reload loses nothing.
// Guarantees: never throws; bounded; what comes back went through the same reading as a file; another member's draft is forgotten, not shown.
// Must never: be read while the page hydrates (the server knows none of it); hold pictures, of which only the names are kept.

import { writeExactJson } from "@/lib/contract/exact-json";
import { isObject, objectOf, parseJson, textOf } from "@/lib/contract/json";
import { openWorkflow } from "./open-workflow";
import { own } from "./own";
import { forgetText, keepText, keptText, type Shelf } from "./shelf";
import { type Edit, type OpenedFile, type OpenWorkflow } from "./run-state";

export const draftLimit = 1_000_000;
const KEY = "lightdesk.run";

export type Draft = { file: OpenedFile; edits: Edit[]; ownNames?: Record<string, string> };

/** False where it could not be kept: too large, or the browser keeps nothing. Then no older draft is left either, and the page warns before it is left. */
export function keepDraft(shelf: Shelf, memberId: string, opened: OpenWorkflow): boolean {
  const { name, stored, original, extraData, ownNames } = opened;
  const workflow = { prompt: original, extra_data: extraData };
  const text = writeExactJson({ memberId, name, stored, workflow, edits: editsOf(opened), ownNames });
  if (text.length <= draftLimit && keepText(shelf, KEY, text)) return true;
  forgetDraft(shelf);
  return false;
}

export function forgetDraft(shelf: Shelf): void {
  forgetText(shelf, KEY);
}

export function readDraft(shelf: Shelf, memberId: string): Draft | undefined {
  const kept = objectOf(parseJson(keptText(shelf, KEY)));
  if (!kept) return undefined;
  const opened = kept.memberId === memberId ? openWorkflow(writeExactJson(kept.workflow)) : undefined;
  if (!opened?.ok) {
    forgetDraft(shelf);
    return undefined;
  }
  const edits = Array.isArray(kept.edits) ? kept.edits.flatMap(readEdit) : [];
  const names = Object.entries(objectOf(kept.ownNames) ?? {}).flatMap(([sent, own]) =>
    typeof own === "string" ? [[sent, own] as const] : [],
  );
  const stored = textOf(kept.stored);
  return {
    file: { ...opened.value, name: textOf(kept.name) ?? "", ...(stored !== undefined && { stored }) },
    edits,
    ...(names.length > 0 && { ownNames: Object.fromEntries(names) }),
  };
}

function editsOf({ graph, original }: OpenWorkflow): Edit[] {
  return Object.entries(graph).flatMap(([nodeId, node]) => {
    const before = own(original, nodeId);
    if (before === node) return [];
    return Object.entries(node.inputs).flatMap(([name, value]) => (own(before?.inputs, name) === value ? [] : [{ nodeId, name, value }]));
  });
}

export function readEdit(edit: unknown): Edit[] {
  if (!isObject(edit) || typeof edit.nodeId !== "string" || typeof edit.name !== "string" || !("value" in edit)) return [];
  return [{ nodeId: edit.nodeId, name: edit.name, value: edit.value }];
}
