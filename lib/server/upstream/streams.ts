// Helpers for web streams.

import "server-only";

/** Reports each chunk. Nothing is read before it is asked for: the sender may not have to send at all. */
export function watched(source: ReadableStream<Uint8Array>, onChunk: () => void): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await reader.read();
        if (next.done) return controller.close();
        onChunk();
        controller.enqueue(next.value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** Undefined if there is more than `limit`; the rest is not read. Rejects as soon as `signal` is aborted. Reports each chunk. */
export async function readBytes(
  source: ReadableStream<Uint8Array> | null,
  limit: number,
  { signal, onChunk }: { signal?: AbortSignal; onChunk?: (chunk: Uint8Array) => void } = {},
): Promise<Uint8Array | undefined> {
  if (source === null) return new Uint8Array(0);
  const reader = source.getReader();
  // A request's signal stays silent once the request is freed, so the body is cancelled explicitly.
  const leave = () => void reader.cancel(signal?.reason).catch(() => undefined);
  signal?.addEventListener("abort", leave, { once: true });
  if (signal?.aborted) leave();
  try {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      onChunk?.(next.value);
      size += next.value.byteLength;
      if (size > limit) {
        // If cancelling the sender fails, that does not matter: nothing more is read.
        await reader.cancel().catch(() => undefined);
        return undefined;
      }
      chunks.push(next.value);
    }
    signal?.throwIfAborted();
    const [only] = chunks;
    return only && chunks.length === 1 ? only : Buffer.concat(chunks, size);
  } finally {
    signal?.removeEventListener("abort", leave);
  }
}

/** All bytes, or a stream of them if there are more than `limit`, which the caller must read or cancel. */
export async function readUpTo(
  source: ReadableStream<Uint8Array> | null,
  limit: number,
): Promise<{ bytes: Uint8Array } | { stream: ReadableStream<Uint8Array> }> {
  if (source === null) return { bytes: new Uint8Array(0) };
  const reader = source.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    chunks.push(next.value);
    size += next.value.byteLength;
    if (size <= limit) continue;
    const stream = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const early = chunks.shift();
          const { done, value } = early ? { done: false, value: early } : await reader.read();
          if (done || !value) return controller.close();
          controller.enqueue(value);
        },
        cancel: (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    );
    return { stream };
  }
  const [only] = chunks;
  return { bytes: only && chunks.length === 1 ? only : Buffer.concat(chunks, size) };
}

export function oneChunk(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
}
