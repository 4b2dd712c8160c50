// What the embedded service answers of jobs, queue and history. Times: milliseconds in lists, whole seconds in details, RFC 3339 in the status.

import { z } from "zod";
import { assetAnswers } from "./asset-answers";

const count = z.int().min(0);
const free = z.record(z.string(), z.unknown());
const milliseconds = z.number().min(0);

const ExecutionError = z.object({
  node_id: z.string(),
  node_type: z.string(),
  exception_message: z.string(),
  exception_type: z.string(),
  traceback: z.array(z.string()),
  current_inputs: free,
  current_outputs: free,
});
const PreviewOutput = z.object({
  filename: z.string().optional(),
  subfolder: z.string().optional(),
  type: z.string().optional(),
  display_name: z.string().optional(),
  nodeId: z.string(),
  mediaType: z.string(),
  content: z.string().optional(),
  truncated: z.boolean().optional(),
});
const Progress = z.object({
  value: z.number().min(0).max(1),
  nodes_done: count,
  nodes_total: count,
  current_node: z.string().optional(),
  step: z.number().optional(),
  steps: z.number().optional(),
  start_time: milliseconds,
});
const Job = z.object({
  id: z.guid(),
  status: z.enum(["pending", "in_progress", "completed", "failed", "cancelled"]),
  create_time: milliseconds,
  workflow_id: z.string(),
  outputs_count: count.optional(),
  execution_start_time: milliseconds.optional(),
  execution_end_time: milliseconds.optional(),
  preview_output: PreviewOutput.optional(),
  execution_error: ExecutionError.optional(),
  progress: Progress.optional(),
});
/** By node, then by key: file items under images, texts under text, flags under animated. */
const Outputs = z.record(z.string(), z.record(z.string(), z.array(z.unknown())));
const ExecutionStatus = z.object({
  status_str: z.enum(["success", "error"]),
  completed: z.boolean(),
  messages: z.array(z.tuple([z.string(), free])),
});
const NodeMeta = z.object({
  node_id: z.string(),
  display_node: z.string(),
  parent_node: z.string().nullable(),
  real_node_id: z.string(),
  start_time: milliseconds,
  end_time: milliseconds,
  cached: z.boolean(),
});
const ExecutionMeta = z.record(z.string(), NodeMeta);
const graph = z.record(z.string(), z.unknown());

const NodeErrors = z.record(
  z.string(),
  z.object({
    class_type: z.string(),
    dependent_outputs: z.array(z.string()),
    errors: z.array(z.object({ type: z.string(), message: z.string(), details: z.string(), extra_info: free })),
  }),
);
/** [position, job id, graph, ids of the output nodes, { create_time }] */
const QueueItem = z.tuple([z.int(), z.guid(), graph, z.array(z.string()), z.object({ create_time: milliseconds })]);
/** `error_message`: of a job that failed. */
const ended = { outputs: Outputs, status: ExecutionStatus, meta: ExecutionMeta, error_message: z.string().optional() };

export const jobAnswers = {
  ExecutionError,
  PreviewOutput,
  Progress,
  Job,
  Outputs,
  ExecutionStatus,
  NodeMeta,
  NodeErrors,
  QueueItem,
  PromptAccepted: z.object({ prompt_id: z.guid(), number: z.int(), node_errors: NodeErrors }),
  PromptRefusal: z.object({
    error: z.object({ type: z.string(), message: z.string(), details: z.string(), extra_info: free }),
    node_errors: NodeErrors,
  }),
  JobList: z.object({ jobs: z.array(Job), pagination: assetAnswers.Pagination }),
  JobDetail: Job.extend({
    create_time: count,
    update_time: count,
    workflow: z.object({ prompt: graph, extra_data: free }).optional(),
    outputs: Outputs.optional(),
    execution_status: ExecutionStatus.optional(),
    execution_meta: ExecutionMeta.optional(),
  }),
  JobStatus: z.object({
    id: z.guid(),
    status: z.enum(["waiting_to_dispatch", "pending", "in_progress", "completed", "error", "cancelled"]),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    last_state_update: z.iso.datetime(),
    assigned_inference: z.string().optional(),
    error_message: z.string().optional(),
  }),
  QueueDepth: z.object({ exec_info: z.object({ queue_remaining: count }) }),
  Queue: z.object({ queue_running: z.array(QueueItem), queue_pending: z.array(QueueItem) }),
  QueueChange: z.object({ deleted: z.array(z.string()), cleared: z.boolean() }),
  HistoryChange: z.object({ code: z.string(), message: z.string() }),
  History: z.object({
    history: z.array(
      z.object({
        prompt_id: z.guid(),
        create_time: milliseconds,
        workflow_id: z.string(),
        prompt: z.object({ priority: z.number(), prompt_id: z.guid(), extra_data: free }),
        ...ended,
      }),
    ),
  }),
  HistoryDetail: z.record(
    z.string(),
    z.object({
      prompt: z.object({
        priority: z.number(),
        prompt_id: z.guid(),
        prompt: graph,
        extra_data: free,
        outputs_to_execute: z.array(z.string()),
      }),
      ...ended,
    }),
  ),
  /** prompt: [number, job id, graph, extra_data, ids of the output nodes] */
  OlderHistory: z.record(z.string(), z.object({ prompt: z.tuple([z.int(), z.guid(), graph, free, z.array(z.string())]), ...ended })),
  CancelledJob: z.object({ cancelled: z.boolean() }),
  CancelledJobs: z.object({ cancelled: z.array(z.guid()) }),
};
