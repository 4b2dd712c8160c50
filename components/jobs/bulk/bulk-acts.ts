import { type BatchOutcome, inBatches } from "@/lib/browser/in-batches";
import { callPatiently, meetsAll, type Work } from "@/lib/browser/patient-call";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { type StopReceipt } from "@/lib/contract/console";
import { mayHaveStarted } from "@/lib/contract/press";
import { type QueueAnswer } from "@/lib/contract/schemas/queue";
import { type BulkAct, type BulkJob, fits } from "./bulk-selection";
import { type ReceiptEntry } from "./receipt-entry";
import { runAgain } from "./run-again";

const BATCH = 100;
/** Each of them is a call of its own to the service. */
const STOP_BATCH = 10;

/** One call at a time, a receipt for every job. */
export async function runBulk(act: BulkAct, jobs: readonly BulkJob[], work: Work): Promise<ReceiptEntry[]> {
  const meant = jobs.filter((job) => fits(act, job));
  const unfit = jobs.filter((job) => !fits(act, job));
  work.onDone(unfit.length);
  const entries = await actOn[act](meant, work);
  const left = unfit.map(({ id }): ReceiptEntry => ({ id, outcome: act === "cancel" ? "over" : "notEnded" }));
  const known = new Map(jobs.map(({ id, workflow, label, createdMs }) => [id, { workflow, label, createdMs }]));
  return [...entries, ...left].map((entry) => ({ ...known.get(entry.id), ...entry }));
}

const actOn: Readonly<Record<BulkAct, (jobs: readonly BulkJob[], work: Work) => Promise<ReceiptEntry[]>>> = {
  cancel,
  remove,
  runAgain: (jobs, work) => inBatches(jobs, 1, ([job]) => runAgain(job?.id ?? "", work), work),
};

async function cancel(jobs: readonly BulkJob[], work: Work): Promise<ReceiptEntry[]> {
  const running = jobs.filter(({ state }) => state === "in_progress");
  const waiting = jobs.filter(({ state }) => state !== "in_progress");
  const fromQueue = inBatches(waiting, BATCH, (batch) => cancelWaiting(batch, work), work);
  if (work.isLeaving) return [...(await inBatches(running, STOP_BATCH, (batch) => stop(batch, work), work)), ...(await fromQueue)];
  return [...(await fromQueue), ...(await inBatches(running, STOP_BATCH, (batch) => stop(batch, work), work))];
}

async function cancelWaiting(batch: readonly BulkJob[], work: Work): Promise<BatchOutcome<ReceiptEntry>> {
  const json = { delete: batch.map(({ id }) => id) };
  const result = await callPatiently<QueueAnswer>(withQuery("/api/queue", { connection: work.connection }), { method: "POST", json }, work);
  if (!result.ok) return refused(batch, result.failure);
  const deleted = result.value.deleted && new Set(result.value.deleted);
  return { entries: batch.map(({ id }) => ({ id, outcome: !deleted ? "asked" : deleted.has(id) ? "cancelled" : "tooLate" })) };
}

async function stop(batch: readonly BulkJob[], work: Work): Promise<BatchOutcome<ReceiptEntry>> {
  const path = withQuery("/api/console/jobs/stop", { connection: work.connection });
  const json = { ids: batch.map(({ id }) => id) };
  const result = await callPatiently<StopReceipt>(path, { method: "POST", json }, work);
  if (!result.ok) return refused(batch, result.failure);
  const { stopped, stopping, over } = result.value;
  const outcomeOf = (id: string) =>
    stopped.includes(id) ? "stopped" : stopping.includes(id) ? "stopping" : over.includes(id) ? "over" : "unable";
  return { entries: batch.map(({ id }) => ({ id, outcome: outcomeOf(id) })) };
}

/** The service names nothing that it removed; that it accepted is what can be told. */
async function remove(jobs: readonly BulkJob[], work: Work): Promise<ReceiptEntry[]> {
  const path = withQuery("/api/history", { connection: work.connection });
  async function removeBatch(batch: readonly BulkJob[]): Promise<BatchOutcome<ReceiptEntry>> {
    const json = { delete: batch.map(({ id }) => id) };
    const result = await callPatiently<unknown>(path, { method: "POST", json }, work);
    if (!result.ok) return refused(batch, result.failure);
    return { entries: batch.map(({ id }) => ({ id, outcome: "removed" })) };
  }
  return inBatches(jobs, BATCH, removeBatch, work);
}

function refused(batch: readonly BulkJob[], failure: ApiFailure): BatchOutcome<ReceiptEntry> {
  const outcome = failure.status === 0 || mayHaveStarted(failure) ? "unknown" : "failed";
  return { entries: batch.map(({ id }) => ({ id, outcome, failure })), isOver: meetsAll(failure) };
}
