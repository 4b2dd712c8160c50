import { isPlainRateLimit } from "@/lib/contract/failure";
import { type JobsAnswer } from "@/lib/contract/schemas/job";
import { couldHaveStarted } from "@/lib/contract/workflow/submission";
import { sleep } from "@/lib/shared/async";
import { ACT_HEADER } from "@/lib/shared/headers";
import { failed, ok, type Result } from "@/lib/shared/result";
import { callApi, type CallInit } from "../api";
import { type ApiFailure } from "../read-failure";

/** Aborting `signal` lets the current call finish, so that its outcome is known. */
export type Work = {
  connection: string | undefined;
  signal: AbortSignal;
  act?: string;
  onDone: (count: number) => void;
  onWait: (ms: number | undefined) => void;
  /** The page is unloading: all requests are sent at once with `keepalive`. */
  isLeaving?: boolean;
};

const INITIAL_BACKOFF_MS = 1_000;
const MAX_ATTEMPTS = 6;

/** Retries only plain rate limits, because those calls had no effect. */
export async function callWithRetry<T>(path: `/${string}`, init: CallInit, work: Work): Promise<Result<T, ApiFailure>> {
  const headers = new Headers(init.headers);
  if (work.act !== undefined) headers.set(ACT_HEADER, work.act);
  const call = () => callApi<T>(path, { ...init, headers, ...(work.isLeaving && { keepalive: true }) });
  return work.isLeaving ? call() : retryRateLimited(call, work);
}

export async function retryRateLimited<T>(
  call: () => Promise<Result<T, ApiFailure>>,
  { signal, onWait }: Pick<Work, "signal" | "onWait">,
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

/** True if further calls would fail too: no session, right, key, credit or network. */
export function affectsAllCalls({ status, code }: Pick<ApiFailure, "status" | "code">): boolean {
  return status === 0 || code === "UPSTREAM_REFUSED_KEY" || [401, 402, 403, 409, 429].includes(status);
}

export type BatchOutcome<Entry> = { entries: Entry[]; isOver?: boolean };

export async function runInBatches<Item extends { id: string }, Entry extends { id: string }>(
  items: readonly Item[],
  size: number,
  runBatch: (batch: readonly Item[]) => Promise<BatchOutcome<Entry>>,
  work: Work,
): Promise<(Entry | { id: string; outcome: "notDone" })[]> {
  const batches = Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size));
  if (work.isLeaving) return (await Promise.all(batches.map(runBatch))).flatMap(({ entries }) => entries);
  const entries: (Entry | { id: string; outcome: "notDone" })[] = [];
  let isOver = false;
  for (const batch of batches) {
    if (isOver || work.signal.aborted) {
      entries.push(...batch.map(({ id }) => ({ id, outcome: "notDone" as const })));
      continue;
    }
    const outcome = await runBatch(batch);
    entries.push(...outcome.entries);
    isOver = outcome.isOver ?? false;
    work.onDone(batch.length);
  }
  return entries;
}

type Page<Item> = { items: readonly Item[]; rows: number; total?: number; hasMore?: boolean };
export type AllPages<Item> = { items: Item[]; isCut: boolean };

type List<Data, Item> = { pathAt: (offset: number) => `/${string}`; read: (answer: Data) => Page<Item>; maxItems: number };

export async function readAllPages<Data, Item extends { id: string }>(
  { pathAt, read, maxItems }: List<Data, Item>,
  work: Work,
): Promise<Result<AllPages<Item>, ApiFailure>> {
  const itemsById = new Map<string, Item>();
  let isOver = false;
  for (let offset = 0; !isOver && itemsById.size < maxItems && !work.signal.aborted;) {
    const result = await callWithRetry<Data>(pathAt(offset), { cache: "no-store" }, work);
    if (!result.ok) return failed(result.failure);
    const { items, rows, total, hasMore } = read(result.value);
    const previousCount = itemsById.size;
    for (const item of items) itemsById.set(item.id, item);
    work.onDone(itemsById.size - previousCount);
    offset += rows;
    isOver = itemsById.size === previousCount || (hasMore === undefined ? offset >= (total ?? Number.POSITIVE_INFINITY) : !hasMore);
  }
  return ok({
    items: [...itemsById.values()].slice(0, maxItems),
    isCut: itemsById.size > maxItems || (!isOver && itemsById.size === maxItems),
  });
}

export type ClearAllResult<T> = { kind: "answered"; answer: T } | { kind: "lost"; left: number };

export async function clearAllJobs<T>(path: `/${string}`, leftPath: `/${string}`): Promise<Result<ClearAllResult<T>, ApiFailure>> {
  const result = await callApi<T>(path, { method: "POST", json: { clear: true } });
  if (result.ok) return ok({ kind: "answered", answer: result.value });
  if (!hasNoResponse(result.failure)) return result;
  const list = await callApi<JobsAnswer>(leftPath, { cache: "no-store" });
  return list.ok && list.value.pagination.total !== undefined ? ok({ kind: "lost", left: list.value.pagination.total }) : result;
}

export function hasNoResponse(failure: ApiFailure): boolean {
  return failure.status === 0 || couldHaveStarted(failure);
}
