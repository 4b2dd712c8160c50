import { readFailure } from "@/lib/browser/read-failure";
import { type JobDetail, type JobStatus } from "@/lib/contract/schemas/job";
import { type NodeErrors } from "@/lib/contract/schemas/node-errors";
import { isTerminalWord } from "@/lib/contract/states";
import { toMilliseconds } from "@/lib/contract/times";
import { type JobOutput, outputsOf } from "./job-outputs";
import { type JobRow, toJobRow } from "./job-row";
import { nodeNames, type TimelineNode, timelineOf } from "./job-timeline";

export type JobFailure = {
  nodeId?: string;
  node?: string;
  type: string;
  message: string;
  traceback: string;
  /** The values that went into the node, as JSON text. */
  inputs?: string;
  /** Refused only after it was queued: what is wrong with which node. */
  refused?: { nodeId: string; node?: string; errors: { message: string; details: string }[] }[];
};

/** What a job's own page shows. */
export type JobView = {
  row: JobRow;
  isFinal: boolean;
  updatedMs?: number;
  workflowId?: string;
  machine?: string;
  steps?: { done: number; total: number; node?: string; step?: number; steps?: number };
  failure?: JobFailure;
  outputs: JobOutput[];
  timeline: TimelineNode[];
};

export function toJobView(detail: JobDetail, status?: JobStatus): JobView {
  const names = nodeNames(detail.workflow);
  const row = toJobRow(detail);
  return {
    row,
    isFinal: isTerminalWord(detail.status),
    updatedMs: toMilliseconds(detail.update_time),
    workflowId: detail.workflow_id ?? undefined,
    machine: status?.assigned_inference ?? undefined,
    steps: row.state === "in_progress" ? stepsOf(detail, names) : undefined,
    failure: row.state === "failed" ? failureOf(detail, names, status) : undefined,
    outputs: outputsOf(detail.outputs ?? {}, names),
    timeline: timelineOf(detail, names),
  };
}

function stepsOf({ progress }: JobDetail, names: ReadonlyMap<string, string>): JobView["steps"] {
  if (progress?.nodes_total === undefined) return undefined;
  const node = progress.current_node;
  return {
    done: progress.nodes_done ?? 0,
    total: progress.nodes_total,
    node: node === undefined ? undefined : (names.get(node) ?? node),
    step: progress.step ?? undefined,
    steps: progress.steps ?? undefined,
  };
}

function failureOf(detail: JobDetail, names: ReadonlyMap<string, string>, status?: JobStatus): JobFailure {
  const error = detail.execution_error;
  const message = error?.exception_message ?? status?.error_message ?? "";
  const nodeId = error?.node_id ?? undefined;
  return {
    nodeId,
    node: (nodeId === undefined ? undefined : names.get(nodeId)) ?? error?.node_type ?? undefined,
    type: error?.exception_type ?? "",
    message,
    traceback: (error?.traceback ?? []).join("").trim(),
    inputs:
      error?.current_inputs && Object.keys(error.current_inputs).length > 0 ? JSON.stringify(error.current_inputs, null, 2) : undefined,
    refused: refusedNodes(lateNodeErrors(message), names),
  };
}

/** Some services queue first and validate later: the refusal then stands as JSON inside the exception's text. */
function lateNodeErrors(message: string): NodeErrors | undefined {
  const first = message.indexOf("{");
  const last = message.lastIndexOf("}");
  return first < 0 || last <= first ? undefined : readFailure(400, null, message.slice(first, last + 1)).nodeErrors;
}

function refusedNodes(nodeErrors: NodeErrors | undefined, names: ReadonlyMap<string, string>): JobFailure["refused"] {
  if (!nodeErrors) return undefined;
  return Object.entries(nodeErrors).map(([nodeId, entry]) => ({
    nodeId,
    node: names.get(nodeId) ?? entry.class_type ?? undefined,
    errors: entry.errors.map(({ message, details }) => ({ message, details })),
  }));
}
