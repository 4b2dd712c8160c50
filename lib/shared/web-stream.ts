// Byte streams that are read on demand. Readable.toWeb may end the process when a reader cancels (docs/decisions/0030).

import { type Readable } from "node:stream";

/** `readChunk` may still be pending when `onCancel` runs. An error of `readChunk` becomes the stream's error. */
export function toByteStream(
  readChunk: () => Promise<IteratorResult<Uint8Array, unknown> | ReadableStreamReadResult<Uint8Array>>,
  onCancel: (reason: unknown) => unknown,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const chunk = await readChunk();
        if (chunk.done) controller.close();
        else controller.enqueue(chunk.value);
      },
      async cancel(reason) {
        await onCancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

export function toWebStream(source: Readable): ReadableStream<Uint8Array> {
  const chunks: AsyncIterator<Uint8Array> = source[Symbol.asyncIterator]();
  return toByteStream(
    () => chunks.next(),
    () => {
      // Some streams end with an error when they are cancelled, and there is no reader to report it to.
      source.on("error", () => undefined);
      source.destroy();
    },
  );
}
