// Reads a connection's list of jobs into the job index, page by page.

import "server-only";
import { createFailure, type Failure, isMissingOperation } from "@/lib/contract/failure";
import { asNumber, asObject } from "@/lib/contract/json/json";
import { type ResponseOf } from "@/lib/contract/operation";
import { type operations } from "@/lib/contract/operations";
import { type JobsResponse } from "@/lib/contract/schemas/job";
import { toMilliseconds } from "@/lib/contract/times";
import { ok, type Result } from "@/lib/shared/result";
import { type IndexCoverage, type JobIndexStore, type ListedRange } from "../store/jobs/job-index-store";
import { type JobUsageStore } from "../store/jobs/job-usage";
import { type CallInput } from "../upstream/build-request";

/** `isTruncated` is true if there are older jobs than the list contains. */
type ListPage = { oldestMs: number | undefined; newestMs: number | undefined; isLast: boolean; isTruncated: boolean; nextOffset: number };

export function toPage(response: JobsResponse, offset: number): ListPage {
  const { jobs, pagination, unreadable = 0 } = response;
  const times = getCreationTimes(response);
  const nextOffset = offset + jobs.length + unreadable;
  const isLast =
    jobs.length + unreadable === 0 ||
    (pagination.has_more === undefined ? pagination.total !== undefined && nextOffset >= pagination.total : !pagination.has_more);
  return { newestMs: times[0], oldestMs: times.at(-1), isLast, isTruncated: response.is_cut === true, nextOffset };
}

function getCreationTimes({ jobs }: JobsResponse): number[] {
  return jobs.flatMap((job) => toMilliseconds(job.create_time) ?? []);
}

/**
 * Returns the time since which the index is complete, while the list is reread and has been read back to `readMs`. Jobs that the list has
 * dropped are still in the index, unless there is a gap between list and index. `fullMs` is set if the index has dropped older jobs.
 */
function getCompleteSince({ cursorMs, newestMs }: IndexCoverage, readMs: number | undefined, isLast: boolean, fullMs: number | undefined) {
  if (isLast && readMs !== undefined && newestMs !== undefined && readMs > newestMs) return readMs;
  const sinceMs = minDefined(cursorMs, readMs);
  return sinceMs === undefined ? undefined : Math.max(sinceMs, fullMs ?? sinceMs);
}

function minDefined(value: number | undefined, other: number | undefined): number | undefined {
  return value === undefined || other === undefined ? (value ?? other) : Math.min(value, other);
}

export type IndexRead = {
  jobs(input: CallInput): Promise<Result<JobsResponse, Failure>>;
  /** A job's outputs with sizes. Only for the service in this process. */
  assets?(input: CallInput): Promise<Result<ResponseOf<typeof operations.listJobAssets>, Failure>>;
};
type ReadAssets = NonNullable<IndexRead["assets"]>;

const JOBS_PER_STEP = 2;
const FILES_PAGE_SIZE = 500;
const MAX_FILE_PAGES = 4;
const jobFailureStatuses: readonly number[] = [400, 403, 404, 410, 422];

export function createSizeReader(usage: JobUsageStore) {
  const unsupportedConnections = new Set<string>();
  /** Returns a failure that is unrelated to a single job, or undefined if there was nothing to request. */
  return async (connectionId: string, read: ReadAssets, signal: AbortSignal): Promise<Failure | "done" | undefined> => {
    const jobs = unsupportedConnections.has(connectionId) ? [] : await usage.listUnsized(connectionId, JOBS_PER_STEP);
    for (const { jobId, outputs } of jobs) {
      const { failure, ...size } = await readSize(jobId, read, signal);
      if (failure && isMissingOperation(failure)) return void unsupportedConnections.add(connectionId);
      if (failure && !jobFailureStatuses.includes(failure.status)) return failure;
      // Texts are outputs without a file. With fewer files than outputs, the size counts as incomplete.
      await usage.setSize(connectionId, jobId, { bytes: size.bytes, isPartial: size.isPartial || size.files < outputs });
    }
    return jobs.length > 0 ? "done" : undefined;
  };
}

type Size = { bytes: number | undefined; files: number; isPartial: boolean; failure?: Failure };

async function readSize(jobId: string, read: ReadAssets, signal: AbortSignal): Promise<Size> {
  const size: Size = { bytes: undefined, files: 0, isPartial: false };
  for (let page = 0; page < MAX_FILE_PAGES; page += 1) {
    const result = await read({ params: { job_id: jobId }, query: { limit: FILES_PAGE_SIZE, offset: size.files }, signal });
    if (!result.ok) return { ...size, failure: result.failure };
    const sizes = result.value.assets.map((asset) => asNumber(asObject(asset)?.size));
    for (const bytes of sizes) {
      if (bytes === undefined) size.isPartial = true;
      else size.bytes = (size.bytes ?? 0) + bytes;
    }
    size.files += sizes.length;
    const { has_more: hasMore, total } = result.value.pagination ?? {};
    if (sizes.length === 0 || !(hasMore ?? (total !== undefined && size.files < total))) return size;
  }
  return { ...size, isPartial: true };
}

const JOBS_PAGE_SIZE = 1000;
/** Used after a 429 without Retry-After. */
const DEFAULT_PAUSE_MS = 60_000;
/** Pages overlap, so that jobs that left the list between two pages are noticed. */
const PAGE_OVERLAP = 10;
/** A fully read list is read again, to find removed jobs. */
const RESCAN_INTERVAL_MS = 24 * 60 * 60_000;
const newestFirstQuery = { sort_by: "create_time", sort_order: "desc" } as const;

export type ListedJobs = {
  read: IndexRead;
  wake?: () => void;
  /** The offset at which new jobs are being read. Undefined once they are read. */
  headOffset: number | undefined;
  headMs?: number;
  gap?: IndexGap;
  /** The number of dropped responses when reading the newest jobs last began. */
  headDroppedCount: number;
  lastResponseMs?: number;
  pageMs?: number;
  pausedUntilMs?: number;
  /** Progress while the list is read again. Earlier data remains valid until then. */
  round?: Round;
  /** Counts restarts. The result of a step that started before a restart is outdated. */
  restartCount: number;
};
type Round = { oldestMs?: number };
/** The index has no jobs between these two times yet. */
export type IndexGap = { afterMs: number; beforeMs: number };
type StoredCoverage = IndexCoverage & { save(coverage: IndexCoverage): Promise<void> };
export type Step = Failure | "done" | undefined;
/** The page was dropped or the disk is full. It is read again with increasing delays. */
export const pageDropped = createFailure("INTERNAL", "");

type Options = {
  jobIndexStore: JobIndexStore;
  now: () => number;
  maxJobs: number;
  flush: () => Promise<void>;
  getDroppedCount: (id: string) => number;
  trackRead: <T>(call: (signal: AbortSignal) => Promise<T>) => Promise<T>;
  signal: AbortSignal;
};

export function createListReader({ jobIndexStore, now, maxJobs, flush, getDroppedCount, trackRead, signal: stopSignal }: Options) {
  /** Returns "older" if there are more jobs than those read so far. */
  async function next(id: string, readState: ListedJobs): Promise<Step | "older"> {
    const { restartCount } = readState;
    const storedCoverage = await jobIndexStore.getCoverage(id);
    const coverage = {
      ...storedCoverage,
      save: async (newCoverage: IndexCoverage) =>
        void (readState.restartCount === restartCount && (await jobIndexStore.setCoverage(id, newCoverage))),
    };
    if (readState.headOffset !== undefined) return readHead(id, readState, coverage);
    const isListed = coverage.nextOffset === undefined;
    const isDue = isListed && now() - (coverage.sweptAt ?? 0) > RESCAN_INTERVAL_MS;
    // Another process started to read the list again, and its progress is unknown.
    const isAbandoned = !isListed && coverage.sweptAt !== undefined && readState.round === undefined;
    if (isDue || isAbandoned) {
      if (readState.restartCount === restartCount) readState.round = {};
      await coverage.save({ ...coverage, nextOffset: 0 });
      return "done";
    }
    if (isListed) return undefined;
    const step = await readOlder(id, readState, coverage);
    return step === "done" ? "older" : step;
  }

  /** Reads jobs newer than the indexed ones. The first call reads one page, and `readOlder` continues from there. */
  async function readHead(id: string, readState: ListedJobs, coverage: StoredCoverage): Promise<Step> {
    if (readState.headOffset === 0) readState.headDroppedCount = getDroppedCount(id);
    const page = await readPage(id, readState, readState.headOffset ?? 0);
    if (!page.ok) return page.failure;
    await flush();
    if (getDroppedCount(id) !== readState.headDroppedCount) {
      readState.headOffset = 0;
      return pageDropped;
    }
    const { oldestMs, newestMs, isLast, isTruncated, nextOffset } = page.value;
    readState.headMs = Math.max(readState.headMs ?? 0, newestMs ?? 0);
    if (coverage.newestMs === undefined) {
      await resume(id, { ...coverage, newestMs: readState.headMs }, page.value);
      readState.headOffset = undefined;
    } else if (isLast || oldestMs === undefined || oldestMs <= coverage.newestMs || (await isIndexedBefore(id, oldestMs))) {
      const hasGap = isTruncated && oldestMs !== undefined && oldestMs > coverage.newestMs;
      // The jobs in the gap are never indexed.
      const coverageChanges = hasGap ? { cursorMs: oldestMs, nextOffset: undefined, isComplete: false, isBounded: true } : {};
      await coverage.save({ ...coverage, ...coverageChanges, newestMs: Math.max(readState.headMs, coverage.newestMs) });
      Object.assign(readState, { headOffset: undefined, headMs: undefined, gap: undefined });
    } else readState.headOffset = nextOffset;
    return "done";
  }

  async function readOlder(id: string, readState: ListedJobs, coverage: StoredCoverage): Promise<Step> {
    const offset = Math.max(0, (coverage.nextOffset ?? 0) - PAGE_OVERLAP);
    const droppedCount = getDroppedCount(id);
    const { round } = readState;
    const page = await readPage(id, readState, offset);
    if (!page.ok) return page.failure;
    await flush();
    if (getDroppedCount(id) !== droppedCount) return pageDropped;
    const { newestMs, nextOffset } = page.value;
    const readMs = round ? round.oldestMs : coverage.cursorMs;
    const isGap = offset > 0 && readMs !== undefined && (newestMs === undefined || newestMs < readMs);
    // Jobs before this page were removed and others moved up, so go back until the pages overlap again.
    if (isGap) await coverage.save({ ...coverage, nextOffset: Math.max(0, offset - JOBS_PAGE_SIZE) });
    // A service may report more pages and then return none.
    else await resume(id, coverage, { ...page.value, isLast: page.value.isLast || nextOffset <= (coverage.nextOffset ?? 0) }, round);
    return "done";
  }

  async function resume(id: string, coverage: StoredCoverage, page: ListPage, round?: Round): Promise<void> {
    const { oldestMs, isLast, isTruncated, nextOffset } = page;
    await flush();
    const isFull = !isLast && (await isIndexedBefore(id, oldestMs));
    const readMs = minDefined(oldestMs, round ? round.oldestMs : coverage.cursorMs);
    if (round) round.oldestMs = readMs;
    const isComplete = isLast && !isTruncated;
    if (isComplete) await removeAllMissing(id, { afterMs: -1, beforeMs: readMs ?? Number.MAX_SAFE_INTEGER, present: [] });
    await coverage.save({
      ...coverage,
      cursorMs:
        !round || isComplete || isFull
          ? readMs
          : getCompleteSince(coverage, readMs, isLast, await jobIndexStore.findOldestIfFull(id, maxJobs)),
      nextOffset: isLast || isFull ? undefined : nextOffset,
      isComplete: isLast ? !isTruncated : coverage.isComplete,
      isBounded: isFull || (isLast ? isTruncated : coverage.isBounded),
      sweptAt: isLast || isFull ? now() : coverage.sweptAt,
    });
  }

  async function isIndexedBefore(id: string, oldestMs: number | undefined): Promise<boolean> {
    await flush();
    const oldestIndexedMs = await jobIndexStore.findOldestIfFull(id, maxJobs);
    return oldestIndexedMs !== undefined && oldestMs !== undefined && oldestMs <= oldestIndexedMs;
  }

  async function readPage(id: string, readState: ListedJobs, offset: number, limit = JOBS_PAGE_SIZE): Promise<Result<ListPage, Failure>> {
    readState.pageMs = now();
    const query = { ...newestFirstQuery, offset, limit };
    const result = await trackRead((signal) => readState.read.jobs({ query, signal, limits: { attempts: 1 } }));
    if (!result.ok) {
      const { status, retryAfterMs } = result.failure;
      if (status === 429 || retryAfterMs !== undefined) readState.pausedUntilMs = now() + (retryAfterMs ?? DEFAULT_PAUSE_MS);
      return result;
    }
    readState.lastResponseMs = now();
    await removeMissingJobs(id, result.value);
    return ok(toPage(result.value, offset));
  }

  /** If the newest page overlaps the indexed jobs, nothing is missing. Otherwise the gap before it is read next. */
  async function mergeNewest(
    id: string,
    readState: ListedJobs,
    { newestMs, oldestMs, isLast, isTruncated }: Omit<ListPage, "nextOffset">,
  ): Promise<void> {
    const { restartCount } = readState;
    await flush();
    const storedCoverage = await jobIndexStore.getCoverage(id);
    const isFull = await isIndexedBefore(id, oldestMs);
    // The page was read before a restart.
    if (readState.restartCount !== restartCount) return;
    const isUpToDate = getDroppedCount(id) === readState.headDroppedCount;
    if (storedCoverage.newestMs === undefined || newestMs === undefined || oldestMs === undefined) readState.gap = undefined;
    else if (isUpToDate && ((isLast && !isTruncated) || oldestMs <= storedCoverage.newestMs || isFull)) {
      readState.gap = undefined;
      await jobIndexStore.advance(id, newestMs);
    } else {
      readState.gap = { afterMs: storedCoverage.newestMs, beforeMs: isUpToDate ? oldestMs : newestMs };
      readState.headOffset ??= 0;
      readState.wake?.();
    }
  }

  async function removeMissingJobs(id: string, response: JobsResponse): Promise<void> {
    const times = getCreationTimes(response);
    const hasAllTimes = !response.unreadable && times.length === response.jobs.length && times.length > 1;
    const isInOrder = times.every((ms, index) => index === 0 || ms <= (times[index - 1] ?? ms));
    if (!hasAllTimes || !isInOrder) return;
    const range = { afterMs: times.at(-1) ?? 0, beforeMs: times[0] ?? 0, present: response.jobs.map((job) => job.id) };
    await removeAllMissing(id, range);
  }

  async function removeAllMissing(id: string, range: ListedRange): Promise<void> {
    while (await jobIndexStore.removeAbsent(id, range)) stopSignal.throwIfAborted();
  }

  return { next, readPage, mergeNewest };
}
