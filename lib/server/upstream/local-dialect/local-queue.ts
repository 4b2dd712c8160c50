// The queue at a local server: its tuples hold other things, and changing it answers nothing.
// Guarantees: `deleted` names what really left the queue unrun, learnt by looking before and after; what began in between is not named.

import "server-only";
import { z } from "zod";
import { extraSchema, type QueueItem, queueSchema } from "./local-entries";
import { type LocalExchange, type Read, readLocal, type Translation, translated } from "./local-exchange";

const bodySchema = z.looseObject({ delete: z.array(z.string()).optional(), clear: z.boolean().optional() });
const idsSchema = z.record(z.string(), z.unknown()).catch({});

type Queue = z.infer<typeof queueSchema>;

/** Enough for whatever may have begun and ended between two looks. */
const RECENT_ENTRIES = 200;

export const queueTranslations: readonly Translation[] = [
  {
    method: "GET",
    path: /\/api\/queue$/,
    async speak(exchange) {
      const queue = await readQueue(exchange);
      if (!queue.ok) return queue.answer;
      // The lowest priority goes first, whatever the order of the list.
      const pending = [...queue.value.queue_pending].sort((one, other) => one[0] - other[0]);
      return translated({ queue_running: queue.value.queue_running.map(toTuple), queue_pending: pending.map(toTuple) });
    },
  },
  {
    method: "POST",
    path: /\/api\/queue$/,
    async speak(exchange) {
      const body = bodySchema.parse(await exchange.request.json());
      const before = await readQueue(exchange);
      if (!before.ok) return before.answer;
      const waiting = idsOf(before.value.queue_pending);
      const meant = body.clear ? waiting : waiting.filter((id) => body.delete?.includes(id));
      const moving = new Set([...waiting, ...idsOf(before.value.queue_running)]);
      const away = body.clear ? [] : (body.delete ?? []).filter((id) => !moving.has(id));
      const ended = away.length === 0 ? [] : await recentIds(exchange);
      const gone = away.filter((id) => !ended.includes(id));
      if (meant.length === 0) return translated({ deleted: [], gone, cleared: body.clear === true });
      const said = await exchange.ask("/api/queue", { json: body.clear ? { clear: true } : { delete: meant } });
      if (said.status >= 300) return said;
      await said.body?.cancel();
      const after = await readQueue(exchange);
      if (!after.ok) return after.answer;
      const left = new Set([...idsOf(after.value.queue_pending), ...idsOf(after.value.queue_running), ...(await recentIds(exchange))]);
      return translated({ deleted: meant.filter((id) => !left.has(id)), gone, cleared: body.clear === true });
    },
  },
];

async function readQueue({ ask }: LocalExchange): Promise<Read<Queue>> {
  const read = await readLocal(await ask("/api/queue"));
  return read.ok ? { ok: true, value: queueSchema.parse(read.value) } : read;
}

async function recentIds({ ask }: LocalExchange): Promise<string[]> {
  const read = await readLocal(await ask("/api/history", { query: { max_items: RECENT_ENTRIES } }));
  return read.ok ? Object.keys(idsSchema.parse(read.value)) : [];
}

function idsOf(items: QueueItem[]): string[] {
  return items.map((item) => item[1]);
}

function toTuple([, id, graph, extra, outputs]: QueueItem, index: number) {
  const { create_time } = extraSchema.parse(extra);
  return [index + 1, id, graph, Array.isArray(outputs) ? outputs : [], create_time === undefined ? {} : { create_time }];
}
