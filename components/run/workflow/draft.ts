// The opened workflow and what was typed into it, kept in this tab's sessionStorage so that a reload loses nothing.
// Guarantees: never throws; bounded; what comes back went through the same reading as a file; another member's draft is forgotten, not shown.
// Must never: be read while the page hydrates (the server knows none of it); hold pictures, of which only the names are kept.

import { type KeptIn, persistedNote } from "@/lib/browser/persisted";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { isObject, type JsonObject, objectOf, textOf } from "@/lib/contract/json/json";
import { openWorkflow } from "./open-workflow";
import { own } from "../form/own";
import { type Edit, type OpenedFile, type OpenWorkflow } from "../run-state";

export const draftLimit = 1_000_000;
const noteIn = (storage: KeptIn) => persistedNote("lightdesk.run", storage, draftLimit);

/** `inputs`: of each node that was changed, all that it has now: a choice may take inputs away. */
export type Draft = { file: OpenedFile; inputs: Record<string, JsonObject>; ownNames?: Record<string, string> };

/** False where it could not be kept: too large, or the browser keeps nothing. Then no older draft is left either, and the page warns before it is left. */
export function keepDraft(storage: KeptIn, memberId: string, opened: OpenWorkflow): boolean {
  const { name, workflowId, stored, original, extraData, ownNames } = opened;
  const workflow = { prompt: original, extra_data: extraData };
  if (noteIn(storage).set({ memberId, name, workflowId, stored, workflow, inputs: changedInputs(opened), ownNames })) return true;
  forgetDraft(storage);
  return false;
}

export function forgetDraft(storage: KeptIn): void {
  noteIn(storage).forget();
}

export function readDraft(storage: KeptIn, memberId: string): Draft | undefined {
  const kept = noteIn(storage).get();
  if (!kept) return undefined;
  const opened =
    kept.memberId === memberId
      ? openWorkflow(writeExactJson(kept.workflow), undefined, { workflowId: textOf(kept.workflowId) })
      : undefined;
  if (!opened?.ok) {
    forgetDraft(storage);
    return undefined;
  }
  const inputs = Object.entries(objectOf(kept.inputs) ?? {}).flatMap(([nodeId, now]) => (isObject(now) ? [[nodeId, now] as const] : []));
  const names = Object.entries(objectOf(kept.ownNames) ?? {}).flatMap(([sent, own]) =>
    typeof own === "string" ? [[sent, own] as const] : [],
  );
  const stored = textOf(kept.stored);
  return {
    file: { ...opened.value, name: textOf(kept.name) ?? "", ...(stored !== undefined && { stored }) },
    inputs: Object.fromEntries(inputs),
    ...(names.length > 0 && { ownNames: Object.fromEntries(names) }),
  };
}

function changedInputs({ graph, original }: OpenWorkflow): Record<string, JsonObject> {
  const changed = Object.entries(graph).filter(([nodeId, node]) => own(original, nodeId) !== node);
  return Object.fromEntries(changed.map(([nodeId, { inputs }]) => [nodeId, inputs]));
}

export function readEdit(edit: unknown): Edit[] {
  if (!isObject(edit) || typeof edit.nodeId !== "string" || typeof edit.name !== "string" || !("value" in edit)) return [];
  return [{ nodeId: edit.nodeId, name: edit.name, value: edit.value }];
}
