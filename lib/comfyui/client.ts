// The endpoints of a plain ComfyUI server. Connections and runners pass their own `send`.

import { z } from "zod";
import { asNumber, asObject, asText, getOwn, isObject } from "@/lib/contract/json/json";
import { lenientOptional, timestamp } from "@/lib/contract/schemas/lenient";
import { type OutputFile } from "@/lib/contract/views/outputs-view";
import { failed, ok, type Result } from "@/lib/shared/result";

/** `keepDepth`: objects and lists below this level are parsed as null and count only towards `bytes`. */
export type JsonBounds = { bytes: number; values: number; keepDepth?: number };
export type ComfyRequest = { body?: object; bounds?: JsonBounds; responseTimeoutMs?: number };
export type SendRequest<F> = (path: `/${string}`, request?: ComfyRequest) => Promise<Result<unknown, F>>;
export type ComfyClient<F> = ReturnType<typeof createComfyClient<F>>;

const ENTRY_BOUNDS = { bytes: 32 * 1024 ** 2, values: 500_000 };
/** Queues and histories contain full graphs. Nothing below a job's extra_data and its node names is read. */
const LIST_BOUNDS = { bytes: 64 * 1024 ** 2, values: 500_000, keepDepth: 4 };
/** Enough for ten thousand classes with long lists of models. */
const CATALOGUE_BOUNDS = { bytes: 48 * 1024 ** 2, values: 500_000 };
/** The server scans all model folders first, possibly on a slow disk. */
const CATALOGUE_TIMEOUT_MS = 90_000;

const objectSchema = z.custom<Record<string, unknown>>(isObject);

/** `toFailure` creates the failure for a response with an unexpected shape. */
export function createComfyClient<F>(send: SendRequest<F>, toFailure: (message: string) => F) {
  async function read<T>(schema: z.ZodType<T>, path: `/${string}`, message: string, request?: ComfyRequest): Promise<Result<T, F>> {
    const result = await send(path, request);
    if (!result.ok) return result;
    const schemaResult = schema.safeParse(result.value);
    return schemaResult.success ? ok(schemaResult.data) : failed(toFailure(message));
  }
  return {
    request: send,
    getQueue: () => read(queueSchema, "/queue", "Its queue can't be read.", { bounds: LIST_BOUNDS }),
    /** Returns entries oldest first. Without an offset, returns the newest ones. */
    getHistory({ max_items, offset }: { max_items: number; offset?: number }) {
      const path = `/history?max_items=${max_items}${offset === undefined ? "" : `&offset=${offset}`}` as const;
      return read(objectSchema, path, "Its history can't be read.", { bounds: LIST_BOUNDS });
    },
    async getHistoryEntry(id: string): Promise<Result<unknown, F>> {
      const history = await read(objectSchema, `/history/${encodeURIComponent(id)}`, "Its history can't be read.", {
        bounds: ENTRY_BOUNDS,
      });
      return history.ok ? ok(getOwn(history.value, id)) : history;
    },
    getStats: () => read(z.looseObject({ system: objectSchema }), "/system_stats", "It responds, but not like a ComfyUI server."),
    /** Returns only node classes that can be parsed. */
    async getCatalogue() {
      const result = await send("/object_info", { bounds: CATALOGUE_BOUNDS, responseTimeoutMs: CATALOGUE_TIMEOUT_MS });
      if (!result.ok) return result;
      const classes = Object.entries(asObject(result.value) ?? {}).filter(([, info]) => isObject(info) && isObject(info.input));
      return classes.length > 0 ? ok(Object.fromEntries(classes)) : failed(toFailure("It lists no node classes."));
    },
    submit: (body: object) => send("/prompt", { body }),
    clearQueue: () => send("/queue", { body: { clear: true } }),
    deleteQueued: (ids: readonly string[]) => send("/queue", { body: { delete: ids } }),
    /** Servers that ignore the id interrupt any running job. */
    interrupt: (id: string) => send("/interrupt", { body: { prompt_id: id } }),
    freeMemory: (body: object) => send("/free", { body }),
  };
}

export const toViewPath = ({ filename, subfolder, type }: OutputFile) =>
  `/view?${new URLSearchParams({ filename, subfolder, type }).toString()}` as const;

/** Identifies a job by its id on the server, or by the client id that submitted it. */
export type JobKey = { promptId: string; clientId?: string };

const createJobMatcher =
  ({ promptId, clientId }: JobKey) =>
  (item: QueueItem | null): item is QueueItem =>
    item !== null && (item[1] === promptId || (clientId !== undefined && getClient(item) === clientId));

export type JobLocation<F> =
  | { kind: "ended"; entry: unknown }
  | { kind: "waits"; item: QueueItem; ahead: readonly QueueItem[] }
  | { kind: "runs"; item: QueueItem }
  | { kind: "missing" }
  | { kind: "unreachable"; failure: F };

const MAX_RECENT_ENTRIES = 200;

/** Checks the history, the queue, and the history again, because the job may end between two requests. */
export async function findJob<F>(client: ComfyClient<F>, job: JobKey): Promise<JobLocation<F>> {
  const firstResult = await findEnded(client, job);
  if (firstResult.kind !== "missing") return firstResult;
  const queue = await client.getQueue();
  if (!queue.ok) return { kind: "unreachable", failure: queue.failure };
  const { queue_running, queue_pending } = queue.value;
  const runningItem = queue_running.find(createJobMatcher(job));
  if (runningItem) return { kind: "runs", item: runningItem };
  const waitingItem = queue_pending.find(createJobMatcher(job));
  if (waitingItem)
    return {
      kind: "waits",
      item: waitingItem,
      ahead: selectReadable(
        queue_running,
        queue_pending.filter((item) => item && item[0] < waitingItem[0]),
      ),
    };
  const secondResult = await findEnded(client, job);
  return secondResult.kind === "missing" && job.clientId !== undefined ? findByClient(client, job) : secondResult;
}

export const selectReadable = (...lists: (QueueItem | null)[][]): QueueItem[] => lists.flat().filter((item) => item !== null);

export async function findEnded<F>(client: ComfyClient<F>, { promptId }: JobKey): Promise<JobLocation<F>> {
  // The server chose this id, which must not alter the rest of the URL.
  if (!/^[\w:-][\w:.-]{0,199}$/.test(promptId)) return { kind: "missing" };
  const entry = await client.getHistoryEntry(promptId);
  if (!entry.ok) return { kind: "unreachable", failure: entry.failure };
  return entry.value === undefined ? { kind: "missing" } : { kind: "ended", entry: entry.value };
}

/** Finds a job by its client if the server chose its id and the response was lost. */
async function findByClient<F>(client: ComfyClient<F>, job: JobKey): Promise<JobLocation<F>> {
  const history = await client.getHistory({ max_items: MAX_RECENT_ENTRIES });
  if (!history.ok) return { kind: "unreachable", failure: history.failure };
  const [promptId] = Object.entries(history.value).find(([, entry]) => createJobMatcher(job)(parseEntry(entry)?.prompt ?? null)) ?? [];
  return promptId === undefined ? { kind: "missing" } : findEnded(client, { promptId });
}

/** Removes the job from the queue, or interrupts it. Returns true once it is neither queued nor running. Other jobs are not affected. */
export async function removeFromServer<F>(client: ComfyClient<F>, job: JobKey): Promise<boolean> {
  const queue = await client.getQueue();
  if (!queue.ok) return false;
  const waitingItem = queue.value.queue_pending.find(createJobMatcher(job));
  const runningItem = queue.value.queue_running.find(createJobMatcher(job));
  if (waitingItem) await client.deleteQueued([waitingItem[1]]);
  // Interrupt only if no other job is running, because some servers ignore the id.
  if (runningItem && queue.value.queue_running.length === 1) await client.interrupt(runningItem[1]);
  if (!waitingItem && !runningItem) return true;
  const latestQueue = await client.getQueue();
  return latestQueue.ok && !selectReadable(latestQueue.value.queue_pending, latestQueue.value.queue_running).some(createJobMatcher(job));
}

/** [position, job id, graph, extra_data, ids of the output nodes] */
export type QueueItem = [position: number, id: string, graph: unknown, extraData: unknown, outputs: unknown];

// Parsed without a schema, because a hostile server can send a million items, and a schema takes a microsecond each.

export function parseItem(item: unknown): QueueItem | undefined {
  if (!Array.isArray(item) || item.length < 5) return undefined;
  const [position, id, graph, extraData, outputs]: unknown[] = item;
  return typeof id === "string" ? [asNumber(position) ?? 0, id, graph, extraData, outputs] : undefined;
}

const listSchema = z.custom<unknown[]>(Array.isArray);
const itemsSchema = listSchema.transform((values) => values.map((item) => parseItem(item) ?? null));
const queueSchema = z.looseObject({ queue_running: itemsSchema, queue_pending: itemsSchema });

export type HistoryEntry = { prompt: QueueItem; outputs?: unknown; status?: unknown; meta?: unknown };

export function parseEntry(entry: unknown): HistoryEntry | undefined {
  if (!isObject(entry)) return undefined;
  const prompt = parseItem(entry.prompt);
  return prompt && { prompt, outputs: entry.outputs, status: entry.status, meta: entry.meta };
}

export const extraSchema = z
  .looseObject({
    client_id: lenientOptional(z.string()),
    create_time: lenientOptional(timestamp),
    extra_pnginfo: lenientOptional(z.looseObject({ workflow: lenientOptional(z.looseObject({ id: lenientOptional(z.string()) })) })),
  })
  .catch({});
export const getClient = ([, , , extra]: QueueItem): string | undefined => asText(asObject(extra)?.client_id);

const timeSchema = lenientOptional(timestamp);
const endingEvents = new Set(["execution_success", "execution_error", "execution_interrupted"]);

/** Parses a job's outcome from the status of its history entry. `error` is the error of the failed node. */
export function parseStatus(status: unknown) {
  const { status_str, messages } = asObject(status) ?? {};
  const messageList: unknown[] = Array.isArray(messages) ? messages : [];
  const getName = (message: unknown) => (Array.isArray(message) && isObject(message[1]) ? asText(message[0]) : undefined);
  const getDetails = (message: unknown) => (Array.isArray(message) ? asObject(message[1]) : undefined);
  const startMessage = messageList.find((message) => getName(message) === "execution_start");
  const endMessage = messageList.findLast((message) => endingEvents.has(getName(message) ?? ""));
  const event = getName(endMessage);
  return {
    statusText: asText(status_str),
    isInterrupted: event === "execution_interrupted",
    error: event === "execution_error" ? getDetails(endMessage) : undefined,
    startedAt: timeSchema.parse(getDetails(startMessage)?.timestamp),
    endedAt: timeSchema.parse(getDetails(endMessage)?.timestamp),
  };
}
