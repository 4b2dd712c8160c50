// Jobs of a local server. Falls back to its queue and history if it has no job list.

import "server-only";
import { z } from "zod";
import { findJob, readableItems } from "@/lib/comfyui/client";
import { own } from "@/lib/contract/json/own";
import { jobsQuerySchema } from "@/lib/contract/schemas/job";
import { toMilliseconds } from "@/lib/contract/times";
import { TooLargeAnswer } from "../read-body";
import { type LocalJob, toEndedJobs, toJobDetails, toQueuedJob, toWorkflow } from "./local-entries";
import {
  type Ended,
  hasNoJobs,
  idIn,
  type LocalExchange,
  noSuchJob,
  notThere,
  readLocal,
  translated,
  type Translation,
  unlessTooLarge,
  valueOf,
} from "./local-exchange";

/** How many entries to request, in this order: if an answer is too large to hold, fewer are requested. */
const READINGS = [1000, 200, 40, 8];
const MAX_ENDED_JOBS = 1000;
/** One entry tells whether a job has ended since; a few more tell which. */
const PEEKS = [1, 20];
const ENDED = ["completed", "failed", "cancelled"];

async function listOlderJobs(exchange: LocalExchange): Promise<Response> {
  const query = jobsQuerySchema.parse(Object.fromEntries(exchange.url.searchParams));
  const wants = (status: string) => query.status === undefined || query.status.some((word) => word === status);
  const wantsAllEnded = ENDED.every(wants);
  const matches = ({ status, workflow_id }: LocalJob) =>
    (status === undefined ? wantsAllEnded : wants(status)) && (query.workflow_id === undefined || workflow_id === query.workflow_id);
  const { queue_running, queue_pending } = await valueOf(exchange.server.queue());
  const pending = queue_pending.map((item) => toQueuedJob(item, "pending"));
  const moving = [...pending, ...queue_running.map((item) => toQueuedJob(item, "in_progress"))];
  const { newestFirst, isCut } = ENDED.some(wants) ? await readEnded(exchange) : { newestFirst: [], isCut: false };
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

async function readOlderJob({ server }: LocalExchange, id: string): Promise<Response> {
  const found = await findJob(server, { promptId: id });
  if (found.kind === "unreachable") return found.failure;
  if (found.kind === "missing") return noSuchJob();
  if (found.kind === "ended") return translated(toJobDetails(id, found.entry));
  const state = found.kind === "runs" ? "in_progress" : "pending";
  return translated({ ...toQueuedJob(found.item, state), ...toWorkflow(found.item) });
}

async function readEnded(exchange: LocalExchange): Promise<Ended> {
  const { base, ended } = exchange;
  const cached = ended.of(base);
  if (cached) {
    const { newestFirst: before, isCut } = cached;
    for (const count of PEEKS) {
      const newest = await readNewest(exchange, count).catch(unlessTooLarge);
      if (!newest) break;
      const at = before.length === 0 && newest.length < count ? newest.length : newest.findIndex(({ id }) => id === before[0]?.id);
      if (at < 0) continue;
      const now = cutTo(MAX_ENDED_JOBS, [...newest.slice(0, at), ...before], isCut);
      ended.keep(base, now, false);
      return now;
    }
  }
  for (const count of READINGS) {
    // One more tells whether there are more.
    const newest = await readNewest(exchange, count + 1).catch(unlessTooLarge);
    if (!newest) continue;
    const now = cutTo(count, newest);
    ended.keep(base, now, true);
    return now;
  }
  throw new TooLargeAnswer();
}

function cutTo(max: number, newestFirst: readonly LocalJob[], wasCut = false): Ended {
  return { newestFirst: newestFirst.slice(0, max), isCut: wasCut || newestFirst.length > max };
}

async function readNewest({ server }: LocalExchange, count: number): Promise<readonly LocalJob[]> {
  return toEndedJobs(await valueOf(server.history({ max_items: count })), MAX_ENDED_JOBS + 1);
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
      const job = await valueOf(readLocal(await readJob(exchange)));
      return translated(toStatus(jobSchema.parse(job)));
    },
  },
];

/** In versions whose details leave out the graph, a waiting or running job has its graph only in the queue. */
async function readJob(exchange: LocalExchange): Promise<Response> {
  const id = idIn(exchange);
  const answer = await exchange.ask(`/api/jobs/${encodeURIComponent(id)}`);
  if (hasNoJobs(answer)) {
    await answer.body?.cancel();
    return readOlderJob(exchange, id);
  }
  const job = jobSchema.parse(await valueOf(readLocal(answer)));
  if (job.workflow !== undefined || !["pending", "in_progress"].includes(job.status)) return translated(job);
  const { queue_running, queue_pending } = await valueOf(exchange.server.queue());
  const item = readableItems(queue_running, queue_pending).find(([, one]) => one === job.id);
  return translated({ ...job, ...(item && toWorkflow(item)) });
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
