// The pieces of a file without its metadata: parts of the original, a few bytes in between, and zeros.
// Guarantees: parts follow the order of the original, so the file can be cleaned while it streams, from any position.
// Must never: keep what was not named: anything that a format's reader does not know is left out.

import "server-only";

/** `bytes`: in base64. */
export type Piece = { from: number; to: number } | { bytes: string } | { zeros: number };
export type Reading = {
  size: number;
  /** Answers fewer bytes than requested only at the end. */
  read(at: number, length: number): Promise<Buffer>;
};

/** The file is not of the kind that its first bytes name, or contains something that cannot be removed. */
export class NotCleanable extends Error {}

const MOST_PIECES = 4000;

export function createPieces() {
  const pieces: Piece[] = [];
  const push = (piece: Piece) => {
    if (pieces.length >= MOST_PIECES) throw new NotCleanable("too many pieces");
    pieces.push(piece);
  };
  return {
    pieces,
    keep(from: number, to: number): void {
      const last = pieces.at(-1);
      if (last && "to" in last && last.to === from) last.to = to;
      else if (to > from) push({ from, to });
    },
    add(bytes: Uint8Array): void {
      const last = pieces.at(-1);
      if (last && "bytes" in last) last.bytes = Buffer.concat([Buffer.from(last.bytes, "base64"), bytes]).toString("base64");
      else push({ bytes: Buffer.from(bytes).toString("base64") });
    },
    zeros(count: number): void {
      if (count > 0) push({ zeros: count });
    },
  };
}
export type Pieces = ReturnType<typeof createPieces>;

export function lengthOf(piece: Piece): number {
  if ("to" in piece) return piece.to - piece.from;
  return "zeros" in piece ? piece.zeros : Buffer.byteLength(piece.bytes, "base64");
}

/** Reads exactly that many bytes; a file that ends earlier is broken. */
export async function exactly({ size, read }: Reading, at: number, length: number): Promise<Buffer> {
  if (at + length > size) throw new NotCleanable("the file ends too early");
  const bytes = await read(at, length);
  if (bytes.length < length) throw new NotCleanable("the file ends too early");
  return bytes;
}
