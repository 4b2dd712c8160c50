// Background tasks (downloads): the 202 answer, and the task as it is polled. Extra progress fields are our service's own.

import { z } from "zod";
import { freeForm, integerText, maybe, moment, toldNumber } from "./lenient";

export const taskStartedSchema = z.looseObject({ task_id: z.string(), status: z.string(), message: maybe(z.string()) });

/** `status`: created, running, completed, failed, cancelled; other words are kept. */
export const taskSchema = z.looseObject({
  id: z.string(),
  idempotency_key: maybe(z.string()),
  task_name: maybe(z.string()),
  payload: maybe(freeForm),
  status: z.string(),
  create_time: maybe(moment),
  update_time: maybe(moment),
  started_at: maybe(moment),
  completed_at: maybe(moment),
  result: maybe(freeForm),
  error_message: maybe(z.string()),
  bytes_total: maybe(toldNumber),
  bytes_downloaded: maybe(toldNumber),
  progress: maybe(z.number()),
});

export const tasksQuerySchema = z.object({
  task_name: z.string().max(200).optional(),
  idempotency_key: z.string().max(200).optional(),
  status: z.string().max(200).optional(),
  created_after: z.string().max(50).optional(),
  created_before: z.string().max(50).optional(),
  sort_order: z.enum(["asc", "desc"]).default("desc"),
  offset: integerText({ min: 0 }).default(0),
  limit: integerText({ min: 1, max: 100 }).default(20),
});
export const tasksAnswerSchema = z.looseObject({ tasks: z.array(taskSchema), pagination: maybe(freeForm) });
