import { createHash, randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { coalesce, createSharedCalls } from "./async";
import { filesByAge, readCached, writeCached } from "./files";
import { ok, type Result } from "./result";
import { telemetry } from "./telemetry";

/** Deletion starts above FULL and stops at ROOM, so that not every write lists the folder. */
const FULL = 0.9;
const ROOM = 0.8;
/** Part of the limit that may be written between two sweeps; other processes may write too. */
const BETWEEN_SWEEPS = 0.05;

function createBound(folder: string, maxBytes: number) {
  let sweptBytes: number | undefined;
  let writtenSince = 0;

  const sweep = coalesce(async () => {
    writtenSince = 0;
    const files = await filesByAge(folder);
    let total = files.reduce((sum, { size }) => sum + size, 0);
    const target = total > maxBytes * FULL ? maxBytes * ROOM : total;
    for (const { path, size } of files) {
      if (total <= target) break;
      await rm(path, { force: true }).then(
        () => (total -= size),
        () => undefined,
      );
    }
    sweptBytes = total;
  });

  return {
    bytes: () => (sweptBytes === undefined ? undefined : sweptBytes + writtenSince),

    grew(by: number): void {
      writtenSince += by;
      if (sweptBytes === undefined || writtenSince > maxBytes * BETWEEN_SWEEPS) sweep().catch(() => undefined);
    },
  };
}

type EntryResult<E> = Result<Uint8Array, E>;
type CacheKey = {
  name: readonly string[];
  /** The content under this name may change: it is shared by those who ask now, but not stored. */
  isPassing?: boolean;
  /** A client that leaves does not end the work for others. Keeps the request, since a freed request's signal does not fire. */
  asker: { signal: AbortSignal };
};
export type DiskCache<E> = {
  get(cacheKey: CacheKey, make: (signal: AbortSignal) => Promise<EntryResult<E>>): Promise<EntryResult<E>>;
};

const DIGEST_BYTES = 32;

type Options = { folder: string; maxBytes: number; extension: string; hasMetrics?: boolean };

export function createDiskCache<E>({ folder, maxBytes, extension, hasMetrics = false }: Options): DiskCache<E> {
  const share = createSharedCalls<EntryResult<E>>();
  const bound = createBound(folder, maxBytes);
  const metrics = hasMetrics ? telemetry().metrics : undefined;
  metrics?.read("lightdesk_thumbnail_cache_bytes", bound.bytes);

  async function readOrMake(key: string, make: () => Promise<EntryResult<E>>): Promise<EntryResult<E>> {
    const file = join(folder, key.slice(0, 2), `${key.slice(2)}.${extension}`);
    const cachedValue = await readStored(file);
    metrics?.count("lightdesk_thumbnails_total", { result: cachedValue ? "kept" : "made" });
    if (cachedValue) return ok(cachedValue);
    const result = await make();
    if (result.ok && (await keep(file, result.value))) bound.grew(result.value.byteLength + DIGEST_BYTES);
    return result;
  }

  return {
    get({ name, asker, isPassing }, make) {
      const key = createHash("sha256")
        .update(name.map((part) => `${part.length}:${part}`).join(""))
        .digest("hex");
      return share(key, asker, (signal) => (isPassing ? make(signal) : readOrMake(key, () => make(signal))));
    },
  };
}

async function readStored(file: string): Promise<Uint8Array | undefined> {
  const cachedValue = await readCached(file);
  const bytes = cachedValue?.subarray(0, -DIGEST_BYTES);
  if (!cachedValue || !bytes || bytes.length === 0 || !digestOf(bytes).equals(cachedValue.subarray(-DIGEST_BYTES))) return undefined;
  return bytes;
}

function keep(file: string, bytes: Uint8Array): Promise<boolean> {
  return writeCached(file, join(dirname(file), `${randomUUID()}.part`), Buffer.concat([bytes, digestOf(bytes)]));
}

function digestOf(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}
