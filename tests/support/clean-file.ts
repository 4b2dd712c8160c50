import { expect } from "vitest";
import { cleanFile } from "@/lib/server/shares/clean/clean";
import { getPieceLength, type Piece } from "@/lib/server/shares/clean/pieces";
import { createCleanStream, findOriginalRange, selectPieces } from "@/lib/server/shares/shared-bytes";

/** Returns the pieces of the file that a share's visitor receives, or undefined if it can't be cleaned. */
export const splitIntoPieces = (file: Buffer) =>
  cleanFile({ size: file.length, read: (offset, length) => Promise.resolve(file.subarray(offset, offset + length)) });

/** Returns the file without its metadata, after checking that its ranges match the whole. */
export async function cleanAndVerify(file: Buffer): Promise<Buffer | undefined> {
  const pieces = await splitIntoPieces(file);
  if (!pieces) return undefined;
  const bytes = await streamPieces(file, pieces);
  expect(bytes.length).toBe(pieces.reduce((sum, piece) => sum + getPieceLength(piece), 0));
  const size = bytes.length;
  for (const [from, to] of [
    [0, 1],
    [5, 40],
    [size - 30, size],
    [Math.floor(size / 2), size],
  ] as const)
    // prettier-ignore
    if (from >= 0 && to <= size) expect((await streamPieces(file, selectPieces(pieces, from, to))).equals(bytes.subarray(from, to))).toBe(true);
  return bytes;
}

async function streamPieces(file: Buffer, pieces: readonly Piece[]): Promise<Buffer> {
  const span = findOriginalRange(pieces) ?? { from: 0, to: 0 };
  const original = new Blob([new Uint8Array(file.subarray(span.from, span.to))]).stream();
  return Buffer.from(await new Response(createCleanStream(pieces, original, span.from)).arrayBuffer());
}
