// Jobs in their three views: list item, details, status. Status words are kept as sent; `toJobState` reads them.

import { z } from "zod";
import { jobParams } from "../job-search";
import { executionErrorSchema, executionMetaSchema, executionStatusSchema, progressSchema } from "./execution";
import { freeForm, loosely, maybe, moment, querySchema } from "./lenient";
import { outputsSchema, previewOutputSchema } from "./outputs";

export const jobsQuerySchema = querySchema(jobParams);
export type JobsQuery = z.infer<typeof jobsQuerySchema>;

export const jobListItemSchema = z.looseObject({
  id: z.string(),
  status: z.string(),
  /** A local server may have forgotten it. */
  create_time: maybe(moment),
  execution_error: loosely(executionErrorSchema),
  preview_output: loosely(previewOutputSchema),
  outputs_count: maybe(z.number()),
  workflow_id: maybe(z.string()),
  /** Not the interface's: the console adds it, from what it was told when the workflow was submitted. */
  workflow_name: maybe(z.string()),
  /** The console's own too: what tells a copy of a run from the others. */
  job_label: maybe(z.string()),
  execution_start_time: maybe(moment),
  execution_end_time: maybe(moment),
  progress: loosely(progressSchema),
});
export type JobListItem = z.infer<typeof jobListItemSchema>;

const paginationSchema = z.looseObject({
  offset: z
    .number()
    .nullish()
    .transform((value) => value ?? 0),
  limit: maybe(z.number()),
  total: maybe(z.number()),
  has_more: maybe(z.boolean()),
});

export const jobsAnswerSchema = z.looseObject({
  jobs: z.array(jobListItemSchema),
  pagination: paginationSchema,
  /** Not the interface's: how many entries the console left out, since their shape is unknown. */
  unreadable: maybe(z.number()),
  /** The console's own too: the server has older jobs than can be listed there. */
  is_cut: maybe(z.boolean()),
});
export type JobsAnswer = z.infer<typeof jobsAnswerSchema>;

export const jobDetailSchema = jobListItemSchema.extend({
  /** The console's own: which member submitted it here. */
  submitted_by: maybe(z.string()),
  update_time: maybe(moment),
  /** What was submitted: { prompt, extra_data }, or a bare graph. */
  workflow: loosely(freeForm),
  outputs: loosely(outputsSchema),
  execution_status: loosely(executionStatusSchema),
  execution_meta: loosely(executionMetaSchema),
});
export type JobDetail = z.infer<typeof jobDetailSchema>;

export const jobStatusSchema = z.looseObject({
  id: z.string(),
  status: z.string(),
  created_at: maybe(moment),
  updated_at: maybe(moment),
  last_state_update: maybe(moment),
  assigned_inference: maybe(z.string()),
  error_message: maybe(z.string()),
});
export type JobStatus = z.infer<typeof jobStatusSchema>;

export const jobAssetsAnswerSchema = z.looseObject({
  job_id: maybe(z.string()),
  assets: z.array(freeForm),
  pagination: maybe(paginationSchema),
});
export const cancelAnswerSchema = z.looseObject({ cancelled: z.union([z.boolean(), z.array(z.string())]) });
