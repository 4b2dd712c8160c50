// Caches bucket blobs in a local folder, up to a size limit. Copies are verified, and not evicted while in use.

import { link, mkdir, rename, rm, utimes } from "node:fs/promises";
import { dirname } from "node:path";
import { type Readable } from "node:stream";
import { type ServiceLog } from "@/lib/service/options";
import { toErrorBody } from "@/lib/service/service-error";
import { getTelemetry } from "@/lib/shared/telemetry";
import { type BlobBackend, type FindReferenced, getBlobPath, type StagedContent } from "../blob-store";
import { evictOldest, sweepCacheFolder } from "../folders";
import { stageStream } from "../staged-file";

type Options = {
  folder: string;
  temp: string;
  maxBytes: number;
  fetch(hash: string): Promise<Readable>;
  log: ServiceLog;
};

export function createLocalCopies({ folder, temp, maxBytes, fetch, log }: Options) {
  const getPath = (hash: string) => getBlobPath(folder, hash);
  const useCounts = new Map<string, number>();
  const pendingFetches = new Map<string, Promise<void>>();
  let totalBytes: number | undefined;
  let pendingEviction: Promise<void> | undefined;
  getTelemetry().metrics?.registerGauge("lightdesk_blob_copies_bytes", () => totalBytes);

  async function evict(): Promise<void> {
    if (totalBytes !== undefined && totalBytes <= maxBytes) return;
    pendingEviction ??= evictOldest(folder, maxBytes, (path) => useCounts.has(path))
      .then((remainingBytes) => void (totalBytes = remainingBytes))
      .catch((error: unknown) => log.warn({ err: error }, "blob cache eviction failed"))
      .finally(() => (pendingEviction = undefined));
    await pendingEviction;
  }

  async function addCopy(source: string, hash: string, size: number, transfer: typeof rename): Promise<void> {
    await mkdir(dirname(getPath(hash)), { recursive: true, mode: 0o700 });
    await transfer(source, getPath(hash));
    if (totalBytes !== undefined) totalBytes += size;
    await evict();
  }

  const removeCopy = (hash: string) => rm(getPath(hash), { force: true });
  const countCopy = (result: "kept" | "fetched") => getTelemetry().metrics?.count("lightdesk_blob_copies_total", { result });

  async function fetchMissingCopy(hash: string): Promise<void> {
    const source = await fetch(hash).catch((error: unknown) => {
      if (toErrorBody(error)?.code !== "NOT_FOUND") throw error;
    });
    if (!source) return;
    const staged = await stageStream(source, { folder: temp, maxBytes: Infinity }).finally(() => source.destroy());
    try {
      if (staged.hash === hash) {
        await addCopy(staged.path, hash, staged.size, rename);
        countCopy("fetched");
      } else log.error({ hash }, "blob damaged");
    } finally {
      await staged.dispose();
    }
  }

  async function ensureCopy(hash: string): Promise<void> {
    // A pending eviction may have chosen this copy before it was in use.
    await pendingEviction;
    const now = new Date();
    const isCached = await utimes(getPath(hash), now, now).then(
      () => true,
      () => false,
    );
    if (isCached) return countCopy("kept");
    const pendingFetch = pendingFetches.get(hash) ?? fetchMissingCopy(hash).finally(() => pendingFetches.delete(hash));
    pendingFetches.set(hash, pendingFetch);
    await pendingFetch;
  }

  return {
    folder,

    /** Caches new bytes, which are likely to be read soon. Failures are ignored, because the bytes can be fetched later. */
    async add({ path, hash, size }: StagedContent): Promise<void> {
      await addCopy(path, hash, size, link).catch(() => undefined);
    },

    removeCopy,

    sweepCache: (findReferenced: FindReferenced) =>
      sweepCacheFolder(folder, findReferenced, async (hash) => !useCounts.has(getPath(hash)) && removeCopy(hash)),

    async withFiles(hashes, callback) {
      const paths = hashes.map(getPath);
      for (const path of paths) useCounts.set(path, (useCounts.get(path) ?? 0) + 1);
      try {
        await Promise.all([...new Set(hashes)].map(ensureCopy));
        return await callback(getPath);
      } finally {
        for (const path of paths) {
          const remainingCount = (useCounts.get(path) ?? 1) - 1;
          if (remainingCount > 0) useCounts.set(path, remainingCount);
          else useCounts.delete(path);
        }
        await evict();
      }
    },
  } satisfies Partial<BlobBackend> & Record<string, unknown>;
}
