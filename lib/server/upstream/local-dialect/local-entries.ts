// Entries of a local server's queue and history, and the interface's jobs made from them, in the way newer versions make them.
// Guarantees: an entry of another shape is refused by its schema; a job tells only times and outputs that its entry has.

import "server-only";
import { z } from "zod";
import { isObject, textOf } from "@/lib/contract/json/json";
import { toListedError } from "@/lib/contract/views/job-error-view";
import { listOutputs, type OutputView } from "@/lib/contract/views/outputs-view";
import { outputsSchema } from "@/lib/contract/schemas/outputs";
import { toMilliseconds } from "@/lib/contract/times";

/** [priority, job id, graph, extra_data, ids of the output nodes] */
const itemSchema = z.tuple([z.number(), z.string(), z.unknown(), z.unknown(), z.unknown()]).rest(z.unknown());
export const queueSchema = z.looseObject({ queue_running: z.array(itemSchema), queue_pending: z.array(itemSchema) });
const entrySchema = z.looseObject({
  prompt: itemSchema,
  outputs: z.unknown().optional(),
  status: z.unknown().optional(),
  meta: z.unknown().optional(),
});
export const historySchema = z.record(z.string(), entrySchema);
export const extraSchema = z
  .looseObject({
    create_time: z.number().optional(),
    extra_pnginfo: z.looseObject({ workflow: z.looseObject({ id: z.string().optional() }).optional().catch(undefined) }).optional(),
  })
  .catch({});
const statusSchema = z
  .looseObject({
    status_str: z.string().optional(),
    messages: z.array(z.tuple([z.string(), z.looseObject({ timestamp: z.number().optional() })]).rest(z.unknown())).catch([]),
  })
  .catch({ messages: [] });

export type QueueItem = z.infer<typeof itemSchema>;
export type HistoryEntry = z.infer<typeof entrySchema>;
export type LocalJob = { id: string; status: string; [field: string]: unknown };

const endings = ["execution_success", "execution_error", "execution_interrupted"];
const seen = new Set(["image", "video", "audio", "3d"]);

export function toQueuedJob([priority, id, , extra]: QueueItem, status: "pending" | "in_progress"): LocalJob {
  return { id, status, priority, outputs_count: 0, ...factsOf(extra) };
}

export function toEndedJob(id: string, { prompt: [priority, , , extra], outputs, status }: HistoryEntry): LocalJob {
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

export function detailsOf(id: string, entry: HistoryEntry): LocalJob {
  const execution_error = errorIn(statusSchema.parse(entry.status).messages);
  return { ...toEndedJob(id, entry), execution_error, outputs: entry.outputs, execution_status: entry.status, ...wholeOf(entry.prompt) };
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
