// What the copies of a run send, kept in this tab's sessionStorage, so that after a reload in the middle the rest can still be sent.
// Guarantees: never throws; bounded like a draft; what is read back is parsed like a file, and returned only for its own copies.
// Must never: hold what was typed as extra data, which may be a secret; plans with extra data are not kept.

import { type KeptIn, persisted } from "@/lib/browser/persisted";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { anyText, anything, list, object, text } from "@/lib/contract/json/readers";
import { draftOptions, edit } from "../workflow/draft";
import { openWorkflow } from "../workflow/open-workflow";
import { type CopiesPlan } from "./copies-plan";
import { type CopiesSet } from "./copies-state";

const note = object(
  { copies: list(object({ key: anyText, edits: list(edit) })), workflow: anything },
  { targets: list(anyText), fromJob: text },
);
const noteIn = (storage: KeptIn) => persisted("lightdesk.run.copies.plan", note, storage, draftOptions);

export function keepPlan(storage: KeptIn, { workflow, copies }: CopiesPlan): void {
  forgetPlan(storage);
  if (workflow.advanced?.extra?.trim()) return;
  // If the browser stores nothing, the rest cannot be sent after a reload, and the page says so.
  noteIn(storage).set({
    workflow: { prompt: workflow.graph, extra_data: workflow.extraData },
    targets: workflow.advanced?.targets,
    fromJob: workflow.fromJob,
    copies: copies.map(({ key, edits }) => ({ key, edits })),
  });
}

export function forgetPlan(storage: KeptIn): void {
  noteIn(storage).forget();
}

/** Undefined where nothing was kept, or where it belongs to other copies. */
export function keptPlan(storage: KeptIn, { copies, name, workflowId }: CopiesSet): CopiesPlan | undefined {
  const kept = noteIn(storage).get();
  const opened = kept && openWorkflow(writeExactJson(kept.workflow));
  if (!kept || !opened?.ok) return undefined;
  const edits = new Map(kept.copies.map((copy) => [copy.key, copy.edits]));
  const planned = copies.flatMap(({ key, label }) => {
    const own = edits.get(key);
    return own ? [{ key, label, edits: own }] : [];
  });
  if (planned.length !== copies.length) return undefined;
  const { targets, fromJob } = kept;
  return { workflow: { ...opened.value, name, workflowId, fromJob, ...(targets && { advanced: { targets } }) }, copies: planned };
}
