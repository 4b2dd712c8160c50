// Streams a part of a file without its metadata, from a part of the original.
// Guarantees: bytes of the original pass only if a piece names them; holds one chunk at a time; an
// original that ends early breaks the stream.

import "server-only";
import { lengthOf, type Piece } from "./clean/pieces";

/** The parts of the pieces between `from` and `to`, counted in the cleaned file. */
export function piecesBetween(pieces: readonly Piece[], from: number, to: number): Piece[] {
  const found: Piece[] = [];
  let at = 0;
  for (const piece of pieces) {
    const length = lengthOf(piece);
    const [start, end] = [Math.max(0, from - at), Math.min(length, to - at)];
    at += length;
    if (start >= end) continue;
    if ("to" in piece) found.push({ from: piece.from + start, to: piece.from + end });
    else if ("zeros" in piece) found.push({ zeros: end - start });
    else found.push({ bytes: Buffer.from(piece.bytes, "base64").subarray(start, end).toString("base64") });
  }
  return found;
}

/** The part of the original that the pieces need; undefined if they need none. */
export function spanOf(pieces: readonly Piece[]): { from: number; to: number } | undefined {
  const kept = pieces.filter((piece) => "to" in piece);
  const [first, last] = [kept[0], kept.at(-1)];
  return first && last && { from: first.from, to: last.to };
}

const ZEROS = 64 * 1024;

/** `original` begins at offset `at` of the original file. */
export function cleanStream(pieces: readonly Piece[], original: ReadableStream<Uint8Array> | null, at: number): ReadableStream<Uint8Array> {
  const source = original?.getReader();
  const made = make(pieces, source, at);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await made.next();
        if (!next.done) return controller.enqueue(next.value);
        controller.close();
        // Bytes after the last piece are not needed.
        await source?.cancel().catch(() => undefined);
      },
      cancel: (reason) => source?.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

async function* make(
  pieces: readonly Piece[],
  source: ReadableStreamDefaultReader<Uint8Array> | undefined,
  at: number,
): AsyncGenerator<Uint8Array, void> {
  let chunk: Uint8Array = new Uint8Array(0);
  /** Where in the original the chunk begins. */
  let begin = at;
  for (const piece of pieces) {
    if ("bytes" in piece) yield Buffer.from(piece.bytes, "base64");
    else if ("zeros" in piece) {
      for (let left = piece.zeros; left > 0; left -= ZEROS) yield new Uint8Array(Math.min(left, ZEROS));
    } else {
      for (let from = piece.from; from < piece.to;) {
        const part = chunk.subarray(Math.max(0, from - begin), Math.max(0, piece.to - begin));
        if (part.byteLength > 0) {
          yield part;
          from += part.byteLength;
          continue;
        }
        begin += chunk.byteLength;
        const next = await source?.read();
        if (!next || next.done) throw new Error("the original ended too early");
        chunk = next.value;
      }
    }
  }
}
