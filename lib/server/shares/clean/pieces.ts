// What a file without its metadata is made of: stretches of the original, a few bytes in between, and zeros.
// Guarantees: stretches come in the order of the original, so that it can be cleaned while it streams, from any place on.
// Must never: keep what was not named: what a format's reader does not know is left out.

import "server-only";

/** `bytes`: in base64. */
export type Piece = { from: number; to: number } | { bytes: string } | { zeros: number };
export type Reading = {
  size: number;
  /** Fewer than asked for only at the end. */
  read(at: number, length: number): Promise<Buffer>;
};

/** The file is not what its first bytes said, or holds what cannot be taken out. */
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
    add: (bytes: Uint8Array) => push({ bytes: Buffer.from(bytes).toString("base64") }),
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

/** Exactly so many; a file that ends before is broken. */
export async function exactly({ size, read }: Reading, at: number, length: number): Promise<Buffer> {
  if (at + length > size) throw new NotCleanable("the file ends too early");
  const bytes = await read(at, length);
  if (bytes.length < length) throw new NotCleanable("the file ends too early");
  return bytes;
}
