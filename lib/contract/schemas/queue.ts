// The queue and the history: what is sent to change them, and what lists them.
// Both bodies are strict: a word that the interface does not know is refused.

import { z } from "zod";
import { executionMetaSchema, executionStatusSchema } from "./execution";
import { freeForm, integerText, loosely, maybe, moment } from "./lenient";
import { outputsSchema } from "./outputs";

/** What no setting may exceed; a service has its own bound below it. */
const MOST_IDS_PER_CALL = 100_000;

export const manageBodySchema = z
  .strictObject({
    delete: maybe(z.array(z.string().max(200)).max(MOST_IDS_PER_CALL)),
    clear: maybe(z.boolean()),
  })
  // A service that looked at `delete` first would leave the rest.
  .transform((body) => (body.clear ? { clear: true } : body));
export type ManageBody = z.infer<typeof manageBodySchema>;

/** A local server answers with an empty body: then `deleted` is absent, since nothing is known of it. An empty list says that nothing was. */
export const queueAnswerSchema = z.looseObject({
  deleted: maybe(z.array(z.string())),
  /** Not the interface's: of what was named, what the service has no trace of. Told of a local server, whose queue forgets what left it. */
  gone: maybe(z.array(z.string())),
  cleared: z
    .boolean()
    .nullish()
    .transform((cleared) => cleared ?? false),
});
export type QueueAnswer = z.infer<typeof queueAnswerSchema>;

export const historyManageAnswerSchema = z.looseObject({ code: maybe(z.string()), message: maybe(z.string()) });

/** [position, job id, graph, output node ids | extra_data, { create_time } | output node ids]: cloud | local server. */
const queueItemSchema = z.tuple([z.number(), z.string()]).rest(z.unknown());
export const queueListSchema = z.looseObject({ queue_running: z.array(queueItemSchema), queue_pending: z.array(queueItemSchema) });
export type QueueList = z.infer<typeof queueListSchema>;

export const historyQuerySchema = z.object({
  max_items: integerText({ min: 1, max: 1000 }).default(200),
  offset: integerText({ min: 0 }).default(0),
});

/** Of the family's older map: oldest first, the offset counted from the oldest; below 0 it means the last `max_items`. */
export const olderHistoryQuerySchema = z.object({
  max_items: integerText({ min: 1, max: 1000 }).default(200),
  offset: integerText({ min: -1 }).default(-1),
});

const historyEntrySchema = z.looseObject({
  prompt_id: z.string(),
  create_time: maybe(moment),
  workflow_id: maybe(z.string()),
  /** Not the interface's: the console adds it, from what it was told when the workflow was submitted. */
  workflow_name: maybe(z.string()),
  /** The console's own too: what tells a copy of a run from the others. */
  job_label: maybe(z.string()),
  prompt: loosely(z.looseObject({ priority: maybe(z.number()), prompt_id: maybe(z.string()), extra_data: maybe(freeForm) })),
  outputs: loosely(outputsSchema),
  status: loosely(executionStatusSchema),
  meta: loosely(executionMetaSchema),
});
export type HistoryEntry = z.infer<typeof historyEntrySchema>;
export const historyAnswerSchema = z.looseObject({
  history: z.array(historyEntrySchema),
  /** Not the interface's: how many entries the console left out, since their shape is unknown. */
  unreadable: maybe(z.number()),
});
export type HistoryAnswer = z.infer<typeof historyAnswerSchema>;
export const historyDetailSchema = z.record(z.string(), freeForm);
