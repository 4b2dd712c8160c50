// Helpers for web streams.

import "server-only";
import { toByteStream } from "@/lib/shared/web-stream";

/** Reports each chunk. Reads only on demand, because the bytes may not be needed at all. */
export function watchChunks(source: ReadableStream<Uint8Array>, onChunk: () => void): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  return toByteStream(
    async () => {
      const next = await reader.read();
      if (!next.done) onChunk();
      return next;
    },
    (reason) => reader.cancel(reason),
  );
}

type ReadOptions = { signal?: AbortSignal; onChunk?: (chunk: Uint8Array) => void };

/** Reads at least `minBytes` if available. The caller must read or cancel the stream from `openStream`, which has all bytes. */
async function readFirst(source: ReadableStream<Uint8Array> | null, minBytes: number, { signal, onChunk }: ReadOptions = {}) {
  const reader = (source ?? new Blob([]).stream()).getReader();
  // Node doesn't forward a request's signal once the request is collected, so the body is cancelled explicitly.
  const cancelReader = () => void reader.cancel(signal?.reason).catch(() => undefined);
  signal?.addEventListener("abort", cancelReader, { once: true });
  if (signal?.aborted) cancelReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    while (size < minBytes) {
      const next = await reader.read();
      if (next.done) break;
      onChunk?.(next.value);
      chunks.push(next.value);
      size += next.value.byteLength;
    }
    signal?.throwIfAborted();
  } finally {
    signal?.removeEventListener("abort", cancelReader);
  }
  const openStream = (abortSignal?: AbortSignal) => {
    abortSignal?.addEventListener("abort", cancelReader, { once: true });
    return toByteStream(
      () => {
        const bufferedChunk = chunks.shift();
        return bufferedChunk ? Promise.resolve({ value: bufferedChunk }) : reader.read();
      },
      (reason) => reader.cancel(reason),
    );
  };
  return { size, getBytes: () => (chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, size)), openStream };
}

/** Returns undefined if there are more than `limit` bytes. Rejects as soon as `signal` is aborted. Reports each chunk. */
export async function readBytes(
  source: ReadableStream<Uint8Array> | null,
  limit: number,
  options?: ReadOptions,
): Promise<Uint8Array | undefined> {
  const { size, getBytes, openStream } = await readFirst(source, limit + 1, options);
  if (size <= limit) return getBytes();
  // Ignores errors of the sender, because nothing more is read.
  await openStream()
    .cancel()
    .catch(() => undefined);
  return undefined;
}

/** Returns all bytes, or a stream of them if there are more than `limit`. The caller must read or cancel the stream. */
export async function readUpTo(
  source: ReadableStream<Uint8Array> | null,
  limit: number,
  options: ReadOptions,
): Promise<{ bytes: Uint8Array } | { stream: ReadableStream<Uint8Array> }> {
  const { size, getBytes, openStream } = await readFirst(source, limit + 1, options);
  return size <= limit ? { bytes: getBytes() } : { stream: openStream(options.signal) };
}

/** Returns the first `max` bytes, or fewer if there are no more. Cancels the stream. */
export async function readHead(source: ReadableStream<Uint8Array> | null, max: number, options?: ReadOptions): Promise<Uint8Array> {
  const { getBytes, openStream } = await readFirst(source, max, options);
  const head = getBytes().subarray(0, max);
  await openStream()
    .cancel()
    .catch(() => undefined);
  return head;
}

/** `head` has at least the first `minBytes`, if available. `rest` is a stream of all bytes, which the caller must read or cancel. */
export async function splitHead(source: ReadableStream<Uint8Array>, minBytes: number, options: ReadOptions) {
  const { getBytes, openStream } = await readFirst(source, minBytes, options);
  return { head: getBytes(), rest: openStream() };
}

export function toStream(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
}
