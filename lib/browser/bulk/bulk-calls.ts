import { isPlainRateLimit } from "@/lib/contract/failure";
import { type JobsResponse } from "@/lib/contract/schemas/job";
import { couldHaveStarted } from "@/lib/contract/workflow/submission";
import { sleep } from "@/lib/shared/async";
import { ACTION_HEADER } from "@/lib/shared/headers";
import { failed, ok, type Result } from "@/lib/shared/result";
import { callApi, type CallInit } from "../api";
import { type ApiFailure } from "../api-failure";

/** Aborting `signal` lets the current call finish, so that its outcome is known. */
export type BulkCallContext = {
  connection: string | undefined;
  signal: AbortSignal;
  action?: string;
  onProgress: (count: number) => void;
  onWait: (ms: number | undefined) => void;
  /** The page is unloading: all requests are sent at once with `keepalive`. */
  isLeaving?: boolean;
};

const INITIAL_BACKOFF_MS = 1_000;
const MAX_ATTEMPTS = 6;

/** Retries only plain rate limits, because those calls had no effect. */
export async function callWithRetry<T>(path: `/${string}`, init: CallInit, context: BulkCallContext): Promise<Result<T, ApiFailure>> {
  const headers = new Headers(init.headers);
  if (context.action !== undefined) headers.set(ACTION_HEADER, context.action);
  const call = () => callApi<T>(path, { ...init, headers, ...(context.isLeaving && { keepalive: true }) });
  return context.isLeaving ? call() : retryRateLimited(call, context);
}

export async function retryRateLimited<T>(
  call: () => Promise<Result<T, ApiFailure>>,
  { signal, onWait }: Pick<BulkCallContext, "signal" | "onWait">,
): Promise<Result<T, ApiFailure>> {
  for (let attempt = 1; ; attempt++) {
    const result = await call();
    if (result.ok || attempt === MAX_ATTEMPTS || !isPlainRateLimit(result.failure)) return result;
    const waitMs = result.failure.retryAfterMs ?? INITIAL_BACKOFF_MS * 2 ** (attempt - 1);
    onWait(waitMs);
    const hasWaited = await sleep(waitMs, { signal });
    onWait(undefined);
    if (!hasWaited) return result;
  }
}

/** Returns true if further calls would fail too, for example without a session, permission, key, credit or network. */
export function affectsAllCalls({ status, code }: Pick<ApiFailure, "status" | "code">): boolean {
  return status === 0 || code === "UPSTREAM_REFUSED_KEY" || [401, 402, 403, 409, 429].includes(status);
}

export type BatchOutcome<Entry> = { entries: Entry[]; shouldStop?: boolean };

export async function runInBatches<Item extends { id: string }, Entry extends { id: string }>(
  items: readonly Item[],
  size: number,
  runBatch: (batch: readonly Item[]) => Promise<BatchOutcome<Entry>>,
  context: BulkCallContext,
): Promise<(Entry | { id: string; outcome: "notDone" })[]> {
  const batches = Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size));
  if (context.isLeaving) return (await Promise.all(batches.map(runBatch))).flatMap(({ entries }) => entries);
  const entries: (Entry | { id: string; outcome: "notDone" })[] = [];
  let shouldStop = false;
  for (const batch of batches) {
    if (shouldStop || context.signal.aborted) {
      entries.push(...batch.map(({ id }) => ({ id, outcome: "notDone" as const })));
      continue;
    }
    const outcome = await runBatch(batch);
    entries.push(...outcome.entries);
    shouldStop = outcome.shouldStop ?? false;
    context.onProgress(batch.length);
  }
  return entries;
}

type Page<Item> = { items: readonly Item[]; rowCount: number; total?: number; hasMore?: boolean };
export type AllPages<Item> = { items: Item[]; isTruncated: boolean };

type PagedList<Data, Item> = { getPath: (offset: number) => `/${string}`; parsePage: (response: Data) => Page<Item>; maxItems: number };

export async function readAllPages<Data, Item extends { id: string }>(
  { getPath, parsePage, maxItems }: PagedList<Data, Item>,
  context: BulkCallContext,
): Promise<Result<AllPages<Item>, ApiFailure>> {
  const itemsById = new Map<string, Item>();
  let isComplete = false;
  for (let offset = 0; !isComplete && itemsById.size < maxItems && !context.signal.aborted;) {
    const result = await callWithRetry<Data>(getPath(offset), { cache: "no-store" }, context);
    if (!result.ok) return failed(result.failure);
    const { items, rowCount, total, hasMore } = parsePage(result.value);
    const previousCount = itemsById.size;
    for (const item of items) itemsById.set(item.id, item);
    context.onProgress(itemsById.size - previousCount);
    offset += rowCount;
    isComplete = itemsById.size === previousCount || (hasMore === undefined ? offset >= (total ?? Number.POSITIVE_INFINITY) : !hasMore);
  }
  return ok({
    items: [...itemsById.values()].slice(0, maxItems),
    isTruncated: itemsById.size > maxItems || (!isComplete && itemsById.size === maxItems),
  });
}

export type ClearAllResult<T> = { kind: "confirmed"; response: T } | { kind: "unconfirmed"; remainingCount: number };

export async function clearAllJobs<T>(path: `/${string}`, listPath: `/${string}`): Promise<Result<ClearAllResult<T>, ApiFailure>> {
  const result = await callApi<T>(path, { method: "POST", json: { clear: true } });
  if (result.ok) return ok({ kind: "confirmed", response: result.value });
  if (!hasNoResponse(result.failure)) return result;
  const listResult = await callApi<JobsResponse>(listPath, { cache: "no-store" });
  return listResult.ok && listResult.value.pagination.total !== undefined
    ? ok({ kind: "unconfirmed", remainingCount: listResult.value.pagination.total })
    : result;
}

export function hasNoResponse(failure: ApiFailure): boolean {
  return failure.status === 0 || couldHaveStarted(failure);
}
