import { toJobView } from "@/lib/contract/job-view";
import { listOutputs, type OutputFile, type OutputView } from "@/lib/contract/outputs-view";
import { type JobDetail } from "@/lib/contract/schemas/job";
import { type HistoryAnswer, type HistoryEntry } from "@/lib/contract/schemas/queue";
import { type JobState } from "@/lib/contract/states";
import { workflowName } from "@/lib/contract/workflow-name";

/** What a row of the history shows, and no more: it travels to the browser with every page. */
export type HistoryRow = {
  id: string;
  word: string;
  state: JobState;
  createdMs?: number;
  startedMs?: number;
  endedMs?: number;
  workflow?: string;
  /** What tells a copy of a run from the others. */
  label?: string;
  error?: string;
  outputs: number;
  preview?: OutputFile;
};

const SHOWN_ERROR = 140;

/** `unreadable`: entries of this page that the service sent in a shape that nobody knows. */
export type HistoryView = { rows: HistoryRow[]; unreadable: number };

export function toHistoryView({ history, unreadable = 0 }: HistoryAnswer): HistoryView {
  return { rows: history.map(toHistoryRow), unreadable };
}

function toHistoryRow(entry: HistoryEntry): HistoryRow {
  const job: JobDetail = {
    id: entry.prompt_id,
    status: wordOf(entry),
    create_time: entry.create_time,
    workflow_id: entry.workflow_id,
    execution_status: entry.status,
  };
  const { id, word, state, createdAtMs, startedAtMs, endedAtMs, error } = toJobView(job);
  const files = listOutputs(entry.outputs).filter(({ file }) => file !== undefined);
  const preview = previewOf(files);
  const line = error && [error.nodeType, error.message.trim().split("\n")[0] || error.type].filter(Boolean).join(": ");
  return {
    id,
    word,
    state,
    outputs: files.length,
    ...(createdAtMs !== undefined && { createdMs: createdAtMs }),
    ...(startedAtMs !== undefined && { startedMs: startedAtMs }),
    ...(endedAtMs !== undefined && { endedMs: endedAtMs }),
    ...(entry.workflow_id && { workflow: workflowName({ ...entry, id }) }),
    ...(entry.job_label && { label: entry.job_label }),
    ...(line && { error: line.slice(0, SHOWN_ERROR) }),
    ...(preview && { preview }),
  };
}

/** A cancelled job is told as an error that was interrupted. */
function wordOf({ status }: HistoryEntry): string {
  if (status?.status_str === "success") return "completed";
  const wasInterrupted = status?.messages.some(([event]) => event === "execution_interrupted");
  if (wasInterrupted) return "cancelled";
  return status?.status_str === "error" ? "failed" : (status?.status_str ?? "unknown");
}

/** What was kept before what may vanish, a picture before anything else. */
function previewOf(files: readonly OutputView[]): OutputFile | undefined {
  const visual = files.filter(({ kind }) => kind === "image" || kind === "video");
  return (visual.find(({ temporary }) => !temporary) ?? visual[0])?.file;
}
