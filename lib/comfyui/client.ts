// The endpoints of a plain ComfyUI server: their paths, bodies and answers. The console's connections and the service's runners use it,
// each with requests of its own.

import { z } from "zod";
import { isObject, objectOf } from "@/lib/contract/json/json";
import { own } from "@/lib/contract/json/own";
import { type OutputFile } from "@/lib/contract/views/outputs-view";
import { failed, ok, type Result } from "@/lib/shared/result";
import { clientOf, type QueueItem, queueSchema, readEntry } from "./entries";

/** `keepDepth`: objects and lists below this level are read as null, and count only toward `bytes`. */
export type JsonBounds = { bytes: number; values: number; keepDepth?: number };
export type ComfyRequest = { body?: object; bounds?: JsonBounds; answerMs?: number };
/** Sends one request, with POST if it has a body. An empty answer is undefined. */
export type Ask<F> = (path: `/${string}`, request?: ComfyRequest) => Promise<Result<unknown, F>>;
export type ComfyClient<F> = ReturnType<typeof createComfyClient<F>>;

/** A job's graph, the editor's workflow, and its nodes' outputs. */
const ENTRY_BOUNDS = { bytes: 32 * 1024 ** 2, values: 500_000 };
/** A queue or history contains whole graphs. Nothing below a job's extra_data is read. */
const LIST_BOUNDS = { bytes: 64 * 1024 ** 2, values: 500_000, keepDepth: 4 };
/** Enough for ten thousand classes with long lists of models. */
const CATALOGUE_BOUNDS = { bytes: 48 * 1024 ** 2, values: 500_000 };
/** The server looks through all folders of models first, which may be on a slow disk. */
const CATALOGUE_ANSWER_MS = 90_000;

const objectSchema = z.custom<Record<string, unknown>>(isObject);

/** `unreadable`: the failure for an answer of another shape. */
export function createComfyClient<F>(ask: Ask<F>, unreadable: (message: string) => F) {
  async function read<T>(schema: z.ZodType<T>, path: `/${string}`, otherwise: string, request?: ComfyRequest): Promise<Result<T, F>> {
    const answer = await ask(path, request);
    if (!answer.ok) return answer;
    const parsed = schema.safeParse(answer.value);
    return parsed.success ? ok(parsed.data) : failed(unreadable(otherwise));
  }
  return {
    ask,
    queue: () => read(queueSchema, "/queue", "Its queue cannot be read.", { bounds: LIST_BOUNDS }),
    /** Oldest first; without an offset, the newest ones. */
    history({ max_items, offset }: { max_items: number; offset?: number }) {
      const path = `/history?max_items=${max_items}${offset === undefined ? "" : `&offset=${offset}`}` as const;
      return read(objectSchema, path, "Its history cannot be read.", { bounds: LIST_BOUNDS });
    },
    /** The value is undefined if the history lacks the job. */
    async entry(id: string): Promise<Result<unknown, F>> {
      const history = await read(objectSchema, `/history/${encodeURIComponent(id)}`, "Its history cannot be read.", {
        bounds: ENTRY_BOUNDS,
      });
      return history.ok ? ok(own(history.value, id)) : history;
    },
    stats: () => read(z.looseObject({ system: objectSchema }), "/system_stats", "It answers, but not as a server of the family."),
    /** The readable node classes. */
    async catalogue() {
      const answer = await ask("/object_info", { bounds: CATALOGUE_BOUNDS, answerMs: CATALOGUE_ANSWER_MS });
      if (!answer.ok) return answer;
      const classes = Object.entries(objectOf(answer.value) ?? {}).filter(([, info]) => isObject(info) && isObject(info.input));
      return classes.length > 0 ? ok(Object.fromEntries(classes)) : failed(unreadable("It names no node classes."));
    },
    submit: (body: object) => ask("/prompt", { body }),
    clearQueue: () => ask("/queue", { body: { clear: true } }),
    takeOut: (ids: readonly string[]) => ask("/queue", { body: { delete: ids } }),
    /** Servers that do not know the id interrupt whatever runs. */
    interrupt: (id: string) => ask("/interrupt", { body: { prompt_id: id } }),
    free: (body: object) => ask("/free", { body }),
  };
}

export const viewPath = ({ filename, subfolder, type }: OutputFile) =>
  `/view?${new URLSearchParams({ filename, subfolder, type }).toString()}` as const;

/** By its id at the server, or by our own name for it, whatever id the server gave it. */
export type KnownJob = { promptId: string; clientId?: string };

const isOf =
  ({ promptId, clientId }: KnownJob) =>
  (item: QueueItem | null): item is QueueItem =>
    item !== null && (item[1] === promptId || (clientId !== undefined && clientOf(item) === clientId));

export type Whereabouts<F> =
  | { kind: "ended"; entry: unknown }
  /** `ahead`: the queue items before it. */
  | { kind: "waits"; item: QueueItem; ahead: readonly QueueItem[] }
  | { kind: "runs"; item: QueueItem }
  | { kind: "nowhere" }
  | { kind: "silent"; failure: F };

/** How many of the last entries are searched for a job whose id there is not known. */
const LAST_ENTRIES = 200;

/** The history, then the queue, then the history again: a job may move from one to the other in between. */
export async function findJob<F>(client: ComfyClient<F>, known: KnownJob): Promise<Whereabouts<F>> {
  const first = await findEnded(client, known);
  if (first.kind !== "nowhere") return first;
  const queue = await client.queue();
  if (!queue.ok) return { kind: "silent", failure: queue.failure };
  const { queue_running: running, queue_pending: pending } = queue.value;
  const current = running.find(isOf(known));
  if (current) return { kind: "runs", item: current };
  const waiting = pending.find(isOf(known));
  if (waiting)
    return {
      kind: "waits",
      item: waiting,
      ahead: itemsIn(
        running,
        pending.filter((item) => item && item[0] < waiting[0]),
      ),
    };
  const again = await findEnded(client, known);
  return again.kind === "nowhere" && known.clientId !== undefined ? findByClient(client, known) : again;
}

/** The readable ones. */
export const itemsIn = (...lists: (QueueItem | null)[][]): QueueItem[] => lists.flat().filter((item) => item !== null);

export async function findEnded<F>(client: ComfyClient<F>, { promptId }: KnownJob): Promise<Whereabouts<F>> {
  // The server chose this id: it must not change the rest of the URL.
  if (!/^[\w:-][\w:.-]{0,199}$/.test(promptId)) return { kind: "nowhere" };
  const entry = await client.entry(promptId);
  if (!entry.ok) return { kind: "silent", failure: entry.failure };
  return entry.value === undefined ? { kind: "nowhere" } : { kind: "ended", entry: entry.value };
}

/** For a server that chose an id of its own, which did not arrive here. */
async function findByClient<F>(client: ComfyClient<F>, known: KnownJob): Promise<Whereabouts<F>> {
  const history = await client.history({ max_items: LAST_ENTRIES });
  if (!history.ok) return { kind: "silent", failure: history.failure };
  const [promptId] = Object.entries(history.value).find(([, one]) => isOf(known)(readEntry(one)?.prompt ?? null)) ?? [];
  return promptId === undefined ? { kind: "nowhere" } : findEnded(client, { promptId });
}

/** True if the job is neither queued nor running any more. Takes out only this job, and interrupts only where this job runs. */
export async function clearAway<F>(client: ComfyClient<F>, known: KnownJob): Promise<boolean> {
  const queue = await client.queue();
  if (!queue.ok) return false;
  const waiting = queue.value.queue_pending.find(isOf(known));
  const running = queue.value.queue_running.find(isOf(known));
  if (waiting) await client.takeOut([waiting[1]]);
  // This job must be the only one that runs: see `interrupt`.
  if (running && queue.value.queue_running.length === 1) await client.interrupt(running[1]);
  if (!waiting && !running) return true;
  const after = await client.queue();
  return after.ok && !itemsIn(after.value.queue_pending, after.value.queue_running).some(isOf(known));
}
