// Jobs in their three views: list item, details, status. Status words are kept as sent; `toJobState` reads them.

import { z } from "zod";
import { jobParams, jobStates } from "../jobs/job-list";
import { jobRunnerSchema, jobWaitsSchema } from "../runners/runners";
import { type SecretPlace } from "../secrets/secret-places";
import { assetFields } from "./asset";
import { component, count, exactFields, foreign, milliseconds, named, rare, reads } from "./exact";
import {
  executionErrorSchema,
  executionMetaSchema,
  executionStatusSchema,
  outputsSchema,
  previewOutputSchema,
  progressSchema,
} from "./execution";
import { anyCount, entries, freeForm, loosely, moment, querySchema, unreadableCount } from "./lenient";

/** `marks`: start and end (exclusive) of each word in the text. */
const searchMatchSchema = z.object({ text: z.string(), marks: z.array(z.tuple([z.number(), z.number()])) });
export type SearchMatch = z.infer<typeof searchMatchSchema>;

export const jobsQuerySchema = querySchema(jobParams);
export type JobsQuery = z.infer<typeof jobsQuerySchema>;

/** Times are milliseconds here, whole seconds in details, RFC 3339 in the status. Only id and status are required. */
export const jobListItemSchema = component("Job", {
  id: reads(z.string(), z.guid()),
  status: reads(z.string(), z.enum(jobStates)),
  /** A local server may have forgotten this time. */
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
  /** Added by the console, as are all `foreign` fields: from the submission. */
  workflow_name: foreign(loosely(z.string())),
  job_label: foreign(loosely(z.string())),
  submitted_by: foreign(loosely(z.string())),
  submitted_token: foreign(loosely(z.string())),
  prompt_excerpt: foreign(loosely(z.string())),
  search_match: foreign(loosely(searchMatchSchema)),
  rerun_of: foreign(loosely(z.string())),
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
  is_cut: foreign(loosely(z.boolean())),
});
export type JobsAnswer = z.infer<typeof jobsAnswerSchema>;

export const jobDetailSchema = named(
  "JobDetail",
  jobListItemSchema.extend({
    /** If it is unreadable, the rest of the job is still shown. */
    status: reads(z.string().catch("unknown"), z.enum(jobStates)),
    /** The catalogue's names for the classes of the workflow, as far as it has been read. */
    class_names: foreign(loosely(z.record(z.string(), z.string()))),
    reruns: foreign(loosely(z.array(z.string()))),
    /** For the job's owner only: the places where a masked key was. */
    held_secrets: foreign(loosely(z.array(z.custom<SecretPlace>()))),
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
export const cancelAnswerSchema = named("CancelledJob", reads(cancelAnswer, z.object({ cancelled: z.boolean() })));
export const cancelsAnswerSchema = named("CancelledJobs", reads(cancelAnswer, z.object({ cancelled: z.array(z.guid()) })));
