import { type Failure, parseLateValidation } from "../failure";
import { type ExpectedRun } from "../jobs/expected-run";
import { isTerminalWord, type JobState, toJobState } from "../jobs/job-list";
import { isObject, objectOf, textOf } from "../json/json";
import { parseJson } from "../json/parse-json";
import { cutText } from "../plain-line";
import { type JobWaits } from "../runners/runners";
import { type ExecutionError } from "../schemas/execution";
import { type HistoryEntry, type JobDetail, type JobListItem, type JobStatus } from "../schemas/job";
import { toMilliseconds } from "../times";
import { listOutputs, type OutputView, toPreviewView } from "./outputs-view";

export type JobErrorView = {
  nodeId?: string;
  nodeType?: string;
  type: string;
  message: string;
  traceback: string[];
  /** The service accepted the graph and refused its nodes later: the same facts as in a refusal of POST /api/prompt. */
  lateValidation?: Failure;
};

/** Also reads an `execution_error` message of the timeline, which has the same fields. Undefined if it says nothing. */
function toJobErrorView(error: unknown): JobErrorView | undefined {
  if (typeof error === "string") return fromText(error);
  if (!isObject(error)) return undefined;
  const message = typeof error.exception_message === "string" ? error.exception_message : "";
  const type = textOf(error.exception_type) ?? "";
  if (message === "" && type === "" && textOf(error.node_id) === undefined) return undefined;
  return withFacts({
    nodeId: textOf(error.node_id),
    nodeType: textOf(error.node_type),
    type,
    message,
    traceback: linesOf(error.traceback),
  });
}

const SHOWN_ERROR = 140;

/** One line for a list: "LoadImage: file not found". For a refusal that arrived as JSON inside the text, the line is its message. */
export function errorLine({ nodeType, type, message, lateValidation }: JobErrorView): string {
  const reason = lateValidation?.message ?? (message.trim().split("\n")[0] || type);
  return cutText([nodeType, reason].filter(Boolean).join(": "), SHOWN_ERROR);
}

const MAX_FIELD_LENGTH = 500;
const MAX_LISTED_LENGTH = 2000;

/** Bounded, for a list: without the traceback and the inputs at failure, which only the job's own page shows. */
export function toListedError(value: unknown): ExecutionError | undefined {
  const error = toJobErrorView(value);
  return (
    error && {
      node_id: error.nodeId?.slice(0, MAX_FIELD_LENGTH),
      node_type: error.nodeType?.slice(0, MAX_FIELD_LENGTH),
      exception_type: error.type.slice(0, MAX_FIELD_LENGTH),
      exception_message: (error.lateValidation?.message ?? error.message).slice(0, MAX_LISTED_LENGTH),
      traceback: [],
    }
  );
}

function fromText(text: string): JobErrorView | undefined {
  if (text.trim() === "") return undefined;
  const parsed = objectOf(parseJson(text));
  return (parsed && toJobErrorView(parsed)) ?? withFacts({ type: "", message: text, traceback: [] });
}

function withFacts(error: JobErrorView): JobErrorView {
  const { nodeId, nodeType, ...rest } = error;
  const lateValidation = parseLateValidation(error.message);
  return {
    ...(nodeId !== undefined && { nodeId }),
    ...(nodeType !== undefined && { nodeType }),
    ...rest,
    ...(lateValidation && { lateValidation }),
  };
}

function linesOf(traceback: unknown): string[] {
  if (typeof traceback === "string") return traceback.trim() === "" ? [] : [traceback];
  return Array.isArray(traceback) ? traceback.filter((line) => typeof line === "string") : [];
}

export type JobProgressView = {
  value?: number;
  nodesDone?: number;
  nodesTotal?: number;
  currentNode?: string;
  step?: number;
  steps?: number;
  /** A higher version is another picture. */
  previewVersion?: number;
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
  progress?: JobProgressView;
  expected?: ExpectedRun;
  preview?: OutputView;
  outputsCount?: number;
  workflowId?: string;
  assignedTo?: string;
  error?: JobErrorView;
  stoppedIn?: { nodeId: string; nodeType?: string };
  waits?: JobWaits;
};

export function toJobView(item: JobListItem | JobDetail, status?: JobStatus): JobView {
  const messages = messagesOf(item);
  const createdAtMs = toMilliseconds(item.create_time) ?? toMilliseconds(status?.created_at);
  const startedAtMs =
    toMilliseconds(item.execution_start_time) ?? timeOf(messages, ["execution_start"]) ?? toMilliseconds(item.progress?.start_time);
  const endedAtMs =
    toMilliseconds(item.execution_end_time) ?? timeOf(messages, ["execution_success", "execution_error", "execution_interrupted"]);
  const standing = stateFields(item.status, status?.status);
  const liveOutputs = standing.terminal ? [] : listLiveOutputs(item);
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
    expected: standing.terminal ? undefined : item.expected_run,
    preview: toPreviewView(item.preview_output) ?? previewOf(liveOutputs),
    outputsCount: liveOutputs.length > 0 ? Math.max(liveOutputs.length, item.outputs_count ?? 0) : item.outputs_count,
    workflowId: textOf(item.workflow_id),
    assignedTo: textOf(status?.assigned_inference),
    stoppedIn: standing.state === "cancelled" ? stoppedIn(messages) : undefined,
    error: standing.state === "completed" ? undefined : errorOf(item, messages, status),
    waits: standing.state === "pending" ? item.waits : undefined,
  });
}

/** An unknown raw word is shown, but a known word decides the state. */
function stateFields(itemWord: string, statusWord: string | undefined): Pick<JobView, "state" | "word" | "terminal"> {
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

export type RunningNode = { node: string; step?: number; steps?: number };

export function runningNode({ currentNode: node, step, steps }: JobProgressView = {}): RunningNode | undefined {
  const isInSteps = step !== undefined && steps !== undefined && steps > 1;
  return node === undefined ? undefined : { node, ...(isInSteps && { step, steps }) };
}

function toProgressView(progress: JobListItem["progress"]): JobProgressView | undefined {
  const { value, nodes_done: nodesDone, nodes_total: nodesTotal, current_node, step, steps, preview: previewVersion } = progress ?? {};
  const view = dropAbsent({
    value: value === undefined ? undefined : Math.min(1, Math.max(0, value)),
    nodesDone,
    nodesTotal,
    currentNode: textOf(current_node),
    step,
    steps,
    previewVersion,
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

export function jobOfEntry(entry: HistoryEntry): { job: JobDetail; files: OutputView[] } {
  const job: JobDetail = {
    id: entry.prompt_id,
    status: wordOf(entry),
    create_time: entry.create_time,
    workflow_id: entry.workflow_id,
    workflow_name: entry.workflow_name,
    job_label: entry.job_label,
    submitted_by: entry.submitted_by,
    submitted_token: entry.submitted_token,
    prompt_excerpt: entry.prompt_excerpt,
    execution_status: entry.status,
  };
  return { job, files: listOutputs(entry.outputs).filter(({ file }) => file !== undefined) };
}

/** What a running job has made so far, as live updates report it. */
export function listLiveOutputs({ progress }: Pick<JobListItem, "progress">): OutputView[] {
  return listOutputs(progress?.outputs);
}

/** Files that are kept come before temporary ones. Only pictures and videos count. */
export function previewOf(files: readonly OutputView[]): OutputView | undefined {
  const visual = files.filter(({ kind }) => kind === "image" || kind === "video");
  return visual.find(({ temporary }) => !temporary) ?? visual[0];
}

function wordOf({ status }: HistoryEntry): string {
  if (status?.status_str === "success") return "completed";
  const wasInterrupted = status?.messages.some(([event]) => event === "execution_interrupted");
  if (wasInterrupted) return "cancelled";
  return status?.status_str === "error" ? "failed" : (status?.status_str ?? "unknown");
}
