// The history at a local server: an object by id, oldest first, whose pages are counted from its oldest end.

import "server-only";
import { z } from "zod";
import { type LocalExchange, readLocal, type Translation, translated } from "./local-exchange";

const promptSchema = z.tuple([z.number(), z.string(), z.unknown(), z.unknown(), z.unknown()]).rest(z.unknown());
const entrySchema = z.looseObject({
  prompt: promptSchema,
  outputs: z.unknown().optional(),
  status: z.unknown().optional(),
  meta: z.unknown().optional(),
});
const historySchema = z.record(z.string(), entrySchema);
const extraSchema = z
  .looseObject({
    create_time: z.number().optional(),
    extra_pnginfo: z.looseObject({ workflow: z.looseObject({ id: z.string().optional() }).optional().catch(undefined) }).optional(),
  })
  .catch({});
const totalSchema = z.looseObject({ pagination: z.looseObject({ total: z.number() }) });

type Entry = z.infer<typeof entrySchema>;

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
      const first = Math.max(0, total - offset - wanted);
      const count = Math.min(wanted, total - offset);
      if (count <= 0) return translated({ history: [] });
      const read = await readLocal(await exchange.ask("/api/history", { query: { max_items: count, offset: first } }));
      if (!read.ok) return read.answer;
      const entries = Object.entries(historySchema.parse(read.value)).reverse();
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
    async speak({ pass }) {
      const answer = await pass();
      if (answer.status >= 300) return answer;
      await answer.body?.cancel();
      return translated({ code: "OK", message: "The history was changed." });
    },
  },
];

async function countEnded({ ask }: LocalExchange): Promise<number | Response> {
  const read = await readLocal(await ask("/api/jobs", { query: { status: ENDED, limit: 1 } }));
  return read.ok ? totalSchema.parse(read.value).pagination.total : read.answer;
}

function toEntry(id: string, { prompt: [priority, promptId, , extraData], outputs, status, meta }: Entry) {
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
