// Ends a job in one commit, or requeues it. A job that has already left the expected state is not changed.

import { writeExactJson } from "@/lib/contract/json/exact-json";
import { createServiceError } from "@/lib/service/nodes/run";
import { findKind } from "@/lib/service/runners/pool";
import { toStorageException } from "@/lib/service/service-error";
import { query, type Transaction } from "@/lib/service/store/database";
import { MAX_ATTEMPTS, moveJob, moveJobs, type WaitingJob } from "../transitions";
import { type StoredOutputs } from "./adopt-outputs";
import { type Ending, type Message, type RunRecord } from "./run-record";

type Job = { seq: number; id: string; fence?: number };

export async function finishRun(
  tx: Transaction,
  job: Job,
  record: RunRecord,
  ending: Exclude<Ending, { kind: "interrupted" }>,
  storedOutputs: StoredOutputs,
  nowMs: number,
): Promise<void> {
  const endMs = Math.max(nowMs, record.startMs);
  const { outputs, ...columns } = storedOutputs;
  const error = ending.kind === "error" ? writeExactJson(ending.error) : null;
  const state = ending.kind === "error" ? "failed" : "completed";
  const result = { outputs, messages: record.getMessages(ending, endMs), meta: record.getMeta(ending, endMs) };
  await endJob(tx, job, { to: state, at: endMs }, { ...columns, error, ...getRunTimes(record, endMs) }, result);
}

/** Discards the outputs. A run never ends before it started, even if the clock is set back. */
export async function cancelRunning(tx: Transaction, job: Job, record: RunRecord, nowMs: number): Promise<void> {
  const endMs = Math.max(nowMs, record.startMs);
  const ending: Ending = { kind: "interrupted" };
  const result = { outputs: {}, messages: record.getMessages(ending, endMs), meta: record.getMeta(ending, endMs) };
  await endJob(tx, job, { to: "cancelled", at: endMs }, getRunTimes(record, endMs), result);
}

export async function cancelPending(tx: Transaction, seqs: readonly number[], nowMs: number): Promise<void> {
  const movedCount = await moveJobs(tx, { seqs, from: "pending", to: "cancelled", at: nowMs });
  if (movedCount !== seqs.length) throw new Error("a job to be cancelled is no longer pending");
  await tx.run(query.deleteFrom("job_images").where("job_seq", "in", tx.dialect.numbers(seqs)));
}

export function createInterruptedResult(id: string, endMs: number): { outputs: string; messages: string; meta: string } {
  const messages: Message[] = [["execution_interrupted", { prompt_id: id, node_id: "", node_type: "", executed: [], timestamp: endMs }]];
  return { outputs: "{}", messages: writeExactJson(messages), meta: "{}" };
}

/** Fails a job because of an error outside its nodes. */
export async function failJob(tx: Transaction, job: Job, type: string, message: string, nowMs: number): Promise<void> {
  const error = createServiceError(type, message);
  const messages: Message[] = [["execution_error", { prompt_id: job.id, ...error, executed: [], timestamp: nowMs }]];
  const result = { outputs: {}, messages, meta: {} };
  await endJob(tx, job, { to: "failed", at: nowMs }, { error: writeExactJson(error), end_time: nowMs }, result);
}

export async function failOutsideNodes(tx: Transaction, job: Job, cause: unknown, nowMs: number): Promise<void> {
  const { type, message } = toStorageException(cause) ?? {
    type: "ServiceError",
    message: "The outputs could not be stored. See the service's log for the cause.",
  };
  await failJob(tx, job, type, message, nowMs);
}

type RequeueDependencies = { now: () => number; queue: { enqueue(tx: Transaction, job: WaitingJob, isFirst?: boolean): Promise<void> } };
type LostJob = { seq: number; id: string; userId: number; needs: number | null; attempts: number; fence?: number };

/** Handles a job that lost its worker or process. Returns the requeued job, or undefined if it failed or belongs to another attempt. */
export async function requeueOrFail(
  tx: Transaction,
  { now, queue }: RequeueDependencies,
  { userId, ...job }: LostJob,
  { countsAsAttempt, reason = "" }: { countsAsAttempt: boolean; reason?: string },
): Promise<WaitingJob | undefined> {
  const { seq, fence, attempts } = job;
  const nowMs = now();
  if (countsAsAttempt && attempts >= MAX_ATTEMPTS) {
    await failJob(tx, job, "WorkerLost", `The worker was lost ${attempts} times while it ran this job.${reason && ` ${reason}`}`, nowMs);
    return undefined;
  }
  const pendingFields = { start_time: null, slot: null, runner: null, attempts: countsAsAttempt ? attempts : attempts - 1 };
  if (!(await moveJob(tx, { seq, fence, from: "in_progress", to: "pending", at: nowMs }, pendingFields))) return undefined;
  const waitingJob = { userId, seq, kind: await findKind(tx, job) };
  await queue.enqueue(tx, waitingJob, true);
  return waitingJob;
}

function getRunTimes(record: RunRecord, endMs: number) {
  return { start_time: record.startMs, end_time: endMs, execution_time: endMs - record.startMs };
}

async function endJob(
  tx: Transaction,
  { seq, fence }: Job,
  transition: { to: "completed" | "failed" | "cancelled"; at: number },
  changes: Parameters<typeof moveJob>[2],
  { outputs, messages, meta }: { outputs: object; messages: Message[]; meta: object },
): Promise<void> {
  if (!(await moveJob(tx, { seq, fence, from: "in_progress", ...transition }, changes))) return;
  const values = { outputs: writeExactJson(outputs), messages: writeExactJson(messages), meta: writeExactJson(meta) };
  await tx.run(
    query
      .insertInto("job_results")
      .values({ job_seq: seq, ...values })
      .onConflict((conflict) => conflict.column("job_seq").doUpdateSet(values)),
  );
  await tx.run(query.deleteFrom("job_images").where("job_seq", "=", seq));
}
