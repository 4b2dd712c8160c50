import { type Failure, readNodeErrors } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { textOf } from "@/lib/contract/json/json";
import { type JobRunner, type JobWaits } from "@/lib/contract/runners/runners";
import { type NodeErrors } from "@/lib/contract/schemas/execution";
import { type JobDetail, type JobStatus } from "@/lib/contract/schemas/job";
import { type SecretPlace } from "@/lib/contract/secrets/secret-places";
import { toMilliseconds } from "@/lib/contract/times";
import { type JobErrorView, type JobView, toJobView } from "@/lib/contract/views/job-view";
import { listOutputs, type OutputView } from "@/lib/contract/views/outputs-view";
import { namelessWorkflow, workflowName } from "@/lib/contract/workflow/workflow-name";
import { countSeeds } from "../actions/resubmission";
import { nodeNames, type TimelineNode, timelineOf } from "./job-timeline";

/** A node that was refused only after the job was queued, with its errors. */
export type RefusedNode = { nodeId: string; node?: string; errors: { message: string; details: string; input?: string }[] };

export type JobFailure = JobErrorView & {
  node?: string;
  /** The values that went into the node, as JSON text. */
  inputs?: string;
  refused?: RefusedNode[];
  /** The node is in the workflow, so the graph can show it. */
  isInGraph: boolean;
};

/** The state in the words of the service's two views, read at the same time; the status view may be missing. */
export type RawWords = { details: string; status?: string };

/** What a job's page shows: the job, and what only its details hold. The submitted graph itself stays on the server. */
/**
 * `cache_cleared`: a runner's output files were gone, so the job ran a second time. `outputs_refused`: the runner ran only some outputs.
 */
export type JobNote = { code: "cache_cleared" } | { code: "outputs_refused"; runner: string; refused: RefusedNode[] };

export type JobFacts = {
  job: Omit<JobView, "preview" | "error">;
  workflow: string;
  /** Tells a copy of a run from the others. */
  label?: string;
  /** The member who submitted it here. */
  submittedBy?: { name: string; token?: string };
  /** The original that this job reruns, and the reruns of this job, newest first. */
  rerunOf?: string;
  reruns?: readonly string[];
  /** Where a key or a token was; only the job's owner gets this. */
  secretPlaces?: readonly SecretPlace[];
  /** Where it runs or ran, and in which attempt. */
  runner?: JobRunner;
  /** Why it waits, where no runner able to do it accepts jobs. */
  waits?: JobWaits;
  /** The title of the node that is running. */
  currentNode?: string;
  failure?: JobFailure;
  /** Notes about the run that its outputs don't show. */
  notes: JobNote[];
  outputs: { view: OutputView; node: string }[];
  timeline: TimelineNode[];
  words: RawWords;
  /** Of the submitted workflow, what decides which actions are possible; absent where the service kept none. */
  workflowParts?: { nodes: number; seeds: number };
};

export function toJobFacts(detail: JobDetail, status?: JobStatus): JobFacts {
  const names = nodeNames(detail);
  const { preview: _preview, error, ...job } = toJobView(detail, status);
  const current = job.progress?.currentNode;
  const facts: JobFacts = {
    job,
    workflow: workflowName(detail),
    ...(detail.job_label && { label: detail.job_label }),
    ...(detail.submitted_by && { submittedBy: { name: detail.submitted_by, token: detail.submitted_token } }),
    ...(detail.rerun_of && { rerunOf: detail.rerun_of }),
    ...(detail.reruns && { reruns: detail.reruns }),
    ...(detail.held_secrets && { secretPlaces: detail.held_secrets }),
    ...(detail.runner && { runner: detail.runner }),
    ...(detail.waits && job.state === "pending" && { waits: detail.waits }),
    ...(current !== undefined && { currentNode: names.get(current) ?? current }),
    ...(error && { failure: withNames(error, detail, names) }),
    notes: notesOf(detail, names),
    outputs: listOutputs(detail.outputs).map((view) => ({ view, node: names.get(view.nodeId) ?? view.nodeId })),
    timeline: timelineOf(detail, names, job),
    words: { details: detail.status },
    ...(detail.workflow && { workflowParts: { nodes: names.size, seeds: countSeeds(detail.workflow) } }),
  };
  return status ? withStatusFacts(facts, toStatusFacts(status)) : facts;
}

/** The last known facts of a job that its service no longer has: it neither waits nor runs, and its end is unknown. */
function toGone(facts: JobFacts): JobFacts {
  if (facts.job.terminal) return facts;
  const { progress: _progress, ...job } = facts.job;
  const { currentNode: _node, ...rest } = facts;
  const timeline = facts.timeline.map((node) => (node.state === "running" ? { ...node, state: "unreached" as const } : node));
  return { ...rest, timeline, job: { ...job, state: "unknown", terminal: true } };
}

/** What is shown of a job after the answer `failure`: `last` is what was known before it. */
export function factsAfter(last: JobFacts | undefined, failure: Failure | undefined) {
  const isGone = failure?.code === "NOT_FOUND";
  return {
    facts: last && isGone ? toGone(last) : last,
    isGone,
    wasMoving: isGone && last?.job.terminal === false,
    isForbidden: failure?.code === "FORBIDDEN",
  };
}

/** The workflow's name, undefined if it is derived from an id, which tells nothing and is beside the title anyway. */
export function ownName({ job, workflow }: Pick<JobFacts, "job" | "workflow">): string | undefined {
  return workflow === namelessWorkflow(job.workflowId ?? job.id) ? undefined : workflow;
}

/** What only the status view reports: the machine, and the submission in milliseconds, where the details have whole seconds. */
export type StatusFacts = Pick<JobView, "assignedTo" | "createdAtMs"> & { word?: string };

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

/** From the embedded service: the run's messages named "note". Unknown notes are skipped. */
function notesOf(detail: JobDetail, names: ReadonlyMap<string, string>): JobNote[] {
  return (detail.execution_status?.messages ?? []).flatMap(([event, { code, runner, nodeErrors }]): JobNote[] => {
    if (event !== "note") return [];
    if (code === "cache_cleared") return [{ code }];
    const errors = code === "outputs_refused" ? readNodeErrors(nodeErrors) : undefined;
    return errors ? [{ code: "outputs_refused", runner: textOf(runner) ?? "", refused: refusedNodes(errors, names) }] : [];
  });
}

function refusedNodes(nodeErrors: NodeErrors, names: ReadonlyMap<string, string>): RefusedNode[] {
  return Object.entries(nodeErrors).map(([nodeId, entry]) => ({
    nodeId,
    node: names.get(nodeId) ?? entry.class_type ?? undefined,
    errors: entry.errors.map(({ message, details, extra_info }) => ({ message, details, input: textOf(extra_info.input_name) })),
  }));
}
