// A job in the interface's three views. The list speaks in milliseconds, the details in whole seconds, the status in RFC 3339.
// Outputs, preview and timeline are there in terminal states only; progress while it runs.

import { type KnownJobState } from "@/lib/contract/states";
import { type Database, query } from "../store/database";
import { orEmpty, parseStored, readRecord, type StoredJob } from "./job-row";
import { type Progress } from "./run-record";
import { isTerminal } from "./transitions";

export function toListItem(job: StoredJob, progress: Progress | undefined) {
  return view(job, progress, (text) => orEmpty(() => readRecord(text), {}));
}

function view(job: StoredJob, progress: Progress | undefined, read: (text: string) => Record<string, unknown>) {
  return {
    id: job.id,
    status: job.state,
    create_time: job.create_time,
    workflow_id: job.workflow_id,
    ...(isTerminal(job.state) && {
      outputs_count: job.outputs_count,
      ...(job.start_time !== null && { execution_start_time: job.start_time }),
      ...(job.end_time !== null && { execution_end_time: job.end_time }),
    }),
    ...(job.preview !== null && { preview_output: read(job.preview) }),
    ...(job.error !== null && { execution_error: read(job.error) }),
    // execution_start_time belongs to terminal states only; how long a job has run until now is told with its progress.
    ...(job.state === "in_progress" && progress && { progress: { ...progress, start_time: job.start_time } }),
  };
}

export function toDetail(database: Database, job: StoredJob, progress: Progress | undefined) {
  const inputs = readInputs(database, job.seq);
  const result = isTerminal(job.state) ? readResult(database, job) : undefined;
  return {
    ...view(job, progress, readRecord),
    create_time: Math.floor(job.create_time / 1000),
    update_time: Math.floor(job.update_time / 1000),
    ...(inputs && { workflow: { prompt: inputs.prompt, extra_data: inputs.extra_data } }),
    ...(result && { outputs: result.outputs, execution_status: result.status, execution_meta: result.meta }),
  };
}

/** The status view has its own word for a failure. */
const statusWords: Readonly<Record<KnownJobState, string>> = {
  pending: "pending",
  in_progress: "in_progress",
  completed: "completed",
  failed: "error",
  cancelled: "cancelled",
};

export function toStatus(job: StoredJob) {
  const error = job.error === null ? undefined : readRecord(job.error);
  return {
    id: job.id,
    status: statusWords[job.state],
    created_at: new Date(job.create_time).toISOString(),
    updated_at: new Date(job.update_time).toISOString(),
    last_state_update: new Date(job.state_time).toISOString(),
    ...(job.slot !== null && { assigned_inference: job.slot }),
    ...(error && { error_message: String(error.exception_message ?? "") }),
  };
}

export function readInputs(database: Database, seq: number) {
  const row = database.row(
    query.selectFrom("job_inputs").select(["prompt", "extra_data", "outputs_to_execute"]).where("job_seq", "=", seq),
  );
  return row && { prompt: readRecord(row.prompt), extra_data: readRecord(row.extra_data), outputs_to_execute: row.outputs_to_execute };
}

export function readResult(database: Database, job: StoredJob) {
  const row = database.row(query.selectFrom("job_results").selectAll().where("job_seq", "=", job.seq));
  if (!row) return undefined;
  const messages = parseStored(row.messages);
  const completed = job.state === "completed";
  return {
    outputs: readRecord(row.outputs),
    status: { status_str: completed ? "success" : "error", completed, messages },
    meta: readRecord(row.meta),
  };
}
