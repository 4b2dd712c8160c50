// Jobs of a local server. Falls back to its queue and history if it has no job list.

import "server-only";
import { z } from "zod";
import { findJob, selectReadable } from "@/lib/comfyui/client";
import { getOwn } from "@/lib/contract/json/json";
import { jobsQuerySchema } from "@/lib/contract/schemas/job";
import { toMilliseconds } from "@/lib/contract/times";
import { TooLargeAnswer } from "../read-body";
import { type LocalJob, toEndedJobs, toJobDetails, toQueuedJob, toWorkflow } from "./local-entries";
import {
  type EndedJobs,
  getJobId,
  ignoreTooLarge,
  isJobListUnavailable,
  jobNotFound,
  jsonResponse,
  type LocalExchange,
  notImplemented,
  readLocal,
  type Translation,
  unwrap,
} from "./local-exchange";

/** How many entries to request, in this order. If a response is too large, fewer are requested. */
const PAGE_SIZES = [1000, 200, 40, 8];
const MAX_ENDED_JOBS = 1000;
/** One entry shows if any job has ended since; a few more usually show which. */
const NEWEST_COUNTS = [1, 20];
const ENDED = ["completed", "failed", "cancelled"];

async function listOlderJobs(exchange: LocalExchange): Promise<Response> {
  const query = jobsQuerySchema.parse(Object.fromEntries(exchange.url.searchParams));
  const includesStatus = (status: string) => query.status === undefined || query.status.some((word) => word === status);
  const wantsAllEnded = ENDED.every(includesStatus);
  const matches = ({ status, workflow_id }: LocalJob) =>
    (status === undefined ? wantsAllEnded : includesStatus(status)) &&
    (query.workflow_id === undefined || workflow_id === query.workflow_id);
  const { queue_running, queue_pending } = await unwrap(exchange.server.queue());
  const pending = queue_pending.map((item) => toQueuedJob(item, "pending"));
  const activeJobs = [...pending, ...queue_running.map((item) => toQueuedJob(item, "in_progress"))];
  const { newestFirst, isCut } = ENDED.some(includesStatus) ? await readEnded(exchange) : { newestFirst: [], isCut: false };
  // A job that ended between the two reads is in both.
  const endedIds = new Set(newestFirst.map(({ id }) => id));
  const jobs = [...activeJobs.filter(({ id }) => !endedIds.has(id)), ...newestFirst]
    .filter(matches)
    .map((job) => ({ job, key: sortKey(job, query.sort_by) }))
    .sort((item, other) => (query.sort_order === "asc" ? item.key - other.key : other.key - item.key))
    .map(({ job }) => job);
  const page = jobs.slice(query.offset, query.offset + query.limit);
  const has_more = query.offset + page.length < jobs.length;
  const pagination = { offset: query.offset, limit: query.limit, ...(!isCut && { total: jobs.length }), has_more };
  return jsonResponse({ jobs: page, pagination, ...(isCut && { is_cut: true }) });
}

async function readOlderJob({ server }: LocalExchange, id: string): Promise<Response> {
  const jobLocation = await findJob(server, { promptId: id });
  if (jobLocation.kind === "unreachable") return jobLocation.failure;
  if (jobLocation.kind === "missing") return jobNotFound();
  if (jobLocation.kind === "ended") return jsonResponse(toJobDetails(id, jobLocation.entry));
  const state = jobLocation.kind === "runs" ? "in_progress" : "pending";
  return jsonResponse({ ...toQueuedJob(jobLocation.item, state), ...toWorkflow(jobLocation.item) });
}

async function readEnded(exchange: LocalExchange): Promise<EndedJobs> {
  const { base, endedJobs } = exchange;
  const cached = endedJobs.get(base);
  if (cached) {
    const { newestFirst: cachedJobs, isCut } = cached;
    for (const count of NEWEST_COUNTS) {
      const newest = await readNewest(exchange, count).catch(ignoreTooLarge);
      if (!newest) break;
      const at = cachedJobs.length === 0 && newest.length < count ? newest.length : newest.findIndex(({ id }) => id === cachedJobs[0]?.id);
      if (at < 0) continue;
      const updatedJobs = limitJobs(MAX_ENDED_JOBS, [...newest.slice(0, at), ...cachedJobs], isCut);
      endedJobs.set(base, updatedJobs, false);
      return updatedJobs;
    }
  }
  for (const count of PAGE_SIZES) {
    // Requests one more, to detect further entries.
    const newest = await readNewest(exchange, count + 1).catch(ignoreTooLarge);
    if (!newest) continue;
    const readJobs = limitJobs(count, newest);
    endedJobs.set(base, readJobs, true);
    return readJobs;
  }
  throw new TooLargeAnswer();
}

function limitJobs(max: number, newestFirst: readonly LocalJob[], wasCut = false): EndedJobs {
  return { newestFirst: newestFirst.slice(0, max), isCut: wasCut || newestFirst.length > max };
}

async function readNewest({ server }: LocalExchange, count: number): Promise<readonly LocalJob[]> {
  return toEndedJobs(await unwrap(server.history({ max_items: count })), MAX_ENDED_JOBS + 1);
}

/** Sorts like newer versions, in which a missing time counts as zero. */
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
    async translate(exchange) {
      const { url, forward } = exchange;
      // The server would ignore this filter, and the list would only look filtered.
      if (url.searchParams.has("output_type")) return notImplemented("A local server does not filter its jobs by kind of output.");
      const response = await forward((query) => {
        const field = getOwn(sortFields, query.get("sort_by") ?? "");
        if (field !== undefined) query.set("sort_by", field);
      });
      if (!isJobListUnavailable(response)) return response;
      await response.body?.cancel();
      return listOlderJobs(exchange);
    },
  },
  {
    method: "GET",
    path: /\/api\/jobs\/([^/]+)$/,
    translate: readJob,
  },
  {
    method: "GET",
    path: /\/api\/job\/([^/]+)\/status$/,
    async translate(exchange) {
      const job = await unwrap(readLocal(await readJob(exchange)));
      return jsonResponse(toStatus(jobSchema.parse(job)));
    },
  },
];

/** In versions whose details lack the graph, the graph of a waiting or running job is only in the queue. */
async function readJob(exchange: LocalExchange): Promise<Response> {
  const id = getJobId(exchange);
  const response = await exchange.call(`/api/jobs/${encodeURIComponent(id)}`);
  if (isJobListUnavailable(response)) {
    await response.body?.cancel();
    return readOlderJob(exchange, id);
  }
  const job = jobSchema.parse(await unwrap(readLocal(response)));
  if (job.workflow !== undefined || !["pending", "in_progress"].includes(job.status)) return jsonResponse(job);
  const { queue_running, queue_pending } = await unwrap(exchange.server.queue());
  const item = selectReadable(queue_running, queue_pending).find(([, one]) => one === job.id);
  return jsonResponse({ ...job, ...(item && toWorkflow(item)) });
}

function toStatus(job: z.infer<typeof jobSchema>) {
  const createdMs = toMilliseconds(job.create_time);
  const changedMs = toMilliseconds(job.execution_end_time) ?? toMilliseconds(job.execution_start_time) ?? createdMs;
  return {
    id: job.id,
    status: job.status === "failed" ? "error" : job.status,
    created_at: toText(createdMs),
    updated_at: toText(changedMs),
    last_state_update: toText(changedMs),
    error_message: job.execution_error?.exception_message,
  };
}

function toText(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString();
}
