// A file that is written while it is read: pieces of text as a stream of bytes.
// Guarantees: a piece is made when the browser has taken the one before; when a browser goes away, no more are made.

import "server-only";

export function textStream(pieces: AsyncGenerator<string, void>, onGone: () => void = () => undefined): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        let piece = await pieces.next();
        while (!piece.done && piece.value === "") piece = await pieces.next();
        if (piece.done) controller.close();
        else controller.enqueue(encoder.encode(piece.value));
      },
      cancel: onGone,
    },
    { highWaterMark: 0 },
  );
}
