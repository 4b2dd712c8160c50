// Jobs as list items, details and status; submissions, the queue and the history. Status words are kept as sent; `toJobState` reads them.

import { z } from "zod";
import { readNodeErrors } from "../failure";
import { jobParams, jobStates } from "../jobs/job-list";
import { jobRunnerSchema, jobWaitsSchema } from "../runners/runners";
import { type SecretPlace } from "../secrets/secret-places";
import { assetFields } from "./asset";
import { component, count, exactFields, exactForeign, exactOf, milliseconds, namedSchema, rare, reads } from "./exact";
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
  entries,
  entriesById,
  freeForm,
  integerText,
  loosely,
  maybe,
  moment,
  querySchema,
  unreadableCount,
} from "./lenient";

const searchMatchSchema = z.object({ text: z.string(), marks: z.array(z.tuple([z.number(), z.number()])) });
export type SearchMatch = z.infer<typeof searchMatchSchema>;

/** Added by the console, from the submission. */
const submissionFields = {
  workflow_name: exactForeign(loosely(z.string())),
  job_label: exactForeign(loosely(z.string())),
  submitted_by: exactForeign(loosely(z.string())),
  submitted_token: exactForeign(loosely(z.string())),
  prompt_excerpt: exactForeign(loosely(z.string())),
};

const expectedRunSchema = z.object({ low_ms: z.number(), median_ms: z.number(), high_ms: z.number(), late_ms: z.number() });

export const jobsQuerySchema = querySchema(jobParams);
export type JobsQuery = z.infer<typeof jobsQuerySchema>;

/** Times are milliseconds here, whole seconds in details, RFC 3339 in the status. Only id and status are required. */
export const jobListItemSchema = component("Job", {
  id: reads(z.string(), z.guid()),
  status: reads(z.string(), z.enum(jobStates)),
  create_time: reads(loosely(moment), milliseconds),
  workflow_id: reads(loosely(z.string()), z.string().optional()),
  outputs_count: reads(loosely(anyCount), count.optional()),
  execution_start_time: reads(loosely(moment), milliseconds.optional()),
  execution_end_time: reads(loosely(moment), milliseconds.optional()),
  preview_output: rare(loosely(previewOutputSchema)),
  execution_error: rare(loosely(executionErrorSchema)),
  progress: rare(loosely(progressSchema)),
  /** From the embedded service: why the job waits, if no runner that can do it takes jobs. */
  waits: rare(loosely(jobWaitsSchema)),
  /** From the embedded service: the runner that the job was given to. */
  runner_id: rare(loosely(z.string())),
  /** Added by the console while the job waits or runs, from earlier runs of the same workflow on the same runner. */
  expected_run: exactForeign(loosely(expectedRunSchema)),
  ...submissionFields,
  search_match: exactForeign(loosely(searchMatchSchema)),
  rerun_of: exactForeign(loosely(z.string())),
});
export type JobListItem = z.infer<typeof jobListItemSchema>;

const paginationSchema = component("Pagination", {
  offset: reads(
    loosely(anyCount).transform((value) => value ?? 0),
    count,
  ),
  limit: reads(loosely(anyCount), count),
  total: reads(loosely(anyCount), count),
  has_more: loosely(z.boolean()),
});

export const jobsAnswerSchema = component("JobList", {
  jobs: entries(jobListItemSchema),
  pagination: paginationSchema,
  unreadable: unreadableCount,
  /** The server has older jobs that cannot be listed. */
  is_cut: exactForeign(loosely(z.boolean())),
});
export type JobsAnswer = z.infer<typeof jobsAnswerSchema>;

export const jobDetailSchema = namedSchema(
  "JobDetail",
  jobListItemSchema.extend({
    status: reads(z.string().catch("unknown"), z.enum(jobStates)),
    /** The catalogue's names for the classes of the workflow, as far as it has been read. */
    class_names: exactForeign(loosely(z.record(z.string(), z.string()))),
    reruns: exactForeign(loosely(z.array(z.string()))),
    /** For the job's owner only: the places where a masked key was. */
    held_secrets: exactForeign(loosely(z.array(z.custom<SecretPlace>()))),
    create_time: reads(loosely(moment), count),
    update_time: reads(loosely(moment), count),
    workflow: reads(loosely(freeForm), z.object({ prompt: freeForm, extra_data: freeForm }).optional()),
    outputs: rare(loosely(outputsSchema)),
    execution_status: rare(loosely(executionStatusSchema)),
    execution_meta: rare(loosely(executionMetaSchema)),
    runner: rare(loosely(jobRunnerSchema)),
  }),
);
export type JobDetail = z.infer<typeof jobDetailSchema>;

export const jobStatusSchema = component("JobStatus", {
  id: reads(z.string(), z.guid()),
  status: reads(z.string(), z.enum(["waiting_to_dispatch", "pending", "in_progress", "completed", "error", "cancelled"])),
  created_at: loosely(moment),
  updated_at: loosely(moment),
  last_state_update: loosely(moment),
  assigned_inference: rare(loosely(z.string())),
  error_message: rare(loosely(z.string())),
});
export type JobStatus = z.infer<typeof jobStatusSchema>;

const outputPlace = { filename: z.string(), node_id: z.string(), output_key: z.string(), output_index: count };
export const jobAssetsAnswerSchema = component("JobAssets", {
  job_id: reads(loosely(z.string()), z.guid()),
  assets: reads(entries(freeForm), z.array(exactFields(assetFields).extend(outputPlace))),
  pagination: loosely(paginationSchema),
  unreadable: unreadableCount,
});

const cancelAnswer = z.looseObject({ cancelled: z.union([z.boolean(), z.array(z.string())]) });
export const cancelAnswerSchema = namedSchema("CancelledJob", reads(cancelAnswer, z.object({ cancelled: z.boolean() })));
export const cancelsAnswerSchema = namedSchema("CancelledJobs", reads(cancelAnswer, z.object({ cancelled: z.array(z.guid()) })));

/** The maximum that any setting may allow; a service's own bound is below it. */
const MAX_IDS_PER_CALL = 100_000;

export const manageBodySchema = z
  .strictObject({
    delete: maybe(z.array(z.string().max(200)).max(MAX_IDS_PER_CALL)),
    clear: maybe(z.boolean()),
  })
  // A service that looked at `delete` first would leave the other entries.
  .transform((body) => (body.clear ? { clear: true } : body));
export type ManageBody = z.infer<typeof manageBodySchema>;

/** A local server's empty answer has no `deleted`: unknown. An empty list means that nothing was deleted. */
export const queueAnswerSchema = component("QueueChange", {
  deleted: maybe(z.array(z.string())),
  /** For a local server, whose queue forgets jobs that left it: the named jobs without a trace. */
  gone: exactForeign(maybe(z.array(z.string()))),
  cleared: z
    .boolean()
    .nullish()
    .transform((cleared) => cleared ?? false),
});
export type QueueAnswer = z.infer<typeof queueAnswerSchema>;

export const historyManageAnswerSchema = component("HistoryChange", { code: maybe(z.string()), message: maybe(z.string()) });

/** [position, job id, graph, output node ids | extra_data, { create_time } | output node ids]: cloud | local server. */
const queueItemSchema = namedSchema(
  "QueueItem",
  reads(
    z.tuple([anyNumber, z.string()]).rest(z.unknown()),
    z.tuple([z.int(), z.guid(), freeForm, z.array(z.string()), z.object({ create_time: milliseconds })]),
  ),
);
export const queueListSchema = component("Queue", {
  queue_running: entries(queueItemSchema),
  queue_pending: entries(queueItemSchema),
  unreadable: unreadableCount,
});

export const historyQuerySchema = z.object({
  max_items: integerText({ min: 1, max: 1000 }).default(200),
  offset: integerText({ min: 0 }).default(0),
});

/** ComfyUI's older map: oldest first, with the offset counted from the oldest; an offset below 0 means the last `max_items`. */
export const olderHistoryQuerySchema = z.object({
  max_items: integerText({ min: 1, max: 1000 }).default(200),
  offset: integerText({ min: -1 }).default(-1),
});

const historyEntrySchema = z.looseObject({
  prompt_id: reads(z.string(), z.guid()),
  create_time: reads(loosely(moment), milliseconds),
  workflow_id: loosely(z.string()),
  ...submissionFields,
  prompt: loosely(
    z.looseObject({ priority: loosely(z.number()), prompt_id: reads(loosely(z.string()), z.guid()), extra_data: loosely(freeForm) }),
  ),
  outputs: loosely(outputsSchema),
  status: loosely(executionStatusSchema),
  meta: loosely(executionMetaSchema),
  error_message: reads(z.unknown().optional(), z.string().optional()),
});
export type HistoryEntry = z.infer<typeof historyEntrySchema>;
export const historyAnswerSchema = component("History", {
  history: entries(historyEntrySchema),
  unreadable: unreadableCount,
  /** For a page that has fewer entries than requested, because they are large. */
  next_offset: exactForeign(maybe(z.number())),
});
export type HistoryAnswer = z.infer<typeof historyAnswerSchema>;

const byJob = entriesById(freeForm);
const ended = exactFields(historyEntrySchema.pick({ outputs: true, status: true, meta: true, error_message: true })).shape;
const submitted = z.object({
  priority: z.number(),
  prompt_id: z.guid(),
  prompt: freeForm,
  extra_data: freeForm,
  outputs_to_execute: z.array(z.string()),
});
export const historyDetailSchema = namedSchema(
  "HistoryDetail",
  reads(byJob, z.record(z.string(), z.object({ prompt: submitted, ...ended }))),
);
/** prompt: [number, job id, graph, extra_data, ids of the output nodes] */
const older = z.tuple([z.int(), z.guid(), freeForm, freeForm, z.array(z.string())]);
export const olderHistorySchema = namedSchema("OlderHistory", reads(byJob, z.record(z.string(), z.object({ prompt: older, ...ended }))));

export const promptBodySchema = z
  .looseObject({
    /** The service judges it node by node, so that a refusal can name the node. */
    prompt: freeForm,
    extra_data: maybe(freeForm),
    partial_execution_targets: maybe(z.array(z.string()).max(100_000)),
    number: z.unknown().optional(),
    front: z.unknown().optional(),
    client_id: maybe(z.string().max(200)),
  })
  // Passing them on would promise an effect.
  .transform(({ number: _number, front: _front, ...body }) => body);
export type PromptBody = z.infer<typeof promptBodySchema>;

export const promptAnswerSchema = component("PromptAccepted", {
  prompt_id: reads(z.string(), z.guid()),
  number: reads(loosely(z.number()), z.int()),
  /** The job exists already, so an odd entry must not make the answer unreadable. */
  node_errors: reads(
    z
      .unknown()
      .optional()
      .transform((errors): NodeErrors => readNodeErrors(errors) ?? {}),
    exactOf(nodeErrorsSchema),
  ),
});
export const promptRefusalSchema = namedSchema("PromptRefusal", z.object({ error: nodeErrorSchema, node_errors: nodeErrorsSchema }));

export const queueDepthSchema = component("QueueDepth", { exec_info: z.looseObject({ queue_remaining: reads(z.number(), count) }) });
