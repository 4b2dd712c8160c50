// Queue and history of a local server.

import "server-only";
import { z } from "zod";
import { extraSchema, type HistoryEntry, type QueueItem, readableItems, readEntry } from "@/lib/comfyui/client";
import { anyCount, loosely } from "@/lib/contract/schemas/lenient";
import {
  hasNoJobs,
  idIn,
  type LocalExchange,
  noSuchJob,
  NotJson,
  readLocal,
  translated,
  type Translation,
  unlessTooLarge,
  valueOf,
} from "./local-exchange";

const totalSchema = z.looseObject({ pagination: z.looseObject({ total: loosely(anyCount) }) });

const ENDED = "completed,failed,cancelled";
const DEFAULT_ITEMS = 200;

export const historyTranslations: readonly Translation[] = [
  {
    method: "GET",
    path: /\/api\/history_v2$/,
    async speak(exchange) {
      const { searchParams } = exchange.url;
      const offset = Number(searchParams.get("offset") ?? 0);
      const maxItems = Number(searchParams.get("max_items") ?? DEFAULT_ITEMS);
      const total = await countEnded(exchange);
      const first = total === undefined ? undefined : Math.max(0, total - offset - maxItems);
      const count = total === undefined ? offset + maxItems : Math.min(maxItems, total - offset);
      if (count <= 0) return translated({ history: [] });
      const query = { max_items: count, ...(first !== undefined && { offset: first }) };
      const newest = Object.entries(await valueOf(exchange.server.history(query))).reverse();
      return translated({ history: newest.slice(first === undefined ? offset : 0).map(([id, entry]) => toRow(id, readEntry(entry))) });
    },
  },
  {
    method: "GET",
    path: /\/api\/history_v2\/([^/]+)$/,
    async speak(exchange) {
      const id = idIn(exchange);
      const entry = readEntry(await valueOf(exchange.server.entry(id)));
      if (!entry) return translated({ code: "NOT_FOUND", message: "There is no such entry in the history." }, 404);
      const [priority, prompt_id, prompt, extra_data, outputs_to_execute] = entry.prompt;
      return translated({ [id]: { ...entry, prompt: { priority, prompt_id, prompt, extra_data, outputs_to_execute } } });
    },
  },
  {
    method: "POST",
    path: /\/api\/history$/,
    async speak({ pass, base, ended }) {
      const answer = await pass();
      ended.forget(base);
      if (answer.status >= 300) return answer;
      await answer.body?.cancel();
      return translated({ code: "OK", message: "The history was changed." });
    },
  },
];

/** How many jobs have ended. Undefined if the server has no readable list: history is then read from its newest end and cut to the page. */
async function countEnded({ ask }: LocalExchange): Promise<number | undefined> {
  const answer = await ask("/api/jobs", { query: { status: ENDED, limit: 1 } });
  if (hasNoJobs(answer)) return void (await answer.body?.cancel());
  return totalSchema.parse(await valueOf(readLocal(answer))).pagination.total;
}

function toRow(id: string, entry: HistoryEntry | undefined) {
  if (!entry) return undefined;
  const { outputs, status, meta } = entry;
  const [priority, promptId, , extraData] = entry.prompt;
  const { create_time, extra_pnginfo, ...extra } = extraSchema.parse(extraData);
  // Lists leave out the editor's whole graph, as the interface does.
  const { workflow, ...pngInfo } = extra_pnginfo ?? {};
  const extra_data = { ...extra, ...(extra_pnginfo && { extra_pnginfo: pngInfo }) };
  const prompt = { priority, prompt_id: promptId, extra_data };
  return { prompt_id: id, create_time, workflow_id: workflow?.id, prompt, outputs, status, meta };
}

const bodySchema = z.looseObject({ delete: z.array(z.string()).optional(), clear: z.boolean().optional() });

/** Enough for all jobs that may have begun and ended between two looks. */
const RECENT_ENTRIES = 200;

export const queueTranslations: readonly Translation[] = [
  {
    method: "GET",
    path: /\/api\/queue$/,
    async speak({ server }) {
      const { queue_running, queue_pending } = await valueOf(server.queue());
      // The lowest priority goes first, whatever the order of the list.
      const pending = queue_pending.sort((one, other) => (one?.[0] ?? 0) - (other?.[0] ?? 0));
      return translated({ queue_running: queue_running.map(toTuple), queue_pending: pending.map(toTuple) });
    },
  },
  {
    method: "POST",
    path: /\/api\/queue$/,
    async speak(exchange) {
      const body = bodySchema.parse(await exchange.request.json());
      const { running, waiting } = await readIds(exchange);
      const targets = body.clear ? waiting : waiting.filter((id) => body.delete?.includes(id));
      const queued = new Set([...waiting, ...running]);
      const others = body.clear ? [] : (body.delete ?? []).filter((id) => !queued.has(id));
      const ended = others.length === 0 ? [] : await recentIds(exchange);
      const gone = others.filter((id) => !ended.includes(id));
      const deleted = targets.length === 0 ? [] : await takeOut(exchange, targets, body.clear);
      return translated({ deleted, gone, cleared: body.clear === true });
    },
  },
  {
    // The server cannot cancel a job by its id: a waiting job is removed from the queue, a running one is interrupted.
    method: "POST",
    path: /\/api\/job\/([^/]+)\/cancel$/,
    async speak(exchange) {
      const id = idIn(exchange);
      const { server } = exchange;
      const before = await readIds(exchange);
      if (before.waiting.includes(id) && (await takeOut(exchange, [id])).length > 0) return translated({ cancelled: true });
      // It may have started in between.
      const { running } = before.waiting.includes(id) ? await readIds(exchange) : before;
      if (running.includes(id)) {
        await valueOf(server.interrupt(id));
        return translated({ cancelled: true });
      }
      const entry = await valueOf(server.entry(id));
      return entry === undefined ? noSuchJob() : translated({ cancelled: false });
    },
  },
  {
    // The server reads a body without checking whether there is one.
    method: "POST",
    path: /\/api\/free$/,
    speak: ({ request, ask, pass }) => (request.body === null ? ask("/api/free", { json: {} }) : pass()),
  },
];

/** Those of the waiting jobs that were cancelled before they ran. */
async function takeOut(exchange: LocalExchange, targets: readonly string[], isAll = false): Promise<string[]> {
  await valueOf(isAll ? exchange.server.clearQueue() : exchange.server.deleteQueued(targets));
  const { running, waiting } = await readIds(exchange);
  const left = new Set([...waiting, ...running, ...(await recentIds(exchange))]);
  return targets.filter((id) => !left.has(id));
}

async function readIds({ server }: LocalExchange): Promise<{ running: string[]; waiting: string[] }> {
  const { queue_running, queue_pending } = await valueOf(server.queue());
  return { running: readableItems(queue_running).map(([, id]) => id), waiting: readableItems(queue_pending).map(([, id]) => id) };
}

/** Only adds details to the answer about a change, so its failure must not fail the change. */
async function recentIds({ server }: LocalExchange): Promise<string[]> {
  const read = server
    .history({ max_items: RECENT_ENTRIES })
    .catch((error) => (error instanceof NotJson ? undefined : unlessTooLarge(error)));
  const history = await read;
  return history?.ok ? Object.keys(history.value) : [];
}

function toTuple(item: QueueItem | null, index: number) {
  if (!item) return null;
  const [, id, graph, extra, outputs] = item;
  const { create_time } = extraSchema.parse(extra);
  return [index + 1, id, graph, Array.isArray(outputs) ? outputs : [], create_time === undefined ? {} : { create_time }];
}
