import { z } from "zod";
import { readNodeErrors } from "../failure";
import { component, count, exactFields, exactOf, foreign, milliseconds, named, reads } from "./exact";
import { executionMetaSchema, executionStatusSchema, type NodeErrors, nodeErrorSchema, nodeErrorsSchema, outputsSchema } from "./execution";
import { anyNumber, entries, entriesById, freeForm, integerText, loosely, maybe, moment, unreadableCount } from "./lenient";

/** The most that any setting may allow; a service's own bound is below it. */
const MOST_IDS_PER_CALL = 100_000;

export const manageBodySchema = z
  .strictObject({
    delete: maybe(z.array(z.string().max(200)).max(MOST_IDS_PER_CALL)),
    clear: maybe(z.boolean()),
  })
  // A service that looked at `delete` first would leave the other entries.
  .transform((body) => (body.clear ? { clear: true } : body));
export type ManageBody = z.infer<typeof manageBodySchema>;

/** A local server answers with an empty body: then `deleted` is absent: not known. An empty list says that nothing was deleted. */
export const queueAnswerSchema = component("QueueChange", {
  deleted: maybe(z.array(z.string())),
  /** For a local server, whose queue forgets jobs that left it: the named jobs without a trace. */
  gone: foreign(maybe(z.array(z.string()))),
  cleared: z
    .boolean()
    .nullish()
    .transform((cleared) => cleared ?? false),
});
export type QueueAnswer = z.infer<typeof queueAnswerSchema>;

export const historyManageAnswerSchema = component("HistoryChange", { code: maybe(z.string()), message: maybe(z.string()) });

/** [position, job id, graph, output node ids | extra_data, { create_time } | output node ids]: cloud | local server. */
const queueItemSchema = named(
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

/** The family's older map: oldest first, with the offset counted from the oldest; an offset below 0 means the last `max_items`. */
export const olderHistoryQuerySchema = z.object({
  max_items: integerText({ min: 1, max: 1000 }).default(200),
  offset: integerText({ min: -1 }).default(-1),
});

const historyEntrySchema = z.looseObject({
  prompt_id: reads(z.string(), z.guid()),
  create_time: reads(loosely(moment), milliseconds),
  workflow_id: loosely(z.string()),
  /** Added by the console, as are all `foreign` fields. */
  workflow_name: foreign(loosely(z.string())),
  job_label: foreign(loosely(z.string())),
  submitted_by: foreign(loosely(z.string())),
  submitted_token: foreign(loosely(z.string())),
  prompt_excerpt: foreign(loosely(z.string())),
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
  next_offset: foreign(maybe(z.number())),
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
export const historyDetailSchema = named("HistoryDetail", reads(byJob, z.record(z.string(), z.object({ prompt: submitted, ...ended }))));
/** prompt: [number, job id, graph, extra_data, ids of the output nodes] */
const older = z.tuple([z.int(), z.guid(), freeForm, freeForm, z.array(z.string())]);
export const olderHistorySchema = named("OlderHistory", reads(byJob, z.record(z.string(), z.object({ prompt: older, ...ended }))));

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
export const promptRefusalSchema = named("PromptRefusal", z.object({ error: nodeErrorSchema, node_errors: nodeErrorsSchema }));

export const queueDepthSchema = component("QueueDepth", { exec_info: z.looseObject({ queue_remaining: reads(z.number(), count) }) });
