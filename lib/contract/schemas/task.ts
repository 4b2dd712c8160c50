// Background tasks (downloads): the 202 answer, and the task as it is polled. The embedded service adds fields about progress.

import { z } from "zod";
import { component, count, rare, reads } from "./exact";
import { anyNumber, entries, freeForm, integerText, loosely, moment, unreadableCount } from "./lenient";

export const taskStartedSchema = component("TaskStarted", {
  task_id: reads(z.string(), z.guid()),
  status: z.string(),
  message: loosely(z.string()),
});

/** `status`: created, running, completed, failed, cancelled; other words are kept. */
export const taskSchema = component("Task", {
  id: reads(z.string(), z.guid()),
  idempotency_key: loosely(z.string()),
  task_name: loosely(z.string()),
  payload: loosely(freeForm),
  status: reads(z.string(), z.enum(["created", "running", "completed", "failed", "cancelled"])),
  create_time: loosely(moment),
  update_time: loosely(moment),
  started_at: rare(loosely(moment)),
  completed_at: rare(loosely(moment)),
  result: rare(loosely(freeForm)),
  error_message: rare(loosely(z.string())),
  bytes_total: reads(loosely(anyNumber), count.nullable()),
  bytes_downloaded: loosely(anyNumber),
  progress: reads(loosely(z.number()), z.number().min(0).max(1)),
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
export const tasksAnswerSchema = z.looseObject({ tasks: entries(taskSchema), pagination: loosely(freeForm), unreadable: unreadableCount });
