// The submissions of a run's copies: the shared workflow and the edits of each copy.
// Guarantees: values and seeds are chosen once, so that continuing later sends exactly what was shown.

import { affectsAllCalls, type BulkCallContext, retryRateLimited } from "@/lib/browser/bulk/bulk-calls";
import { type Failure } from "@/lib/contract/failure";
import { getOwn } from "@/lib/contract/json/json";
import { type FilledText, isFileName } from "@/lib/contract/nodes/fill-texts";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type BatchRef } from "@/lib/contract/workflow/submission";
import { createIdempotencyKey } from "@/lib/shared/text";
import { type SeedEdit, withInputs } from "../form/form-model";
import { type Attempt, classifyResult, lookUpOutcome, type RunOutcome, type SubmitApi } from "../submit/attempt";
import { type Submission, toSubmission } from "../submit/submission";
import { type WriteEditorFile } from "../workflow/editor-file";
import { type Edit, type OpenWorkflow } from "../workflow/opened-workflow";
import { type CopiesPlan, type CopyOutcome, type Ending } from "./copies-state";
import { getCopyLabel, type Literal } from "./variation";

/** Values drawn for each copy: seeds, and texts that are filled on sending. */
export type CopyValues = {
  getSeeds: (copy: number) => readonly SeedEdit[];
  fill: (graph: Graph, copy: number) => readonly FilledText[];
};
export type CopiesOrder = CopyValues & { nodeId: string; input: string; values: readonly Literal[]; writeEditorFile?: WriteEditorFile };

export function planCopies(openWorkflow: OpenWorkflow, name: string, { nodeId, input, values, ...copyValues }: CopiesOrder): CopiesPlan {
  return {
    workflow: { ...openWorkflow, name },
    copies: values.map((value, index) => ({
      key: createIdempotencyKey(),
      label: getCopyLabel(input, getOwn(openWorkflow.ownNames, String(value)) ?? value, { index, total: values.length }),
      edits: getCopyChanges(openWorkflow.graph, { nodeId, name: input, value }, index, copyValues).edits,
    })),
  };
}

/** How a copy differs from the form, and which of its texts are filled in; used both for the preview and for sending. */
export function getCopyChanges(graph: Graph, variedInput: Edit, copy: number, { getSeeds, fill }: CopyValues) {
  const seeds = getSeeds(copy).filter(({ nodeId, name }) => nodeId !== variedInput.nodeId || name !== variedInput.name);
  const shownGraph = withInputs(graph, [...seeds, variedInput]);
  const texts = fill(shownGraph, copy);
  // A file name is listed twice: as written and as sent.
  const nameEdits = texts.flatMap(({ nodeId, name }) => {
    const node = getOwn(shownGraph, nodeId);
    return node && isFileName(node, name) ? [{ nodeId, name, value: node.inputs[name] }] : [];
  });
  const edits: Edit[] = [...seeds, variedInput, ...nameEdits, ...texts.map(({ nodeId, name, text }) => ({ nodeId, name, value: text }))];
  return { edits, texts };
}

export function toPlannedCopies({ workflow, copies }: CopiesPlan, writeEditorFile?: WriteEditorFile): PlannedCopy[] {
  return copies.map(({ key, label, edits }) => ({
    key,
    label,
    rerunOf: workflow.fromJob,
    createSubmission: () => {
      const graph = withInputs(workflow.graph, edits);
      // The first edit of an input contains the text as written.
      return { graph, submission: toSubmission({ ...workflow, graph }, withInputs(workflow.graph, edits.toReversed()), writeEditorFile) };
    },
  }));
}

// Sends the copies of a run one after another and reports each outcome.
// Guarantees: one idempotency key per copy, so a copy creates at most one job. Only rate-limited requests are retried. Copies that would get
// the same refusal are not sent. A stop waits for the copy that is being sent.

/** The submission of one copy, built lazily: a thousand graphs at once would use a thousand times the memory. */
export type PlannedCopy = {
  key: string;
  label: string;
  rerunOf?: string;
  createSubmission: () => { submission: Submission; graph: Graph };
};

type SendCallbacks = {
  onSending: (key: string) => void;
  /** Undefined: nothing was sent. */
  onOutcome: (key: string, outcome: CopyOutcome | undefined) => void;
  onWait: BulkCallContext["onWait"];
};
type SendOptions = SendCallbacks & {
  api: Pick<SubmitApi, "sendPrompt" | "reportSubmission">;
  attempt: Omit<Attempt, "key">;
  batch: BatchRef;
  signal: AbortSignal;
};

/** After this many failures in a row, the rest would likely fail too. */
const MAX_CONSECUTIVE_FAILURES = 3;

export async function sendCopies(copies: readonly PlannedCopy[], options: SendOptions): Promise<Ending> {
  let consecutiveFailures = 0;
  for (const copy of copies) {
    if (options.signal.aborted) return { kind: "stopped" };
    options.onSending(copy.key);
    const outcome = await sendCopy(copy, options);
    // The wait for the rate limit was aborted: the copy was refused, and nothing was started.
    const isUnsent = outcome.kind === "lost" || (options.signal.aborted && outcome.kind === "refused" && outcome.failure.status === 429);
    options.onOutcome(copy.key, isUnsent ? undefined : toCopyOutcome(outcome));
    if (outcome.kind === "accepted") {
      consecutiveFailures = 0;
      continue;
    }
    if (isUnsent) return outcome.kind === "lost" ? { kind: "refused", failure: consoleUnreachable } : { kind: "stopped" };
    if (affectsAllCopies(outcome)) return { kind: "refused", failure: outcome.failure };
    consecutiveFailures += 1;
    if (consecutiveFailures === MAX_CONSECUTIVE_FAILURES) return { kind: "failing", failure: outcome.failure };
  }
  return { kind: "done" };
}

const consoleUnreachable: Failure = { code: "CONSOLE_UNREACHABLE", message: "", status: 0 };

async function sendCopy(
  { key, label, rerunOf, createSubmission }: PlannedCopy,
  { api, attempt, batch, signal, onWait }: SendOptions,
): Promise<RunOutcome> {
  const { submission, graph } = createSubmission();
  const result = await retryRateLimited(() => api.sendPrompt(submission, key, { label, batch, rerunOf }), { signal, onWait });
  const outcome = classifyResult(result, graph);
  return outcome.kind === "unknown" && outcome.failure.code === "CONSOLE_UNREACHABLE" ? lookUpOutcome(api, { ...attempt, key }) : outcome;
}

/** Whether the refusal affects every copy: session, rights, plan and queue are shared; values are not. */
function affectsAllCopies(outcome: Exclude<RunOutcome, { kind: "accepted" }>): boolean {
  if (outcome.kind === "invalid") return false;
  return outcome.kind === "unknown" ? outcome.failure.code === "CONSOLE_UNREACHABLE" : affectsAllCalls(outcome.failure);
}

export function toCopyOutcome(outcome: RunOutcome): CopyOutcome {
  return outcome.kind === "accepted"
    ? { kind: "accepted", jobId: outcome.jobId, nodesRefused: Object.keys(outcome.errors).length }
    : { kind: outcome.kind, failure: outcome.failure };
}
