// Helpers for web streams.

import "server-only";
import { toByteStream } from "@/lib/shared/web-stream";

/** Reports each chunk. Reads only on demand, because the sender may not have to send at all. */
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

/** Reads at least `minBytes` if available. `rest` returns a stream of all bytes, which the caller must read or cancel. */
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
  const rest = () =>
    toByteStream(
      () => {
        const bufferedChunk = chunks.shift();
        return bufferedChunk ? Promise.resolve({ value: bufferedChunk }) : reader.read();
      },
      (reason) => reader.cancel(reason),
    );
  return { size, bytes: () => (chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, size)), rest };
}

/** Returns undefined if there are more than `limit` bytes. Rejects as soon as `signal` is aborted. Reports each chunk. */
export async function readBytes(
  source: ReadableStream<Uint8Array> | null,
  limit: number,
  options?: ReadOptions,
): Promise<Uint8Array | undefined> {
  const { size, bytes, rest } = await readFirst(source, limit + 1, options);
  if (size <= limit) return bytes();
  // The sender may fail while it is cancelled, because nothing more is read.
  await rest()
    .cancel()
    .catch(() => undefined);
  return undefined;
}

/** Returns all bytes, or a stream of them if there are more than `limit`. The caller must read or cancel the stream. */
export async function readUpTo(
  source: ReadableStream<Uint8Array> | null,
  limit: number,
): Promise<{ bytes: Uint8Array } | { stream: ReadableStream<Uint8Array> }> {
  const { size, bytes, rest } = await readFirst(source, limit + 1);
  return size <= limit ? { bytes: bytes() } : { stream: rest() };
}

/** Returns the first `max` bytes, or fewer if there are no more. Cancels the stream. */
export async function readHead(source: ReadableStream<Uint8Array> | null, max: number, options?: ReadOptions): Promise<Uint8Array> {
  const { bytes, rest } = await readFirst(source, max, options);
  const head = bytes().subarray(0, max);
  await rest()
    .cancel()
    .catch(() => undefined);
  return head;
}

/** `head` has at least the first `minBytes`, if available. `rest` is a stream of all bytes, which the caller must read or cancel. */
export async function splitHead(source: ReadableStream<Uint8Array>, minBytes: number) {
  const { bytes, rest } = await readFirst(source, minBytes);
  return { head: bytes(), rest: rest() };
}

export function toStream(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
}
