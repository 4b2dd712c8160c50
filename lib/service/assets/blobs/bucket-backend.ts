// Stores blobs in a bucket at PREFIX/blake3-v1/<aa>/<rest of the hash>. Limits the parts in memory across all uploads.

import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { createLimiter } from "@/lib/shared/async";
import { createDamagedBytesError, createMissingBytesError, type StagedContent } from "../blob-store";
import { type Bucket, BucketError, isBucketError, toBucketError } from "./bucket";
import { type SharedBackend } from "./folder-backend";
import { type createLocalCopies } from "./local-copies";

const LAYOUT = "blake3-v1/";
export const MARKER_KEY = "lightdesk-store";
const PART_BYTES = 8 * 1024 ** 2;
const MAX_PARTS = 10_000;
const MAX_CONCURRENT_PARTS = 4;
/** Below MAX_CONCURRENT_PARTS, so that a large blob doesn't block others. */
const MAX_CONCURRENT_PARTS_PER_BLOB = 3;
const MAX_ATTEMPTS = 3;
const DAY_MS = 24 * 60 * 60_000;

type Copies = ReturnType<typeof createLocalCopies>;

const toKey = (hash: string) => `${LAYOUT}${hash.slice(0, 2)}/${hash.slice(2)}`;

/** Reads a blob, or its bytes from `start` to `end`. Throws if the blob is missing or doesn't have the given size. */
export async function readBlob(bucket: Bucket, hash: string, range?: { start: number; end: number; size: number }): Promise<Readable> {
  const controller = new AbortController();
  const firstByte = range?.start ?? 0;
  const requestObject = async (offset: number) => {
    const isFullObject = range === undefined && offset === 0;
    const object = await bucket
      .get(toKey(hash), isFullObject ? undefined : `bytes=${offset}-${range?.end ?? ""}`, controller.signal)
      .catch((error) => {
        // The range is beyond the end, so the blob is truncated.
        if (isBucketError(error) && error.status === 416) throw createDamagedBytesError();
        throw error;
      });
    if (!object) throw createMissingBytesError();
    if (!(object.Body instanceof Readable)) throw new BucketError("return an object", "the response has no body", undefined);
    const total = Number(/\/(\d+)$/.exec(object.ContentRange ?? "")?.[1] ?? object.ContentLength);
    if ((range && total !== range.size) || (!isFullObject && object.ContentRange === undefined)) {
      object.Body.destroy();
      throw createDamagedBytesError();
    }
    return { body: object.Body, length: object.ContentLength ?? 0 };
  };

  async function* readChunks(response: Awaited<ReturnType<typeof requestObject>>) {
    const end = firstByte + response.length;
    let position = firstByte;
    for (let attempt = 1; position < end; attempt += 1) {
      try {
        for await (const chunk of response.body) {
          if (!(chunk instanceof Uint8Array)) continue;
          position += chunk.byteLength;
          yield chunk;
        }
      } catch (error) {
        if (controller.signal.aborted || attempt >= MAX_ATTEMPTS) throw toBucketError("return a complete object", error);
      }
      if (position < end) response = await requestObject(position);
    }
  }

  const stream = Readable.from(readChunks(await requestObject(firstByte)), { objectMode: false, highWaterMark: 256 * 1024 });
  stream.once("close", () => controller.abort());
  return stream;
}

type Options = { bucket: Bucket; copies: Copies; presignedSeconds: number | undefined; now: () => number };

export function createBucketBackend({ bucket, copies, presignedSeconds, now }: Options): SharedBackend {
  const limit = createLimiter(MAX_CONCURRENT_PARTS);
  async function putObject(staged: StagedContent): Promise<void> {
    await limit(async () => bucket.put(toKey(staged.hash), await readPart(staged.path, 0, staged.size), false));
  }

  async function putParts(staged: StagedContent): Promise<void> {
    const key = toKey(staged.hash);
    const partBytes = Math.max(PART_BYTES, Math.ceil(staged.size / MAX_PARTS));
    const starts = Array.from({ length: Math.ceil(staged.size / partBytes) }, (_, index) => index * partBytes);
    const uploadId = await bucket.startUpload(key);
    const controller = new AbortController();
    const limitForBlob = createLimiter(MAX_CONCURRENT_PARTS_PER_BLOB);
    const sendPart = (start: number, index: number) =>
      limit(async () => {
        controller.signal.throwIfAborted();
        const body = await readPart(staged.path, start, Math.min(partBytes, staged.size - start));
        return bucket.putPart(key, uploadId, index + 1, body, controller.signal);
      });
    const parts = starts.map((start, index) => limitForBlob(() => sendPart(start, index)));
    try {
      await bucket.complete(key, uploadId, await Promise.all(parts));
    } catch (error) {
      controller.abort();
      await Promise.allSettled(parts);
      // If this fails too, the sweep aborts the upload a day later.
      await bucket.abort(key, uploadId).catch(() => undefined);
      throw error;
    }
  }

  async function put(staged: StagedContent): Promise<void> {
    const isSmall = staged.size <= PART_BYTES;
    for (let attempt = 1; ; attempt += 1) {
      const size = await bucket.getSize(toKey(staged.hash));
      if (size === staged.size) return;
      if (attempt > MAX_ATTEMPTS) throw new BucketError("store an object", "its size differs from the size that was sent", undefined);
      // An object of another size is damaged, so these bytes replace it.
      try {
        await (isSmall ? putObject : putParts)(staged);
        if (isSmall) return;
      } catch (error) {
        // The response was lost after the write, or another process wrote too. The next size check decides.
        if (!isBucketError(error) || attempt === MAX_ATTEMPTS || (error.status !== 409 && error.reason !== "NoSuchUpload")) throw error;
      }
    }
  }

  return {
    folder: copies.folder,

    async adopt(staged) {
      await put(staged);
      await copies.add(staged);
    },

    has: async (hash) => (await bucket.getSize(toKey(hash))) !== undefined,

    open: (hash, size) =>
      Promise.resolve({
        size,
        modifiedMs: 0,
        async check() {
          const storedSize = await bucket.getSize(toKey(hash));
          if (storedSize === undefined) throw createMissingBytesError();
          if (storedSize !== size) throw createDamagedBytesError();
        },
        read: (start, end) => readBlob(bucket, hash, { start, end, size }),
        close: () => Promise.resolve(),
        ...(presignedSeconds !== undefined && {
          createUrl: (contentHeaders) => bucket.createSignedUrl(toKey(hash), contentHeaders, presignedSeconds),
        }),
      }),

    withFiles: copies.withFiles,
    sweepCache: copies.sweepCache,

    async remove(hash) {
      await copies.removeCopy(hash);
      await bucket.remove(toKey(hash));
    },

    async cleanUp() {
      for await (const { key, upload, startedMs } of bucket.listUploads(LAYOUT))
        if (startedMs < now() - DAY_MS) await bucket.abort(key, upload);
    },

    async *list() {
      for await (const key of bucket.listKeys(LAYOUT)) {
        const [, shard = "", suffix = ""] = /^blake3-v1\/([0-9a-f]{2})\/([0-9a-f]{62})$/.exec(key) ?? [];
        if (suffix !== "") yield shard + suffix;
      }
    },

    async readStoreId() {
      const marker = await bucket.get(MARKER_KEY);
      return marker?.Body && (await marker.Body.transformToString()).trim();
    },

    async writeStoreId(storeId) {
      await bucket.put(MARKER_KEY, Buffer.from(storeId), true).catch(async (error: unknown) => {
        if (!isBucketError(error) || (error.status !== 412 && error.status !== 501)) throw error;
        if (error.status === 501) await bucket.put(MARKER_KEY, Buffer.from(storeId), false);
      });
    },
  };
}

async function readPart(path: string, start: number, length: number): Promise<Buffer> {
  if (length === 0) return Buffer.alloc(0);
  const part = await buffer(createReadStream(path, { start, end: start + length - 1 }));
  if (part.byteLength < length) throw new Error(`${path} is shorter than it was when it was hashed`);
  return part;
}
