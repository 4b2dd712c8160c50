// Fills the area around a point up to the painted lines (when erasing: the painted area at the point).
// Guarantees: a line counts from half its strength on; the soft inner side of a line is filled up to its ridge and not beyond, so that no
// pale seam stays; the outside of the line keeps its softness. The work comes in slices, as in area-work.

import { type AreaWork } from "./area-work";
import { type Coverage } from "./coverage";
import { type Point, type Rect, type Size } from "./geometry";
import { type KeptTiles } from "./history";
import { packTile, TILE, tileColumns } from "./tiles";

const HALF = 128;
/** Pixels between two `yield`s: along a row a pixel is cheap, on a slope each is examined separately. */
const SLICE = 50_000;
const SLOPE_SLICE = 16_000;

export function* floodFill(coverage: Coverage, at: Point, isErasing: boolean): AreaWork {
  const { width, height, data } = coverage;
  const kept: KeptTiles = new Map();
  const columns = tileColumns(coverage);
  /** Erasing is painting on the negative. */
  const flip = isErasing ? 255 : 0;
  const full = isErasing ? 0 : 255;
  const value = (index: number) => (data[index] ?? 0) ^ flip;
  const isOpen = (index: number) => ((data[index] ?? 0) ^ flip) < HALF;
  const [startX, startY] = [Math.floor(at.x), Math.floor(at.y)];
  if (startX < 0 || startY < 0 || startX >= width || startY >= height || !isOpen(startY * width + startX)) return kept;

  const keep = (left: number, right: number, y: number) => {
    const row = Math.floor(y / TILE) * columns;
    for (let column = Math.floor(left / TILE); column * TILE < right; column += 1) {
      if (!kept.has(row + column)) kept.set(row + column, packTile(coverage, row + column));
    }
  };
  const seeds = [startY * width + startX];
  /** Pixels on the line's soft side: each one's index, then its old value. */
  const slope: number[] = [];
  const changes = createChanges(coverage);
  let work = 0;

  for (let seed = seeds.pop(); seed !== undefined; seed = seeds.pop()) {
    if (!isOpen(seed)) continue;
    const y = Math.floor(seed / width);
    const row = y * width;
    let [left, right] = [seed, seed + 1];
    while (left > row && isOpen(left - 1)) left -= 1;
    while (right < row + width && isOpen(right)) right += 1;
    keep(left - row, right - row, y);
    data.fill(full, left, right);
    if (left > row) climb(left - 1, HALF);
    if (right < row + width) climb(right, HALF);
    for (const other of [y - 1, y + 1]) {
      if (other < 0 || other >= height) continue;
      const shift = (other - y) * width;
      let isInside = false;
      for (let index = left + shift; index < right + shift; index += 1) {
        const now = (data[index] ?? 0) ^ flip;
        if (now < HALF) {
          if (!isInside) seeds.push(index);
          isInside = true;
          continue;
        }
        isInside = false;
        if (now !== 255) climb(index, HALF);
      }
    }
    changes.note(left - row, right - row, y);
    work += right - left;
    if (work < SLICE) continue;
    yield* changes.take();
    work = 0;
  }

  function climb(index: number, from: number): void {
    const now = value(index);
    if (now < from || now === 255) return;
    const [x, y] = [index % width, Math.floor(index / width)];
    keep(x, x + 1, y);
    data[index] = full;
    slope.push(index, now);
  }
  while (slope.length > 0) {
    const was = slope.pop() ?? 0;
    const index = slope.pop() ?? 0;
    const [x, y] = [index % width, Math.floor(index / width)];
    changes.note(x, x + 1, y);
    if (x > 0) climb(index - 1, was);
    if (x + 1 < width) climb(index + 1, was);
    if (y > 0) climb(index - width, was);
    if (y + 1 < height) climb(index + width, was);
    if ((work += 1) % SLOPE_SLICE === 0) yield* changes.take();
  }
  yield* changes.take();
  return kept;
}

/** The rectangles changed since the last call, per tile, so that the area between distant changes is not redrawn. */
function createChanges(size: Size) {
  const columns = tileColumns(size);
  let changed = new Map<number, Rect>();
  function note(from: number, to: number, y: number): void {
    const row = Math.floor(y / TILE) * columns;
    for (let column = Math.floor(from / TILE); column * TILE < to; column += 1) {
      const [left, right] = [Math.max(from, column * TILE), Math.min(to, (column + 1) * TILE)];
      const known = changed.get(row + column);
      if (known) {
        known.left = Math.min(known.left, left);
        known.right = Math.max(known.right, right);
        known.top = Math.min(known.top, y);
        known.bottom = Math.max(known.bottom, y + 1);
      } else changed.set(row + column, { left, top: y, right, bottom: y + 1 });
    }
  }
  function take(): Rect[] {
    const taken = [...changed.values()];
    changed = new Map();
    return taken;
  }
  return { note, take };
}
