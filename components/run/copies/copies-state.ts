// The copies of one run: what was sent, the outcome of each, and every change they can go through. Pure.
// Guarantees: an outcome is never overwritten by a later guess; an unknown outcome is shown as unknown.

import { type Failure } from "@/lib/contract/failure";
import { type JobState } from "@/lib/contract/jobs/job-list";
import { type RunOutcome } from "../submit/attempt";

export type CopyOutcome =
  | { kind: "accepted"; jobId: string; nodesRefused: number; isCancelled?: boolean }
  | { kind: Exclude<RunOutcome["kind"], "accepted">; failure: Failure };

/** `isBegun`: the copy may have reached the service, even if its outcome is unknown. */
export type Copy = { key: string; label: string; isBegun?: boolean; outcome?: CopyOutcome };

/** The state of a job, by its id. `isGone`: the service has no trace of the job any more. */
export type CopyJob = { word: string; state: JobState; hasEnded: boolean; isGone?: boolean; createdAtMs?: number; progress?: number };
export type CopyJobs = ReadonlyMap<string, CopyJob>;

export type Ending =
  | { kind: "done" | "stopped" | "left"; failure?: undefined }
  /** The remaining copies would be refused for the same reason. */
  | { kind: "refused" | "failing"; failure: Failure };

export type CopiesSet = {
  /** Tells two sets apart, so that a late answer changes only its own set. */
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
  canGoOn: boolean;
};

export type CopiesAct =
  | { act: "begun"; set: CopiesSet }
  | { act: "went-on"; id: string }
  | { act: "sending"; id: string; key: string }
  | { act: "outcome"; id: string; key: string; outcome: CopyOutcome | undefined }
  | { act: "waiting"; id: string; waitMs: number | undefined }
  | { act: "stopping"; id: string }
  | { act: "ended"; id: string; ending: Ending }
  | { act: "cancelled"; id: string; jobIds: readonly string[] }
  | { act: "left" };

export function copiesReducer(set: CopiesSet | undefined, action: CopiesAct): CopiesSet | undefined {
  if (action.act === "begun") return action.set;
  if (action.act === "left") return undefined;
  if (!set || set.id !== action.id) return set;
  const { waitMs: _waited, ...calm } = set;
  switch (action.act) {
    case "went-on":
      return { ...calm, ending: undefined, isStopping: false };
    case "sending":
      return { ...calm, copies: changed(set.copies, action.key, (copy) => ({ ...copy, isBegun: true, outcome: undefined })) };
    case "outcome":
      // Without an outcome nothing was sent: the copy is as it was before.
      return { ...calm, copies: changed(set.copies, action.key, ({ key, label }) => withOutcome({ key, label }, action.outcome)) };
    case "waiting":
      return { ...calm, ...(action.waitMs !== undefined && { waitMs: action.waitMs }) };
    case "stopping":
      return { ...set, isStopping: true };
    case "ended":
      return { ...calm, ending: action.ending, isStopping: false };
    case "cancelled":
      return { ...set, copies: set.copies.map((copy) => withCancel(copy, action.jobIds)) };
  }
}

/** Not sent, or refused without starting anything: sending it cannot make a second job of one copy. */
export function isOpen({ isBegun, outcome }: Copy): boolean {
  return outcome === undefined ? isBegun !== true : outcome.kind === "refused" || outcome.kind === "lost";
}

const tallied = [
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
export type Tally = readonly { kind: (typeof tallied)[number]; count: number }[];

/** Counts each copy once: by its job's state where known, otherwise by the outcome of sending. Kinds with a count of zero are left out. */
export function tallyOf({ copies }: Pick<CopiesSet, "copies">, jobs: CopyJobs): Tally {
  const kinds = copies.map(({ outcome }) => {
    if (!outcome) return "left";
    if (outcome.kind === "unknown") return "unknown";
    if (outcome.kind !== "accepted") return "refused";
    const job = jobs.get(outcome.jobId);
    if (outcome.isCancelled && (!job || job.isGone)) return "cancelled";
    if (!job) return "accepted";
    return job.isGone ? "gone" : job.state === "unknown" ? "other" : job.state;
  });
  return tallied.map((kind) => ({ kind, count: kinds.filter((one) => one === kind).length })).filter(({ count }) => count > 0);
}

function withOutcome(copy: Copy, outcome: CopyOutcome | undefined): Copy {
  return outcome ? { ...copy, isBegun: true, outcome } : copy;
}

function changed(copies: readonly Copy[], key: string, change: (copy: Copy) => Copy): Copy[] {
  return copies.map((copy) => (copy.key === key ? change(copy) : copy));
}

function withCancel(copy: Copy, jobIds: readonly string[]): Copy {
  const { outcome } = copy;
  return outcome?.kind === "accepted" && jobIds.includes(outcome.jobId) ? { ...copy, outcome: { ...outcome, isCancelled: true } } : copy;
}
