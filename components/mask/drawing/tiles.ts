// A picture in tiles of 256 by 256 pixels, so that a step of the history holds only what it changed.
// Guarantees: packing and unpacking give the same bytes; a tile of one value packs into four bytes, and none grows by more than six.

import { type Coverage } from "./coverage";
import { clipped, isEmpty, type Rect, type Size, wholeOf } from "./geometry";

export const TILE = 256;
const LEAST_RUN = 8;

export function tileColumns({ width }: Size): number {
  return Math.ceil(width / TILE);
}

export function tileRect(size: Size, index: number): Rect {
  const columns = tileColumns(size);
  const [left, top] = [(index % columns) * TILE, Math.floor(index / columns) * TILE];
  return { left, top, right: Math.min(size.width, left + TILE), bottom: Math.min(size.height, top + TILE) };
}

export function tilesIn(size: Size, rect: Rect): number[] {
  const { left, top, right, bottom } = clipped(rect, wholeOf(size));
  if (isEmpty({ left, top, right, bottom })) return [];
  const columns = tileColumns(size);
  const tiles: number[] = [];
  for (let row = Math.floor(top / TILE); row * TILE < bottom; row += 1) {
    for (let column = Math.floor(left / TILE); column * TILE < right; column += 1) tiles.push(row * columns + column);
  }
  return tiles;
}

const raw = new Uint8Array(TILE * TILE);
const packedInto = new Uint8Array(TILE * TILE + 16);

/** Its rows one after another, in a buffer that the next call reuses. */
function gather({ data, width }: Coverage, { left, top, right, bottom }: Rect): Uint8Array {
  let at = 0;
  for (let y = top; y < bottom; y += 1) {
    raw.set(data.subarray(y * width + left, y * width + right), at);
    at += right - left;
  }
  return raw.subarray(0, at);
}

export function packTile(coverage: Coverage, index: number): Uint8Array {
  return packRect(coverage, tileRect(coverage, index));
}

/** The rectangle must be no larger than one tile. */
export function packRect(coverage: Coverage, rect: Rect): Uint8Array {
  return pack(gather(coverage, rect));
}

export function unpackTile(coverage: Coverage, index: number, packed: Uint8Array): void {
  const { left, top, right, bottom } = tileRect(coverage, index);
  const bytes = raw.subarray(0, (right - left) * (bottom - top));
  unpack(packed, bytes);
  for (let y = top, at = 0; y < bottom; y += 1, at += right - left) {
    coverage.data.set(bytes.subarray(at, at + right - left), y * coverage.width + left);
  }
}

/** Alternates runs and plain stretches: an even number n means n/2 times the next byte, an odd one (n-1)/2 bytes as they are. */
function pack(bytes: Uint8Array): Uint8Array {
  let written = 0;
  const writeLength = (length: number) => {
    for (let rest = length; ; rest >>>= 7) {
      if (rest < 128) {
        packedInto[written++] = rest;
        return;
      }
      packedInto[written++] = (rest & 127) | 128;
    }
  };
  let stretchFrom = 0;
  const endStretch = (end: number): boolean => {
    if (end === stretchFrom) return true;
    // A tile that does not pack is kept as it is: one stretch.
    if (written + end - stretchFrom + 4 > bytes.length) return false;
    writeLength((end - stretchFrom) * 2 + 1);
    packedInto.set(bytes.subarray(stretchFrom, end), written);
    written += end - stretchFrom;
    return true;
  };
  for (let at = 0; at < bytes.length;) {
    const value = bytes[at];
    let end = at + 1;
    while (end < bytes.length && bytes[end] === value) end += 1;
    if (end - at >= LEAST_RUN) {
      if (!endStretch(at)) return asOneStretch(bytes);
      writeLength((end - at) * 2);
      packedInto[written++] = value ?? 0;
      stretchFrom = end;
    }
    at = end;
  }
  return endStretch(bytes.length) ? packedInto.slice(0, written) : asOneStretch(bytes);
}

function asOneStretch(bytes: Uint8Array): Uint8Array {
  const length = bytes.length * 2 + 1;
  const packed = new Uint8Array(bytes.length + 3);
  packed.set([(length & 127) | 128, ((length >>> 7) & 127) | 128, length >>> 14]);
  packed.set(bytes, 3);
  return packed;
}

function unpack(packed: Uint8Array, into: Uint8Array): void {
  let at = 0;
  for (let read = 0; read < packed.length && at < into.length;) {
    let length = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = packed[read++] ?? 0;
      length |= (byte & 127) << shift;
      if (byte < 128) break;
    }
    const count = length >>> 1;
    if (length % 2 === 0) into.fill(packed[read++] ?? 0, at, at + count);
    else into.set(packed.subarray(read, (read += count)), at);
    at += count;
  }
}
