// The history at a local server: an object by id, oldest first, whose pages are counted from its oldest end.

import "server-only";
import { z } from "zod";
import { extraSchema, type HistoryEntry, historySchema } from "./local-entries";
import { isNoRoute, type LocalExchange, readLocal, type Translation, translated } from "./local-exchange";

const totalSchema = z.looseObject({ pagination: z.looseObject({ total: z.number() }) });

const ENDED = "completed,failed,cancelled";
const USUAL_ITEMS = 200;

export const historyTranslations: readonly Translation[] = [
  {
    method: "GET",
    path: /\/api\/history_v2$/,
    async speak(exchange) {
      const { searchParams } = exchange.url;
      const offset = Number(searchParams.get("offset") ?? 0);
      const wanted = Number(searchParams.get("max_items") ?? USUAL_ITEMS);
      const total = await countEnded(exchange);
      if (total instanceof Response) return total;
      const first = total === undefined ? undefined : Math.max(0, total - offset - wanted);
      const count = total === undefined ? offset + wanted : Math.min(wanted, total - offset);
      if (count <= 0) return translated({ history: [] });
      const query = { max_items: count, ...(first !== undefined && { offset: first }) };
      const read = await readLocal(await exchange.ask("/api/history", { query }));
      if (!read.ok) return read.answer;
      const newest = Object.entries(historySchema.parse(read.value)).reverse();
      const entries = first === undefined ? newest.slice(offset) : newest;
      return translated({ history: entries.map(([id, entry]) => toEntry(id, entry)) });
    },
  },
  {
    method: "GET",
    path: /\/api\/history_v2\/([^/]+)$/,
    async speak({ ask, caught }) {
      const id = decodeURIComponent(caught[0] ?? "");
      const read = await readLocal(await ask(`/api/history/${encodeURIComponent(id)}`));
      if (!read.ok) return read.answer;
      const entry = historySchema.parse(read.value)[id];
      if (!entry) return translated({ code: "NOT_FOUND", message: "There is no such entry in the history." }, 404);
      const [priority, promptId, prompt, extraData, outputs] = entry.prompt;
      return translated({
        [id]: { ...entry, prompt: { priority, prompt_id: promptId, prompt, extra_data: extraData, outputs_to_execute: outputs } },
      });
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

/** Undefined: a version before /api/jobs, whose history is counted from its newest end by reading it from there. */
async function countEnded({ ask }: LocalExchange): Promise<number | undefined | Response> {
  const answer = await ask("/api/jobs", { query: { status: ENDED, limit: 1 } });
  if (isNoRoute(answer)) return void (await answer.body?.cancel());
  const read = await readLocal(answer);
  return read.ok ? totalSchema.parse(read.value).pagination.total : read.answer;
}

function toEntry(id: string, { prompt: [priority, promptId, , extraData], outputs, status, meta }: HistoryEntry) {
  const { create_time, extra_pnginfo, ...extra } = extraSchema.parse(extraData);
  // The whole graph of the editor is left out of lists, as the interface does.
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
