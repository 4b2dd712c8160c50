// Queue and history of a local server.

import "server-only";
import { z } from "zod";
import { extraSchema, type HistoryEntry, parseEntry, type QueueItem, selectReadable } from "@/lib/comfyui/client";
import { anyCount, lenientOptional } from "@/lib/contract/schemas/lenient";
import {
  createJobNotFoundResponse,
  createJsonResponse,
  getJobId,
  ignoreTooLarge,
  isJobListUnavailable,
  type LocalExchange,
  NonJsonResponseError,
  type Translation,
  unwrap,
} from "./local-exchange";

const totalSchema = z.looseObject({ pagination: z.looseObject({ total: lenientOptional(anyCount) }) });

const ENDED_STATUSES = "completed,failed,cancelled";
const DEFAULT_MAX_ITEMS = 200;

export const historyTranslations: readonly Translation[] = [
  {
    method: "GET",
    path: /\/api\/history_v2$/,
    async translate(exchange) {
      const { searchParams } = exchange.url;
      const offset = Number(searchParams.get("offset") ?? 0);
      const maxItems = Number(searchParams.get("max_items") ?? DEFAULT_MAX_ITEMS);
      const total = await countEnded(exchange);
      const startIndex = total === undefined ? undefined : Math.max(0, total - offset - maxItems);
      const count = total === undefined ? offset + maxItems : Math.min(maxItems, total - offset);
      if (count <= 0) return createJsonResponse({ history: [] });
      const query = { max_items: count, ...(startIndex !== undefined && { offset: startIndex }) };
      const newestEntries = Object.entries(await unwrap(exchange.server.getHistory(query))).reverse();
      return createJsonResponse({
        history: newestEntries.slice(startIndex === undefined ? offset : 0).map(([id, entry]) => toRow(id, parseEntry(entry))),
      });
    },
  },
  {
    method: "GET",
    path: /\/api\/history_v2\/([^/]+)$/,
    async translate(exchange) {
      const id = getJobId(exchange);
      const entry = parseEntry(await unwrap(exchange.server.getHistoryEntry(id)));
      if (!entry) return createJsonResponse({ code: "NOT_FOUND", message: "There is no such entry in the history." }, 404);
      const [priority, prompt_id, prompt, extra_data, outputs_to_execute] = entry.prompt;
      return createJsonResponse({ [id]: { ...entry, prompt: { priority, prompt_id, prompt, extra_data, outputs_to_execute } } });
    },
  },
  {
    method: "POST",
    path: /\/api\/history$/,
    async translate({ forward, base, endedJobs }) {
      const response = await forward();
      endedJobs.delete(base);
      if (response.status >= 300) return response;
      await response.body?.cancel();
      return createJsonResponse({ code: "OK", message: "The history was changed." });
    },
  },
];

/** Returns undefined without a readable job list. Then the newest entries are read and sliced to the page. */
async function countEnded({ call, readJson }: LocalExchange): Promise<number | undefined> {
  const response = await call("/api/jobs", { query: { status: ENDED_STATUSES, limit: 1 } });
  if (isJobListUnavailable(response)) return void (await response.body?.cancel());
  return totalSchema.parse(await unwrap(readJson(response))).pagination.total;
}

function toRow(id: string, entry: HistoryEntry | undefined) {
  if (!entry) return undefined;
  const { outputs, status, meta } = entry;
  const [priority, promptId, , extraData] = entry.prompt;
  const { create_time, extra_pnginfo, ...extra } = extraSchema.parse(extraData);
  // Lists omit the editor's graph, as the API does.
  const { workflow, ...pngInfo } = extra_pnginfo ?? {};
  const extra_data = { ...extra, ...(extra_pnginfo && { extra_pnginfo: pngInfo }) };
  const prompt = { priority, prompt_id: promptId, extra_data };
  return { prompt_id: id, create_time, workflow_id: workflow?.id, prompt, outputs, status, meta };
}

const bodySchema = z.looseObject({ delete: z.array(z.string()).optional(), clear: z.boolean().optional() });

/** Enough for all jobs that may start and end between two reads. */
const MAX_RECENT_ENTRIES = 200;

export const queueTranslations: readonly Translation[] = [
  {
    method: "GET",
    path: /\/api\/queue$/,
    async translate({ server }) {
      const { queue_running, queue_pending } = await unwrap(server.getQueue());
      // The lowest priority runs first. The list itself is in no guaranteed order.
      const pendingItems = queue_pending.sort((a, b) => (a?.[0] ?? 0) - (b?.[0] ?? 0));
      return createJsonResponse({ queue_running: queue_running.map(toTuple), queue_pending: pendingItems.map(toTuple) });
    },
  },
  {
    method: "POST",
    path: /\/api\/queue$/,
    async translate(exchange) {
      const body = bodySchema.parse(await exchange.request.json());
      const { runningIds, waitingIds } = await readQueueIds(exchange);
      const targets = body.clear ? waitingIds : waitingIds.filter((id) => body.delete?.includes(id));
      const queuedIds = new Set([...waitingIds, ...runningIds]);
      const unqueuedIds = body.clear ? [] : (body.delete ?? []).filter((id) => !queuedIds.has(id));
      const endedIds = unqueuedIds.length === 0 ? [] : await readRecentIds(exchange);
      const goneIds = unqueuedIds.filter((id) => !endedIds.includes(id));
      const deletedIds = targets.length === 0 ? [] : await removeFromQueue(exchange, targets, body.clear);
      return createJsonResponse({ deleted: deletedIds, gone: goneIds, cleared: body.clear === true });
    },
  },
  {
    // The server cannot cancel a job by id, so a waiting job is removed from the queue, and a running one is interrupted.
    method: "POST",
    path: /\/api\/job\/([^/]+)\/cancel$/,
    async translate(exchange) {
      const id = getJobId(exchange);
      const { server } = exchange;
      const queueIds = await readQueueIds(exchange);
      if (queueIds.waitingIds.includes(id) && (await removeFromQueue(exchange, [id])).length > 0)
        return createJsonResponse({ cancelled: true });
      // The job may have started since the first read.
      const { runningIds } = queueIds.waitingIds.includes(id) ? await readQueueIds(exchange) : queueIds;
      if (runningIds.includes(id)) {
        await unwrap(server.interrupt(id));
        return createJsonResponse({ cancelled: true });
      }
      const entry = await unwrap(server.getHistoryEntry(id));
      return entry === undefined ? createJobNotFoundResponse() : createJsonResponse({ cancelled: false });
    },
  },
  {
    // The server fails without a body.
    method: "POST",
    path: /\/api\/free$/,
    translate: ({ request, call, forward }) => (request.body === null ? call("/api/free", { json: {} }) : forward()),
  },
];

/** Returns the targets that were removed before they ran. */
async function removeFromQueue(exchange: LocalExchange, targets: readonly string[], shouldClear = false): Promise<string[]> {
  await unwrap(shouldClear ? exchange.server.clearQueue() : exchange.server.deleteQueued(targets));
  const { runningIds, waitingIds } = await readQueueIds(exchange);
  const remainingIds = new Set([...waitingIds, ...runningIds, ...(await readRecentIds(exchange))]);
  return targets.filter((id) => !remainingIds.has(id));
}

async function readQueueIds({ server }: LocalExchange): Promise<{ runningIds: string[]; waitingIds: string[] }> {
  const { queue_running, queue_pending } = await unwrap(server.getQueue());
  return { runningIds: selectReadable(queue_running).map(([, id]) => id), waitingIds: selectReadable(queue_pending).map(([, id]) => id) };
}

/** The ids only add details to the response, so a failed read must not fail the change. */
async function readRecentIds({ server }: LocalExchange): Promise<string[]> {
  const historyPromise = server
    .getHistory({ max_items: MAX_RECENT_ENTRIES })
    .catch((error) => (error instanceof NonJsonResponseError ? undefined : ignoreTooLarge(error)));
  const history = await historyPromise;
  return history?.ok ? Object.keys(history.value) : [];
}

function toTuple(item: QueueItem | null, index: number) {
  if (!item) return null;
  const [, id, graph, extra, outputs] = item;
  const { create_time } = extraSchema.parse(extra);
  return [index + 1, id, graph, Array.isArray(outputs) ? outputs : [], create_time === undefined ? {} : { create_time }];
}
