// A Node stream as a web stream. Readable.toWeb may end the process when a reader leaves (docs/decisions/0030).

import { type Readable } from "node:stream";

export function toWebStream(source: Readable): ReadableStream<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await chunks.next();
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
      cancel() {
        // Some streams end with an error when they are abandoned; there is no reader to tell.
        source.on("error", () => undefined);
        source.destroy();
      },
    },
    { highWaterMark: 0 },
  );
}
