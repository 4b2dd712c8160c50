import { type BatchOutcome } from "@/lib/browser/in-batches";
import { callPatiently, meetsAll, type Work } from "@/lib/browser/patient-call";
import { newPressKey } from "@/lib/browser/press-key";
import { withQuery } from "@/lib/browser/urls";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { objectOf } from "@/lib/contract/json";
import { mayHaveStarted, PRESS_HEADER } from "@/lib/contract/press";
import { type JobDetail } from "@/lib/contract/schemas/job";
import { toResubmission } from "../job-again";
import { type Outcome, type ReceiptEntry } from "@/components/job-acts/receipt-entry";

/** The job's own workflow once more. What left no clear answer is told as such and never sent again. */
export async function runAgain(id: string, work: Work): Promise<BatchOutcome<ReceiptEntry>> {
  const { connection } = work;
  const read = await callPatiently<JobDetail>(withQuery(`/api/jobs/${encodeURIComponent(id)}`, { connection }), {}, work);
  if (!read.ok && read.failure.code === "CONSOLE_UNREACHABLE") return { entries: [{ id, outcome: "unsent" }], isOver: true };
  if (!read.ok) return told(id, read.failure.status === 404 ? "missing" : "failed", read.failure);
  const again = toResubmission(read.value.workflow);
  if (again.kind !== "ready") return { entries: [{ id, outcome: again.kind === "masked" ? "secret" : "noWorkflow" }] };
  if (work.signal.aborted) return { entries: [{ id, outcome: "notDone" }] };
  const init = { method: "POST", json: again.submission, headers: { [PRESS_HEADER]: newPressKey() } };
  const sent = await callPatiently<unknown>(withQuery("/api/prompt", { connection }), init, work);
  if (!sent.ok) return told(id, isUnanswered(sent.failure) ? "unknown" : "refused", sent.failure);
  const newId = objectOf(sent.value)?.prompt_id ?? objectOf(sent.value)?.job_id;
  return { entries: [typeof newId === "string" ? { id, outcome: "ranAgain", newId } : { id, outcome: "unknown" }] };
}

function isUnanswered(failure: ApiFailure): boolean {
  return failure.status === 0 || failure.code === "CONSOLE_UNREACHABLE" || mayHaveStarted(failure);
}

function told(id: string, outcome: Outcome, failure: ApiFailure): BatchOutcome<ReceiptEntry> {
  return { entries: [{ id, outcome, failure }], isOver: meetsAll(failure) };
}
