// How much of each pixel is painted: one byte per pixel, from 0 (not at all) to 255 (fully). The saved file's alpha is 255 minus it.

import { clipped, isEmpty, type Rect, type Size, wholeOf } from "./geometry";

export type Coverage = Size & { data: Uint8Array<ArrayBuffer> };

export function emptyCoverage({ width, height }: Size): Coverage {
  return { width, height, data: new Uint8Array(width * height) };
}

/** a * b / 255, rounded, for bytes. */
function scaled(a: number, b: number): number {
  const product = a * b + 128;
  return (product + (product >> 8)) >> 8;
}

/** The new value of a pixel when `amount` is painted over it, or erased from it. */
export function painted(before: number, amount: number, isErasing: boolean): number {
  return isErasing ? scaled(before, 255 - amount) : before + scaled(255 - before, amount);
}

/** Rows `top` to `bottom`, four pixels at once. */
export function invertRows({ data, width }: Coverage, top: number, bottom: number): void {
  const [from, to] = [top * width, bottom * width];
  const firstWord = Math.min(to, Math.ceil(from / 4) * 4);
  const lastWord = Math.max(firstWord, Math.floor(to / 4) * 4);
  const words = new Uint32Array(data.buffer, data.byteOffset + firstWord, (lastWord - firstWord) >> 2);
  for (let at = 0; at < words.length; at += 1) words[at] = ~(words[at] ?? 0);
  for (let at = from; at < firstWord; at += 1) data[at] = 255 - (data[at] ?? 0);
  for (let at = lastWord; at < to; at += 1) data[at] = 255 - (data[at] ?? 0);
}

export function isWholly({ data, width }: Coverage, { left, top, right, bottom }: Rect, value: number): boolean {
  for (let y = top; y < bottom; y += 1) {
    for (let at = y * width + left; at < y * width + right; at += 1) if (data[at] !== value) return false;
  }
  return true;
}

// A picture in tiles of 256 by 256 pixels, so that a step of the history holds only what it changed.
// Guarantees: packing and unpacking give the same bytes; a tile of one value packs into four bytes, and none grows by more than six.

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

// The coverage at a quarter of its width and height, each value the mean of sixteen pixels: shown when zoomed out, and used to compute
// the painted share. Guarantees: correct for every pixel once `update` was called for each change.

export const COARSE = 4;

/** At this scale the means are shown, as the screen shows no single pixel of the picture. */
export function isFar(scale: number): boolean {
  return scale * COARSE <= 1;
}

export type Coarse = Coverage & { update: (rect: Rect) => void; /** 0 to 1. */ paintedShare: () => number };

export function createCoarse(coverage: Coverage): Coarse {
  const { width: edge, height: rows, data: fine } = coverage;
  const width = Math.ceil(edge / COARSE);
  const height = Math.ceil(rows / COARSE);
  const data = new Uint8Array(width * height);
  /** Four pixels at once, if every row begins at a whole word. */
  const words = edge % COARSE === 0 ? new Uint32Array(fine.buffer, fine.byteOffset, fine.length >> 2) : undefined;
  let painted = 0;

  function mean(column: number, row: number): number {
    const [right, bottom] = [Math.min(edge, (column + 1) * COARSE), Math.min(rows, (row + 1) * COARSE)];
    let sum = 0;
    for (let y = row * COARSE; y < bottom; y += 1) {
      for (let at = y * edge + column * COARSE; at < y * edge + right; at += 1) sum += fine[at] ?? 0;
    }
    return Math.round(sum / ((right - column * COARSE) * (bottom - row * COARSE)));
  }
  function setRow(row: number, from: number, to: number): void {
    for (let column = from; column < to; column += 1) {
      const at = row * width + column;
      const now = mean(column, row);
      painted += now - (data[at] ?? 0);
      data[at] = now;
    }
  }
  function setWholeRow(row: number, from: number, to: number, four: Uint32Array): void {
    const first = row * COARSE * width;
    for (let column = from; column < to; column += 1) {
      const at = row * width + column;
      const [one, two] = [four[first + column] ?? 0, four[first + width + column] ?? 0];
      const [three, last] = [four[first + 2 * width + column] ?? 0, four[first + 3 * width + column] ?? 0];
      const even = (one & 0xff00ff) + (two & 0xff00ff) + (three & 0xff00ff) + (last & 0xff00ff);
      const odd = ((one >>> 8) & 0xff00ff) + ((two >>> 8) & 0xff00ff) + ((three >>> 8) & 0xff00ff) + ((last >>> 8) & 0xff00ff);
      const both = even + odd;
      const now = ((both & 0xffff) + (both >>> 16) + 8) >> 4;
      painted += now - (data[at] ?? 0);
      data[at] = now;
    }
  }

  return {
    width,
    height,
    data,
    update({ left, top, right, bottom }) {
      const [from, to] = [Math.floor(left / COARSE), Math.min(width, Math.ceil(right / COARSE))];
      const lastRow = Math.min(height, Math.ceil(bottom / COARSE));
      for (let row = Math.floor(top / COARSE); row < lastRow; row += 1) {
        if (words && (row + 1) * COARSE <= rows) setWholeRow(row, from, to, words);
        else setRow(row, from, to);
      }
    },
    paintedShare: () => (data.length === 0 ? 0 : painted / data.length / 255),
  };
}
