// How much of each pixel is painted: one byte per pixel, from 0 (not at all) to 255 (fully). The saved file's alpha is 255 minus the coverage.

// Points, sizes and rectangles of pixels. Rectangles are half open (`right` and `bottom` are exclusive) and have whole pixels.

export type Point = { x: number; y: number };
export type Size = { width: number; height: number };
export type Rect = { left: number; top: number; right: number; bottom: number };

export const emptyRect: Rect = { left: 0, top: 0, right: 0, bottom: 0 };

export function fullRect({ width, height }: Size): Rect {
  return { left: 0, top: 0, right: width, bottom: height };
}

export function isEmpty({ left, top, right, bottom }: Rect): boolean {
  return right <= left || bottom <= top;
}

export function intersect(rect: Rect, other: Rect): Rect {
  return {
    left: Math.max(rect.left, other.left),
    top: Math.max(rect.top, other.top),
    right: Math.min(rect.right, other.right),
    bottom: Math.min(rect.bottom, other.bottom),
  };
}

/** The smallest rectangle that contains both. */
export function union(rect: Rect | undefined, other: Rect): Rect {
  if (!rect || isEmpty(rect)) return other;
  if (isEmpty(other)) return rect;
  return {
    left: Math.min(rect.left, other.left),
    top: Math.min(rect.top, other.top),
    right: Math.max(rect.right, other.right),
    bottom: Math.max(rect.bottom, other.bottom),
  };
}

export function containsRect(rect: Rect, other: Rect): boolean {
  return rect.left <= other.left && rect.top <= other.top && rect.right >= other.right && rect.bottom >= other.bottom;
}

/** The smallest rectangle of whole pixels around any area. */
export function roundOut({ left, top, right, bottom }: Rect): Rect {
  return { left: Math.floor(left), top: Math.floor(top), right: Math.ceil(right), bottom: Math.ceil(bottom) };
}

/** The rectangle between two corners in any order, including the pixel under each corner. */
export function rectBetween(point: Point, other: Point): Rect {
  return {
    left: Math.floor(Math.min(point.x, other.x)),
    top: Math.floor(Math.min(point.y, other.y)),
    right: Math.floor(Math.max(point.x, other.x)) + 1,
    bottom: Math.floor(Math.max(point.y, other.y)) + 1,
  };
}

export function distance(point: Point, other: Point): number {
  return Math.hypot(point.x - other.x, point.y - other.y);
}

export type Coverage = Size & { data: Uint8Array<ArrayBuffer> };

export function emptyCoverage({ width, height }: Size): Coverage {
  return { width, height, data: new Uint8Array(width * height) };
}

/** a * b / 255, rounded, for bytes. */
function multiplyBytes(a: number, b: number): number {
  const product = a * b + 128;
  return (product + (product >> 8)) >> 8;
}

/** The new value of a pixel when `amount` is painted over it, or erased from it. */
export function paintPixel(before: number, amount: number, isErasing: boolean): number {
  return isErasing ? multiplyBytes(before, 255 - amount) : before + multiplyBytes(255 - before, amount);
}

/** Rows `top` to `bottom`, four pixels at once. */
export function invertRows({ data, width }: Coverage, top: number, bottom: number): void {
  const [from, to] = [top * width, bottom * width];
  const firstWord = Math.min(to, Math.ceil(from / 4) * 4);
  const lastWord = Math.max(firstWord, Math.floor(to / 4) * 4);
  const words = new Uint32Array(data.buffer, data.byteOffset + firstWord, (lastWord - firstWord) >> 2);
  for (let index = 0; index < words.length; index += 1) words[index] = ~(words[index] ?? 0);
  for (let index = from; index < firstWord; index += 1) data[index] = 255 - (data[index] ?? 0);
  for (let index = lastWord; index < to; index += 1) data[index] = 255 - (data[index] ?? 0);
}

// A picture in tiles of 256 by 256 pixels, so that a history step stores only changed tiles.

export const TILE = 256;
/** Rows of TILE bytes, also at the right edge. A uniform tile is a single byte. */
export type Tile = Uint8Array<ArrayBuffer>;
export type SavedTiles = Map<number, Tile>;

export function tileColumns({ width }: Size): number {
  return Math.ceil(width / TILE);
}

export function tileRect(size: Size, index: number): Rect {
  const columns = tileColumns(size);
  const [left, top] = [(index % columns) * TILE, Math.floor(index / columns) * TILE];
  return { left, top, right: Math.min(size.width, left + TILE), bottom: Math.min(size.height, top + TILE) };
}

export function findTiles(size: Size, rect: Rect): number[] {
  const { left, top, right, bottom } = intersect(rect, fullRect(size));
  if (isEmpty({ left, top, right, bottom })) return [];
  const columns = tileColumns(size);
  const tiles: number[] = [];
  for (let row = Math.floor(top / TILE); row * TILE < bottom; row += 1) {
    for (let column = Math.floor(left / TILE); column * TILE < right; column += 1) tiles.push(row * columns + column);
  }
  return tiles;
}

export function copyTile({ data, width }: Coverage, { left, top, right, bottom }: Rect): Tile {
  const tile = new Uint8Array(TILE * TILE);
  for (let y = top; y < bottom; y += 1) tile.set(data.subarray(y * width + left, y * width + right), (y - top) * TILE);
  return tile;
}

export function compactTile(tile: Tile): Tile {
  return tile.every((value) => value === tile[0]) ? tile.slice(0, 1) : tile;
}

export function putTile({ data, width }: Coverage, { left, top, right, bottom }: Rect, tile: Tile): void {
  for (let y = top, at = 0; y < bottom; y += 1, at += TILE) {
    if (tile.length === 1) data.fill(tile[0] ?? 0, y * width + left, y * width + right);
    else data.set(tile.subarray(at, at + right - left), y * width + left);
  }
}

// The coverage at a quarter of its width and height, each value the mean of sixteen pixels. It is shown when zoomed out and gives the painted
// share. Callers must call `update` for each change.

export const COARSE = 4;

/** Whether single pixels are invisible at this scale, so that the means are shown. */
export function isFar(scale: number): boolean {
  return scale * COARSE <= 1;
}

export type CoarseCoverage = Coverage & { update: (rect: Rect) => void; /** 0 to 1. */ paintedShare: () => number };

export function createCoarse(coverage: Coverage): CoarseCoverage {
  const { width: edge, height: rows, data: fine } = coverage;
  const width = Math.ceil(edge / COARSE);
  const height = Math.ceil(rows / COARSE);
  const data = new Uint8Array(width * height);
  /** Reads four pixels at once, if every row starts at a whole word. */
  const words = edge % COARSE === 0 ? new Uint32Array(fine.buffer, fine.byteOffset, fine.length >> 2) : undefined;
  let paintedSum = 0;

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
      paintedSum += now - (data[at] ?? 0);
      data[at] = now;
    }
  }
  function setWholeRow(row: number, from: number, to: number, four: Uint32Array): void {
    const first = row * COARSE * width;
    for (let column = from; column < to; column += 1) {
      const at = row * width + column;
      const [left, two] = [four[first + column] ?? 0, four[first + width + column] ?? 0];
      const [three, last] = [four[first + 2 * width + column] ?? 0, four[first + 3 * width + column] ?? 0];
      const even = (left & 0xff00ff) + (two & 0xff00ff) + (three & 0xff00ff) + (last & 0xff00ff);
      const odd = ((left >>> 8) & 0xff00ff) + ((two >>> 8) & 0xff00ff) + ((three >>> 8) & 0xff00ff) + ((last >>> 8) & 0xff00ff);
      const both = even + odd;
      const now = ((both & 0xffff) + (both >>> 16) + 8) >> 4;
      paintedSum += now - (data[at] ?? 0);
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
    paintedShare: () => (data.length === 0 ? 0 : paintedSum / data.length / 255),
  };
}
