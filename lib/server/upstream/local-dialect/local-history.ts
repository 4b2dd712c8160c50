// The history of a local server: an object by id, oldest first, with pages counted from its oldest end.

import "server-only";
import { z } from "zod";
import { anyCount, loosely } from "@/lib/contract/schemas/lenient";
import { extraSchema, historyEntries, type HistoryEntry, historyEntry } from "./local-entries";
import { hasNoJobs, type LocalExchange, readLocal, translated, type Translation } from "./local-exchange";
import { wording } from "./wording";

const totalSchema = z.looseObject({ pagination: z.looseObject({ total: loosely(anyCount) }) });

const ENDED = "completed,failed,cancelled";
const USUAL_ITEMS = 200;

const endedTotal = wording("ended-total", ([jobs]) => totalSchema.parse(jobs).pagination.total);
/** `skipped`: the number of newest entries to leave out. */
const historyPage = wording("history-page", ([history], { skipped }: { skipped: number }) => {
  const newest = historyEntries(history).reverse();
  return { history: newest.slice(skipped).map(({ id, entry }) => entry && toEntry(id, entry)) };
});
const oneEntry = wording("history-entry", ([history], { id }: { id: string }) => {
  const entry = historyEntry(history, id);
  if (!entry) return undefined;
  const [priority, prompt_id, prompt, extra_data, outputs_to_execute] = entry.prompt;
  return { [id]: { ...entry, prompt: { priority, prompt_id, prompt, extra_data, outputs_to_execute } } };
});
export const wordsOfHistory = [endedTotal, historyPage, oneEntry];

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
      const page = await exchange.say(historyPage, [read.bytes], { skipped: first === undefined ? offset : 0 });
      return page ?? translated(null);
    },
  },
  {
    method: "GET",
    path: /\/api\/history_v2\/([^/]+)$/,
    async speak({ ask, caught, say }) {
      const id = decodeURIComponent(caught[0] ?? "");
      const read = await readLocal(await ask(`/api/history/${encodeURIComponent(id)}`));
      if (!read.ok) return read.answer;
      const entry = await say(oneEntry, [read.bytes], { id });
      return entry ?? translated({ code: "NOT_FOUND", message: "There is no such entry in the history." }, 404);
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
async function countEnded({ ask, learn }: LocalExchange): Promise<number | undefined | Response> {
  const answer = await ask("/api/jobs", { query: { status: ENDED, limit: 1 } });
  if (hasNoJobs(answer)) return void (await answer.body?.cancel());
  const read = await readLocal(answer);
  return read.ok ? learn(endedTotal, [read.bytes], undefined) : read.answer;
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
