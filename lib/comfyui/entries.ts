// Queue and history entries of a ComfyUI server. Invalid entries are null, so that callers can still count them.

import { z } from "zod";
import { isObject, numberOf, objectOf, textOf } from "@/lib/contract/json/json";
import { loosely, moment } from "@/lib/contract/schemas/lenient";

/** [position, job id, graph, extra_data, ids of the output nodes] */
export type QueueItem = [position: number, id: string, graph: unknown, extraData: unknown, outputs: unknown];

// Items and messages are checked without a schema: a hostile server can send a million of them, and a schema takes a microsecond each.

export function readItem(item: unknown): QueueItem | undefined {
  if (!Array.isArray(item) || item.length < 5) return undefined;
  const [position, id, graph, extraData, outputs]: unknown[] = item;
  return typeof id === "string" ? [numberOf(position) ?? 0, id, graph, extraData, outputs] : undefined;
}

const list = z.custom<unknown[]>(Array.isArray);
const items = list.transform((all) => all.map((item) => readItem(item) ?? null));
export const queueSchema = z.looseObject({ queue_running: items, queue_pending: items });

export type HistoryEntry = { prompt: QueueItem; outputs?: unknown; status?: unknown; meta?: unknown };

export function readEntry(entry: unknown): HistoryEntry | undefined {
  if (!isObject(entry)) return undefined;
  const prompt = readItem(entry.prompt);
  return prompt && { prompt, outputs: entry.outputs, status: entry.status, meta: entry.meta };
}

export const extraSchema = z
  .looseObject({
    client_id: loosely(z.string()),
    create_time: loosely(moment),
    extra_pnginfo: loosely(z.looseObject({ workflow: loosely(z.looseObject({ id: loosely(z.string()) })) })),
  })
  .catch({});
export const clientOf = ([, , , extra]: QueueItem): string | undefined => textOf(objectOf(extra)?.client_id);

const timeSchema = loosely(moment);
const endings = new Set(["execution_success", "execution_error", "execution_interrupted"]);

/** Reads how a job ended from the status of its history entry. `error`: the error that the failed node reported. */
export function readStatus(status: unknown) {
  const { status_str, messages } = objectOf(status) ?? {};
  const all: unknown[] = Array.isArray(messages) ? messages : [];
  const nameOf = (message: unknown) => (Array.isArray(message) && isObject(message[1]) ? textOf(message[0]) : undefined);
  const factsOf = (message: unknown) => (Array.isArray(message) ? objectOf(message[1]) : undefined);
  const start = all.find((message) => nameOf(message) === "execution_start");
  const end = all.findLast((message) => endings.has(nameOf(message) ?? ""));
  const event = nameOf(end);
  return {
    word: textOf(status_str),
    isInterrupted: event === "execution_interrupted",
    error: event === "execution_error" ? factsOf(end) : undefined,
    startedAt: timeSchema.parse(factsOf(start)?.timestamp),
    endedAt: timeSchema.parse(factsOf(end)?.timestamp),
  };
}
