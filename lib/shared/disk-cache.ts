import { createHash, randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { coalesce, createSharedCalls } from "./async";
import { listFilesByAge, readCachedFile, writeCachedFile } from "./files";
import { ok, type Result } from "./result";
import { getTelemetry } from "./telemetry";

/** Deletion starts above the first ratio and stops at the second, so that not every write lists the folder. */
const MAX_USED_RATIO = 0.9;
const TARGET_RATIO = 0.8;
/** The fraction of the limit that may be written between two sweeps. Other processes may write too. */
const SWEEP_RATIO = 0.05;

function createSizeLimit(folder: string, maxBytes: number) {
  let sweptBytes: number | undefined;
  let bytesSinceSweep = 0;

  const sweep = coalesce(async () => {
    bytesSinceSweep = 0;
    const files = await listFilesByAge(folder);
    let totalBytes = files.reduce((sum, { size }) => sum + size, 0);
    const targetBytes = totalBytes > maxBytes * MAX_USED_RATIO ? maxBytes * TARGET_RATIO : totalBytes;
    for (const { path, size } of files) {
      if (totalBytes <= targetBytes) break;
      await rm(path, { force: true }).then(
        () => (totalBytes -= size),
        () => undefined,
      );
    }
    sweptBytes = totalBytes;
  });

  return {
    getBytes: () => (sweptBytes === undefined ? undefined : sweptBytes + bytesSinceSweep),

    recordGrowth(bytes: number): void {
      bytesSinceSweep += bytes;
      if (sweptBytes === undefined || bytesSinceSweep > maxBytes * SWEEP_RATIO) sweep().catch(() => undefined);
    },
  };
}

type EntryResult<E> = Result<Uint8Array, E>;
type CacheKey = {
  name: readonly string[];
  /** True for content that may change under this name. Concurrent callers share it, but it is not stored. */
  isTransient?: boolean;
  /** The request. It is referenced during the work, because the signal of a freed request does not fire. */
  caller: { signal: AbortSignal };
};
export type DiskCache<E> = {
  get(cacheKey: CacheKey, create: (signal: AbortSignal) => Promise<EntryResult<E>>): Promise<EntryResult<E>>;
};

const DIGEST_BYTES = 32;

type Options = { folder: string; maxBytes: number; extension: string; hasMetrics?: boolean };

export function createDiskCache<E>({ folder, maxBytes, extension, hasMetrics = false }: Options): DiskCache<E> {
  const shareCall = createSharedCalls<EntryResult<E>>();
  const sizeLimit = createSizeLimit(folder, maxBytes);
  const metrics = hasMetrics ? getTelemetry().metrics : undefined;
  metrics?.registerGauge("lightdesk_thumbnail_cache_bytes", sizeLimit.getBytes);

  async function readOrCreate(key: string, create: () => Promise<EntryResult<E>>): Promise<EntryResult<E>> {
    const file = join(folder, key.slice(0, 2), `${key.slice(2)}.${extension}`);
    const cachedValue = await readVerifiedFile(file);
    metrics?.count("lightdesk_thumbnails_total", { result: cachedValue ? "kept" : "made" });
    if (cachedValue) return ok(cachedValue);
    const result = await create();
    if (result.ok && (await storeEntry(file, result.value))) sizeLimit.recordGrowth(result.value.byteLength + DIGEST_BYTES);
    return result;
  }

  return {
    get({ name, caller, isTransient }, create) {
      const key = createHash("sha256")
        .update(name.map((part) => `${part.length}:${part}`).join(""))
        .digest("hex");
      return shareCall(key, caller, (signal) => (isTransient ? create(signal) : readOrCreate(key, () => create(signal))));
    },
  };
}

async function readVerifiedFile(file: string): Promise<Uint8Array | undefined> {
  const cachedValue = await readCachedFile(file);
  const bytes = cachedValue?.subarray(0, -DIGEST_BYTES);
  if (!cachedValue || !bytes || bytes.length === 0 || !computeDigest(bytes).equals(cachedValue.subarray(-DIGEST_BYTES))) return undefined;
  return bytes;
}

function storeEntry(file: string, bytes: Uint8Array): Promise<boolean> {
  return writeCachedFile(file, join(dirname(file), `${randomUUID()}.part`), Buffer.concat([bytes, computeDigest(bytes)]));
}

function computeDigest(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}
