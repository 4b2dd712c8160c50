// Stores how much of each pixel is painted: one byte per pixel, from 0 (not at all) to 255 (fully). The saved file's alpha is 255 minus the coverage.

// Points, sizes and rectangles of pixels. Rectangles are half open (`right` and `bottom` are exclusive) and have integer coordinates.

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

export function intersect(rect: Rect, otherRect: Rect): Rect {
  return {
    left: Math.max(rect.left, otherRect.left),
    top: Math.max(rect.top, otherRect.top),
    right: Math.min(rect.right, otherRect.right),
    bottom: Math.min(rect.bottom, otherRect.bottom),
  };
}

/** The smallest rectangle that contains both. */
export function union(rect: Rect | undefined, otherRect: Rect): Rect {
  if (!rect || isEmpty(rect)) return otherRect;
  if (isEmpty(otherRect)) return rect;
  return {
    left: Math.min(rect.left, otherRect.left),
    top: Math.min(rect.top, otherRect.top),
    right: Math.max(rect.right, otherRect.right),
    bottom: Math.max(rect.bottom, otherRect.bottom),
  };
}

export function containsRect(rect: Rect, otherRect: Rect): boolean {
  return rect.left <= otherRect.left && rect.top <= otherRect.top && rect.right >= otherRect.right && rect.bottom >= otherRect.bottom;
}

/** The smallest rectangle of whole pixels around any area. */
export function roundOut({ left, top, right, bottom }: Rect): Rect {
  return { left: Math.floor(left), top: Math.floor(top), right: Math.ceil(right), bottom: Math.ceil(bottom) };
}

/** The rectangle between two corners in any order, including the pixel under each corner. */
export function createRectFromCorners(point: Point, otherPoint: Point): Rect {
  return {
    left: Math.floor(Math.min(point.x, otherPoint.x)),
    top: Math.floor(Math.min(point.y, otherPoint.y)),
    right: Math.floor(Math.max(point.x, otherPoint.x)) + 1,
    bottom: Math.floor(Math.max(point.y, otherPoint.y)) + 1,
  };
}

export function getDistance(point: Point, otherPoint: Point): number {
  return Math.hypot(point.x - otherPoint.x, point.y - otherPoint.y);
}

export type Coverage = Size & { data: Uint8Array<ArrayBuffer> };

export function createCoverage({ width, height }: Size): Coverage {
  return { width, height, data: new Uint8Array(width * height) };
}

/** a * b / 255, rounded, for bytes. */
function multiplyBytes(a: number, b: number): number {
  const product = a * b + 128;
  return (product + (product >> 8)) >> 8;
}

/** The new value of a pixel when `amount` is painted over it, or erased from it. */
export function paintPixel(value: number, amount: number, isErasing: boolean): number {
  return isErasing ? multiplyBytes(value, 255 - amount) : value + multiplyBytes(255 - value, amount);
}

/** Inverts rows `top` to `bottom`, four pixels at a time. */
export function invertRows({ data, width }: Coverage, top: number, bottom: number): void {
  const [start, end] = [top * width, bottom * width];
  const firstWord = Math.min(end, Math.ceil(start / 4) * 4);
  const lastWord = Math.max(firstWord, Math.floor(end / 4) * 4);
  const words = new Uint32Array(data.buffer, data.byteOffset + firstWord, (lastWord - firstWord) >> 2);
  for (let index = 0; index < words.length; index += 1) words[index] = ~(words[index] ?? 0);
  for (let index = start; index < firstWord; index += 1) data[index] = 255 - (data[index] ?? 0);
  for (let index = lastWord; index < end; index += 1) data[index] = 255 - (data[index] ?? 0);
}

// The coverage is divided into tiles of 256 by 256 pixels, so that a history step stores only changed tiles.

export const TILE_SIZE = 256;
/** Rows of `TILE_SIZE` bytes, also at the right edge. A uniform tile is a single byte. */
export type Tile = Uint8Array<ArrayBuffer>;
export type SavedTiles = Map<number, Tile>;

export function countTileColumns({ width }: Size): number {
  return Math.ceil(width / TILE_SIZE);
}

export function getTileRect(size: Size, index: number): Rect {
  const columns = countTileColumns(size);
  const [left, top] = [(index % columns) * TILE_SIZE, Math.floor(index / columns) * TILE_SIZE];
  return { left, top, right: Math.min(size.width, left + TILE_SIZE), bottom: Math.min(size.height, top + TILE_SIZE) };
}

export function findTileIndexes(size: Size, rect: Rect): number[] {
  const { left, top, right, bottom } = intersect(rect, fullRect(size));
  if (isEmpty({ left, top, right, bottom })) return [];
  const columns = countTileColumns(size);
  const tiles: number[] = [];
  for (let row = Math.floor(top / TILE_SIZE); row * TILE_SIZE < bottom; row += 1) {
    for (let column = Math.floor(left / TILE_SIZE); column * TILE_SIZE < right; column += 1) tiles.push(row * columns + column);
  }
  return tiles;
}

export function copyTile({ data, width }: Coverage, { left, top, right, bottom }: Rect): Tile {
  const tile = new Uint8Array(TILE_SIZE * TILE_SIZE);
  for (let y = top; y < bottom; y += 1) tile.set(data.subarray(y * width + left, y * width + right), (y - top) * TILE_SIZE);
  return tile;
}

export function compactTile(tile: Tile): Tile {
  return tile.every((value) => value === tile[0]) ? tile.slice(0, 1) : tile;
}

export function putTile({ data, width }: Coverage, { left, top, right, bottom }: Rect, tile: Tile): void {
  for (let y = top, offset = 0; y < bottom; y += 1, offset += TILE_SIZE) {
    if (tile.length === 1) data.fill(tile[0] ?? 0, y * width + left, y * width + right);
    else data.set(tile.subarray(offset, offset + right - left), y * width + left);
  }
}

// The coverage at a quarter of its width and height. Each value is the mean of sixteen pixels. It is shown when zoomed out, and used to compute
// the painted fraction. Callers must call `update` after each change.

export const COARSE_FACTOR = 4;

/** Whether single pixels are invisible at this scale, so that the coarse coverage is shown. */
export function isZoomedOut(scale: number): boolean {
  return scale * COARSE_FACTOR <= 1;
}

export type CoarseCoverage = Coverage & { update: (rect: Rect) => void; /** 0 to 1. */ getPaintedFraction: () => number };

export function createCoarseCoverage(coverage: Coverage): CoarseCoverage {
  const { width: fineWidth, height: fineHeight, data: fineData } = coverage;
  const width = Math.ceil(fineWidth / COARSE_FACTOR);
  const height = Math.ceil(fineHeight / COARSE_FACTOR);
  const data = new Uint8Array(width * height);
  /** Used to read four pixels at once, if every row starts at a word boundary. */
  const words = fineWidth % COARSE_FACTOR === 0 ? new Uint32Array(fineData.buffer, fineData.byteOffset, fineData.length >> 2) : undefined;
  let paintedSum = 0;

  function getMean(column: number, row: number): number {
    const [right, bottom] = [Math.min(fineWidth, (column + 1) * COARSE_FACTOR), Math.min(fineHeight, (row + 1) * COARSE_FACTOR)];
    let sum = 0;
    for (let y = row * COARSE_FACTOR; y < bottom; y += 1) {
      for (let index = y * fineWidth + column * COARSE_FACTOR; index < y * fineWidth + right; index += 1) sum += fineData[index] ?? 0;
    }
    return Math.round(sum / ((right - column * COARSE_FACTOR) * (bottom - row * COARSE_FACTOR)));
  }
  function setRow(row: number, startColumn: number, endColumn: number): void {
    for (let column = startColumn; column < endColumn; column += 1) {
      const index = row * width + column;
      const newMean = getMean(column, row);
      paintedSum += newMean - (data[index] ?? 0);
      data[index] = newMean;
    }
  }
  function setAlignedRow(row: number, startColumn: number, endColumn: number, words: Uint32Array): void {
    const firstIndex = row * COARSE_FACTOR * width;
    for (let column = startColumn; column < endColumn; column += 1) {
      const index = row * width + column;
      const [word1, word2] = [words[firstIndex + column] ?? 0, words[firstIndex + width + column] ?? 0];
      const [word3, word4] = [words[firstIndex + 2 * width + column] ?? 0, words[firstIndex + 3 * width + column] ?? 0];
      const evenSums = (word1 & 0xff00ff) + (word2 & 0xff00ff) + (word3 & 0xff00ff) + (word4 & 0xff00ff);
      const oddSums = ((word1 >>> 8) & 0xff00ff) + ((word2 >>> 8) & 0xff00ff) + ((word3 >>> 8) & 0xff00ff) + ((word4 >>> 8) & 0xff00ff);
      const sums = evenSums + oddSums;
      const newMean = ((sums & 0xffff) + (sums >>> 16) + 8) >> 4;
      paintedSum += newMean - (data[index] ?? 0);
      data[index] = newMean;
    }
  }

  return {
    width,
    height,
    data,
    update({ left, top, right, bottom }) {
      const [startColumn, endColumn] = [Math.floor(left / COARSE_FACTOR), Math.min(width, Math.ceil(right / COARSE_FACTOR))];
      const lastRow = Math.min(height, Math.ceil(bottom / COARSE_FACTOR));
      for (let row = Math.floor(top / COARSE_FACTOR); row < lastRow; row += 1) {
        if (words && (row + 1) * COARSE_FACTOR <= fineHeight) setAlignedRow(row, startColumn, endColumn, words);
        else setRow(row, startColumn, endColumn);
      }
    },
    getPaintedFraction: () => (data.length === 0 ? 0 : paintedSum / data.length / 255),
  };
}
