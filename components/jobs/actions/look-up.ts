// Looks up jobs whose cancel, stop or removal had no clear answer, and derives the outcome from their present state.
// Must never: send anything a second time.

import { callPatiently, type Work } from "@/lib/browser/bulk/bulk-calls";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { type JobState, toJobState } from "@/lib/contract/jobs/job-list";
import { type ReceiptEntry } from "./receipt-entry";

export type Ending = "cancel" | "stop" | "remove";

/** One call per job, until the service cannot be reached. */
export async function lookUp(
  ending: Ending,
  batch: readonly { id: string }[],
  failure: ApiFailure | undefined,
  work: Work,
): Promise<ReceiptEntry[]> {
  const entries: ReceiptEntry[] = [];
  let isAsked = !work.isLeaving;
  for (const { id } of batch) {
    const seen = isAsked ? await stateOf(id, work) : undefined;
    // Once the service is unreachable, the remaining jobs are not requested.
    if (seen === undefined) isAsked = false;
    const outcome = seen === undefined ? "unknown" : outcomeIn(ending, seen);
    const isDone = outcome !== "unknown" && outcome !== "failed";
    entries.push({ id, outcome, ...(!isDone && failure && { failure }) });
  }
  return entries;
}

/** Undefined if not known. */
async function stateOf(id: string, work: Work): Promise<JobState | "missing" | undefined> {
  const path = withQuery(`/api/jobs/${encodeURIComponent(id)}`, { connection: work.connection });
  const found = await callPatiently<{ status?: string }>(path, { cache: "no-store" }, work);
  if (found.ok) return found.value.status === undefined ? undefined : toJobState(found.value.status);
  return found.failure.status === 404 ? "missing" : undefined;
}

function outcomeIn(ending: Ending, seen: JobState | "missing"): ReceiptEntry["outcome"] {
  if (ending === "remove") return seen === "missing" ? "removed" : "failed";
  if (seen === "missing") return "gone";
  if (seen === "cancelled") return ending === "stop" ? "stopped" : "cancelled";
  if (seen === "completed" || seen === "failed") return "over";
  if (seen === "in_progress" && ending === "cancel") return "tooLate";
  // A job that still waits was not cancelled; one that still runs may be about to stop.
  return seen === "pending" ? "failed" : "unknown";
}
