// Local copies of blobs in a bucket, up to a size limit. Copies are complete, verified, and not evicted while in use.

import { link, mkdir, rename, rm, utimes } from "node:fs/promises";
import { dirname } from "node:path";
import { type Readable } from "node:stream";
import { type ServiceLog } from "@/lib/service/options";
import { toRefusal } from "@/lib/service/service-error";
import { getTelemetry } from "@/lib/shared/telemetry";
import { type BlobBackend, blobPath, type Content, type FindReferenced } from "../blob-store";
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
  const getPath = (hash: string) => blobPath(folder, hash);
  const inUse = new Map<string, number>();
  const fetching = new Map<string, Promise<void>>();
  let bytes: number | undefined;
  let evicting: Promise<void> | undefined;
  getTelemetry().metrics?.read("lightdesk_blob_copies_bytes", () => bytes);

  async function evict(): Promise<void> {
    if (bytes !== undefined && bytes <= maxBytes) return;
    evicting ??= evictOldest(folder, maxBytes, (path) => inUse.has(path))
      .then((remainingBytes) => void (bytes = remainingBytes))
      .catch((error: unknown) => log.warn({ err: error }, "blob cache eviction failed"))
      .finally(() => (evicting = undefined));
    await evicting;
  }

  async function addCopy(source: string, hash: string, size: number, give: typeof rename): Promise<void> {
    await mkdir(dirname(getPath(hash)), { recursive: true, mode: 0o700 });
    await give(source, getPath(hash));
    if (bytes !== undefined) bytes += size;
    await evict();
  }

  const forget = (hash: string) => rm(getPath(hash), { force: true });
  const countCopy = (result: "kept" | "fetched") => getTelemetry().metrics?.count("lightdesk_blob_copies_total", { result });

  async function fetchOne(hash: string): Promise<void> {
    const source = await fetch(hash).catch((error: unknown) => {
      if (toRefusal(error)?.code !== "NOT_FOUND") throw error;
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

  async function fetchCopy(hash: string): Promise<void> {
    // A pending eviction may have chosen this copy before it was in use.
    await evicting;
    const now = new Date();
    const isCached = await utimes(getPath(hash), now, now).then(
      () => true,
      () => false,
    );
    if (isCached) return countCopy("kept");
    const work = fetching.get(hash) ?? fetchOne(hash).finally(() => fetching.delete(hash));
    fetching.set(hash, work);
    await work;
  }

  return {
    folder,

    /** Bytes that were just stored will probably be read soon. Failures are ignored, because the bytes can be fetched. */
    async keep({ path, hash, size }: Content): Promise<void> {
      await addCopy(path, hash, size, link).catch(() => undefined);
    },

    forget,

    sweepCache: (named: FindReferenced) => sweepCacheFolder(folder, named, async (hash) => !inUse.has(getPath(hash)) && forget(hash)),

    async withFiles(hashes, use) {
      const paths = hashes.map(getPath);
      for (const path of paths) inUse.set(path, (inUse.get(path) ?? 0) + 1);
      try {
        await Promise.all([...new Set(hashes)].map(fetchCopy));
        return await use(getPath);
      } finally {
        for (const path of paths) {
          const remaining = (inUse.get(path) ?? 1) - 1;
          if (remaining > 0) inUse.set(path, remaining);
          else inUse.delete(path);
        }
        await evict();
      }
    },
  } satisfies Partial<BlobBackend> & Record<string, unknown>;
}
