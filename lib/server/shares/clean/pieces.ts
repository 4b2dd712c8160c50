// The pieces of a file without its metadata: parts of the original, a few new bytes in between, and zeros.
// Parts are in the original order, so a file can be cleaned while it streams, from any position.

import "server-only";

/** `bytes` is base64. */
export type Piece = { from: number; to: number } | { bytes: string } | { zeros: number };
export type MediaReader = {
  size: number;
  /** Returns fewer bytes than requested only at the end. */
  read(offset: number, length: number): Promise<Buffer>;
};

/** The file doesn't match the format of its first bytes, or contains something that cannot be removed. */
export class NotCleanableError extends Error {}

const MAX_PIECES = 4000;

export function createPieces() {
  const pieces: Piece[] = [];
  const push = (piece: Piece) => {
    if (pieces.length >= MAX_PIECES) throw new NotCleanableError("too many pieces");
    pieces.push(piece);
  };
  return {
    pieces,
    keep(from: number, to: number): void {
      const lastPiece = pieces.at(-1);
      if (lastPiece && "to" in lastPiece && lastPiece.to === from) lastPiece.to = to;
      else if (to > from) push({ from, to });
    },
    add(bytes: Uint8Array): void {
      const lastPiece = pieces.at(-1);
      if (lastPiece && "bytes" in lastPiece)
        lastPiece.bytes = Buffer.concat([Buffer.from(lastPiece.bytes, "base64"), bytes]).toString("base64");
      else push({ bytes: Buffer.from(bytes).toString("base64") });
    },
    addZeros(count: number): void {
      if (count > 0) push({ zeros: count });
    },
  };
}
export type Pieces = ReturnType<typeof createPieces>;

export function getPieceLength(piece: Piece): number {
  if ("to" in piece) return piece.to - piece.from;
  return "zeros" in piece ? piece.zeros : Buffer.byteLength(piece.bytes, "base64");
}

/** Reads `length` bytes, and throws if the file ends earlier. */
export async function readExactly({ size, read }: MediaReader, offset: number, length: number): Promise<Buffer> {
  if (offset + length > size) throw new NotCleanableError("the file ends too early");
  const bytes = await read(offset, length);
  if (bytes.length < length) throw new NotCleanableError("the file ends too early");
  return bytes;
}

export const MAX_EXIF_BYTES = 64 * 1024;
const ORIENTATION_TAG = 0x0112;

export function writeOrientationExif(orientation: number): Buffer {
  const tiff = Buffer.alloc(26);
  tiff.write("MM\0*", 0, "latin1");
  tiff.writeUInt32BE(8, 4);
  tiff.writeUInt16BE(1, 8);
  tiff.writeUInt16BE(ORIENTATION_TAG, 10);
  tiff.writeUInt16BE(3, 12);
  tiff.writeUInt32BE(1, 14);
  tiff.writeUInt16BE(orientation, 18);
  return tiff;
}
