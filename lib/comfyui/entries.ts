// Queue and history entries of a ComfyUI server. Invalid entries are null, so that callers can still count them.

import { z } from "zod";
import { numberOf, textOf } from "@/lib/contract/json/json";
import { entries, loosely, moment } from "@/lib/contract/schemas/lenient";

/** [position, job id, graph, extra_data, ids of the output nodes] */
const itemSchema = z
  .tuple([z.unknown().transform((position) => numberOf(position) ?? 0), z.string(), z.unknown(), z.unknown(), z.unknown()])
  .rest(z.unknown());
export type QueueItem = z.infer<typeof itemSchema>;
const items = z.array(itemSchema.nullable().catch(null));
export const queueSchema = z.looseObject({ queue_running: items, queue_pending: items });
/** Returns undefined for an invalid item. */
export const readItem = (item: unknown): QueueItem | undefined => itemSchema.safeParse(item).data;

const entrySchema = z.looseObject({
  prompt: itemSchema,
  outputs: z.unknown().optional(),
  status: z.unknown().optional(),
  meta: z.unknown().optional(),
});
export type HistoryEntry = z.infer<typeof entrySchema>;
export const readEntry = (entry: unknown): HistoryEntry | undefined => entrySchema.safeParse(entry).data;

export const extraSchema = z
  .looseObject({
    client_id: loosely(z.string()),
    create_time: loosely(moment),
    extra_pnginfo: loosely(z.looseObject({ workflow: loosely(z.looseObject({ id: loosely(z.string()) })) })),
  })
  .catch({});
/** The id of the WebSocket client that submitted the job. */
export const clientOf = ([, , , extra]: QueueItem): string | undefined => textOf(extraSchema.parse(extra).client_id);

const statusSchema = z
  .looseObject({
    status_str: loosely(z.string()),
    messages: entries(z.tuple([z.string(), z.looseObject({ timestamp: loosely(moment) })]).rest(z.unknown())).catch([]),
  })
  .catch({ messages: [] });

/** Reads how a job ended from the status of its history entry. `error`: the error that the failed node reported. */
export function readStatus(status: unknown) {
  const { status_str, messages } = statusSchema.parse(status);
  const [event, facts] = messages.findLast(([name]) => /^execution_(success|error|interrupted)$/.test(name)) ?? [];
  return {
    word: status_str,
    isInterrupted: event === "execution_interrupted",
    error: event === "execution_error" ? facts : undefined,
    startedAt: messages.find(([name]) => name === "execution_start")?.[1].timestamp,
    endedAt: facts?.timestamp,
  };
}
