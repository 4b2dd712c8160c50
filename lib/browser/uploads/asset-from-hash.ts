import { toMilliseconds } from "@/lib/contract/times";
import { couldHaveStarted } from "@/lib/contract/workflow/submission";
import { ACTION_HEADER } from "@/lib/shared/headers";
import { ok, type Result } from "@/lib/shared/result";
import { callApi } from "../api";
import { type ApiFailure } from "../api-failure";
import { withQuery } from "../urls";
import { type HashOptions, type HashOutcome } from "./hash-file";
import { type HashWorkerRequest, type HashWorkerResponse } from "./hash-worker";

type AssetFromHash = {
  hash: string;
  tags: readonly string[];
  name?: string;
  mime_type?: string;
  user_metadata?: Readonly<Record<string, unknown>>;
};

type AssetFromHashResult<T> = { kind: "made"; asset: T } | { kind: "unknown" } | { kind: "notMade" | "unsure"; failure?: ApiFailure };

export async function createAssetFromHash<T extends { asset_hash?: string }>(
  request: AssetFromHash,
  { connection, signal, action }: { connection?: string; signal?: AbortSignal; action?: string },
): Promise<Result<AssetFromHashResult<T>, ApiFailure>> {
  const path = withQuery("/api/console/known-content", { connection });
  const startedMs = Date.now();
  const result = await callApi<{ asset?: T | null; isUnclear?: boolean }>(path, {
    method: "POST",
    json: request,
    ...(action !== undefined && { headers: { [ACTION_HEADER]: action } }),
    signal,
    cache: "no-store",
  });
  if (result.ok && result.value.asset) return ok({ kind: "made", asset: result.value.asset });
  if (result.ok && !result.value.isUnclear) return ok({ kind: "unknown" });
  const failure = result.ok ? undefined : result.failure;
  const isRefused = failure && failure.status !== 0 && !couldHaveStarted(failure);
  if (!result.ok && (isRefused || signal?.aborted)) return result;
  const asset = await findCreatedAsset<T>(request, { connection, startedMs });
  return ok(asset ? { kind: "made", asset } : { kind: asset === null ? "notMade" : "unsure", failure });
}

const MAX_LISTED_ASSETS = 50;
const CLOCK_SKEW_MS = 60_000;

type ListedAsset = { asset_hash?: string; name?: string; tags?: readonly string[]; created_at?: unknown; updated_at?: unknown };

/** Returns the created asset, null if none was created, or undefined if that is unknown or the content already existed. */
async function findCreatedAsset<T extends { asset_hash?: string }>(
  { hash, name, tags }: AssetFromHash,
  { connection, startedMs }: { connection: string | undefined; startedMs: number },
): Promise<T | null | undefined> {
  const path = withQuery("/api/assets", { sort: "updated_at", order: "desc", limit: MAX_LISTED_ASSETS, connection });
  const result = await callApi<{ assets?: (T & ListedAsset)[] }>(path, { cache: "no-store" });
  if (!result.ok || !result.value.assets) return undefined;
  const { assets } = result.value;
  const matchingAssets = assets.filter((asset) => asset.asset_hash === hash);
  const isRecent = ({ created_at: created, updated_at: updated }: ListedAsset) =>
    Math.max(toMilliseconds(created) ?? 0, toMilliseconds(updated) ?? 0) > startedMs - CLOCK_SKEW_MS;
  const matchesRequest = (asset: ListedAsset) =>
    (name === undefined || asset.name === name) && tags.every((tag) => asset.tags?.includes(tag));
  const createdAsset = matchingAssets.find((asset) => matchesRequest(asset) && isRecent(asset));
  // If the service uses another kind of hash or none, a missing hash doesn't mean that no asset was created.
  const usesSameAlgorithm = assets.every(({ asset_hash: assetHash = "" }) => assetHash.split(":")[0] === hash.split(":")[0]);
  return createdAsset ?? (usesSameAlgorithm && matchingAssets.length === 0 ? null : undefined);
}

type FindStoredContentOptions = { tags: readonly string[]; connection: string | undefined; signal: AbortSignal };

export async function findStoredContent(file: File, { tags, connection, signal }: FindStoredContentOptions): Promise<string | undefined> {
  const outcome = await hashInWorker(file, { signal });
  if (outcome.kind !== "hashed" || signal.aborted) return undefined;
  const hash = `blake3:${outcome.hash}`;
  const request = { hash, tags, name: file.name, ...(file.type && { mime_type: file.type }) };
  const result = await createAssetFromHash<{ asset_hash?: string }>(request, { connection, signal });
  return result.ok && result.value.kind === "made" && result.value.asset.asset_hash === hash ? outcome.hash : undefined;
}

// Hashes each file in its own worker. Idle workers are reused.

export type HashWorker = {
  postMessage(message: HashWorkerRequest): void;
  onmessage: ((event: MessageEvent<HashWorkerResponse>) => void) | null;
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
      const finish = (outcome: PoolOutcome) => {
        signal.removeEventListener("abort", stop);
        if (outcome.kind === "unavailable") worker.terminate();
        else idleWorkers.push(worker);
        resolve(outcome);
      };
      worker.onerror = () => finish({ kind: "unavailable" });
      worker.onmessage = ({ data }) => {
        if (data.id !== id) return;
        if ("bytes" in data) onProgress?.(data.bytes);
        else finish("outcome" in data ? data.outcome : { kind: "unavailable" });
      };
      worker.postMessage({ id, file, ...(from && { from }) });
      signal.addEventListener("abort", stop, { once: true });
      if (signal.aborted) stop();
    });
}

export const hashInWorker = createHashPool(createHashWorker);

/** The bundler needs exactly this expression to find the worker's file. */
function createHashWorker(): HashWorker {
  return new Worker(new URL("./hash-worker.ts", import.meta.url), { type: "module", name: "hash" });
}
