import { toMilliseconds } from "@/lib/contract/times";
import { couldHaveStarted } from "@/lib/contract/workflow/submission";
import { ACT_HEADER } from "@/lib/shared/headers";
import { ok, type Result } from "@/lib/shared/result";
import { callApi } from "../api";
import { type ApiFailure } from "../read-failure";
import { withQuery } from "../urls";
import { type HashOptions, type HashOutcome } from "./hash-file";
import { type FromHashWorker, type ToHashWorker } from "./hash-worker";

type HashOffer = {
  hash: string;
  tags: readonly string[];
  name?: string;
  mime_type?: string;
  user_metadata?: Readonly<Record<string, unknown>>;
};

type OfferResult<T> = { kind: "made"; asset: T } | { kind: "unknown" } | { kind: "notMade" | "unsure"; failure?: ApiFailure };

export async function offerHash<T extends { asset_hash?: string }>(
  offer: HashOffer,
  { connection, signal, act }: { connection?: string; signal?: AbortSignal; act?: string },
): Promise<Result<OfferResult<T>, ApiFailure>> {
  const path = withQuery("/api/console/known-content", { connection });
  const startedMs = Date.now();
  const result = await callApi<{ asset?: T | null; isUnclear?: boolean }>(path, {
    method: "POST",
    json: offer,
    ...(act !== undefined && { headers: { [ACT_HEADER]: act } }),
    signal,
    cache: "no-store",
  });
  if (result.ok && result.value.asset) return ok({ kind: "made", asset: result.value.asset });
  if (result.ok && !result.value.isUnclear) return ok({ kind: "unknown" });
  const failure = result.ok ? undefined : result.failure;
  const isRefused = failure && failure.status !== 0 && !couldHaveStarted(failure);
  if (!result.ok && (isRefused || signal?.aborted)) return result;
  const asset = await findOffered<T>(offer, { connection, startedMs });
  return ok(asset ? { kind: "made", asset } : { kind: asset === null ? "notMade" : "unsure", failure });
}

const MAX_LISTED = 50;
const CLOCK_SKEW_MS = 60_000;

type ListedAsset = { asset_hash?: string; name?: string; tags?: readonly string[]; created_at?: unknown; updated_at?: unknown };

/** The created asset. Null if none was created, undefined if the service cannot tell or already had the content. */
async function findOffered<T extends { asset_hash?: string }>(
  { hash, name, tags }: HashOffer,
  { connection, startedMs }: { connection: string | undefined; startedMs: number },
): Promise<T | null | undefined> {
  const path = withQuery("/api/assets", { sort: "updated_at", order: "desc", limit: MAX_LISTED, connection });
  const result = await callApi<{ assets?: (T & ListedAsset)[] }>(path, { cache: "no-store" });
  if (!result.ok || !result.value.assets) return undefined;
  const { assets } = result.value;
  const sameContent = assets.filter((asset) => asset.asset_hash === hash);
  const isNew = ({ created_at: created, updated_at: updated }: ListedAsset) =>
    Math.max(toMilliseconds(created) ?? 0, toMilliseconds(updated) ?? 0) > startedMs - CLOCK_SKEW_MS;
  const isOurs = (asset: ListedAsset) => (name === undefined || asset.name === name) && tags.every((tag) => asset.tags?.includes(tag));
  const ownAsset = sameContent.find((asset) => isOurs(asset) && isNew(asset));
  // If the service uses another kind of hash or none, a missing hash proves nothing.
  const isComparable = assets.every(({ asset_hash: theirs = "" }) => theirs.split(":")[0] === hash.split(":")[0]);
  return ownAsset ?? (isComparable && sameContent.length === 0 ? null : undefined);
}

type Offer = { tags: readonly string[]; connection: string | undefined; signal: AbortSignal };

export async function findStoredContent(file: File, { tags, connection, signal }: Offer): Promise<string | undefined> {
  const outcome = await hashPool(file, { signal });
  if (outcome.kind !== "hashed" || signal.aborted) return undefined;
  const hash = `blake3:${outcome.hash}`;
  const offer = { hash, tags, name: file.name, ...(file.type && { mime_type: file.type }) };
  const offered = await offerHash<{ asset_hash?: string }>(offer, { connection, signal });
  return offered.ok && offered.value.kind === "made" && offered.value.asset.asset_hash === hash ? outcome.hash : undefined;
}

// Hashes each file in its own worker. Idle workers are reused.

export type HashWorker = {
  postMessage(message: ToHashWorker): void;
  onmessage: ((event: MessageEvent<FromHashWorker>) => void) | null;
  onerror: ((event: ErrorEvent) => void) | null;
  terminate(): void;
};
export type PoolOutcome = HashOutcome | { kind: "unavailable" };
export type HashPool = (file: Blob, options: Omit<HashOptions, "signal"> & { signal: AbortSignal }) => Promise<PoolOutcome>;

export function createHashPool(createWorker: () => HashWorker): HashPool {
  const idleWorkers: HashWorker[] = [];
  let lastId = 0;

  return (file, { from, onProgress, signal }) =>
    new Promise((resolve) => {
      let worker: HashWorker;
      try {
        worker = idleWorkers.pop() ?? createWorker();
      } catch {
        return resolve({ kind: "unavailable" });
      }
      const id = ++lastId;
      const stop = () => worker.postMessage({ id, stop: true });
      const end = (outcome: PoolOutcome) => {
        signal.removeEventListener("abort", stop);
        if (outcome.kind === "unavailable") worker.terminate();
        else idleWorkers.push(worker);
        resolve(outcome);
      };
      worker.onerror = () => end({ kind: "unavailable" });
      worker.onmessage = ({ data }) => {
        if (data.id !== id) return;
        if ("bytes" in data) onProgress?.(data.bytes);
        else end("outcome" in data ? data.outcome : { kind: "unavailable" });
      };
      worker.postMessage({ id, file, ...(from && { from }) });
      signal.addEventListener("abort", stop, { once: true });
      if (signal.aborted) stop();
    });
}

export const hashPool = createHashPool(createHashWorker);

/** The bundler needs exactly this expression to find the worker's file. */
function createHashWorker(): HashWorker {
  return new Worker(new URL("./hash-worker.ts", import.meta.url), { type: "module", name: "hash" });
}
