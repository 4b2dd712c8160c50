// Queue and history of a local server.

import "server-only";
import { z } from "zod";
import { anyCount, loosely } from "@/lib/contract/schemas/lenient";
import { TooLargeAnswer } from "../read-body";
import { extraSchema, historyEntries, type HistoryEntry, historyEntry, type QueueItem, queueSchema } from "./local-entries";
import { hasNoJobs, type LocalExchange, NotJson, readLocal, translated, type Translation } from "./local-exchange";

const totalSchema = z.looseObject({ pagination: z.looseObject({ total: loosely(anyCount) }) });

const ENDED = "completed,failed,cancelled";
const USUAL_ITEMS = 200;

export const historyTranslations: readonly Translation[] = [
  {
    method: "GET",
    path: /\/api\/history_v2$/,
    async speak(exchange) {
      const { searchParams } = exchange.url;
      const offset = Number(searchParams.get("offset") ?? 0);
      const maxItems = Number(searchParams.get("max_items") ?? USUAL_ITEMS);
      const total = await countEnded(exchange);
      if (total instanceof Response) return total;
      const first = total === undefined ? undefined : Math.max(0, total - offset - maxItems);
      const count = total === undefined ? offset + maxItems : Math.min(maxItems, total - offset);
      if (count <= 0) return translated({ history: [] });
      const query = { max_items: count, ...(first !== undefined && { offset: first }) };
      const read = await readLocal(await exchange.ask("/api/history", { query }));
      if (!read.ok) return read.answer;
      const newest = historyEntries(read.value).reverse();
      const page = first === undefined ? newest.slice(offset) : newest;
      return translated({ history: page.map(({ id, entry }) => entry && toEntry(id, entry)) });
    },
  },
  {
    method: "GET",
    path: /\/api\/history_v2\/([^/]+)$/,
    async speak({ ask, caught }) {
      const id = decodeURIComponent(caught[0] ?? "");
      const read = await readLocal(await ask(`/api/history/${encodeURIComponent(id)}`));
      if (!read.ok) return read.answer;
      const entry = historyEntry(read.value, id);
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
async function countEnded({ ask }: LocalExchange): Promise<number | undefined | Response> {
  const answer = await ask("/api/jobs", { query: { status: ENDED, limit: 1 } });
  if (hasNoJobs(answer)) return void (await answer.body?.cancel());
  const read = await readLocal(answer);
  return read.ok ? totalSchema.parse(read.value).pagination.total : read.answer;
}

function toEntry(id: string, { prompt: [priority, promptId, , extraData], outputs, status, meta }: HistoryEntry) {
  const { create_time, extra_pnginfo, ...extra } = extraSchema.parse(extraData);
  // Lists leave out the editor's whole graph, as the interface does.
  const { workflow, ...pngInfo } = extra_pnginfo ?? {};
  return {
    prompt_id: id,
    create_time,
    workflow_id: workflow?.id,
    prompt: { priority, prompt_id: promptId, extra_data: { ...extra, ...(extra_pnginfo && { extra_pnginfo: pngInfo }) } },
    outputs,
    status,
    meta,
  };
}

const bodySchema = z.looseObject({ delete: z.array(z.string()).optional(), clear: z.boolean().optional() });
const idsSchema = z.record(z.string(), z.unknown()).catch({});

/** Enough for all jobs that may have begun and ended between two looks. */
const RECENT_ENTRIES = 200;

export const queueTranslations: readonly Translation[] = [
  {
    method: "GET",
    path: /\/api\/queue$/,
    async speak(exchange) {
      const queue = await readLocal(await exchange.ask("/api/queue"));
      if (!queue.ok) return queue.answer;
      const { queue_running, queue_pending } = queueSchema.parse(queue.value);
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
      const before = await readIds(exchange);
      if (before instanceof Response) return before;
      const { waiting } = before;
      const meant = body.clear ? waiting : waiting.filter((id) => body.delete?.includes(id));
      const moving = new Set([...waiting, ...before.running]);
      const away = body.clear ? [] : (body.delete ?? []).filter((id) => !moving.has(id));
      const ended = away.length === 0 ? [] : await recentIds(exchange);
      const gone = away.filter((id) => !ended.includes(id));
      if (meant.length === 0) return translated({ deleted: [], gone, cleared: body.clear === true });
      const deleted = await takeOut(exchange, meant, body.clear ? { clear: true } : { delete: meant });
      return deleted instanceof Response ? deleted : translated({ deleted, gone, cleared: body.clear === true });
    },
  },
  {
    // The server cannot cancel a job by its id: a waiting job is removed from the queue, a running one is interrupted.
    method: "POST",
    path: /\/api\/job\/([^/]+)\/cancel$/,
    async speak(exchange) {
      const id = decodeURIComponent(exchange.caught[0] ?? "");
      let now = await readIds(exchange);
      if (!(now instanceof Response) && now.waiting.includes(id)) {
        const deleted = await takeOut(exchange, [id], { delete: [id] });
        if (deleted instanceof Response) return deleted;
        if (deleted.length > 0) return translated({ cancelled: true });
        // It started in between.
        now = await readIds(exchange);
      }
      if (now instanceof Response) return now;
      if (!now.running.includes(id)) return cancelledNot(exchange, id);
      const answer = await exchange.ask("/api/interrupt", { json: { prompt_id: id } });
      if (answer.status >= 300) return answer;
      await answer.body?.cancel();
      return translated({ cancelled: true });
    },
  },
  {
    // The server reads a body without checking whether there is one.
    method: "POST",
    path: /\/api\/free$/,
    speak: ({ request, ask, pass }) => (request.body === null ? ask("/api/free", { json: {} }) : pass()),
  },
];

/** The jobs of `meant` that were cancelled before they ran. */
async function takeOut(exchange: LocalExchange, meant: readonly string[], body: object): Promise<string[] | Response> {
  const answer = await exchange.ask("/api/queue", { json: body });
  if (answer.status >= 300) return answer;
  await answer.body?.cancel();
  const after = await readIds(exchange);
  if (after instanceof Response) return after;
  const left = new Set([...after.waiting, ...after.running, ...(await recentIds(exchange))]);
  return meant.filter((id) => !left.has(id));
}

/** For a job that neither waits nor runs: it has ended, or the server does not know it. */
async function cancelledNot({ ask }: LocalExchange, id: string): Promise<Response> {
  const read = await readLocal(await ask(`/api/history/${encodeURIComponent(id)}`));
  if (!read.ok) return read.answer;
  const hasEnded = Object.hasOwn(idsSchema.parse(read.value), id);
  return hasEnded ? translated({ cancelled: false }) : translated({ code: "NOT_FOUND", message: "The server knows no such job." }, 404);
}

async function readIds({ ask }: LocalExchange): Promise<{ running: string[]; waiting: string[] } | Response> {
  const read = await readLocal(await ask("/api/queue"));
  if (!read.ok) return read.answer;
  const { queue_running, queue_pending } = queueSchema.parse(read.value);
  return { running: idsOf(queue_running), waiting: idsOf(queue_pending) };
}

async function recentIds({ ask }: LocalExchange): Promise<string[]> {
  try {
    const read = await readLocal(await ask("/api/history", { query: { max_items: RECENT_ENTRIES } }));
    return read.ok ? Object.keys(idsSchema.parse(read.value)) : [];
  } catch (error) {
    // This only adds details to the answer about a change, so its failure must not fail the change.
    if (error instanceof NotJson) return [];
    if (!(error instanceof TooLargeAnswer)) throw error;
    error.discard();
    return [];
  }
}

function idsOf(items: (QueueItem | null)[]): string[] {
  return items.flatMap((item) => item?.[1] ?? []);
}

function toTuple(item: QueueItem | null, index: number) {
  if (!item) return null;
  const [, id, graph, extra, outputs] = item;
  const { create_time } = extraSchema.parse(extra);
  return [index + 1, id, graph, Array.isArray(outputs) ? outputs : [], create_time === undefined ? {} : { create_time }];
}
