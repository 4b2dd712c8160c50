// A job in the interface's three views. The list speaks in milliseconds, the details in whole seconds, the status in RFC 3339.
// Outputs, preview and timeline are there in terminal states only; progress while it runs.

import { type KnownJobState } from "@/lib/contract/states";
import { type Database } from "../store/database";
import { resultOfNoRun } from "./finish";
import { orEmpty, readRecord, type StoredJob } from "./job-row";
import { type Progress } from "./run-record";
import { inputTexts, objectText, resultTexts } from "./stored-texts";
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

/** As JSON text: the graph in it is not read to be shown. */
export function toDetail(database: Database, job: StoredJob, progress: Progress | undefined): string {
  const inputs = inputTexts(database, job.seq);
  const result = isTerminal(job.state) ? readResult(database, job) : undefined;
  const times = { create_time: Math.floor(job.create_time / 1000), update_time: Math.floor(job.update_time / 1000) };
  return objectText(
    { ...view(job, progress, readRecord), ...times },
    {
      ...(inputs && { workflow: objectText({}, { prompt: inputs.prompt, extra_data: inputs.extra_data }) }),
      ...(result && { outputs: result.outputs, execution_status: result.status, execution_meta: result.meta }),
    },
  );
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
  const error = readError(job);
  return {
    id: job.id,
    status: statusWords[job.state],
    created_at: new Date(job.create_time).toISOString(),
    updated_at: new Date(job.update_time).toISOString(),
    last_state_update: new Date(job.state_time).toISOString(),
    ...(job.slot !== null && { assigned_inference: job.slot }),
    ...(error !== undefined && { error_message: error }),
  };
}

/** What went wrong, in one text; undefined for a job that did not fail. */
export function readError(job: StoredJob): string | undefined {
  return job.error === null ? undefined : String(readRecord(job.error).exception_message ?? "");
}

/** Each as JSON text. */
export function readResult(database: Database, job: StoredJob): { outputs: string; status: string; meta: string } | undefined {
  // One that was cancelled while it waited has no result.
  const texts = resultTexts(database, job.seq) ?? (job.state === "cancelled" ? resultOfNoRun(job.id, job.state_time) : undefined);
  const completed = job.state === "completed";
  return (
    texts && {
      outputs: texts.outputs,
      status: objectText({ status_str: completed ? "success" : "error", completed }, { messages: texts.messages }),
      meta: texts.meta,
    }
  );
}
