import { type Failure, readNodeErrors } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { asText, getOwn } from "@/lib/contract/json/json";
import { anyText, list, withFallback } from "@/lib/contract/json/readers";
import { type JobRunner, type JobWaitReason } from "@/lib/contract/runners/runners";
import { type NodeErrors } from "@/lib/contract/schemas/execution";
import { type JobDetail, type JobStatus } from "@/lib/contract/schemas/job";
import { type SecretLocation } from "@/lib/contract/secrets/secret-locations";
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
  refusedNodes?: RefusedNode[];
  isInGraph: boolean;
};

/** The raw state in both views of the service. The status view may be missing. */
export type RawStates = { details: string; status?: string };

/**
 * `cache_cleared`: a runner's output files were missing, so the job ran a second time. `outputs_refused`: the runner ran only some outputs.
 */
export type JobNote = { code: "cache_cleared" } | { code: "outputs_refused"; runner: string; refusedNodes: RefusedNode[] };

export type JobFacts = {
  job: Omit<JobView, "preview" | "error">;
  workflow: string;
  label?: string;
  submittedBy?: { name: string; token?: string };
  /** The original that this job reruns, and the reruns of this job, newest first. */
  rerunOf?: string;
  reruns?: readonly string[];
  /** Where the submission contained a key or token. Only the job's owner gets this. */
  secretPlaces?: readonly SecretLocation[];
  /** The job's runner and attempt. */
  runner?: JobRunner;
  /** The reason that the job is pending, if no suitable runner accepts jobs. */
  waiting?: JobWaitReason;
  currentNode?: string;
  failure?: JobFailure;
  notes: JobNote[];
  outputs: { view: OutputView; node: string }[];
  timeline: TimelineNode[];
  rawStates: RawStates;
  /** Counts that determine which actions are possible. Absent if the service has no workflow. */
  workflowCounts?: { nodes: number; seeds: number };
};

export function toJobFacts(detail: JobDetail, status?: JobStatus): JobFacts {
  const names = getNodeNames(detail);
  const { preview: _preview, error, ...job } = toJobView(detail, status);
  const currentNodeId = job.progress?.currentNode;
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
    ...(currentNodeId !== undefined && { currentNode: names.get(currentNodeId) ?? currentNodeId }),
    ...(error && { failure: toJobFailure(error, detail, names) }),
    notes: getNotes(detail, names),
    outputs: getOutputs(detail, job).map((view) => ({ view, node: names.get(view.nodeId) ?? view.nodeId })),
    timeline: buildTimeline(detail, names, job),
    rawStates: { details: detail.status },
    ...(detail.workflow && { workflowCounts: { nodes: names.size, seeds: countSeeds(detail.workflow) } }),
  };
  return status ? withStatusFacts(facts, toStatusFacts(status)) : facts;
}

/** Services list the outputs of finished jobs. Live updates report those of running jobs. */
function getOutputs(detail: JobDetail, { terminal }: JobLifecycle): OutputView[] {
  const outputs = listOutputs(detail.outputs);
  return outputs.length > 0 || terminal ? outputs : listLiveOutputs(detail);
}

/** The last known facts of a job that the service no longer has. Its outcome is unknown. */
function withUnknownOutcome(facts: JobFacts): JobFacts {
  if (facts.job.terminal) return facts;
  const { progress: _progress, ...job } = facts.job;
  const { currentNode: _node, ...otherFacts } = facts;
  const timeline = facts.timeline.map((node) => (node.state === "running" ? { ...node, state: "unreached" as const } : node));
  return { ...otherFacts, timeline, job: { ...job, state: "unknown", terminal: true } };
}

/** Returns the facts to show after a failed request. */
export function getFactsAfterFailure(lastFacts: JobFacts | undefined, failure: Failure | undefined) {
  const isMissing = failure?.code === "NOT_FOUND";
  return {
    facts: lastFacts && isMissing ? withUnknownOutcome(lastFacts) : lastFacts,
    isMissing,
    wasActive: isMissing && lastFacts?.job.terminal === false,
    isForbidden: failure?.code === "FORBIDDEN",
  };
}

/** Returns the workflow's name. Undefined if the name is derived from an id, which is shown next to the title. */
export function getCustomWorkflowName({ job, workflow }: Pick<JobFacts, "job" | "workflow">): string | undefined {
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
    rawStates: { ...facts.rawStates, ...(word !== undefined && { status: word }) },
  };
}

function toJobFailure(error: JobErrorView, detail: JobDetail, names: ReadonlyMap<string, string>): JobFailure {
  const node = (error.nodeId === undefined ? undefined : names.get(error.nodeId)) ?? error.nodeType;
  const inputs = detail.execution_error?.current_inputs;
  const nodeErrors = error.lateValidation?.nodeErrors;
  return {
    ...error,
    isInGraph: error.nodeId !== undefined && names.has(error.nodeId),
    ...(node && { node }),
    ...(inputs && Object.keys(inputs).length > 0 && { inputs: writeExactJson(inputs, 2) }),
    ...(nodeErrors && { refusedNodes: toRefusedNodes(nodeErrors, names) }),
  };
}

/** Reads the "note" messages of the embedded service. Skips unknown codes. */
function getNotes(detail: JobDetail, names: ReadonlyMap<string, string>): JobNote[] {
  return (detail.execution_status?.messages ?? []).flatMap(([event, { code, runner, nodeErrors }]): JobNote[] => {
    if (event !== "note") return [];
    if (code === "cache_cleared") return [{ code }];
    const errors = code === "outputs_refused" ? readNodeErrors(nodeErrors) : undefined;
    return errors ? [{ code: "outputs_refused", runner: asText(runner) ?? "", refusedNodes: toRefusedNodes(errors, names) }] : [];
  });
}

function toRefusedNodes(nodeErrors: NodeErrors, names: ReadonlyMap<string, string>): RefusedNode[] {
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
function getNodeNames({ workflow, class_names: names = {} }: Pick<JobDetail, "workflow" | "class_names">): ReadonlyMap<string, string> {
  const nodes = Object.entries(readLooseGraph(workflow) ?? {});
  return new Map(
    nodes.flatMap(([id, node]) =>
      node.class_type === undefined ? [] : [[id, getNodeName(node, getClassDisplayName(names, node.class_type))] as const],
    ),
  );
}

export function getClassDisplayName(names: Readonly<Record<string, string>>, className: string): string | undefined {
  return getOwn(names, className);
}

type JobLifecycle = Pick<JobView, "state" | "terminal" | "startedAtMs" | "endedAtMs">;

/**
 * The nodes in the order in which they started. Nodes without times keep the service's order. The failed, stopped or running node follows them,
 * and unreached nodes are last. In an incomplete job, a node is done only if the service reports it or nothing else is possible.
 */
function buildTimeline(detail: JobDetail, names: ReadonlyMap<string, string>, job: JobLifecycle): TimelineNode[] {
  // A late validation error has no node id, or an empty one.
  const failedId = asText(detail.execution_error?.node_id);
  const currentId = job.terminal ? undefined : detail.progress?.current_node;
  const isIncomplete = job.terminal && job.state !== "completed";
  const stoppedId = isIncomplete ? (failedId ?? findStoppedNodeId(detail)) : undefined;
  const metaEntries = Object.entries(detail.execution_meta ?? {});
  const timeline = metaEntries.map(([nodeId, meta]): TimelineNode => {
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
  const lastNodeId = failedId ?? stoppedId ?? currentId;
  const isListed = lastNodeId === undefined || timeline.some(({ nodeId }) => nodeId === lastNodeId);
  const reportedStates = getReportedStates(detail);
  const executedIds = new Set(reportedStates.flatMap(([nodeId, reportedState]) => (reportedState === "done" ? [nodeId] : [])));
  if (isIncomplete) {
    const isReported = stoppedId !== undefined || executedIds.size > 0 || timeline.some(({ endMs }) => endMs !== undefined);
    // Without reports, assume that only the last node was unfinished.
    const hasEnded = ({ nodeId, startMs, endMs }: TimelineNode, index: number) => {
      if (nodeId === stoppedId) return false;
      if (endMs !== undefined || executedIds.has(nodeId)) return true;
      return isReported ? startMs === undefined && stoppedId !== undefined : index < timeline.length - 1;
    };
    for (const [index, node] of timeline.entries()) if (node.state === "done" && !hasEnded(node, index)) node.state = "stopped";
  }
  const untimedEntries = reportedStates.filter(([nodeId]) => getOwn(detail.execution_meta, nodeId) === undefined && nodeId !== lastNodeId);
  const createUntimedNodes = (state: "cached" | "done") =>
    untimedEntries.flatMap(([nodeId, reportedState]) =>
      reportedState === state ? [{ nodeId, name: names.get(nodeId) ?? nodeId, state }] : [],
    );
  const timelineNodes: TimelineNode[] = [...createUntimedNodes("cached"), ...timeline, ...createUntimedNodes("done")];
  const startedNodes: TimelineNode[] = isListed
    ? timelineNodes
    : [
        ...timelineNodes,
        {
          nodeId: lastNodeId,
          name: names.get(lastNodeId) ?? lastNodeId,
          state: lastNodeId === failedId ? "failed" : lastNodeId === stoppedId ? "stopped" : "running",
        },
      ];
  const hasTimes = timeline.length === 0 ? detail.execution_meta !== undefined : timeline.some(({ startMs }) => startMs !== undefined);
  const lastEndMs = timeline.reduce(
    (last: number | undefined, node) => (isUnfinished(node) || node.endMs === undefined ? last : Math.max(last ?? node.endMs, node.endMs)),
    undefined,
  );
  const nodesWithSpans = hasTimes
    ? startedNodes.map((node) => (isUnfinished(node) ? withTimes(node, lastEndMs, job) : node))
    : startedNodes;
  const reachedIds = new Set([...startedNodes.map(({ nodeId }) => nodeId), ...metaEntries.flatMap(([, meta]) => meta.real_node_id ?? [])]);
  return isIncomplete && startedNodes.length > 0 ? [...nodesWithSpans, ...getUnreachedNodes(names, reachedIds)] : nodesWithSpans;
}

/** The node at which the run was interrupted, if the service names it. */
function findStoppedNodeId({ execution_status: status }: JobDetail): string | undefined {
  for (const [event, facts] of status?.messages ?? [])
    if (event === "execution_interrupted" && asText(facts.node_id)) return asText(facts.node_id);
  return undefined;
}

const readIds = withFallback(list(anyText), []);

/** Returns the cached and done nodes from the run's messages. */
function getReportedStates(detail: JobDetail): [nodeId: string, state: "cached" | "done"][] {
  const messages = detail.execution_status?.messages ?? [];
  const states = new Map<string, "cached" | "done">();
  for (const id of readIds(detail.execution_error?.executed)) states.set(id, "done");
  for (const [, facts] of messages) for (const id of readIds(facts.executed)) states.set(id, "done");
  for (const [event, facts] of messages) if (event === "execution_cached") for (const id of readIds(facts.nodes)) states.set(id, "cached");
  return [...states];
}

const isUnfinished = ({ state }: TimelineNode) => state === "failed" || state === "stopped";

/** Services report times only for finished nodes, so the failed or stopped node gets the remaining time. */
function withTimes(node: TimelineNode, lastEndMs: number | undefined, { startedAtMs, endedAtMs }: JobLifecycle): TimelineNode {
  const startMs = node.startMs ?? lastEndMs ?? startedAtMs;
  const endMs = node.endMs ?? endedAtMs;
  if (startMs === undefined || endMs === undefined) return node;
  return { ...node, startMs, endMs: Math.max(startMs, endMs) };
}

function getUnreachedNodes(names: ReadonlyMap<string, string>, reachedIds: ReadonlySet<string>): TimelineNode[] {
  return [...names].flatMap(([nodeId, name]) => (reachedIds.has(nodeId) ? [] : [{ nodeId, name, state: "unreached" as const }]));
}

export type Bar = { from: number; to: number };

/** Returns each bar's position in percent, from the first start to the last end. */
export function toBars(spans: readonly { startMs?: number; endMs?: number }[], nowMs: number): (Bar | undefined)[] {
  let [firstMs, lastMs] = [Infinity, -Infinity];
  for (const { startMs, endMs = nowMs } of spans) {
    if (startMs === undefined) continue;
    firstMs = Math.min(firstMs, startMs);
    lastMs = Math.max(lastMs, endMs);
  }
  const totalMs = Math.max(1, lastMs - firstMs);
  const toPercent = (ms: number) => Math.min(100, Math.max(0, ((ms - firstMs) / totalMs) * 100));
  return spans.map(({ startMs, endMs }) =>
    startMs === undefined ? undefined : { from: toPercent(startMs), to: toPercent(endMs ?? nowMs) },
  );
}
