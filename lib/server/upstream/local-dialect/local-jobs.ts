// Jobs of a local server. Falls back to its history if it has no job list.

import "server-only";
import { z } from "zod";
import { own } from "@/lib/contract/json/own";
import { jobsQuerySchema } from "@/lib/contract/schemas/job";
import { toMilliseconds } from "@/lib/contract/times";
import { TooLargeAnswer } from "../read-body";
import { historyEntries, historyJob, type LocalJob, queueSchema, toEndedJob, toQueuedJob, wholeOf } from "./local-entries";
import { type Ended, hasNoJobs, type LocalExchange, notThere, readLocal, translated, type Translation } from "./local-exchange";

/** How many entries to request, in this order: if an answer is too large to hold, fewer are requested. */
const READINGS = [1000, 200, 40, 8];
const MAX_ENDED = 1000;
/** One entry tells whether a job has ended since; a few more tell which. */
const PEEKS = [1, 20];
const ENDED = ["completed", "failed", "cancelled"];

async function listOlderJobs(exchange: LocalExchange): Promise<Response> {
  const query = jobsQuerySchema.parse(Object.fromEntries(exchange.url.searchParams));
  const wants = (status: string) => query.status === undefined || query.status.some((word) => word === status);
  const wantsAllEnded = ENDED.every(wants);
  const matches = ({ status, workflow_id }: LocalJob) =>
    (status === undefined ? wantsAllEnded : wants(status)) && (query.workflow_id === undefined || workflow_id === query.workflow_id);
  const queue = await readLocal(await exchange.ask("/api/queue"));
  if (!queue.ok) return queue.answer;
  const { queue_running, queue_pending } = queueSchema.parse(queue.value);
  const pending = queue_pending.map((item) => toQueuedJob(item, "pending"));
  const moving = [...pending, ...queue_running.map((item) => toQueuedJob(item, "in_progress"))];
  const wantsEnded = ENDED.some(wants);
  const ended = wantsEnded ? await readEnded(exchange) : { ok: true as const, value: { newestFirst: [], isCut: false } };
  if (!ended.ok) return ended.answer;
  const { newestFirst, isCut } = ended.value;
  // A job that ended between the two readings is in both.
  const over = new Set(newestFirst.map(({ id }) => id));
  const jobs = [...moving.filter(({ id }) => !over.has(id)), ...newestFirst]
    .filter(matches)
    .map((job) => ({ job, key: sortKey(job, query.sort_by) }))
    .sort((one, other) => (query.sort_order === "asc" ? one.key - other.key : other.key - one.key))
    .map(({ job }) => job);
  const page = jobs.slice(query.offset, query.offset + query.limit);
  const has_more = query.offset + page.length < jobs.length;
  const pagination = { offset: query.offset, limit: query.limit, ...(!isCut && { total: jobs.length }), has_more };
  return translated({ jobs: page, pagination, ...(isCut && { is_cut: true }) });
}

async function olderJob({ ask }: LocalExchange, id: string): Promise<Response> {
  const history = await readLocal(await ask(`/api/history/${encodeURIComponent(id)}`));
  if (!history.ok) return history.answer;
  const ended = historyJob(history.value, id);
  if (ended) return translated(ended);
  const queue = await readLocal(await ask("/api/queue"));
  if (!queue.ok) return queue.answer;
  const { queue_running, queue_pending } = queueSchema.parse(queue.value);
  const running = queue_running.find((one) => one?.[1] === id);
  const item = running ?? queue_pending.find((one) => one?.[1] === id);
  if (!item) return translated({ code: "NOT_FOUND", message: "The server knows no such job." }, 404);
  return translated({ ...toQueuedJob(item, running ? "in_progress" : "pending"), ...wholeOf(item) });
}

/** Newest first. */
async function readEnded(exchange: LocalExchange): Promise<Read<Ended>> {
  const { base, ended } = exchange;
  const cached = ended.of(base);
  for (const count of cached ? PEEKS : []) {
    const read = await readNewest(exchange, count);
    if (!read.ok) return read;
    const { newestFirst: before = [], isCut = false } = cached ?? {};
    const at =
      before.length === 0 && read.value.length < count ? read.value.length : read.value.findIndex(({ id }) => id === before[0]?.id);
    if (at < 0) continue;
    const now = cutTo(MAX_ENDED, [...read.value.slice(0, at), ...before], isCut);
    ended.extend(base, now);
    return { ok: true, value: now };
  }
  for (const count of READINGS) {
    // One more tells whether there are more.
    const read = await readNewest(exchange, count + 1).catch(unlessTooLarge);
    if (!read) continue;
    if (!read.ok) return read;
    const now = cutTo(count, read.value);
    ended.keep(base, now);
    return { ok: true, value: now };
  }
  throw new TooLargeAnswer();
}

function unlessTooLarge(error: unknown): undefined {
  if (!(error instanceof TooLargeAnswer)) throw error;
  error.discard();
}

function cutTo(most: number, newestFirst: readonly LocalJob[], wasCut = false): Ended {
  return { newestFirst: newestFirst.slice(0, most), isCut: wasCut || newestFirst.length > most };
}

type Read<T> = { ok: true; value: T } | { ok: false; answer: Response };

async function readNewest({ ask }: LocalExchange, count: number): Promise<Read<readonly LocalJob[]>> {
  const read = await readLocal(await ask("/api/history", { query: { max_items: count } }));
  if (!read.ok) return read;
  const newest = historyEntries(read.value).slice(-MAX_ENDED - 1);
  return { ok: true, value: newest.map(({ id, entry }): LocalJob => (entry ? toEndedJob(id, entry) : { id })).reverse() };
}

/** Sorts like newer versions: a missing time counts as zero. */
function sortKey(job: LocalJob, field: "create_time" | "execution_time"): number {
  const numeric = (name: string) => (typeof job[name] === "number" ? job[name] : 0);
  if (field === "create_time") return numeric("create_time");
  const [start, end] = [numeric("execution_start_time"), numeric("execution_end_time")];
  return start > 0 && end > 0 ? end - start : 0;
}

const sortFields: Readonly<Record<string, string>> = { create_time: "created_at", execution_time: "execution_duration" };

const jobSchema = z.looseObject({
  id: z.string(),
  status: z.string().catch("unknown"),
  create_time: z.unknown().optional(),
  execution_start_time: z.unknown().optional(),
  execution_end_time: z.unknown().optional(),
  execution_error: z.looseObject({ exception_message: z.string() }).optional().catch(undefined),
});

export const jobTranslations: readonly Translation[] = [
  {
    method: "GET",
    path: /\/api\/jobs$/,
    async speak(exchange) {
      const { url, pass } = exchange;
      // The server would ignore it: the list would look filtered without being so.
      if (url.searchParams.has("output_type")) return notThere("A local server does not filter its jobs by kind of output.");
      const answer = await pass((query) => {
        const field = own(sortFields, query.get("sort_by") ?? "");
        if (field !== undefined) query.set("sort_by", field);
      });
      if (!hasNoJobs(answer)) return answer;
      await answer.body?.cancel();
      return listOlderJobs(exchange);
    },
  },
  {
    method: "GET",
    path: /\/api\/jobs\/([^/]+)$/,
    speak: readJob,
  },
  {
    method: "GET",
    path: /\/api\/job\/([^/]+)\/status$/,
    async speak(exchange) {
      const read = await readLocal(await readJob(exchange));
      return read.ok ? translated(toStatus(jobSchema.parse(read.value))) : read.answer;
    },
  },
];

/** In versions whose details leave out the graph, a waiting or running job has its graph only in the queue. */
async function readJob(exchange: LocalExchange): Promise<Response> {
  const id = decodeURIComponent(exchange.caught[0] ?? "");
  const answer = await exchange.ask(`/api/jobs/${encodeURIComponent(id)}`);
  if (hasNoJobs(answer)) {
    await answer.body?.cancel();
    return olderJob(exchange, id);
  }
  const read = await readLocal(answer);
  if (!read.ok) return read.answer;
  const job = jobSchema.parse(read.value);
  if (job.workflow !== undefined || !["pending", "in_progress"].includes(job.status)) return translated(job);
  const queue = await readLocal(await exchange.ask("/api/queue"));
  if (!queue.ok) return queue.answer;
  const { queue_running, queue_pending } = queueSchema.parse(queue.value);
  const item = [...queue_running, ...queue_pending].find((one) => one?.[1] === job.id);
  return translated({ ...job, ...(item && wholeOf(item)) });
}

function toStatus(job: z.infer<typeof jobSchema>) {
  const created = toMilliseconds(job.create_time);
  const changed = toMilliseconds(job.execution_end_time) ?? toMilliseconds(job.execution_start_time) ?? created;
  return {
    id: job.id,
    status: job.status === "failed" ? "error" : job.status,
    created_at: toText(created),
    updated_at: toText(changed),
    last_state_update: toText(changed),
    error_message: job.execution_error?.exception_message,
  };
}

function toText(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString();
}
