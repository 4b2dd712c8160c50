import { type JobErrorView } from "@/lib/contract/job-error-view";
import { type JobView, toJobView } from "@/lib/contract/job-view";
import { listOutputs, type OutputView } from "@/lib/contract/outputs-view";
import { type JobDetail, type JobStatus } from "@/lib/contract/schemas/job";
import { type NodeErrors } from "@/lib/contract/schemas/node-errors";
import { workflowName } from "@/lib/contract/workflow-name";
import { nodeNames, type TimelineNode, timelineOf } from "./job-timeline";

/** Refused only after it was queued: what is wrong with which node. */
export type RefusedNode = { nodeId: string; node?: string; errors: { message: string; details: string }[] };

export type JobFailure = JobErrorView & {
  node?: string;
  /** The values that went into the node, as JSON text. */
  inputs?: string;
  refused?: RefusedNode[];
};

/** What a job's own page shows: the job, and what only its details know. The submitted graph itself stays on the server. */
export type JobFacts = {
  job: Omit<JobView, "preview" | "error">;
  workflow: string;
  /** The title of the node at work. */
  currentNode?: string;
  failure?: JobFailure;
  outputs: { view: OutputView; node: string }[];
  timeline: TimelineNode[];
};

export function toJobFacts(detail: JobDetail, status?: JobStatus): JobFacts {
  const names = nodeNames(detail.workflow);
  const { preview: _preview, error, ...job } = toJobView(detail, status);
  const current = job.progress?.currentNode;
  return {
    job,
    workflow: workflowName(detail),
    ...(current !== undefined && { currentNode: names.get(current) ?? current }),
    ...(error && { failure: withNames(error, detail, names) }),
    outputs: listOutputs(detail.outputs).map((view) => ({ view, node: names.get(view.nodeId) ?? view.nodeId })),
    timeline: timelineOf(detail, names),
  };
}

function withNames(error: JobErrorView, detail: JobDetail, names: ReadonlyMap<string, string>): JobFailure {
  const node = (error.nodeId === undefined ? undefined : names.get(error.nodeId)) ?? error.nodeType;
  const inputs = detail.execution_error?.current_inputs;
  const nodeErrors = error.lateValidation?.nodeErrors;
  return {
    ...error,
    ...(node && { node }),
    ...(inputs && Object.keys(inputs).length > 0 && { inputs: JSON.stringify(inputs, null, 2) }),
    ...(nodeErrors && { refused: refusedNodes(nodeErrors, names) }),
  };
}

function refusedNodes(nodeErrors: NodeErrors, names: ReadonlyMap<string, string>): RefusedNode[] {
  return Object.entries(nodeErrors).map(([nodeId, entry]) => ({
    nodeId,
    node: names.get(nodeId) ?? entry.class_type ?? undefined,
    errors: entry.errors.map(({ message, details }) => ({ message, details })),
  }));
}
