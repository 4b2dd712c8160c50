// Changes large areas in slices of at most about two megapixels. Each `yield` returns the area changed since the previous one, so that the page
// can respond in between. Tiles are saved for the history before their first change.

import {
  compactTile,
  copyTile,
  countTileColumns,
  type Coverage,
  emptyRect,
  findTileIndexes,
  fullRect,
  getTileRect,
  intersect,
  invertRows,
  isEmpty,
  paintPixel,
  type Point,
  type Rect,
  roundOut,
  type SavedTiles,
  type Size,
  TILE_SIZE,
} from "./coverage";

export type AreaWork = Generator<Rect, SavedTiles>;

/** Paints one row of tiles per slice. */
export function* paintShape(coverage: Coverage, { bounds, row }: Shape, isErasing: boolean): AreaWork {
  const savedTiles: SavedTiles = new Map();
  if (isEmpty(bounds)) return savedTiles;
  const { left, right, bottom } = bounds;
  const amounts = new Uint8Array(right - left);
  for (let top = bounds.top; top < bottom;) {
    const bandBottom = Math.min(bottom, (Math.floor(top / TILE_SIZE) + 1) * TILE_SIZE);
    const band = { left, top, right, bottom: bandBottom };
    for (const index of findTileIndexes(coverage, band))
      savedTiles.set(index, compactTile(copyTile(coverage, getTileRect(coverage, index))));
    for (let y = top; y < bandBottom; y += 1) {
      row(y, amounts);
      paintRow(coverage, y * coverage.width + left, amounts, isErasing);
    }
    yield band;
    top = bandBottom;
  }
  return savedTiles;
}

function paintRow({ data }: Coverage, start: number, amounts: Uint8Array, isErasing: boolean): void {
  for (let index = 0; index < amounts.length; index += 1) {
    const amount = amounts[index] ?? 0;
    if (amount === 0) continue;
    data[start + index] = amount === 255 ? (isErasing ? 0 : 255) : paintPixel(data[start + index] ?? 0, amount, isErasing);
  }
}

/** Skips tiles without paint, which are not stored in the history. */
export function* clearAll(coverage: Coverage): AreaWork {
  const savedTiles: SavedTiles = new Map();
  const { data, width } = coverage;
  for (const [position, index] of findTileIndexes(coverage, fullRect(coverage)).entries()) {
    const rect = getTileRect(coverage, index);
    const tile = compactTile(copyTile(coverage, rect));
    if (tile.length > 1 || tile[0] !== 0) {
      savedTiles.set(index, tile);
      for (let y = rect.top; y < rect.bottom; y += 1) data.fill(0, y * width + rect.left, y * width + rect.right);
      yield rect;
    } else if (position % 32 === 0) yield emptyRect;
  }
  return savedTiles;
}

/** Inverting is its own inverse, so no tiles are saved. */
export function* invertAll(coverage: Coverage): AreaWork {
  const { width, height } = coverage;
  for (let top = 0; top < height; top += TILE_SIZE) {
    const bottom = Math.min(height, top + TILE_SIZE);
    invertRows(coverage, top, bottom);
    yield { left: 0, top, right: width, bottom };
  }
  return new Map();
}

// Rasterizes a rectangle or a lasso, from top to bottom. Edge pixels are covered in proportion to their area inside (sixteen steps vertically,
// exact horizontally). A self-crossing lasso uses the winding rule.

export type Shape = {
  bounds: Rect;
  /** Writes row `y`, starting at `bounds.left`. Rows are requested in order. */
  row: (y: number, amounts: Uint8Array) => void;
};

export function createRectangle(size: Size, rect: Rect): Shape {
  const bounds = intersect(rect, fullRect(size));
  return { bounds, row: (_, amounts) => void amounts.fill(255, 0, bounds.right - bounds.left) };
}

/** Vertical samples per row. */
const SAMPLES_PER_ROW = 16;

type Edge = { top: number; bottom: number; x: number; xPerRow: number; windingStep: 1 | -1 };

export function createLasso(size: Size, points: readonly Point[]): Shape {
  const edges = toEdges(points).toSorted((edge, otherEdge) => edge.top - otherEdge.top);
  const bounds = intersect(getBounds(points), fullRect(size));
  const width = Math.max(0, bounds.right - bounds.left);
  const sums = new Float32Array(width + 2);
  let activeEdges: Edge[] = [];
  let nextIndex = 0;

  function addSpan(startX: number, endX: number): void {
    const [left, right] = [Math.min(width, Math.max(0, startX - bounds.left)), Math.min(width, Math.max(0, endX - bounds.left))];
    if (right <= left) return;
    addEdge(left, 1);
    addEdge(right, -1);
  }
  function addEdge(x: number, sign: number): void {
    const column = Math.floor(x);
    const fraction = x - column;
    sums[column] = (sums[column] ?? 0) + sign * (1 - fraction);
    sums[column + 1] = (sums[column + 1] ?? 0) + sign * fraction;
  }

  function writeRow(y: number, amounts: Uint8Array): void {
    sums.fill(0);
    for (let edge = edges[nextIndex]; edge && edge.top < y + 1; edge = edges[(nextIndex += 1)]) activeEdges.push(edge);
    activeEdges = activeEdges.filter(({ bottom }) => bottom > y);
    for (let slice = 0; slice < SAMPLES_PER_ROW; slice += 1) {
      const sampleY = y + (slice + 0.5) / SAMPLES_PER_ROW;
      const crossings = activeEdges
        .filter(({ top, bottom }) => top <= sampleY && sampleY < bottom)
        .map(({ x, top, xPerRow, windingStep }) => ({ x: x + (sampleY - top) * xPerRow, windingStep }))
        .sort((crossing, otherCrossing) => crossing.x - otherCrossing.x);
      let winding = 0;
      for (const [index, { x, windingStep }] of crossings.entries()) {
        winding += windingStep;
        const nextCrossing = crossings[index + 1];
        if (winding !== 0 && nextCrossing) addSpan(x, nextCrossing.x);
      }
    }
    let sum = 0;
    for (let column = 0; column < width; column += 1) {
      sum += sums[column] ?? 0;
      amounts[column] = Math.min(255, Math.max(0, Math.round((sum * 255) / SAMPLES_PER_ROW)));
    }
  }
  return { bounds, row: writeRow };
}

function toEdges(points: readonly Point[]): Edge[] {
  return points.flatMap((point, index): Edge[] => {
    const nextPoint = points[(index + 1) % points.length];
    if (!nextPoint || nextPoint.y === point.y) return [];
    const [upper, lower] = point.y < nextPoint.y ? [point, nextPoint] : [nextPoint, point];
    const xPerRow = (lower.x - upper.x) / (lower.y - upper.y);
    return [{ top: upper.y, bottom: lower.y, x: upper.x, xPerRow, windingStep: point.y < nextPoint.y ? 1 : -1 }];
  });
}

function getBounds(points: readonly Point[]): Rect {
  const bounds = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  for (const { x, y } of points) {
    bounds.left = Math.min(bounds.left, x);
    bounds.top = Math.min(bounds.top, y);
    bounds.right = Math.max(bounds.right, x);
    bounds.bottom = Math.max(bounds.bottom, y);
  }
  return points.length === 0 ? { left: 0, top: 0, right: 0, bottom: 0 } : roundOut(bounds);
}

// Fills the area around a point up to the painted lines, or erases the painted area at the point.
// Guarantees: a pixel with at least half strength is part of a line. The soft inner side of a line is filled up to its darkest pixels, which
// avoids a pale seam. The outer side is unchanged. Works in slices.

const LINE_THRESHOLD = 128;
/** The number of pixels between two `yield`s. It is lower for slopes, where each pixel is examined separately. */
const FILL_PIXELS_PER_SLICE = 50_000;
const SLOPE_PIXELS_PER_SLICE = 16_000;

export function* floodFill(coverage: Coverage, start: Point, isErasing: boolean): AreaWork {
  const { width, height, data } = coverage;
  const savedTiles: SavedTiles = new Map();
  const columns = countTileColumns(coverage);
  /** Erasing is the same as painting on the inverted coverage. */
  const invertMask = isErasing ? 255 : 0;
  const fillValue = isErasing ? 0 : 255;
  const getValue = (index: number) => (data[index] ?? 0) ^ invertMask;
  const isOpen = (index: number) => getValue(index) < LINE_THRESHOLD;
  const [startX, startY] = [Math.floor(start.x), Math.floor(start.y)];
  if (startX < 0 || startY < 0 || startX >= width || startY >= height || !isOpen(startY * width + startX)) return savedTiles;

  /** Tiles changed since the last report. */
  const changedTiles = new Set<number>();
  const markChanged = (left: number, right: number, y: number) => {
    const row = Math.floor(y / TILE_SIZE) * columns;
    for (let column = Math.floor(left / TILE_SIZE); column * TILE_SIZE < right; column += 1) {
      const index = row + column;
      if (!savedTiles.has(index)) savedTiles.set(index, compactTile(copyTile(coverage, getTileRect(coverage, index))));
      changedTiles.add(index);
    }
  };
  function* reportChanges(): Generator<Rect> {
    for (const index of changedTiles) yield getTileRect(coverage, index);
    changedTiles.clear();
  }
  const seeds = [startY * width + startX];
  /** Pixels on the soft side of a line: index and old value, alternating. */
  const slopePixels: number[] = [];
  const fillSlope = (index: number, minValue: number) => {
    const currentValue = getValue(index);
    if (currentValue < minValue || currentValue === 255) return;
    markChanged(index % width, (index % width) + 1, Math.floor(index / width));
    data[index] = fillValue;
    slopePixels.push(index, currentValue);
  };
  let pixelCount = 0;

  for (let seed = seeds.pop(); seed !== undefined; seed = seeds.pop()) {
    if (!isOpen(seed)) continue;
    const y = Math.floor(seed / width);
    const row = y * width;
    let [left, right] = [seed, seed + 1];
    while (left > row && isOpen(left - 1)) left -= 1;
    while (right < row + width && isOpen(right)) right += 1;
    markChanged(left - row, right - row, y);
    data.fill(fillValue, left, right);
    if (left > row) fillSlope(left - 1, LINE_THRESHOLD);
    if (right < row + width) fillSlope(right, LINE_THRESHOLD);
    for (const rowOffset of [-width, width]) {
      if (row + rowOffset < 0 || row + rowOffset >= data.length) continue;
      let isInside = false;
      for (let index = left + rowOffset; index < right + rowOffset; index += 1) {
        const wasInside = isInside;
        isInside = isOpen(index);
        if (!isInside) fillSlope(index, LINE_THRESHOLD);
        else if (!wasInside) seeds.push(index);
      }
    }
    pixelCount += right - left;
    if (pixelCount < FILL_PIXELS_PER_SLICE) continue;
    yield* reportChanges();
    pixelCount = 0;
  }
  while (slopePixels.length > 0) {
    const previousValue = slopePixels.pop() ?? 0;
    const index = slopePixels.pop() ?? 0;
    const x = index % width;
    if (x > 0) fillSlope(index - 1, previousValue);
    if (x + 1 < width) fillSlope(index + 1, previousValue);
    if (index >= width) fillSlope(index - width, previousValue);
    if (index + width < data.length) fillSlope(index + width, previousValue);
    if ((pixelCount += 1) % SLOPE_PIXELS_PER_SLICE === 0) yield* reportChanges();
  }
  yield* reportChanges();
  return savedTiles;
}
