// What the copies of a run send, kept in this tab's sessionStorage, so that a reload in the middle can send the rest.
// Guarantees: never throws; bounded as a draft is; what comes back went through the same reading as a file, and belongs to the copies it is asked for.
// Must never: hold what was typed as extra data, which may be a secret. Such copies are not kept.

import { type KeptIn, persistedNote } from "@/lib/browser/persisted";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { isObject } from "@/lib/contract/json/json";
import { draftLimit, readEdit } from "../workflow/draft";
import { openWorkflow } from "../workflow/open-workflow";
import { type Edit } from "../run-state";
import { type CopiesPlan } from "./copies-plan";
import { type CopiesSet } from "./copies-state";

const noteIn = (storage: KeptIn) => persistedNote("lightdesk.run.copies.plan", storage, draftLimit);

export function keepPlan(storage: KeptIn, { workflow, copies }: CopiesPlan): void {
  forgetPlan(storage);
  if (workflow.advanced?.extra?.trim()) return;
  // Where it is not kept the rest cannot be sent after a reload, and the page says so.
  noteIn(storage).set({
    workflow: { prompt: workflow.graph, extra_data: workflow.extraData },
    targets: workflow.advanced?.targets,
    copies: copies.map(({ key, edits }) => ({ key, edits })),
  });
}

export function forgetPlan(storage: KeptIn): void {
  noteIn(storage).forget();
}

/** Undefined where it was not kept, or is that of other copies. */
export function keptPlan(storage: KeptIn, { copies, name, workflowId }: CopiesSet): CopiesPlan | undefined {
  const kept = noteIn(storage).get();
  const opened = kept && openWorkflow(writeExactJson(kept.workflow));
  if (!opened?.ok || !Array.isArray(kept?.copies)) return undefined;
  const edits = new Map(kept.copies.flatMap(readCopy));
  const planned = copies.flatMap(({ key, label }) => {
    const own = edits.get(key);
    return own ? [{ key, label, edits: own }] : [];
  });
  if (planned.length !== copies.length) return undefined;
  const targets = Array.isArray(kept.targets) ? kept.targets.filter((target) => typeof target === "string") : undefined;
  return { workflow: { ...opened.value, name, workflowId, ...(targets && { advanced: { targets } }) }, copies: planned };
}

function readCopy(copy: unknown): [string, Edit[]][] {
  return isObject(copy) && typeof copy.key === "string" && Array.isArray(copy.edits) ? [[copy.key, copy.edits.flatMap(readEdit)]] : [];
}
