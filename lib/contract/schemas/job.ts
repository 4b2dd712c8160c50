// Jobs in their three views: list item, details, status. Status words are kept as sent; `toJobState` reads them.

import { z } from "zod";
import { jobParams } from "../jobs/job-search";
import { jobRunnerSchema, jobWaitsSchema } from "../runners/runners";
import { type SecretPlace } from "../secrets/secret-places";
import { jobStates } from "../jobs/states";
import { assetFields } from "./asset";
import { component, count, exactFields, foreign, milliseconds, named, rare, reads } from "./exact";
import { executionErrorSchema, executionMetaSchema, executionStatusSchema, progressSchema } from "./execution";
import { freeForm, loosely, maybe, moment, querySchema } from "./lenient";
import { outputsSchema, previewOutputSchema } from "./outputs";

export const jobsQuerySchema = querySchema(jobParams);
export type JobsQuery = z.infer<typeof jobsQuerySchema>;

/** Times are milliseconds here, whole seconds in details, and RFC 3339 in the status. */
export const jobListItemSchema = component("Job", {
  id: reads(z.string(), z.guid()),
  status: reads(z.string(), z.enum(jobStates)),
  /** A local server may have forgotten this time. */
  create_time: reads(maybe(moment), milliseconds),
  workflow_id: maybe(z.string()),
  outputs_count: reads(maybe(z.number()), count.optional()),
  execution_start_time: reads(maybe(moment), milliseconds.optional()),
  execution_end_time: reads(maybe(moment), milliseconds.optional()),
  preview_output: rare(loosely(previewOutputSchema)),
  execution_error: rare(loosely(executionErrorSchema)),
  progress: rare(loosely(progressSchema)),
  /** From the embedded service: why the job waits, if no runner that can do it takes jobs. */
  waits: rare(loosely(jobWaitsSchema)),
  /** Not in the interface: the console adds it, from the submission of the workflow. */
  workflow_name: foreign(maybe(z.string())),
  /** Also added by the console: distinguishes a copy of a run from the others. */
  job_label: foreign(maybe(z.string())),
  /** Also added by the console: the member who submitted the job here. */
  submitted_by: foreign(maybe(z.string())),
});
export type JobListItem = z.infer<typeof jobListItemSchema>;

const paginationSchema = component("Pagination", {
  offset: reads(
    z
      .number()
      .nullish()
      .transform((value) => value ?? 0),
    count,
  ),
  limit: reads(maybe(z.number()), count),
  total: reads(maybe(z.number()), count),
  has_more: maybe(z.boolean()),
});

export const jobsAnswerSchema = component("JobList", {
  jobs: z.array(jobListItemSchema),
  pagination: paginationSchema,
  /** Not in the interface: how many entries the console left out, since their shape is unknown. */
  unreadable: foreign(maybe(z.number())),
  /** Also added by the console: the server has older jobs that cannot be listed. */
  is_cut: foreign(maybe(z.boolean())),
});
export type JobsAnswer = z.infer<typeof jobsAnswerSchema>;

export const jobDetailSchema = named(
  "JobDetail",
  jobListItemSchema.extend({
    /** Also added by the console: what the node catalogue calls the classes of the workflow, as far as it has been read. */
    class_names: foreign(loosely(z.record(z.string(), z.string()))),
    /** Also added by the console, for the job's owner only: the places where a masked key was. */
    held_secrets: foreign(loosely(z.array(z.custom<SecretPlace>()))),
    create_time: reads(maybe(moment), count),
    update_time: reads(maybe(moment), count),
    /** The submission: { prompt, extra_data }, or a bare graph. */
    workflow: reads(loosely(freeForm), z.object({ prompt: freeForm, extra_data: freeForm }).optional()),
    outputs: rare(loosely(outputsSchema)),
    execution_status: rare(loosely(executionStatusSchema)),
    execution_meta: rare(loosely(executionMetaSchema)),
    /** From the embedded service: the runner that the job runs or ran on. */
    runner: rare(loosely(jobRunnerSchema)),
  }),
);
export type JobDetail = z.infer<typeof jobDetailSchema>;

export const jobStatusSchema = component("JobStatus", {
  id: reads(z.string(), z.guid()),
  status: reads(z.string(), z.enum(["waiting_to_dispatch", "pending", "in_progress", "completed", "error", "cancelled"])),
  created_at: maybe(moment),
  updated_at: maybe(moment),
  last_state_update: maybe(moment),
  assigned_inference: rare(maybe(z.string())),
  error_message: rare(maybe(z.string())),
});
export type JobStatus = z.infer<typeof jobStatusSchema>;

const outputPlace = { filename: z.string(), node_id: z.string(), output_key: z.string(), output_index: count };
export const jobAssetsAnswerSchema = component("JobAssets", {
  job_id: reads(maybe(z.string()), z.guid()),
  assets: reads(z.array(freeForm), z.array(exactFields(assetFields).extend(outputPlace))),
  pagination: maybe(paginationSchema),
});

const cancelAnswer = z.looseObject({ cancelled: z.union([z.boolean(), z.array(z.string())]) });
export const cancelAnswerSchema = named("CancelledJob", reads(cancelAnswer, z.object({ cancelled: z.boolean() })));
export const cancelsAnswerSchema = named("CancelledJobs", reads(cancelAnswer, z.object({ cancelled: z.array(z.guid()) })));
