// Changes whole areas in slices of at most about two megapixels. Each `yield` reports the area changed since the last one, so that the page can
// respond in between. Tiles are saved for the history before their first change.

import {
  compactTile,
  copyTile,
  type Coverage,
  emptyRect,
  findTiles,
  fullRect,
  intersect,
  invertRows,
  isEmpty,
  paintPixel,
  type Point,
  type Rect,
  roundOut,
  type SavedTiles,
  type Size,
  TILE,
  tileColumns,
  tileRect,
} from "./coverage";

export type AreaWork = Generator<Rect, SavedTiles>;

/** Works on one row of tiles at a time. */
export function* paintShape(coverage: Coverage, { bounds, row }: Shape, isErasing: boolean): AreaWork {
  const savedTiles: SavedTiles = new Map();
  if (isEmpty(bounds)) return savedTiles;
  const { left, right, bottom } = bounds;
  const amounts = new Uint8Array(right - left);
  for (let top = bounds.top; top < bottom;) {
    const end = Math.min(bottom, (Math.floor(top / TILE) + 1) * TILE);
    const band = { left, top, right, bottom: end };
    for (const index of findTiles(coverage, band)) savedTiles.set(index, compactTile(copyTile(coverage, tileRect(coverage, index))));
    for (let y = top; y < end; y += 1) {
      row(y, amounts);
      paintRow(coverage, y * coverage.width + left, amounts, isErasing);
    }
    yield band;
    top = end;
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
  for (const [count, index] of findTiles(coverage, fullRect(coverage)).entries()) {
    const rect = tileRect(coverage, index);
    const tile = compactTile(copyTile(coverage, rect));
    if (tile.length > 1 || tile[0] !== 0) {
      savedTiles.set(index, tile);
      for (let y = rect.top; y < rect.bottom; y += 1) data.fill(0, y * width + rect.left, y * width + rect.right);
      yield rect;
    } else if (count % 32 === 0) yield emptyRect;
  }
  return savedTiles;
}

/** Inverting is its own inverse, so no tiles are saved. */
export function* invertAll(coverage: Coverage): AreaWork {
  const { width, height } = coverage;
  for (let top = 0; top < height; top += TILE) {
    const bottom = Math.min(height, top + TILE);
    invertRows(coverage, top, bottom);
    yield { left: 0, top, right: width, bottom };
  }
  return new Map();
}

// Rasterizes a rectangle or a lasso, from top to bottom. Edge pixels are covered in proportion to their area inside (sixteen steps vertically,
// exact horizontally). A self-crossing lasso uses the winding rule.

export type Shape = {
  bounds: Rect;
  /** Writes row `y`, starting at `bounds.left`; rows are requested in order. */
  row: (y: number, into: Uint8Array) => void;
};

export function rectangle(size: Size, rect: Rect): Shape {
  const bounds = intersect(rect, fullRect(size));
  return { bounds, row: (_, into) => void into.fill(255, 0, bounds.right - bounds.left) };
}

/** Vertical samples per row. */
const SLICES = 16;

type Edge = { top: number; bottom: number; x: number; perRow: number; winds: 1 | -1 };

export function lasso(size: Size, points: readonly Point[]): Shape {
  const edges = toEdges(points).toSorted((edge, other) => edge.top - other.top);
  const bounds = intersect(getBounds(points), fullRect(size));
  const width = Math.max(0, bounds.right - bounds.left);
  const sums = new Float32Array(width + 2);
  let active: Edge[] = [];
  let next = 0;

  function addSpan(from: number, to: number): void {
    const [left, right] = [Math.min(width, Math.max(0, from - bounds.left)), Math.min(width, Math.max(0, to - bounds.left))];
    if (right <= left) return;
    addEdge(left, 1);
    addEdge(right, -1);
  }
  function addEdge(x: number, sign: number): void {
    const column = Math.floor(x);
    const share = x - column;
    sums[column] = (sums[column] ?? 0) + sign * (1 - share);
    sums[column + 1] = (sums[column + 1] ?? 0) + sign * share;
  }

  function row(y: number, into: Uint8Array): void {
    sums.fill(0);
    for (let edge = edges[next]; edge && edge.top < y + 1; edge = edges[(next += 1)]) active.push(edge);
    active = active.filter(({ bottom }) => bottom > y);
    for (let slice = 0; slice < SLICES; slice += 1) {
      const sampleY = y + (slice + 0.5) / SLICES;
      const crossings = active
        .filter(({ top, bottom }) => top <= sampleY && sampleY < bottom)
        .map(({ x, top, perRow, winds }) => ({ x: x + (sampleY - top) * perRow, winds }))
        .sort((item, other) => item.x - other.x);
      let winding = 0;
      for (const [index, { x, winds }] of crossings.entries()) {
        winding += winds;
        const following = crossings[index + 1];
        if (winding !== 0 && following) addSpan(x, following.x);
      }
    }
    let sum = 0;
    for (let column = 0; column < width; column += 1) {
      sum += sums[column] ?? 0;
      into[column] = Math.min(255, Math.max(0, Math.round((sum * 255) / SLICES)));
    }
  }
  return { bounds, row };
}

function toEdges(points: readonly Point[]): Edge[] {
  return points.flatMap((from, index): Edge[] => {
    const to = points[(index + 1) % points.length];
    if (!to || to.y === from.y) return [];
    const [upper, lower] = from.y < to.y ? [from, to] : [to, from];
    const perRow = (lower.x - upper.x) / (lower.y - upper.y);
    return [{ top: upper.y, bottom: lower.y, x: upper.x, perRow, winds: from.y < to.y ? 1 : -1 }];
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
// Guarantees: pixels from half strength on are part of a line. The soft inner side of a line is filled up to its ridge, which avoids a pale
// seam; the outer side is unchanged. Works in slices.

const LINE_THRESHOLD = 128;
/** Pixels between two `yield`s. On a slope each pixel is examined separately, which is slower. */
const SLICE = 50_000;
const SLOPE_SLICE = 16_000;

export function* floodFill(coverage: Coverage, at: Point, isErasing: boolean): AreaWork {
  const { width, height, data } = coverage;
  const savedTiles: SavedTiles = new Map();
  const columns = tileColumns(coverage);
  /** Erasing is painting on the inverted coverage. */
  const flip = isErasing ? 255 : 0;
  const full = isErasing ? 0 : 255;
  const value = (index: number) => (data[index] ?? 0) ^ flip;
  const isOpen = (index: number) => value(index) < LINE_THRESHOLD;
  const [startX, startY] = [Math.floor(at.x), Math.floor(at.y)];
  if (startX < 0 || startY < 0 || startX >= width || startY >= height || !isOpen(startY * width + startX)) return savedTiles;

  /** Tiles changed since the last report. */
  const changedTiles = new Set<number>();
  const touch = (left: number, right: number, y: number) => {
    const row = Math.floor(y / TILE) * columns;
    for (let column = Math.floor(left / TILE); column * TILE < right; column += 1) {
      const index = row + column;
      if (!savedTiles.has(index)) savedTiles.set(index, compactTile(copyTile(coverage, tileRect(coverage, index))));
      changedTiles.add(index);
    }
  };
  function* report(): Generator<Rect> {
    for (const index of changedTiles) yield tileRect(coverage, index);
    changedTiles.clear();
  }
  const seeds = [startY * width + startX];
  /** Pixels on the soft side of a line: index and old value, alternating. */
  const slope: number[] = [];
  const climb = (index: number, from: number) => {
    const now = value(index);
    if (now < from || now === 255) return;
    touch(index % width, (index % width) + 1, Math.floor(index / width));
    data[index] = full;
    slope.push(index, now);
  };
  let work = 0;

  for (let seed = seeds.pop(); seed !== undefined; seed = seeds.pop()) {
    if (!isOpen(seed)) continue;
    const y = Math.floor(seed / width);
    const row = y * width;
    let [left, right] = [seed, seed + 1];
    while (left > row && isOpen(left - 1)) left -= 1;
    while (right < row + width && isOpen(right)) right += 1;
    touch(left - row, right - row, y);
    data.fill(full, left, right);
    if (left > row) climb(left - 1, LINE_THRESHOLD);
    if (right < row + width) climb(right, LINE_THRESHOLD);
    for (const shift of [-width, width]) {
      if (row + shift < 0 || row + shift >= data.length) continue;
      let isInside = false;
      for (let index = left + shift; index < right + shift; index += 1) {
        const wasInside = isInside;
        isInside = isOpen(index);
        if (!isInside) climb(index, LINE_THRESHOLD);
        else if (!wasInside) seeds.push(index);
      }
    }
    work += right - left;
    if (work < SLICE) continue;
    yield* report();
    work = 0;
  }
  while (slope.length > 0) {
    const was = slope.pop() ?? 0;
    const index = slope.pop() ?? 0;
    const x = index % width;
    if (x > 0) climb(index - 1, was);
    if (x + 1 < width) climb(index + 1, was);
    if (index >= width) climb(index - width, was);
    if (index + width < data.length) climb(index + width, was);
    if ((work += 1) % SLOPE_SLICE === 0) yield* report();
  }
  yield* report();
  return savedTiles;
}
