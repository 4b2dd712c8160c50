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
  readLocal,
  type Translation,
  unwrap,
} from "./local-exchange";

const totalSchema = z.looseObject({ pagination: z.looseObject({ total: lenientOptional(anyCount) }) });

const ENDED_STATUSES = "completed,failed,cancelled";
const DEFAULT_ITEMS = 200;

export const historyTranslations: readonly Translation[] = [
  {
    method: "GET",
    path: /\/api\/history_v2$/,
    async translate(exchange) {
      const { searchParams } = exchange.url;
      const offset = Number(searchParams.get("offset") ?? 0);
      const maxItems = Number(searchParams.get("max_items") ?? DEFAULT_ITEMS);
      const total = await countEnded(exchange);
      const startIndex = total === undefined ? undefined : Math.max(0, total - offset - maxItems);
      const count = total === undefined ? offset + maxItems : Math.min(maxItems, total - offset);
      if (count <= 0) return createJsonResponse({ history: [] });
      const query = { max_items: count, ...(startIndex !== undefined && { offset: startIndex }) };
      const newest = Object.entries(await unwrap(exchange.server.getHistory(query))).reverse();
      return createJsonResponse({
        history: newest.slice(startIndex === undefined ? offset : 0).map(([id, entry]) => toRow(id, parseEntry(entry))),
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

/** The number of ended jobs. Undefined without a readable list: then the newest entries are read and sliced to the page. */
async function countEnded({ call }: LocalExchange): Promise<number | undefined> {
  const response = await call("/api/jobs", { query: { status: ENDED_STATUSES, limit: 1 } });
  if (isJobListUnavailable(response)) return void (await response.body?.cancel());
  return totalSchema.parse(await unwrap(readLocal(response))).pagination.total;
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
const RECENT_ENTRIES = 200;

export const queueTranslations: readonly Translation[] = [
  {
    method: "GET",
    path: /\/api\/queue$/,
    async translate({ server }) {
      const { queue_running, queue_pending } = await unwrap(server.getQueue());
      // The lowest priority runs first. The list itself is in no guaranteed order.
      const pending = queue_pending.sort((queue, other) => (queue?.[0] ?? 0) - (other?.[0] ?? 0));
      return createJsonResponse({ queue_running: queue_running.map(toTuple), queue_pending: pending.map(toTuple) });
    },
  },
  {
    method: "POST",
    path: /\/api\/queue$/,
    async translate(exchange) {
      const body = bodySchema.parse(await exchange.request.json());
      const { running, waiting } = await readIds(exchange);
      const targets = body.clear ? waiting : waiting.filter((id) => body.delete?.includes(id));
      const queued = new Set([...waiting, ...running]);
      const notQueued = body.clear ? [] : (body.delete ?? []).filter((id) => !queued.has(id));
      const ended = notQueued.length === 0 ? [] : await readRecentIds(exchange);
      const leftQueue = notQueued.filter((id) => !ended.includes(id));
      const deleted = targets.length === 0 ? [] : await removeFromQueue(exchange, targets, body.clear);
      return createJsonResponse({ deleted, gone: leftQueue, cleared: body.clear === true });
    },
  },
  {
    // The server cannot cancel a job by id, so a waiting job is removed from the queue, and a running one is interrupted.
    method: "POST",
    path: /\/api\/job\/([^/]+)\/cancel$/,
    async translate(exchange) {
      const id = getJobId(exchange);
      const { server } = exchange;
      const queueIds = await readIds(exchange);
      if (queueIds.waiting.includes(id) && (await removeFromQueue(exchange, [id])).length > 0)
        return createJsonResponse({ cancelled: true });
      // The job may have started since the first read.
      const { running } = queueIds.waiting.includes(id) ? await readIds(exchange) : queueIds;
      if (running.includes(id)) {
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
async function removeFromQueue(exchange: LocalExchange, targets: readonly string[], isAll = false): Promise<string[]> {
  await unwrap(isAll ? exchange.server.clearQueue() : exchange.server.deleteQueued(targets));
  const { running, waiting } = await readIds(exchange);
  const remaining = new Set([...waiting, ...running, ...(await readRecentIds(exchange))]);
  return targets.filter((id) => !remaining.has(id));
}

async function readIds({ server }: LocalExchange): Promise<{ running: string[]; waiting: string[] }> {
  const { queue_running, queue_pending } = await unwrap(server.getQueue());
  return { running: selectReadable(queue_running).map(([, id]) => id), waiting: selectReadable(queue_pending).map(([, id]) => id) };
}

/** Only adds details to the response, so a failed read must not fail the change. */
async function readRecentIds({ server }: LocalExchange): Promise<string[]> {
  const pendingHistory = server
    .getHistory({ max_items: RECENT_ENTRIES })
    .catch((error) => (error instanceof NonJsonResponseError ? undefined : ignoreTooLarge(error)));
  const history = await pendingHistory;
  return history?.ok ? Object.keys(history.value) : [];
}

function toTuple(item: QueueItem | null, index: number) {
  if (!item) return null;
  const [, id, graph, extra, outputs] = item;
  const { create_time } = extraSchema.parse(extra);
  return [index + 1, id, graph, Array.isArray(outputs) ? outputs : [], create_time === undefined ? {} : { create_time }];
}
