// Jobs of a local server. Falls back to its queue and history if it has no job list.

import "server-only";
import { z } from "zod";
import {
  extraSchema,
  findJob,
  type HistoryEntry,
  parseEntry,
  parseItem,
  parseStatus,
  type QueueItem,
  selectReadable,
} from "@/lib/comfyui/client";
import { asObject, asText, getOwn, isObject, type JsonObject } from "@/lib/contract/json/json";
import { outputsSchema } from "@/lib/contract/schemas/execution";
import { jobsQuerySchema } from "@/lib/contract/schemas/job";
import { toMilliseconds } from "@/lib/contract/times";
import { toListedError } from "@/lib/contract/views/job-view";
import { listOutputs, type OutputView } from "@/lib/contract/views/outputs-view";
import { ResponseTooLargeError } from "../read-body";
import {
  createJobNotFoundResponse,
  createJsonResponse,
  createNotImplementedResponse,
  type EndedJobs,
  getJobId,
  ignoreTooLarge,
  isJobListUnavailable,
  type LocalExchange,
  type LocalJob,
  type Translation,
  unwrap,
} from "./local-exchange";

/** Entries per request, tried in this order until a response isn't too large. */
const PAGE_SIZES = [1000, 200, 40, 8];
const MAX_ENDED_JOBS = 1000;
/** One entry shows whether any job has ended since. A few more usually show which. */
const NEWEST_COUNTS = [1, 20];
const ENDED_STATES = ["completed", "failed", "cancelled"];

async function listJobsFromQueueAndHistory(exchange: LocalExchange): Promise<Response> {
  const query = jobsQuerySchema.parse(Object.fromEntries(exchange.url.searchParams));
  const includesStatus = (status: string) => query.status === undefined || query.status.some((value) => value === status);
  const includesAllEndedStates = ENDED_STATES.every(includesStatus);
  const matchesQuery = ({ status, workflow_id }: LocalJob) =>
    (status === undefined ? includesAllEndedStates : includesStatus(status)) &&
    (query.workflow_id === undefined || workflow_id === query.workflow_id);
  const { queue_running, queue_pending } = await unwrap(exchange.server.getQueue());
  const pendingJobs = queue_pending.map((item) => toQueuedJob(item, "pending"));
  const activeJobs = [...pendingJobs, ...queue_running.map((item) => toQueuedJob(item, "in_progress"))];
  const { jobs: endedJobs, isTruncated } = ENDED_STATES.some(includesStatus) ? await readEnded(exchange) : { jobs: [], isTruncated: false };
  // A job that ended between the two reads is in both.
  const endedIds = new Set(endedJobs.map(({ id }) => id));
  const jobs = [...activeJobs.filter(({ id }) => !endedIds.has(id)), ...endedJobs]
    .filter(matchesQuery)
    .map((job) => ({ job, key: getSortKey(job, query.sort_by) }))
    .sort((a, b) => (query.sort_order === "asc" ? a.key - b.key : b.key - a.key))
    .map(({ job }) => job);
  const page = jobs.slice(query.offset, query.offset + query.limit);
  const has_more = query.offset + page.length < jobs.length;
  const pagination = { offset: query.offset, limit: query.limit, ...(!isTruncated && { total: jobs.length }), has_more };
  return createJsonResponse({ jobs: page, pagination, ...(isTruncated && { is_cut: true }) });
}

async function readJobFromQueueOrHistory({ server }: LocalExchange, id: string): Promise<Response> {
  const jobLocation = await findJob(server, { promptId: id });
  if (jobLocation.kind === "unreachable") return jobLocation.failure;
  if (jobLocation.kind === "missing") return createJobNotFoundResponse();
  if (jobLocation.kind === "ended") return createJsonResponse(toJobDetails(id, jobLocation.entry));
  const state = jobLocation.kind === "runs" ? "in_progress" : "pending";
  return createJsonResponse({ ...toQueuedJob(jobLocation.item, state), ...toWorkflow(jobLocation.item) });
}

async function readEnded(exchange: LocalExchange): Promise<EndedJobs> {
  const { base, endedJobs } = exchange;
  const cachedEntry = endedJobs.get(base);
  if (cachedEntry) {
    const { jobs: cachedJobs, isTruncated } = cachedEntry;
    for (const count of NEWEST_COUNTS) {
      const newestJobs = await readNewestJobs(exchange, count).catch(ignoreTooLarge);
      if (!newestJobs) break;
      const matchIndex =
        cachedJobs.length === 0 && newestJobs.length < count
          ? newestJobs.length
          : newestJobs.findIndex(({ id }) => id === cachedJobs[0]?.id);
      if (matchIndex < 0) continue;
      const updatedJobs = limitJobs(MAX_ENDED_JOBS, [...newestJobs.slice(0, matchIndex), ...cachedJobs], isTruncated);
      endedJobs.set(base, updatedJobs, false);
      return updatedJobs;
    }
  }
  for (const count of PAGE_SIZES) {
    // Requests one more, to detect further entries.
    const newestJobs = await readNewestJobs(exchange, count + 1).catch(ignoreTooLarge);
    if (!newestJobs) continue;
    const historyJobs = limitJobs(count, newestJobs);
    endedJobs.set(base, historyJobs, true);
    return historyJobs;
  }
  throw new ResponseTooLargeError();
}

function limitJobs(max: number, jobs: readonly LocalJob[], wasTruncated = false): EndedJobs {
  return { jobs: jobs.slice(0, max), isTruncated: wasTruncated || jobs.length > max };
}

async function readNewestJobs({ server }: LocalExchange, count: number): Promise<readonly LocalJob[]> {
  return toEndedJobs(await unwrap(server.getHistory({ max_items: count })), MAX_ENDED_JOBS + 1);
}

/** Sorts like newer versions, in which a missing time counts as zero. */
function getSortKey(job: LocalJob, field: "create_time" | "execution_time"): number {
  const getNumber = (name: string) => (typeof job[name] === "number" ? job[name] : 0);
  if (field === "create_time") return getNumber("create_time");
  const [start, end] = [getNumber("execution_start_time"), getNumber("execution_end_time")];
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
      // The server ignores this filter, so its list would not be filtered.
      if (url.searchParams.has("output_type"))
        return createNotImplementedResponse("A local server does not filter its jobs by kind of output.");
      const response = await forward((query) => {
        const field = getOwn(sortFields, query.get("sort_by") ?? "");
        if (field !== undefined) query.set("sort_by", field);
      });
      if (!isJobListUnavailable(response)) return response;
      await response.body?.cancel();
      return listJobsFromQueueAndHistory(exchange);
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
      const job = await unwrap(exchange.readJson(await readJob(exchange)));
      return createJsonResponse(toStatus(jobSchema.parse(job)));
    },
  },
];

/** In versions whose details lack the graph, the graph of a waiting or running job is only in the queue. */
async function readJob(exchange: LocalExchange): Promise<Response> {
  const id = getJobId(exchange);
  const response = await exchange.call(`/api/jobs/${encodeURIComponent(id)}`);
  if (isJobListUnavailable(response)) {
    await response.body?.cancel();
    return readJobFromQueueOrHistory(exchange, id);
  }
  const job = jobSchema.parse(await unwrap(exchange.readJson(response)));
  if (job.workflow !== undefined || !["pending", "in_progress"].includes(job.status)) return createJsonResponse(job);
  const { queue_running, queue_pending } = await unwrap(exchange.server.getQueue());
  const item = selectReadable(queue_running, queue_pending).find(([, promptId]) => promptId === job.id);
  return createJsonResponse({ ...job, ...(item && toWorkflow(item)) });
}

function toStatus(job: z.infer<typeof jobSchema>) {
  const createdMs = toMilliseconds(job.create_time);
  const changedMs = toMilliseconds(job.execution_end_time) ?? toMilliseconds(job.execution_start_time) ?? createdMs;
  return {
    id: job.id,
    status: job.status === "failed" ? "error" : job.status,
    created_at: toIsoTime(createdMs),
    updated_at: toIsoTime(changedMs),
    last_state_update: toIsoTime(changedMs),
    error_message: job.execution_error?.exception_message,
  };
}

function toIsoTime(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString();
}

// Builds the API's jobs from entries of the queue and history, as newer versions do. Unreadable entries become rows that the contract's schema
// counts as unreadable.

const previewKinds = new Set(["image", "video", "audio", "3d"]);

/** An unreadable entry has only its state. `nodes_total` is for the percentage of a running job. */
function toQueuedJob(item: QueueItem | null, status: "pending" | "in_progress"): LocalJob {
  if (!item) return { status };
  const [priority, id, graph, extra] = item;
  const nodes_total = status === "in_progress" ? Object.keys(asObject(graph) ?? {}).length : undefined;
  return { id, status, priority, outputs_count: 0, nodes_total, ...toJobFields(extra) };
}

/** Returns the newest jobs of a history, newest first. */
function toEndedJobs(history: JsonObject, max: number): LocalJob[] {
  return Object.entries(history)
    .slice(-max)
    .map(([id, entry]): LocalJob => {
      const parsedEntry = parseEntry(entry);
      return parsedEntry ? toEndedJob(id, parsedEntry) : { id };
    })
    .reverse();
}

function toEndedJob(id: string, { prompt, outputs, status }: Partial<HistoryEntry>): LocalJob {
  const [priority, , , extra] = prompt ?? [];
  const { statusText, isInterrupted, error, startedAt, endedAt } = parseStatus(status);
  const files = listOutputs(outputsSchema.catch({}).parse(outputs ?? {}));
  return {
    id,
    status: statusText !== "error" ? "completed" : isInterrupted ? "cancelled" : "failed",
    priority,
    create_time: startedAt,
    ...toJobFields(extra),
    execution_start_time: startedAt,
    execution_end_time: endedAt,
    execution_error: toListedError(error),
    outputs_count: files.filter(({ file }) => file).length,
    preview_output: toPreview(files),
  };
}

/** Returns the readable fields of the entry. */
function toJobDetails(id: string, entry: unknown): LocalJob {
  if (!isObject(entry)) return { id, status: "unknown" };
  const { outputs, status } = entry;
  const prompt = parseItem(entry.prompt);
  const job = toEndedJob(id, { outputs, status, prompt });
  return { ...job, execution_error: parseStatus(status).error, outputs, execution_status: status, ...(prompt && toWorkflow(prompt)) };
}

/** Returns no fields for an item that was read without its nodes. */
function toWorkflow([, , prompt, extra_data]: QueueItem) {
  return Object.values(asObject(prompt) ?? {}).includes(null) ? {} : { workflow: { prompt, extra_data } };
}

/** Prefers a stored image, video or audio file, then a temporary one, then any file or text. */
function toPreview(outputs: readonly OutputView[]): object | undefined {
  const visibleOutputs = outputs.filter(({ kind }) => previewKinds.has(kind));
  const best = visibleOutputs.find(({ temporary }) => !temporary) ?? visibleOutputs[0] ?? outputs.find(({ file, text }) => file ?? text);
  if (best === undefined) return undefined;
  const location = { nodeId: best.nodeId, mediaType: best.key };
  return best.file ? { ...best.file, ...location } : { content: best.text?.slice(0, 1024), ...location };
}

function toJobFields(extra: unknown): { create_time?: number; workflow_id?: string } {
  const { create_time, extra_pnginfo } = extraSchema.parse(extra);
  const workflow_id = asText(extra_pnginfo?.workflow?.id);
  const createdMs = toMilliseconds(create_time);
  return { ...(createdMs !== undefined && { create_time: createdMs }), ...(workflow_id && { workflow_id }) };
}
