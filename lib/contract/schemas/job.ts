// Schemas of jobs, submissions, the queue and the history. Statuses are stored as sent, and `toJobState` parses them.

import { z } from "zod";
import { readNodeErrors } from "../failure";
import { jobParams, jobStates } from "../jobs/job-list";
import { jobRunnerSchema, jobWaitReasonSchema } from "../runners/runners";
import { type SecretLocation } from "../secrets/secret-locations";
import { assetFields } from "./asset";
import { component, count, exactFields, getExactSchema, lenientOnly, milliseconds, namedSchema, omittable, withExactSchema } from "./exact";
import {
  executionErrorSchema,
  executionMetaSchema,
  executionStatusSchema,
  type NodeErrors,
  nodeErrorSchema,
  nodeErrorsSchema,
  outputsSchema,
  previewOutputSchema,
  progressSchema,
} from "./execution";
import {
  anyCount,
  anyNumber,
  createIntegerText,
  createQuerySchema,
  freeForm,
  lenientArray,
  lenientMap,
  lenientOptional,
  nullish,
  timestamp,
  unreadableCount,
} from "./lenient";

const searchMatchSchema = z.object({ text: z.string(), marks: z.array(z.tuple([z.number(), z.number()])) });
export type SearchMatch = z.infer<typeof searchMatchSchema>;

/** Added by the console, from the submission. */
const submissionFields = {
  workflow_name: lenientOnly(lenientOptional(z.string())),
  job_label: lenientOnly(lenientOptional(z.string())),
  submitted_by: lenientOnly(lenientOptional(z.string())),
  submitted_token: lenientOnly(lenientOptional(z.string())),
  prompt_excerpt: lenientOnly(lenientOptional(z.string())),
};

const expectedRunSchema = z.object({ low_ms: z.number(), median_ms: z.number(), high_ms: z.number(), late_ms: z.number() });

export const jobsQuerySchema = createQuerySchema(jobParams);
export type JobsQuery = z.infer<typeof jobsQuerySchema>;

/** Times are milliseconds here, whole seconds in details, and RFC 3339 in the status. Only id and status are required. */
export const jobListItemSchema = component("Job", {
  id: withExactSchema(z.string(), z.guid()),
  status: withExactSchema(z.string(), z.enum(jobStates)),
  create_time: withExactSchema(lenientOptional(timestamp), milliseconds),
  workflow_id: withExactSchema(lenientOptional(z.string()), z.string().optional()),
  outputs_count: withExactSchema(lenientOptional(anyCount), count.optional()),
  execution_start_time: withExactSchema(lenientOptional(timestamp), milliseconds.optional()),
  execution_end_time: withExactSchema(lenientOptional(timestamp), milliseconds.optional()),
  preview_output: omittable(lenientOptional(previewOutputSchema)),
  execution_error: omittable(lenientOptional(executionErrorSchema)),
  progress: omittable(lenientOptional(progressSchema)),
  /** From the embedded service: why the job waits, if no suitable runner takes jobs. */
  waits: omittable(lenientOptional(jobWaitReasonSchema)),
  /** From the embedded service: the runner of the job. */
  runner_id: omittable(lenientOptional(z.string())),
  /** Added by the console while the job waits or runs, from earlier runs of the same workflow on the same runner. */
  expected_run: lenientOnly(lenientOptional(expectedRunSchema)),
  ...submissionFields,
  search_match: lenientOnly(lenientOptional(searchMatchSchema)),
  rerun_of: lenientOnly(lenientOptional(z.string())),
});
export type JobListItem = z.infer<typeof jobListItemSchema>;

const paginationSchema = component("Pagination", {
  offset: withExactSchema(
    lenientOptional(anyCount).transform((value) => value ?? 0),
    count,
  ),
  limit: withExactSchema(lenientOptional(anyCount), count),
  total: withExactSchema(lenientOptional(anyCount), count),
  has_more: lenientOptional(z.boolean()),
});

export const jobsResponseSchema = component("JobList", {
  jobs: lenientArray(jobListItemSchema),
  pagination: paginationSchema,
  unreadable: unreadableCount,
  /** The server has older jobs that cannot be listed. */
  is_cut: lenientOnly(lenientOptional(z.boolean())),
});
export type JobsResponse = z.infer<typeof jobsResponseSchema>;

export const jobDetailSchema = namedSchema(
  "JobDetail",
  jobListItemSchema.extend({
    status: withExactSchema(z.string().catch("unknown"), z.enum(jobStates)),
    /** The display names of the workflow's classes, as far as the catalogue was read. */
    class_names: lenientOnly(lenientOptional(z.record(z.string(), z.string()))),
    reruns: lenientOnly(lenientOptional(z.array(z.string()))),
    /** For the job's owner only: the locations of masked keys. */
    held_secrets: lenientOnly(lenientOptional(z.array(z.custom<SecretLocation>()))),
    create_time: withExactSchema(lenientOptional(timestamp), count),
    update_time: withExactSchema(lenientOptional(timestamp), count),
    workflow: withExactSchema(lenientOptional(freeForm), z.object({ prompt: freeForm, extra_data: freeForm }).optional()),
    outputs: omittable(lenientOptional(outputsSchema)),
    execution_status: omittable(lenientOptional(executionStatusSchema)),
    execution_meta: omittable(lenientOptional(executionMetaSchema)),
    runner: omittable(lenientOptional(jobRunnerSchema)),
  }),
);
export type JobDetail = z.infer<typeof jobDetailSchema>;

export const jobStatusSchema = component("JobStatus", {
  id: withExactSchema(z.string(), z.guid()),
  status: withExactSchema(z.string(), z.enum(["waiting_to_dispatch", "pending", "in_progress", "completed", "error", "cancelled"])),
  created_at: lenientOptional(timestamp),
  updated_at: lenientOptional(timestamp),
  last_state_update: lenientOptional(timestamp),
  assigned_inference: omittable(lenientOptional(z.string())),
  error_message: omittable(lenientOptional(z.string())),
});
export type JobStatus = z.infer<typeof jobStatusSchema>;

const outputFields = { filename: z.string(), node_id: z.string(), output_key: z.string(), output_index: count };
export const jobAssetsResponseSchema = component("JobAssets", {
  job_id: withExactSchema(lenientOptional(z.string()), z.guid()),
  assets: withExactSchema(lenientArray(freeForm), z.array(exactFields(assetFields).extend(outputFields))),
  pagination: lenientOptional(paginationSchema),
  unreadable: unreadableCount,
});

const cancelSchema = z.looseObject({ cancelled: z.union([z.boolean(), z.array(z.string())]) });
export const cancelResponseSchema = namedSchema("CancelledJob", withExactSchema(cancelSchema, z.object({ cancelled: z.boolean() })));
export const cancelsResponseSchema = namedSchema(
  "CancelledJobs",
  withExactSchema(cancelSchema, z.object({ cancelled: z.array(z.guid()) })),
);

/** The maximum for any setting. A service's own limit is lower. */
const MAX_IDS_PER_CALL = 100_000;

export const manageBodySchema = z
  .strictObject({
    delete: nullish(z.array(z.string().max(200)).max(MAX_IDS_PER_CALL)),
    clear: nullish(z.boolean()),
  })
  // A service that handled `delete` first would not remove the other entries.
  .transform((body) => (body.clear ? { clear: true } : body));
export type ManageBody = z.infer<typeof manageBodySchema>;

/** Undefined for a local server, whose response is empty. An empty list means that nothing was deleted. */
export const queueResponseSchema = component("QueueChange", {
  deleted: nullish(z.array(z.string())),
  /** For a local server, whose queue has no ended jobs: the named jobs that were not found. */
  gone: lenientOnly(nullish(z.array(z.string()))),
  cleared: z
    .boolean()
    .nullish()
    .transform((cleared) => cleared ?? false),
});
export type QueueResponse = z.infer<typeof queueResponseSchema>;

export const historyManageResponseSchema = component("HistoryChange", { code: nullish(z.string()), message: nullish(z.string()) });

/** [position, job id, graph, output node ids | extra_data, { create_time } | output node ids] of cloud services | local servers. */
const queueItemSchema = namedSchema(
  "QueueItem",
  withExactSchema(
    z.tuple([anyNumber, z.string()]).rest(z.unknown()),
    z.tuple([z.int(), z.guid(), freeForm, z.array(z.string()), z.object({ create_time: milliseconds })]),
  ),
);
export const queueListSchema = component("Queue", {
  queue_running: lenientArray(queueItemSchema),
  queue_pending: lenientArray(queueItemSchema),
  unreadable: unreadableCount,
});

export const historyQuerySchema = z.object({
  max_items: createIntegerText({ min: 1, max: 1000 }).default(200),
  offset: createIntegerText({ min: 0 }).default(0),
});

/** ComfyUI's older format: oldest first, with the offset from the oldest. A negative offset means the last `max_items`. */
export const olderHistoryQuerySchema = z.object({
  max_items: createIntegerText({ min: 1, max: 1000 }).default(200),
  offset: createIntegerText({ min: -1 }).default(-1),
});

const historyEntrySchema = z.looseObject({
  prompt_id: withExactSchema(z.string(), z.guid()),
  create_time: withExactSchema(lenientOptional(timestamp), milliseconds),
  workflow_id: lenientOptional(z.string()),
  ...submissionFields,
  prompt: lenientOptional(
    z.looseObject({
      priority: lenientOptional(z.number()),
      prompt_id: withExactSchema(lenientOptional(z.string()), z.guid()),
      extra_data: lenientOptional(freeForm),
    }),
  ),
  outputs: lenientOptional(outputsSchema),
  status: lenientOptional(executionStatusSchema),
  meta: lenientOptional(executionMetaSchema),
  error_message: withExactSchema(z.unknown().optional(), z.string().optional()),
});
export type HistoryEntry = z.infer<typeof historyEntrySchema>;
export const historyResponseSchema = component("History", {
  history: lenientArray(historyEntrySchema),
  unreadable: unreadableCount,
  /** For a page that has fewer entries than requested, because they are large. */
  next_offset: lenientOnly(nullish(z.number())),
});
export type HistoryResponse = z.infer<typeof historyResponseSchema>;

const jobMapSchema = lenientMap(freeForm);
const endedJobFields = exactFields(historyEntrySchema.pick({ outputs: true, status: true, meta: true, error_message: true })).shape;
const submittedPromptSchema = z.object({
  priority: z.number(),
  prompt_id: z.guid(),
  prompt: freeForm,
  extra_data: freeForm,
  outputs_to_execute: z.array(z.string()),
});
export const historyDetailSchema = namedSchema(
  "HistoryDetail",
  withExactSchema(jobMapSchema, z.record(z.string(), z.object({ prompt: submittedPromptSchema, ...endedJobFields }))),
);
/** prompt: [number, job id, graph, extra_data, ids of the output nodes] */
const olderPromptSchema = z.tuple([z.int(), z.guid(), freeForm, freeForm, z.array(z.string())]);
export const olderHistorySchema = namedSchema(
  "OlderHistory",
  withExactSchema(jobMapSchema, z.record(z.string(), z.object({ prompt: olderPromptSchema, ...endedJobFields }))),
);

export const promptBodySchema = z
  .looseObject({
    /** The service validates each node, so that an error can name the node. */
    prompt: freeForm,
    extra_data: nullish(freeForm),
    partial_execution_targets: nullish(z.array(z.string()).max(100_000)),
    number: z.unknown().optional(),
    front: z.unknown().optional(),
    client_id: nullish(z.string().max(200)),
  })
  // These have no effect, so they are not forwarded.
  .transform(({ number: _number, front: _front, ...body }) => body);
export type PromptBody = z.infer<typeof promptBodySchema>;

export const promptResponseSchema = component("PromptAccepted", {
  prompt_id: withExactSchema(z.string(), z.guid()),
  number: withExactSchema(lenientOptional(z.number()), z.int()),
  /** The job already exists, so an invalid entry must not make the response unreadable. */
  node_errors: withExactSchema(
    z
      .unknown()
      .optional()
      .transform((errors): NodeErrors => readNodeErrors(errors) ?? {}),
    getExactSchema(nodeErrorsSchema),
  ),
});
export const promptRefusalSchema = namedSchema("PromptRefusal", z.object({ error: nodeErrorSchema, node_errors: nodeErrorsSchema }));

export const queueDepthSchema = component("QueueDepth", {
  exec_info: z.looseObject({ queue_remaining: withExactSchema(z.number(), count) }),
});
