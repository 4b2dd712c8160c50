// Entries of a local server's queue and history, and the interface's jobs made from them, in the way newer versions make them.
// An entry of another shape becomes a row that the contract's schema counts as unreadable. A job has only the times and outputs of its entry.

import "server-only";
import { z } from "zod";
import { isObject, numberOf, objectOf, textOf } from "@/lib/contract/json/json";
import { own } from "@/lib/contract/json/own";
import { outputsSchema } from "@/lib/contract/schemas/execution";
import { entries, loosely, moment } from "@/lib/contract/schemas/lenient";
import { toMilliseconds } from "@/lib/contract/times";
import { toListedError } from "@/lib/contract/views/job-view";
import { listOutputs, type OutputView } from "@/lib/contract/views/outputs-view";

/** [priority, job id, graph, extra_data, ids of the output nodes] */
const itemSchema = z
  .tuple([z.unknown().transform((priority) => numberOf(priority) ?? 0), z.string(), z.unknown(), z.unknown(), z.unknown()])
  .rest(z.unknown());
/** Null if the entry is unreadable. */
const items = z.array(itemSchema.nullable().catch(null));
export const queueSchema = z.looseObject({ queue_running: items, queue_pending: items });
const entrySchema = z.looseObject({
  prompt: itemSchema,
  outputs: z.unknown().optional(),
  status: z.unknown().optional(),
  meta: z.unknown().optional(),
});
const historySchema = z.record(z.string(), z.unknown());
export const extraSchema = z
  .looseObject({
    create_time: loosely(moment),
    extra_pnginfo: loosely(z.looseObject({ workflow: loosely(z.looseObject({ id: loosely(z.string()) })) })),
  })
  .catch({});
const statusSchema = z
  .looseObject({
    status_str: loosely(z.string()),
    messages: entries(z.tuple([z.string(), z.looseObject({ timestamp: loosely(moment) })]).rest(z.unknown())).catch([]),
  })
  .catch({ messages: [] });

export type QueueItem = z.infer<typeof itemSchema>;
export type HistoryEntry = z.infer<typeof entrySchema>;
/** Without an id or a status, the entry counts as unreadable. */
export type LocalJob = { id?: string; status?: string; [field: string]: unknown };

/** From a local server's history, oldest first. `entry` is undefined if it is unreadable. */
export function historyEntries(history: unknown): { id: string; entry: HistoryEntry | undefined }[] {
  return Object.entries(historySchema.parse(history)).map(([id, entry]) => ({ id, entry: entrySchema.safeParse(entry).data }));
}

/** One job of a history, as far as it is readable. Undefined if the history lacks it. */
export function historyJob(history: unknown, id: string): LocalJob | undefined {
  const entry = own(historySchema.parse(history), id);
  if (!isObject(entry)) return entry === undefined ? undefined : { id, status: "unknown" };
  const { prompt, ...rest } = entry;
  return detailsOf(id, { ...rest, prompt: itemSchema.safeParse(prompt).data });
}

export function historyEntry(history: unknown, id: string): HistoryEntry | undefined {
  return entrySchema.safeParse(own(historySchema.parse(history), id)).data;
}

const endings = ["execution_success", "execution_error", "execution_interrupted"];
const seen = new Set(["image", "video", "audio", "3d"]);

/** An unreadable entry has only its state. `nodes_total`: for the percentage of a running job. */
export function toQueuedJob(item: QueueItem | null, status: "pending" | "in_progress"): LocalJob {
  if (!item) return { status };
  const [priority, id, graph, extra] = item;
  const nodes_total = status === "in_progress" ? Object.keys(objectOf(graph) ?? {}).length : undefined;
  return { id, status, priority, outputs_count: 0, nodes_total, ...factsOf(extra) };
}

export function toEndedJob(id: string, { prompt, outputs, status }: Partial<HistoryEntry>): LocalJob {
  const [priority, , , extra] = prompt ?? [];
  const { status_str, messages } = statusSchema.parse(status);
  const began = messages.find(([event]) => event === "execution_start")?.[1].timestamp;
  const ending = messages.findLast(([event]) => endings.includes(event));
  const isStopped = ending?.[0] === "execution_interrupted";
  const files = listOutputs(outputsSchema.catch({}).parse(outputs ?? {}));
  return {
    id,
    status: status_str !== "error" ? "completed" : isStopped ? "cancelled" : "failed",
    priority,
    create_time: began,
    ...factsOf(extra),
    execution_start_time: began,
    execution_end_time: ending?.[1].timestamp,
    execution_error: toListedError(errorIn(messages)),
    outputs_count: files.filter(({ file }) => file).length,
    preview_output: toPreview(files),
  };
}

function errorIn(messages: z.infer<typeof statusSchema>["messages"]) {
  const ending = messages.findLast(([event]) => endings.includes(event));
  return ending?.[0] === "execution_error" ? ending[1] : undefined;
}

export function wholeOf([, , prompt, extra_data]: QueueItem) {
  return { workflow: { prompt, extra_data } };
}

function detailsOf(id: string, entry: Partial<HistoryEntry>): LocalJob {
  const execution_error = errorIn(statusSchema.parse(entry.status).messages);
  const { outputs, status: execution_status, prompt } = entry;
  return { ...toEndedJob(id, entry), execution_error, outputs, execution_status, ...(prompt && wholeOf(prompt)) };
}

/** A stored picture, film or sound first, then a temporary one, then any file or text. */
function toPreview(outputs: readonly OutputView[]): object | undefined {
  const shown = outputs.filter(({ kind }) => seen.has(kind));
  const best = shown.find(({ temporary }) => !temporary) ?? shown[0] ?? outputs.find(({ file, text }) => file ?? text);
  if (best === undefined) return undefined;
  const place = { nodeId: best.nodeId, mediaType: best.key };
  return best.file ? { ...best.file, ...place } : { content: best.text?.slice(0, 1024), ...place };
}

function factsOf(extra: unknown): { create_time?: number; workflow_id?: string } {
  const { create_time, extra_pnginfo } = extraSchema.parse(extra);
  const workflow_id = isObject(extra_pnginfo?.workflow) ? textOf(extra_pnginfo.workflow.id) : undefined;
  const at = toMilliseconds(create_time);
  return { ...(at !== undefined && { create_time: at }), ...(workflow_id !== undefined && { workflow_id }) };
}
