import { type Failure, parseLateValidation } from "../failure";
import { type ExpectedRun } from "../jobs/expected-run";
import { isTerminalStatus, type JobState, toJobState } from "../jobs/job-list";
import { asObject, asText, isObject } from "../json/json";
import { parseJson } from "../json/parse-json";
import { truncateText } from "../plain-line";
import { type JobWaitReason } from "../runners/runners";
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
  /** The service accepted the graph and rejected its nodes later, with the same details as an error of POST /api/prompt. */
  lateValidation?: Failure;
};

/** Also converts `execution_error` messages of the timeline, which have the same fields. Undefined without details. */
function toJobErrorView(error: unknown): JobErrorView | undefined {
  if (typeof error === "string") return parseErrorText(error);
  if (!isObject(error)) return undefined;
  const message = typeof error.exception_message === "string" ? error.exception_message : "";
  const type = asText(error.exception_type) ?? "";
  if (message === "" && type === "" && asText(error.node_id) === undefined) return undefined;
  return addLateValidation({
    nodeId: asText(error.node_id),
    nodeType: asText(error.node_type),
    type,
    message,
    traceback: toLines(error.traceback),
  });
}

const MAX_ERROR_LINE_LENGTH = 140;

/** One line for a list: "LoadImage: file not found". For a late validation failure, its message. */
export function formatErrorLine({ nodeType, type, message, lateValidation }: JobErrorView): string {
  const reason = lateValidation?.message ?? (message.trim().split("\n")[0] || type);
  return truncateText([nodeType, reason].filter(Boolean).join(": "), MAX_ERROR_LINE_LENGTH);
}

const MAX_FIELD_LENGTH = 500;
const MAX_LISTED_LENGTH = 2000;

/** Shortened for a list: without the traceback and inputs, which only the job's own page shows. */
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

function parseErrorText(text: string): JobErrorView | undefined {
  if (text.trim() === "") return undefined;
  const parsed = asObject(parseJson(text));
  return (parsed && toJobErrorView(parsed)) ?? addLateValidation({ type: "", message: text, traceback: [] });
}

function addLateValidation(error: JobErrorView): JobErrorView {
  const { nodeId, nodeType, ...rest } = error;
  const lateValidation = parseLateValidation(error.message);
  return {
    ...(nodeId !== undefined && { nodeId }),
    ...(nodeType !== undefined && { nodeType }),
    ...rest,
    ...(lateValidation && { lateValidation }),
  };
}

function toLines(traceback: unknown): string[] {
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
  /** Increases with each new image. */
  previewVersion?: number;
};

export type JobView = {
  id: string;
  state: JobState;
  /** The status as sent by the service. The status endpoint is preferred, because it is more exact. */
  rawStatus: string;
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
  waits?: JobWaitReason;
};

export function toJobView(item: JobListItem | JobDetail, status?: JobStatus): JobView {
  const messages = readMessages(item);
  const createdAtMs = toMilliseconds(item.create_time) ?? toMilliseconds(status?.created_at);
  const startedAtMs =
    toMilliseconds(item.execution_start_time) ?? findTime(messages, ["execution_start"]) ?? toMilliseconds(item.progress?.start_time);
  const endedAtMs =
    toMilliseconds(item.execution_end_time) ?? findTime(messages, ["execution_success", "execution_error", "execution_interrupted"]);
  const stateFields = toStateFields(item.status, status?.status);
  const liveOutputs = stateFields.terminal ? [] : listLiveOutputs(item);
  return removeUndefined({
    id: item.id,
    ...stateFields,
    createdAtMs,
    updatedAtMs: toMilliseconds(item.update_time) ?? toMilliseconds(status?.updated_at),
    startedAtMs,
    endedAtMs,
    queueWaitMs: getDuration(createdAtMs, startedAtMs),
    runMs: getDuration(startedAtMs, endedAtMs),
    progress: stateFields.terminal ? undefined : toProgressView(item.progress),
    expected: stateFields.terminal ? undefined : item.expected_run,
    preview: toPreviewView(item.preview_output) ?? choosePreview(liveOutputs),
    outputsCount: liveOutputs.length > 0 ? Math.max(liveOutputs.length, item.outputs_count ?? 0) : item.outputs_count,
    workflowId: asText(item.workflow_id),
    assignedTo: asText(status?.assigned_inference),
    stoppedIn: stateFields.state === "cancelled" ? findStoppedNode(messages) : undefined,
    error: stateFields.state === "completed" ? undefined : findError(item, messages, status),
    waits: stateFields.state === "pending" ? item.waits : undefined,
  });
}

/** An unknown status is shown, but the known one determines the state. */
function toStateFields(itemStatus: string, jobStatus: string | undefined): Pick<JobView, "state" | "rawStatus" | "terminal"> {
  const rawStatus = jobStatus ?? itemStatus;
  const knownStatus = toJobState(rawStatus) === "unknown" ? itemStatus : rawStatus;
  return { state: toJobState(knownStatus), rawStatus, terminal: isTerminalStatus(knownStatus) };
}

type Message = { event: string; data: Record<string, unknown> };

function readMessages(item: JobListItem | JobDetail): Message[] {
  const messages: unknown = isObject(item.execution_status) ? item.execution_status.messages : undefined;
  if (!Array.isArray(messages)) return [];
  return messages.flatMap((entry: unknown) =>
    Array.isArray(entry) && typeof entry[0] === "string" && isObject(entry[1]) ? [{ event: entry[0], data: entry[1] }] : [],
  );
}

function findTime(messages: Message[], events: string[]): number | undefined {
  return toMilliseconds(messages.findLast((message) => events.includes(message.event))?.data.timestamp);
}

function findStoppedNode(messages: Message[]): JobView["stoppedIn"] {
  const { node_id, node_type } = messages.findLast(({ event }) => event === "execution_interrupted")?.data ?? {};
  const nodeId = typeof node_id === "number" ? String(node_id) : asText(node_id);
  return nodeId === undefined ? undefined : removeUndefined({ nodeId, nodeType: asText(node_type) });
}

function findError(item: JobListItem | JobDetail, messages: Message[], status: JobStatus | undefined): JobErrorView | undefined {
  const errorData = messages.findLast((message) => message.event === "execution_error")?.data;
  return toJobErrorView(item.execution_error) ?? toJobErrorView(errorData) ?? toJobErrorView(status?.error_message);
}

export type RunningNode = { node: string; step?: number; steps?: number };

export function toRunningNode({ currentNode: node, step, steps }: JobProgressView = {}): RunningNode | undefined {
  const hasSteps = step !== undefined && steps !== undefined && steps > 1;
  return node === undefined ? undefined : { node, ...(hasSteps && { step, steps }) };
}

function toProgressView(progress: JobListItem["progress"]): JobProgressView | undefined {
  const { value, nodes_done: nodesDone, nodes_total: nodesTotal, current_node, step, steps, preview: previewVersion } = progress ?? {};
  const view = removeUndefined({
    value: value === undefined ? undefined : Math.min(1, Math.max(0, value)),
    nodesDone,
    nodesTotal,
    currentNode: asText(current_node),
    step,
    steps,
    previewVersion,
  });
  return Object.keys(view).length > 0 ? view : undefined;
}

/** If one time has only whole seconds, the end may precede the start by up to a second. The duration is then 0. */
function getDuration(startMs: number | undefined, endMs: number | undefined): number | undefined {
  return startMs === undefined || endMs === undefined ? undefined : Math.max(0, endMs - startMs);
}

function removeUndefined<T extends object>(view: T): T {
  for (const key of Object.keys(view)) if (Reflect.get(view, key) === undefined) Reflect.deleteProperty(view, key);
  return view;
}

export function toHistoryJob(entry: HistoryEntry): { job: JobDetail; files: OutputView[] } {
  const job: JobDetail = {
    id: entry.prompt_id,
    status: getHistoryStatus(entry),
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

/** Lists a running job's outputs so far, from live updates. */
export function listLiveOutputs({ progress }: Pick<JobListItem, "progress">): OutputView[] {
  return listOutputs(progress?.outputs);
}

/** Images and videos only. Permanent files come before temporary ones. */
export function choosePreview(files: readonly OutputView[]): OutputView | undefined {
  const visualFiles = files.filter(({ kind }) => kind === "image" || kind === "video");
  return visualFiles.find(({ temporary }) => !temporary) ?? visualFiles[0];
}

function getHistoryStatus({ status }: HistoryEntry): string {
  if (status?.status_str === "success") return "completed";
  const wasInterrupted = status?.messages.some(([event]) => event === "execution_interrupted");
  if (wasInterrupted) return "cancelled";
  return status?.status_str === "error" ? "failed" : (status?.status_str ?? "unknown");
}
