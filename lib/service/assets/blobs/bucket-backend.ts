// Blobs in a bucket: PREFIX/blake3-v1/<aa>/<rest of the hash>. At most a few parts are in memory, across all uploads.

import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { createLimiter } from "@/lib/shared/async";
import { type Content, damagedBytes, missingBytes } from "../blob-store";
import { type Bucket, BucketError, isBucketError, toBucketError } from "./bucket";
import { type SharedBackend } from "./folder-backend";
import { type createLocalCopies } from "./local-copies";

const LAYOUT = "blake3-v1/";
export const MARKER_KEY = "lightdesk-store";
const PART_BYTES = 8 * 1024 ** 2;
const MAX_PARTS = 10_000;
const MAX_CONCURRENT_PARTS = 4;
/** Fewer than all, so that other blobs can be stored while a large one is sent. */
const MAX_CONCURRENT_PARTS_PER_BLOB = 3;
const MAX_ATTEMPTS = 3;
const DAY_MS = 24 * 60 * 60_000;

type Copies = ReturnType<typeof createLocalCopies>;

const toKey = (hash: string) => `${LAYOUT}${hash.slice(0, 2)}/${hash.slice(2)}`;

/** Reads a blob, or its bytes from `start` to `end`. Throws if the blob is missing or not of `size`. */
export async function readBlob(bucket: Bucket, hash: string, part?: { start: number; end: number; size: number }): Promise<Readable> {
  const aborter = new AbortController();
  const first = part?.start ?? 0;
  const requestFrom = async (from: number) => {
    const isWhole = part === undefined && from === 0;
    const object = await bucket
      .get(toKey(hash), isWhole ? undefined : `bytes=${from}-${part?.end ?? ""}`, aborter.signal)
      .catch((error) => {
        // The range is beyond the end, so the blob is shorter than what was stored.
        if (isBucketError(error) && error.status === 416) throw damagedBytes();
        throw error;
      });
    if (!object) throw missingBytes();
    if (!(object.Body instanceof Readable)) throw new BucketError("hand over an object", "it gave no bytes", undefined);
    const total = Number(/\/(\d+)$/.exec(object.ContentRange ?? "")?.[1] ?? object.ContentLength);
    if ((part && total !== part.size) || (!isWhole && object.ContentRange === undefined)) {
      object.Body.destroy();
      throw damagedBytes();
    }
    return { body: object.Body, length: object.ContentLength ?? 0 };
  };

  async function* readPieces(response: Awaited<ReturnType<typeof requestFrom>>) {
    const end = first + response.length;
    let at = first;
    for (let attempt = 1; at < end; attempt += 1) {
      try {
        for await (const chunk of response.body) {
          if (!(chunk instanceof Uint8Array)) continue;
          at += chunk.byteLength;
          yield chunk;
        }
      } catch (error) {
        if (aborter.signal.aborted || attempt >= MAX_ATTEMPTS) throw toBucketError("hand over all of an object", error);
      }
      if (at < end) response = await requestFrom(at);
    }
  }

  const stream = Readable.from(readPieces(await requestFrom(first)), { objectMode: false, highWaterMark: 256 * 1024 });
  stream.once("close", () => aborter.abort());
  return stream;
}

type Options = { bucket: Bucket; copies: Copies; presignedSeconds: number | undefined; now: () => number };

export function createBucketBackend({ bucket, copies, presignedSeconds, now }: Options): SharedBackend {
  const limit = createLimiter(MAX_CONCURRENT_PARTS);
  async function putWhole(staged: Content): Promise<void> {
    await limit(async () => bucket.put(toKey(staged.hash), await readPart(staged.path, 0, staged.size), false));
  }

  async function putParts(staged: Content): Promise<void> {
    const key = toKey(staged.hash);
    const partBytes = Math.max(PART_BYTES, Math.ceil(staged.size / MAX_PARTS));
    const starts = Array.from({ length: Math.ceil(staged.size / partBytes) }, (_, index) => index * partBytes);
    const upload = await bucket.begin(key);
    const failure = new AbortController();
    const limitForBlob = createLimiter(MAX_CONCURRENT_PARTS_PER_BLOB);
    const sendPart = (start: number, index: number) =>
      limit(async () => {
        failure.signal.throwIfAborted();
        const body = await readPart(staged.path, start, Math.min(partBytes, staged.size - start));
        return bucket.putPart(key, upload, index + 1, body, failure.signal);
      });
    const parts = starts.map((start, index) => limitForBlob(() => sendPart(start, index)));
    try {
      await bucket.complete(key, upload, await Promise.all(parts));
    } catch (error) {
      failure.abort();
      await Promise.allSettled(parts);
      // If this fails too, the sweep aborts the upload a day later.
      await bucket.abort(key, upload).catch(() => undefined);
      throw error;
    }
  }

  async function put(staged: Content): Promise<void> {
    const isSmall = staged.size <= PART_BYTES;
    for (let attempt = 1; ; attempt += 1) {
      const size = await bucket.sizeOf(toKey(staged.hash));
      if (size === staged.size) return;
      if (attempt > MAX_ATTEMPTS) throw new BucketError("keep an object", "it has another size than what was sent", undefined);
      // An object of another size is damaged, so these bytes replace it.
      try {
        await (isSmall ? putWhole : putParts)(staged);
        if (isSmall) return;
      } catch (error) {
        // The response was lost after the write, or another process has written too. The size decides.
        if (!isBucketError(error) || attempt === MAX_ATTEMPTS || (error.status !== 409 && error.reason !== "NoSuchUpload")) throw error;
      }
    }
  }

  return {
    folder: copies.folder,

    async adopt(staged) {
      await put(staged);
      await copies.keep(staged);
    },

    has: async (hash) => (await bucket.sizeOf(toKey(hash))) !== undefined,

    open: (hash, size) =>
      Promise.resolve({
        size,
        modifiedMs: 0,
        async check() {
          const storedSize = await bucket.sizeOf(toKey(hash));
          if (storedSize === undefined) throw missingBytes();
          if (storedSize !== size) throw damagedBytes();
        },
        read: (start, end) => readBlob(bucket, hash, { start, end, size }),
        close: () => Promise.resolve(),
        ...(presignedSeconds !== undefined && {
          address: (contentHeaders) => bucket.addressOf(toKey(hash), contentHeaders, presignedSeconds),
        }),
      }),

    withFiles: copies.withFiles,
    sweepCache: copies.sweepCache,

    async remove(hash) {
      await copies.forget(hash);
      await bucket.remove(toKey(hash));
    },

    async tidy() {
      for await (const { key, upload, startedMs: begunMs } of bucket.uploads(LAYOUT))
        if (begunMs < now() - DAY_MS) await bucket.abort(key, upload);
    },

    async *list() {
      for await (const key of bucket.keys(LAYOUT)) {
        const [, shard = "", rest = ""] = /^blake3-v1\/([0-9a-f]{2})\/([0-9a-f]{62})$/.exec(key) ?? [];
        if (rest !== "") yield shard + rest;
      }
    },

    async readMark() {
      const marker = await bucket.get(MARKER_KEY);
      return marker?.Body && (await marker.Body.transformToString()).trim();
    },

    async writeMark(mark) {
      await bucket.put(MARKER_KEY, Buffer.from(mark), true).catch(async (error: unknown) => {
        if (!isBucketError(error) || (error.status !== 412 && error.status !== 501)) throw error;
        if (error.status === 501) await bucket.put(MARKER_KEY, Buffer.from(mark), false);
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
