import { type Failure, readNodeErrors } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { asText, getOwn } from "@/lib/contract/json/json";
import { anyText, list, withFallback } from "@/lib/contract/json/readers";
import { type JobRunner, type JobWaits } from "@/lib/contract/runners/runners";
import { type NodeErrors } from "@/lib/contract/schemas/execution";
import { type JobDetail, type JobStatus } from "@/lib/contract/schemas/job";
import { type SecretPlace } from "@/lib/contract/secrets/secret-places";
import { toMilliseconds } from "@/lib/contract/times";
import { type JobErrorView, type JobView, listLiveOutputs, toJobView } from "@/lib/contract/views/job-view";
import { listOutputs, type OutputView } from "@/lib/contract/views/outputs-view";
import { getNodeName, readLooseGraph } from "@/lib/contract/workflow/graph";
import { formatNamelessWorkflow, getWorkflowName } from "@/lib/contract/workflow/workflow-name";
import { countSeeds } from "../actions/resubmission";

/** A node that was refused only after the job was queued, with its errors. */
type RefusedNode = { nodeId: string; node?: string; errors: { message: string; details: string; input?: string }[] };

export type JobFailure = JobErrorView & {
  node?: string;
  /** The node's input values, as JSON text. */
  inputs?: string;
  refused?: RefusedNode[];
  isInGraph: boolean;
};

/** The raw state in both views of the service. The status view may be missing. */
export type RawTexts = { details: string; status?: string };

/**
 * `cache_cleared`: a runner's output files were gone, so the job ran a second time. `outputs_refused`: the runner ran only some outputs.
 */
export type JobNote = { code: "cache_cleared" } | { code: "outputs_refused"; runner: string; refused: RefusedNode[] };

export type JobFacts = {
  job: Omit<JobView, "preview" | "error">;
  workflow: string;
  label?: string;
  submittedBy?: { name: string; token?: string };
  /** The original that this job reruns, and the reruns of this job, newest first. */
  rerunOf?: string;
  reruns?: readonly string[];
  /** Where the submission contained a key or token. Only the job's owner gets this. */
  secretPlaces?: readonly SecretPlace[];
  /** Its runner, and the attempt. */
  runner?: JobRunner;
  /** Why the job is pending, if no suitable runner accepts jobs. */
  waiting?: JobWaits;
  currentNode?: string;
  failure?: JobFailure;
  notes: JobNote[];
  outputs: { view: OutputView; node: string }[];
  timeline: TimelineNode[];
  words: RawTexts;
  /** The parts of the workflow that decide which actions are possible; absent if the service has none. */
  workflowParts?: { nodes: number; seeds: number };
};

export function toJobFacts(detail: JobDetail, status?: JobStatus): JobFacts {
  const names = nodeNames(detail);
  const { preview: _preview, error, ...job } = toJobView(detail, status);
  const current = job.progress?.currentNode;
  const facts: JobFacts = {
    job,
    workflow: getWorkflowName(detail),
    ...(detail.job_label && { label: detail.job_label }),
    ...(detail.submitted_by && { submittedBy: { name: detail.submitted_by, token: detail.submitted_token } }),
    ...(detail.rerun_of && { rerunOf: detail.rerun_of }),
    ...(detail.reruns && { reruns: detail.reruns }),
    ...(detail.held_secrets && { secretPlaces: detail.held_secrets }),
    ...(detail.runner && { runner: detail.runner }),
    ...(detail.waits && job.state === "pending" && { waiting: detail.waits }),
    ...(current !== undefined && { currentNode: names.get(current) ?? current }),
    ...(error && { failure: withNames(error, detail, names) }),
    notes: getNotes(detail, names),
    outputs: getOutputs(detail, job).map((view) => ({ view, node: names.get(view.nodeId) ?? view.nodeId })),
    timeline: buildTimeline(detail, names, job),
    words: { details: detail.status },
    ...(detail.workflow && { workflowParts: { nodes: names.size, seeds: countSeeds(detail.workflow) } }),
  };
  return status ? withStatusFacts(facts, toStatusFacts(status)) : facts;
}

/** Services list the outputs of finished jobs; live updates report those of running ones. */
function getOutputs(detail: JobDetail, { terminal }: Course): OutputView[] {
  const outputs = listOutputs(detail.outputs);
  return outputs.length > 0 || terminal ? outputs : listLiveOutputs(detail);
}

/** The last known facts of a job that the service no longer has. Its outcome is unknown. */
function withUnknownOutcome(facts: JobFacts): JobFacts {
  if (facts.job.terminal) return facts;
  const { progress: _progress, ...job } = facts.job;
  const { currentNode: _node, ...rest } = facts;
  const timeline = facts.timeline.map((node) => (node.state === "running" ? { ...node, state: "unreached" as const } : node));
  return { ...rest, timeline, job: { ...job, state: "unknown", terminal: true } };
}

/** The facts to show after a failed request. `last`: the last known facts. */
export function getFactsAfterFailure(last: JobFacts | undefined, failure: Failure | undefined) {
  const isMissing = failure?.code === "NOT_FOUND";
  return {
    facts: last && isMissing ? withUnknownOutcome(last) : last,
    isGone: isMissing,
    wasActive: isMissing && last?.job.terminal === false,
    isForbidden: failure?.code === "FORBIDDEN",
  };
}

/** The workflow's name, undefined if derived from an id, which is next to the title anyway. */
export function ownName({ job, workflow }: Pick<JobFacts, "job" | "workflow">): string | undefined {
  return workflow === formatNamelessWorkflow(job.workflowId ?? job.id) ? undefined : workflow;
}

/** Fields of the status view only: the machine, and the submission in milliseconds. */
type StatusFacts = Pick<JobView, "assignedTo" | "createdAtMs"> & { word?: string };

export function toStatusFacts({ assigned_inference, created_at, status }: JobStatus): StatusFacts {
  return { assignedTo: assigned_inference, createdAtMs: toMilliseconds(created_at), word: status };
}

export function withStatusFacts(facts: JobFacts, { assignedTo, createdAtMs, word }: StatusFacts): JobFacts {
  const isMoreExact = createdAtMs !== undefined && facts.job.createdAtMs === Math.floor(createdAtMs / 1000) * 1000;
  return {
    ...facts,
    job: { ...facts.job, ...(assignedTo && { assignedTo }), ...(isMoreExact && { createdAtMs }) },
    words: { ...facts.words, ...(word !== undefined && { status: word }) },
  };
}

function withNames(error: JobErrorView, detail: JobDetail, names: ReadonlyMap<string, string>): JobFailure {
  const node = (error.nodeId === undefined ? undefined : names.get(error.nodeId)) ?? error.nodeType;
  const inputs = detail.execution_error?.current_inputs;
  const nodeErrors = error.lateValidation?.nodeErrors;
  return {
    ...error,
    isInGraph: error.nodeId !== undefined && names.has(error.nodeId),
    ...(node && { node }),
    ...(inputs && Object.keys(inputs).length > 0 && { inputs: writeExactJson(inputs, 2) }),
    ...(nodeErrors && { refused: refusedNodes(nodeErrors, names) }),
  };
}

/** The messages named "note" of the embedded service. Skips unknown notes. */
function getNotes(detail: JobDetail, names: ReadonlyMap<string, string>): JobNote[] {
  return (detail.execution_status?.messages ?? []).flatMap(([event, { code, runner, nodeErrors }]): JobNote[] => {
    if (event !== "note") return [];
    if (code === "cache_cleared") return [{ code }];
    const errors = code === "outputs_refused" ? readNodeErrors(nodeErrors) : undefined;
    return errors ? [{ code: "outputs_refused", runner: asText(runner) ?? "", refused: refusedNodes(errors, names) }] : [];
  });
}

function refusedNodes(nodeErrors: NodeErrors, names: ReadonlyMap<string, string>): RefusedNode[] {
  return Object.entries(nodeErrors).map(([nodeId, entry]) => ({
    nodeId,
    node: names.get(nodeId) ?? entry.class_type ?? undefined,
    errors: entry.errors.map(({ message, details, extra_info }) => ({ message, details, input: asText(extra_info.input_name) })),
  }));
}

type TimelineNode = {
  nodeId: string;
  name: string;
  startMs?: number;
  endMs?: number;
  state: "done" | "cached" | "running" | "stopped" | "failed" | "unreached";
};

/** The names of the submitted graph's nodes, if the service sends the graph. */
function nodeNames({ workflow, class_names: names = {} }: Pick<JobDetail, "workflow" | "class_names">): ReadonlyMap<string, string> {
  const nodes = Object.entries(readLooseGraph(workflow) ?? {});
  return new Map(
    nodes.flatMap(([id, node]) =>
      node.class_type === undefined ? [] : [[id, getNodeName(node, nameOfClass(names, node.class_type))] as const],
    ),
  );
}

export function nameOfClass(names: Readonly<Record<string, string>>, className: string): string | undefined {
  return getOwn(names, className);
}

type Course = Pick<JobView, "state" | "terminal" | "startedAtMs" | "endedAtMs">;

/**
 * The nodes in the order in which they began. Nodes without times keep the service's order. The failed, stopped or running node follows them,
 * and unreached nodes are last. In an incomplete job, a node is done only if the service reports it or nothing else is possible.
 */
function buildTimeline(detail: JobDetail, names: ReadonlyMap<string, string>, job: Course): TimelineNode[] {
  // A late refusal has no node id here, or an empty one.
  const failedId = asText(detail.execution_error?.node_id);
  const currentId = job.terminal ? undefined : detail.progress?.current_node;
  const isIncomplete = job.terminal && job.state !== "completed";
  const stoppedId = isIncomplete ? (failedId ?? findStoppedNode(detail)) : undefined;
  const metas = Object.entries(detail.execution_meta ?? {});
  const timeline = metas.map(([nodeId, meta]): TimelineNode => {
    const endMs = toMilliseconds(meta.end_time);
    return {
      nodeId,
      name: names.get(meta.real_node_id ?? nodeId) ?? names.get(nodeId) ?? nodeId,
      startMs: toMilliseconds(meta.start_time),
      endMs,
      state: nodeId === failedId ? "failed" : meta.cached ? "cached" : nodeId === currentId && endMs === undefined ? "running" : "done",
    };
  });
  timeline.sort((timelineNode, other) => (timelineNode.startMs ?? Number.MAX_SAFE_INTEGER) - (other.startMs ?? Number.MAX_SAFE_INTEGER));
  const last = failedId ?? stoppedId ?? currentId;
  const isListed = last === undefined || timeline.some(({ nodeId }) => nodeId === last);
  const reportedEntries = reportedStates(detail);
  const executed = new Set(reportedEntries.flatMap(([nodeId, was]) => (was === "done" ? [nodeId] : [])));
  if (isIncomplete)
    for (const node of timeline) if (node.state === "done" && !hasEnded(node, timeline, stoppedId, executed)) node.state = "stopped";
  const untimed = reportedEntries.filter(([nodeId]) => getOwn(detail.execution_meta, nodeId) === undefined && nodeId !== last);
  const unlisted = (state: "cached" | "done") =>
    untimed.flatMap(([nodeId, was]) => (was === state ? [{ nodeId, name: names.get(nodeId) ?? nodeId, state }] : []));
  const timelineNodes: TimelineNode[] = [...unlisted("cached"), ...timeline, ...unlisted("done")];
  const startedNodes: TimelineNode[] = isListed
    ? timelineNodes
    : [
        ...timelineNodes,
        { nodeId: last, name: names.get(last) ?? last, state: last === failedId ? "failed" : last === stoppedId ? "stopped" : "running" },
      ];
  const isTimed = timeline.length === 0 ? detail.execution_meta !== undefined : timeline.some(({ startMs }) => startMs !== undefined);
  const nodesWithSpans = isTimed
    ? startedNodes.map((node) => (node.state === "failed" || node.state === "stopped" ? withSpan(node, timeline, job) : node))
    : startedNodes;
  const reached = new Set([...startedNodes.map(({ nodeId }) => nodeId), ...metas.flatMap(([, meta]) => meta.real_node_id ?? [])]);
  return isIncomplete && startedNodes.length > 0 ? [...nodesWithSpans, ...getUnreachedNodes(names, reached)] : nodesWithSpans;
}

/** The node at which the run was interrupted, if the service names it. */
function findStoppedNode({ execution_status: status }: JobDetail): string | undefined {
  for (const [event, facts] of status?.messages ?? [])
    if (event === "execution_interrupted" && asText(facts.node_id)) return asText(facts.node_id);
  return undefined;
}

/** Whether a node of an incomplete job had ended. If the service reports nothing, only the last node counts as not ended. */
function hasEnded(
  node: TimelineNode,
  timeline: readonly TimelineNode[],
  stoppedId: string | undefined,
  executed: ReadonlySet<string>,
): boolean {
  if (node.nodeId === stoppedId) return false;
  if (node.endMs !== undefined || executed.has(node.nodeId)) return true;
  const isReported = stoppedId !== undefined || executed.size > 0 || timeline.some(({ endMs }) => endMs !== undefined);
  return isReported ? node.startMs === undefined && stoppedId !== undefined : node !== timeline.at(-1);
}

const readIds = withFallback(list(anyText), []);

/** The cached and done nodes in the run's messages. */
function reportedStates(detail: JobDetail): [nodeId: string, state: "cached" | "done"][] {
  const messages = detail.execution_status?.messages ?? [];
  const states = new Map<string, "cached" | "done">();
  for (const id of readIds(detail.execution_error?.executed)) states.set(id, "done");
  for (const [, facts] of messages) for (const id of readIds(facts.executed)) states.set(id, "done");
  for (const [event, facts] of messages) if (event === "execution_cached") for (const id of readIds(facts.nodes)) states.set(id, "cached");
  return [...states];
}

/** Services report times only for finished nodes, so the failed or stopped node gets the remaining time. */
function withSpan(node: TimelineNode, timeline: readonly TimelineNode[], { startedAtMs, endedAtMs }: Course): TimelineNode {
  const ends = timeline.flatMap(({ nodeId, endMs }) => (nodeId === node.nodeId || endMs === undefined ? [] : [endMs]));
  const startMs = node.startMs ?? (ends.length > 0 ? Math.max(...ends) : startedAtMs);
  const endMs = node.endMs ?? endedAtMs;
  if (startMs === undefined || endMs === undefined) return node;
  return { ...node, startMs, endMs: Math.max(startMs, endMs) };
}

function getUnreachedNodes(names: ReadonlyMap<string, string>, reached: ReadonlySet<string>): TimelineNode[] {
  return [...names].flatMap(([nodeId, name]) => (reached.has(nodeId) ? [] : [{ nodeId, name, state: "unreached" as const }]));
}

export type Bar = { from: number; to: number };

/** Each bar's position in percent, from the first start to the last end. */
export function toBars(spans: readonly { startMs?: number; endMs?: number }[], nowMs: number): (Bar | undefined)[] {
  const starts = spans.flatMap(({ startMs }) => (startMs === undefined ? [] : [startMs]));
  const ends = spans.flatMap(({ startMs, endMs }) => (startMs === undefined ? [] : [endMs ?? nowMs]));
  if (starts.length === 0) return spans.map(() => undefined);
  const first = Math.min(...starts);
  const totalMs = Math.max(1, Math.max(...ends) - first);
  const toPercent = (ms: number) => Math.min(100, Math.max(0, ((ms - first) / totalMs) * 100));
  return spans.map(({ startMs, endMs }) =>
    startMs === undefined ? undefined : { from: toPercent(startMs), to: toPercent(endMs ?? nowMs) },
  );
}
