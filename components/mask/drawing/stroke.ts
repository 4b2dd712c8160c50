// A stroke as the area that a round brush sweeps, exact between two points: no row of dabs, so no gaps and no beads.
// Guarantees: however often it crosses itself, a stroke paints a pixel once; only squares that it reaches are held.

import { type Coverage, painted } from "./coverage";
import { clipped, isEmpty, outward, type Point, type Rect, wholeOf } from "./geometry";
import { type KeptTiles } from "./history";
import { packTile, TILE, tileRect, tilesIn } from "./tiles";

export type Brush = { diameter: number; /** 0 all soft to 1 sharp. */ hardness: number; isErasing: boolean };
/** Pressure scales the diameter: 0 to 1. */
export type BrushPoint = Point & { pressure: number };

type Touched = { before: Uint8Array; packed: Uint8Array; amount: Uint8Array; rect: Rect };

export type Stroke = {
  /** What it changed. */
  to: (point: BrushPoint) => Rect;
  /** What it changed at the last, and what the squares were, for the history. */
  end: () => { rect: Rect; before: KeptTiles };
  /** Takes all of it back. */
  drop: () => Rect[];
};

const nothing: Rect = { left: 0, top: 0, right: 0, bottom: 0 };
const LEAST_RADIUS = 0.5;
/** Shorter moves are added up: at this share of the radius nobody sees a difference. */
const SPACING = 0.08;

const smooth = Uint8Array.from({ length: 256 }, (_, at) => {
  const share = at / 255;
  return Math.round(255 * share * share * (3 - 2 * share));
});

export function beginStroke(coverage: Coverage, brush: Brush, first: BrushPoint): { stroke: Stroke; rect: Rect } {
  const touched = new Map<number, Touched>();
  const radiusOf = ({ pressure }: BrushPoint) => Math.max(LEAST_RADIUS, (brush.diameter / 2) * pressure);
  let last = first;
  let pending: BrushPoint | undefined;

  function touch(index: number): Touched {
    const known = touched.get(index);
    if (known) return known;
    const rect = tileRect(coverage, index);
    const made = { before: copyOf(coverage, rect), packed: packTile(coverage, index), amount: new Uint8Array(TILE * TILE), rect };
    touched.set(index, made);
    return made;
  }

  function sweep(from: BrushPoint, to: BrushPoint): Rect {
    const [a, b] = [radiusOf(from), radiusOf(to)];
    const reach = Math.max(a, b) + 1;
    const box = outward({
      left: Math.min(from.x, to.x) - reach,
      top: Math.min(from.y, to.y) - reach,
      right: Math.max(from.x, to.x) + reach,
      bottom: Math.max(from.y, to.y) + reach,
    });
    const rect = clipped(box, wholeOf(coverage));
    if (isEmpty(rect)) return rect;
    const segment = { from, to, a, b, hardness: brush.hardness };
    for (const index of tilesIn(coverage, rect)) {
      sweepTile(coverage, touch(index), rect, segment, brush.isErasing);
      // A brush that grew on its way has not quite filled the disc at its end.
      if (a !== b) sweepTile(coverage, touch(index), rect, { ...segment, from: to, a: b }, brush.isErasing);
    }
    return rect;
  }

  const stroke: Stroke = {
    to(point) {
      const isNear = Math.hypot(point.x - last.x, point.y - last.y) < SPACING * radiusOf(last);
      pending = isNear && Math.abs(point.pressure - last.pressure) < SPACING ? point : undefined;
      if (pending) return nothing;
      const rect = sweep(last, point);
      last = point;
      return rect;
    },
    end() {
      const rect = pending ? sweep(last, pending) : nothing;
      return { rect, before: new Map([...touched].map(([index, { packed }]) => [index, packed])) };
    },
    drop() {
      for (const { before, rect } of touched.values()) putBack(coverage, rect, before);
      return [...touched.values()].map(({ rect }) => rect);
    },
  };
  return { stroke, rect: sweep(first, first) };
}

type Segment = { from: Point; to: Point; a: number; b: number; hardness: number };

function sweepTile(coverage: Coverage, tile: Touched, box: Rect, segment: Segment, isErasing: boolean): void {
  const { from, to, a, b, hardness } = segment;
  const { left, top, right, bottom } = clipped(box, tile.rect);
  const { amount, before } = tile;
  const fromX = from.x;
  const dx = to.x - from.x;
  const dy = to.y - from.y;
  const length2 = dx * dx + dy * dy;
  const perLength2 = length2 > 0 ? 1 / length2 : 0;
  const growth = b - a;
  let outer = a + 0.5;
  let feather = Math.max(1, (1 - hardness) * outer);
  let outer2 = outer * outer;
  let inner2 = outer > feather ? (outer - feather) ** 2 : -1;
  const reach = Math.max(a, b) + 1;
  for (let y = top; y < bottom; y += 1) {
    const py = y + 0.5 - from.y;
    const aside = Math.max(0, Math.min(0, dy) - py, py - Math.max(0, dy));
    if (aside > reach) continue;
    const half = Math.sqrt(reach * reach - aside * aside);
    let first = Math.max(left, Math.floor(fromX + Math.min(0, dx) - half));
    let end = Math.min(right, Math.ceil(fromX + Math.max(0, dx) + half));
    // What lies behind the beginning was painted when the brush arrived there.
    if (dx > 0) first = Math.max(first, Math.floor(fromX - (py * dy) / dx - 0.5));
    else if (dx < 0) end = Math.min(end, Math.ceil(fromX - (py * dy) / dx + 0.5));
    else if (length2 > 0 && py * dy <= 0) continue;
    const inTile = (y - tile.rect.top) * TILE - tile.rect.left;
    const inAll = y * coverage.width;
    for (let x = first; x < end; x += 1) {
      const was = amount[inTile + x] ?? 0;
      if (was === 255) continue;
      const px = x + 0.5 - fromX;
      let along = (px * dx + py * dy) * perLength2;
      along = along < 0 ? 0 : along > 1 ? 1 : along;
      const ex = px - dx * along;
      const ey = py - dy * along;
      const distance2 = ex * ex + ey * ey;
      if (growth !== 0) {
        outer = a + growth * along + 0.5;
        feather = Math.max(1, (1 - hardness) * outer);
        outer2 = outer * outer;
        inner2 = outer > feather ? (outer - feather) ** 2 : -1;
      }
      if (distance2 >= outer2) continue;
      const now = distance2 <= inner2 ? 255 : (smooth[(((outer - Math.sqrt(distance2)) / feather) * 255) | 0] ?? 255);
      if (now <= was) continue;
      amount[inTile + x] = now;
      coverage.data[inAll + x] = painted(before[inTile + x] ?? 0, now, isErasing);
    }
  }
}

/** In rows of a whole square, also at the right edge. */
function copyOf({ data, width }: Coverage, { left, top, right, bottom }: Rect): Uint8Array {
  const copy = new Uint8Array(TILE * TILE);
  for (let y = top; y < bottom; y += 1) copy.set(data.subarray(y * width + left, y * width + right), (y - top) * TILE);
  return copy;
}

function putBack({ data, width }: Coverage, { left, top, right, bottom }: Rect, before: Uint8Array): void {
  for (let y = top; y < bottom; y += 1) {
    data.set(before.subarray((y - top) * TILE, (y - top) * TILE + right - left), y * width + left);
  }
}
