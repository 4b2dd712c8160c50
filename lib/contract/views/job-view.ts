// One job as the console shows it, from any of its views (list item, details, details with status).
// Guarantees: never throws; times are milliseconds since 1970; keeps the raw status word; fields that a service does not send are absent.
// Must never: invent a duration or a progress that no view carries. Free of zod: browsers load it with the first page.

import { isTerminalWord, type JobState, toJobState } from "../jobs/states";
import { isObject, textOf } from "../json/json";
import { type JobWaits } from "../runners/runners";
import { type JobDetail, type JobListItem, type JobStatus } from "../schemas/job";
import { toMilliseconds } from "../times";
import { type JobErrorView, toJobErrorView } from "./job-error-view";
import { type OutputView, toPreviewView } from "./outputs-view";

export type JobProgressView = {
  value?: number;
  nodesDone?: number;
  nodesTotal?: number;
  currentNode?: string;
  step?: number;
  steps?: number;
};

export type JobView = {
  id: string;
  state: JobState;
  /** The status in the service's words; from the status view if there is one, since it is more exact. */
  word: string;
  terminal: boolean;
  createdAtMs?: number;
  updatedAtMs?: number;
  startedAtMs?: number;
  endedAtMs?: number;
  queueWaitMs?: number;
  runMs?: number;
  /** Only while the job has not ended. */
  progress?: JobProgressView;
  preview?: OutputView;
  outputsCount?: number;
  workflowId?: string;
  /** The slot or machine that took the job. */
  assignedTo?: string;
  error?: JobErrorView;
  /** The node in which a cancelled job was stopped. */
  stoppedIn?: { nodeId: string; nodeType?: string };
  /** Why a pending job waits although a slot may be free. */
  waits?: JobWaits;
};

export function toJobView(item: JobListItem | JobDetail, status?: JobStatus): JobView {
  const messages = messagesOf(item);
  const createdAtMs = toMilliseconds(item.create_time) ?? toMilliseconds(status?.created_at);
  const startedAtMs =
    toMilliseconds(item.execution_start_time) ?? timeOf(messages, ["execution_start"]) ?? toMilliseconds(item.progress?.start_time);
  const endedAtMs =
    toMilliseconds(item.execution_end_time) ?? timeOf(messages, ["execution_success", "execution_error", "execution_interrupted"]);
  const standing = standingOf(item.status, status?.status);
  return dropAbsent({
    id: item.id,
    ...standing,
    createdAtMs,
    updatedAtMs: toMilliseconds(item.update_time) ?? toMilliseconds(status?.updated_at),
    startedAtMs,
    endedAtMs,
    queueWaitMs: between(createdAtMs, startedAtMs),
    runMs: between(startedAtMs, endedAtMs),
    progress: standing.terminal ? undefined : toProgressView(item.progress),
    preview: toPreviewView(item.preview_output),
    outputsCount: item.outputs_count,
    workflowId: textOf(item.workflow_id),
    assignedTo: textOf(status?.assigned_inference),
    stoppedIn: standing.state === "cancelled" ? stoppedIn(messages) : undefined,
    error: standing.state === "completed" ? undefined : errorOf(item, messages, status),
    waits: standing.state === "pending" ? item.waits : undefined,
  });
}

/** An unknown raw word is shown, but a known word decides the state. */
function standingOf(itemWord: string, statusWord: string | undefined): Pick<JobView, "state" | "word" | "terminal"> {
  const word = statusWord ?? itemWord;
  const judged = toJobState(word) === "unknown" ? itemWord : word;
  return { state: toJobState(judged), word, terminal: isTerminalWord(judged) };
}

type Message = { event: string; facts: Record<string, unknown> };

function messagesOf(item: JobListItem | JobDetail): Message[] {
  const messages: unknown = isObject(item.execution_status) ? item.execution_status.messages : undefined;
  if (!Array.isArray(messages)) return [];
  return messages.flatMap((entry: unknown) =>
    Array.isArray(entry) && typeof entry[0] === "string" && isObject(entry[1]) ? [{ event: entry[0], facts: entry[1] }] : [],
  );
}

function timeOf(messages: Message[], events: string[]): number | undefined {
  return toMilliseconds(messages.findLast((message) => events.includes(message.event))?.facts.timestamp);
}

function stoppedIn(messages: Message[]): JobView["stoppedIn"] {
  const { node_id, node_type } = messages.findLast(({ event }) => event === "execution_interrupted")?.facts ?? {};
  const nodeId = typeof node_id === "number" ? String(node_id) : textOf(node_id);
  return nodeId === undefined ? undefined : dropAbsent({ nodeId, nodeType: textOf(node_type) });
}

function errorOf(item: JobListItem | JobDetail, messages: Message[], status: JobStatus | undefined): JobErrorView | undefined {
  const reported = messages.findLast((message) => message.event === "execution_error")?.facts;
  return toJobErrorView(item.execution_error) ?? toJobErrorView(reported) ?? toJobErrorView(status?.error_message);
}

function toProgressView(progress: JobListItem["progress"]): JobProgressView | undefined {
  const { value, nodes_done: nodesDone, nodes_total: nodesTotal, current_node, step, steps } = progress ?? {};
  const view = dropAbsent({
    value: value === undefined ? undefined : Math.min(1, Math.max(0, value)),
    nodesDone,
    nodesTotal,
    currentNode: textOf(current_node),
    step,
    steps,
  });
  return Object.keys(view).length > 0 ? view : undefined;
}

/** With whole seconds beside milliseconds, an end may precede its start by less than one second: the duration is then 0. */
function between(startMs: number | undefined, endMs: number | undefined): number | undefined {
  return startMs === undefined || endMs === undefined ? undefined : Math.max(0, endMs - startMs);
}

function dropAbsent<T extends object>(view: T): T {
  for (const key of Object.keys(view)) if (Reflect.get(view, key) === undefined) Reflect.deleteProperty(view, key);
  return view;
}
