// Changes whole areas in slices: each `yield` reports what changed since the last one, so that the page can respond in between.
// Guarantees: a tile is kept for the history before its first pixel changes; a slice is about two megapixels at most.

import { type Coverage, invertRows, isWholly, painted } from "./coverage";
import { isEmpty, nothing, type Rect, wholeOf } from "./geometry";
import { type KeptTiles } from "./history";
import { type Shape } from "./shapes";
import { packTile, TILE, tileRect, tilesIn } from "./tiles";

export type AreaWork = Generator<Rect, KeptTiles>;

/** Works on one row of tiles at a time. */
export function* paintShape(coverage: Coverage, { bounds, row }: Shape, isErasing: boolean): AreaWork {
  const kept: KeptTiles = new Map();
  if (isEmpty(bounds)) return kept;
  const { left, right, bottom } = bounds;
  const amounts = new Uint8Array(right - left);
  for (let top = bounds.top; top < bottom;) {
    const end = Math.min(bottom, (Math.floor(top / TILE) + 1) * TILE);
    const band = { left, top, right, bottom: end };
    for (const index of tilesIn(coverage, band)) kept.set(index, packTile(coverage, index));
    for (let y = top; y < end; y += 1) {
      row(y, amounts);
      paintRow(coverage, y * coverage.width + left, amounts, isErasing);
    }
    yield band;
    top = end;
  }
  return kept;
}

function paintRow({ data }: Coverage, start: number, amounts: Uint8Array, isErasing: boolean): void {
  for (let at = 0; at < amounts.length; at += 1) {
    const amount = amounts[at] ?? 0;
    if (amount === 0) continue;
    data[start + at] = amount === 255 ? (isErasing ? 0 : 255) : painted(data[start + at] ?? 0, amount, isErasing);
  }
}

/** Tiles without paint are skipped and take no room in the history. */
export function* clearAll(coverage: Coverage): AreaWork {
  const kept: KeptTiles = new Map();
  const all = tilesIn(coverage, wholeOf(coverage));
  for (const [count, index] of all.entries()) {
    const rect = tileRect(coverage, index);
    if (!isWholly(coverage, rect, 0)) {
      kept.set(index, packTile(coverage, index));
      for (let y = rect.top; y < rect.bottom; y += 1)
        coverage.data.fill(0, y * coverage.width + rect.left, y * coverage.width + rect.right);
      yield rect;
    } else if (count % 32 === 0) yield nothing;
  }
  return kept;
}

/** Inverting again undoes it, so nothing needs to be kept. */
export function* invertAll(coverage: Coverage): AreaWork {
  const { width, height } = coverage;
  for (let top = 0; top < height; top += TILE) {
    const bottom = Math.min(height, top + TILE);
    invertRows(coverage, top, bottom);
    yield { left: 0, top, right: width, bottom };
  }
  return new Map();
}
