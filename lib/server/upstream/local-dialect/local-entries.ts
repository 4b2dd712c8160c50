// Builds the API's jobs from entries of a local server's queue and history, as newer versions do.
// Unreadable entries become rows that the contract's schema counts as unreadable. A job has only the times and outputs of its entry.

import "server-only";
import { extraSchema, type HistoryEntry, parseEntry, parseItem, parseStatus, type QueueItem } from "@/lib/comfyui/client";
import { asObject, asText, isObject, type JsonObject } from "@/lib/contract/json/json";
import { outputsSchema } from "@/lib/contract/schemas/execution";
import { toMilliseconds } from "@/lib/contract/times";
import { toListedError } from "@/lib/contract/views/job-view";
import { listOutputs, type OutputView } from "@/lib/contract/views/outputs-view";

/** Without an id or a status, the entry counts as unreadable. */
export type LocalJob = { id?: string; status?: string; [field: string]: unknown };

const previewKinds = new Set(["image", "video", "audio", "3d"]);

/** An unreadable entry has only its state. `nodes_total` is for the percentage of a running job. */
export function toQueuedJob(item: QueueItem | null, status: "pending" | "in_progress"): LocalJob {
  if (!item) return { status };
  const [priority, id, graph, extra] = item;
  const nodes_total = status === "in_progress" ? Object.keys(asObject(graph) ?? {}).length : undefined;
  return { id, status, priority, outputs_count: 0, nodes_total, ...toJobFields(extra) };
}

/** The newest jobs of a history, newest first. */
export function toEndedJobs(history: JsonObject, max: number): LocalJob[] {
  return Object.entries(history)
    .slice(-max)
    .map(([id, entry]): LocalJob => {
      const parsedEntry = parseEntry(entry);
      return parsedEntry ? toEndedJob(id, parsedEntry) : { id };
    })
    .reverse();
}

function toEndedJob(id: string, { prompt, outputs, status }: Partial<HistoryEntry>): LocalJob {
  const [priority, , , extra] = prompt ?? [];
  const { word, isInterrupted, error, startedAt, endedAt } = parseStatus(status);
  const files = listOutputs(outputsSchema.catch({}).parse(outputs ?? {}));
  return {
    id,
    status: word !== "error" ? "completed" : isInterrupted ? "cancelled" : "failed",
    priority,
    create_time: startedAt,
    ...toJobFields(extra),
    execution_start_time: startedAt,
    execution_end_time: endedAt,
    execution_error: toListedError(error),
    outputs_count: files.filter(({ file }) => file).length,
    preview_output: toPreview(files),
  };
}

/** Returns as much as is readable of the entry. */
export function toJobDetails(id: string, entry: unknown): LocalJob {
  if (!isObject(entry)) return { id, status: "unknown" };
  const { outputs, status } = entry;
  const prompt = parseItem(entry.prompt);
  const job = toEndedJob(id, { outputs, status, prompt });
  return { ...job, execution_error: parseStatus(status).error, outputs, execution_status: status, ...(prompt && toWorkflow(prompt)) };
}

/** Empty for an item that was read without its nodes. */
export function toWorkflow([, , prompt, extra_data]: QueueItem) {
  return Object.values(asObject(prompt) ?? {}).includes(null) ? {} : { workflow: { prompt, extra_data } };
}

/** Prefers a stored picture, video or audio file, then a temporary one, then any file or text. */
function toPreview(outputs: readonly OutputView[]): object | undefined {
  const visibleOutputs = outputs.filter(({ kind }) => previewKinds.has(kind));
  const best = visibleOutputs.find(({ temporary }) => !temporary) ?? visibleOutputs[0] ?? outputs.find(({ file, text }) => file ?? text);
  if (best === undefined) return undefined;
  const location = { nodeId: best.nodeId, mediaType: best.key };
  return best.file ? { ...best.file, ...location } : { content: best.text?.slice(0, 1024), ...location };
}

function toJobFields(extra: unknown): { create_time?: number; workflow_id?: string } {
  const { create_time, extra_pnginfo } = extraSchema.parse(extra);
  const workflow_id = asText(extra_pnginfo?.workflow?.id);
  const at = toMilliseconds(create_time);
  return { ...(at !== undefined && { create_time: at }), ...(workflow_id && { workflow_id }) };
}
