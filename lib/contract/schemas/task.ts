// Background tasks (downloads): the 202 answer, and the task as it is polled. The embedded service adds fields about progress.

import { z } from "zod";
import { component, count, rare, reads } from "./exact";
import { freeForm, integerText, maybe, moment, anyNumber } from "./lenient";

export const taskStartedSchema = component("TaskStarted", {
  task_id: reads(z.string(), z.guid()),
  status: z.string(),
  message: maybe(z.string()),
});

/** `status`: created, running, completed, failed, cancelled; other words are kept. */
export const taskSchema = component("Task", {
  id: reads(z.string(), z.guid()),
  idempotency_key: maybe(z.string()),
  task_name: maybe(z.string()),
  payload: maybe(freeForm),
  status: reads(z.string(), z.enum(["created", "running", "completed", "failed", "cancelled"])),
  create_time: maybe(moment),
  update_time: maybe(moment),
  started_at: rare(maybe(moment)),
  completed_at: rare(maybe(moment)),
  result: rare(maybe(freeForm)),
  error_message: rare(maybe(z.string())),
  bytes_total: reads(maybe(anyNumber), count.nullable()),
  bytes_downloaded: maybe(anyNumber),
  progress: reads(maybe(z.number()), z.number().min(0).max(1)),
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
