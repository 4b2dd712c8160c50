// The state of a run's copies: outcomes and transitions.
// Guarantees: a later guess never overwrites an outcome. An unknown outcome is shown as unknown.

import { type BrowserStorage, createPersistedValue } from "@/lib/browser/persisted-value";
import { type Failure } from "@/lib/contract/failure";
import { type ExpectedRun } from "@/lib/contract/jobs/expected-run";
import { type JobState } from "@/lib/contract/jobs/job-list";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import {
  anyText,
  anything,
  filter,
  isTrue,
  list,
  number,
  object,
  oneOf,
  type ReaderOutput,
  text,
  withFallback,
} from "@/lib/contract/json/readers";
import { isIdempotencyKey } from "@/lib/contract/workflow/submission";
import { type RunOutcome } from "../submit/attempt";
import { type SubmittedWorkflow } from "../submit/submission";
import { openWorkflow } from "../workflow/open-workflow";
import { type Edit } from "../workflow/opened-workflow";
import { draftOptions, editReader } from "../workflow/workflow-memory";
import { MAX_COPIES } from "./variation";

export type CopyOutcome =
  | { kind: "accepted"; jobId: string; nodesRefused: number; isCancelled?: boolean }
  | { kind: Exclude<RunOutcome["kind"], "accepted">; failure: Failure };

/** `isBegun`: the copy may have reached the service, even if its outcome is unknown. */
export type Copy = { key: string; label: string; isBegun?: boolean; outcome?: CopyOutcome };

/** `isMissing`: the service no longer has the job. */
export type CopyJob = {
  word: string;
  state: JobState;
  hasEnded: boolean;
  isMissing?: boolean;
  createdAtMs?: number;
  startedMs?: number;
  progress?: number;
  expected?: ExpectedRun;
};
export type CopyJobs = ReadonlyMap<string, CopyJob>;

export type Ending = { kind: "done" | "stopped" | "left"; failure?: undefined } | { kind: "refused" | "failing"; failure: Failure };

export type CopiesSet = {
  /** Identifies a set, so that a late response changes only its own set. */
  id: string;
  memberId: string;
  connection?: string;
  workflowId: string;
  name: string;
  atMs: number;
  copies: readonly Copy[];
  isStopping?: boolean;
  waitMs?: number;
  ending?: Ending;
  /** Whether the remaining copies can be sent: after a reload only if this tab could store them. */
  canResume: boolean;
};

export type CopiesAction =
  | { type: "started"; set: CopiesSet }
  | { type: "resumed"; id: string }
  | { type: "sending"; id: string; key: string }
  | { type: "outcome"; id: string; key: string; outcome: CopyOutcome | undefined }
  | { type: "waiting"; id: string; waitMs: number | undefined }
  | { type: "stopping"; id: string }
  | { type: "ended"; id: string; ending: Ending }
  | { type: "cancelled"; id: string; jobIds: readonly string[] }
  | { type: "dismissed" };

export function copiesReducer(set: CopiesSet | undefined, action: CopiesAction): CopiesSet | undefined {
  if (action.type === "started") return action.set;
  if (action.type === "dismissed") return undefined;
  if (!set || set.id !== action.id) return set;
  const { waitMs: _waitMs, ...setWithoutWait } = set;
  switch (action.type) {
    case "resumed":
      return { ...setWithoutWait, ending: undefined, isStopping: false };
    case "sending":
      return {
        ...setWithoutWait,
        copies: updateCopy(set.copies, action.key, (copy) => ({ ...copy, isBegun: true, outcome: undefined })),
      };
    case "outcome":
      // Without an outcome nothing was sent, so the copy is unchanged.
      return {
        ...setWithoutWait,
        copies: updateCopy(set.copies, action.key, ({ key, label }) => withOutcome({ key, label }, action.outcome)),
      };
    case "waiting":
      return { ...setWithoutWait, ...(action.waitMs !== undefined && { waitMs: action.waitMs }) };
    case "stopping":
      return { ...set, isStopping: true };
    case "ended":
      return { ...setWithoutWait, ending: action.ending, isStopping: false };
    case "cancelled":
      return { ...set, copies: set.copies.map((copy) => withCancellation(copy, action.jobIds)) };
  }
}

/** True if the copy was not sent, or was refused without a job, so that resending can't create a second job. */
export function canResend({ isBegun, outcome }: Copy): boolean {
  return outcome === undefined ? isBegun !== true : outcome.kind === "refused" || outcome.kind === "lost";
}

export function isSendingCopies(set: CopiesSet | undefined): boolean {
  return set !== undefined && set.ending === undefined;
}

const tallyKinds = [
  "accepted",
  "completed",
  "in_progress",
  "pending",
  "failed",
  "other",
  "cancelled",
  "gone",
  "unknown",
  "refused",
  "left",
] as const;
export type Tally = readonly { kind: (typeof tallyKinds)[number]; count: number }[];

/** Counts each copy once: by its job's state if known, otherwise by its outcome. Omits zero counts. */
export function countCopies({ copies }: Pick<CopiesSet, "copies">, jobs: CopyJobs): Tally {
  const kinds = copies.map(({ outcome }) => {
    if (!outcome) return "left";
    if (outcome.kind === "unknown") return "unknown";
    if (outcome.kind !== "accepted") return "refused";
    const job = jobs.get(outcome.jobId);
    if (outcome.isCancelled && (!job || job.isMissing)) return "cancelled";
    if (!job) return "accepted";
    return job.isMissing ? "gone" : job.state === "unknown" ? "other" : job.state;
  });
  return tallyKinds.map((kind) => ({ kind, count: kinds.filter((value) => value === kind).length })).filter(({ count }) => count > 0);
}

function withOutcome(copy: Copy, outcome: CopyOutcome | undefined): Copy {
  return outcome ? { ...copy, isBegun: true, outcome } : copy;
}

function updateCopy(copies: readonly Copy[], key: string, change: (copy: Copy) => Copy): Copy[] {
  return copies.map((copy) => (copy.key === key ? change(copy) : copy));
}

function withCancellation(copy: Copy, jobIds: readonly string[]): Copy {
  const { outcome } = copy;
  return outcome?.kind === "accepted" && jobIds.includes(outcome.jobId) ? { ...copy, outcome: { ...outcome, isCancelled: true } } : copy;
}

// Stores the outcomes of a run's copies in this tab's sessionStorage, so that a reload while sending loses none.
// Guarantees: never throws; bounded by the number of copies; ignores another member's entry; never contains the submissions.

const copyReader = object(
  { key: filter(anyText, isIdempotencyKey), label: anyText },
  { isBegun: isTrue, jobId: text, isCancelled: isTrue, kind: oneOf(["invalid", "refused", "unknown", "lost"]), code: text, message: text },
);
const copiesReader = object(
  { memberId: text, workflowId: text, atMs: number, name: withFallback(text, ""), copies: list(copyReader, MAX_COPIES) },
  { id: text, connection: text, isOver: isTrue },
);
const getCopiesStorage = (storage: BrowserStorage) => createPersistedValue("lightdesk.run.copies", copiesReader, storage);

export function storeCopies(storage: BrowserStorage, set: CopiesSet | undefined): void {
  if (!set) return getCopiesStorage(storage).remove();
  const { id, memberId, connection, workflowId, name, atMs, copies, ending } = set;
  // Without storage, a reload loses the outcomes; the jobs still carry their labels.
  getCopiesStorage(storage).set({
    id,
    memberId,
    connection,
    workflowId,
    name,
    atMs,
    copies: copies.map(toStoredCopy),
    ...(ending && { isOver: true }),
  });
}

/** After a reload, a set that was still being sent counts as left. */
export function readStoredCopies(storage: BrowserStorage, memberId: string): CopiesSet | undefined {
  const storedCopies = getCopiesStorage(storage).get();
  if (storedCopies?.memberId !== memberId || storedCopies.copies.length === 0) return undefined;
  const { id = `kept-${storedCopies.atMs}`, copies, isOver, ...set } = storedCopies;
  return {
    id,
    ...set,
    copies: copies.map(fromStoredCopy),
    ending: { kind: isOver ? "done" : "left" },
    canResume: false,
  };
}

type StoredCopy = ReaderOutput<typeof copyReader>;

function toStoredCopy({ key, label, isBegun, outcome }: Copy): StoredCopy {
  if (!outcome) return { key, label, ...(isBegun && { isBegun }) };
  if (outcome.kind === "accepted") return { key, label, jobId: outcome.jobId, ...(outcome.isCancelled && { isCancelled: true }) };
  return { key, label, kind: outcome.kind, code: outcome.failure.code, message: outcome.failure.message };
}

function fromStoredCopy({ key, label, isBegun, jobId, isCancelled, kind, code = "UNKNOWN_ERROR", message = "" }: StoredCopy): Copy {
  if (jobId !== undefined) {
    return { key, label, isBegun: true, outcome: { kind: "accepted", jobId, nodesRefused: 0, ...(isCancelled && { isCancelled }) } };
  }
  if (kind) return { key, label, isBegun: true, outcome: { kind, failure: { code, message, status: 0 } } };
  return { key, label, ...(isBegun && { isBegun }) };
}

// Stores the submissions of a run's copies in this tab's sessionStorage, so that unsent copies can be sent after a reload.
// Guarantees: never throws; bounded like a draft; stored data is parsed like a file and returned only for its own copies.
// Plans with typed extra data are not stored, since it may contain secrets.

const planReader = object(
  { copies: list(object({ key: anyText, edits: list(editReader) })), workflow: anything },
  { targets: list(anyText), fromJob: text },
);
const getPlanStorage = (storage: BrowserStorage) => createPersistedValue("lightdesk.run.copies.plan", planReader, storage, draftOptions);

/** The shared workflow of the copies, and the differences. */
export type CopiesPlan = { workflow: SubmittedWorkflow; copies: readonly { key: string; label: string; edits: readonly Edit[] }[] };

export function storePlan(storage: BrowserStorage, { workflow, copies }: CopiesPlan): void {
  deletePlan(storage);
  if (workflow.advanced?.extra?.trim()) return;
  // Without storage, unsent copies can't be sent after a reload, and the page reports it.
  getPlanStorage(storage).set({
    workflow: { prompt: workflow.graph, extra_data: workflow.extraData },
    targets: workflow.advanced?.targets,
    fromJob: workflow.fromJob,
    copies: copies.map(({ key, edits }) => ({ key, edits })),
  });
}

export function deletePlan(storage: BrowserStorage): void {
  getPlanStorage(storage).remove();
}

/** Undefined if nothing was stored or it belongs to other copies. */
export function readStoredPlan(storage: BrowserStorage, { copies, name, workflowId }: CopiesSet): CopiesPlan | undefined {
  const storedPlan = getPlanStorage(storage).get();
  const result = storedPlan && openWorkflow(writeExactJson(storedPlan.workflow));
  if (!storedPlan || !result?.ok) return undefined;
  const editsByKey = new Map(storedPlan.copies.map((copy) => [copy.key, copy.edits]));
  const plannedCopies = copies.flatMap(({ key, label }) => {
    const copyEdits = editsByKey.get(key);
    return copyEdits ? [{ key, label, edits: copyEdits }] : [];
  });
  if (plannedCopies.length !== copies.length) return undefined;
  const { targets, fromJob } = storedPlan;
  return { workflow: { ...result.value, name, workflowId, fromJob, ...(targets && { advanced: { targets } }) }, copies: plannedCopies };
}
