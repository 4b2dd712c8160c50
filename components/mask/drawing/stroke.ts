// A stroke as the area that a round brush sweeps, exact between two points: no row of dabs, so no gaps and no beads.
// Guarantees: however often it crosses itself, a stroke paints a pixel once; only squares that it reaches are held. Of a brush under way
// each part is a strip and, at a bend, the wedge outside it: the disc at its tip, which a large brush would paint over and over, is drawn
// once for all the points that came together, or, when nobody looks at single pixels, once at the end.

import { type Coverage } from "./coverage";
import { clipped, isEmpty, joined, type Point, type Rect, wholeOf } from "./geometry";
import { type KeptTiles } from "./history";
import { boundsOf, disc, type Part, strip, sweep, type Touched } from "./sweep";
import { packTile, TILE, tileRect, tilesIn } from "./tiles";

export type Brush = { diameter: number; /** 0 all soft to 1 sharp. */ hardness: number; isErasing: boolean };
/** Pressure scales the diameter: 0 to 1. */
export type BrushPoint = Point & { pressure: number };

export type Stroke = {
  /** What it changed. Without its tip it goes only so far as what comes next cannot change. */
  to: (points: readonly BrushPoint[], hasTip?: boolean) => Rect;
  /** What it changed at the last, and what the squares were, for the history. */
  end: () => { rect: Rect; before: KeptTiles };
  /** Takes all of it back. */
  drop: () => Rect[];
};

const nothing: Rect = { left: 0, top: 0, right: 0, bottom: 0 };
const LEAST_RADIUS = 0.5;
/** Shorter moves are added up: at this share of the radius nobody sees a difference. */
const SPACING = 0.08;

export function beginStroke(coverage: Coverage, brush: Brush, first: BrushPoint, hasTip = true): { stroke: Stroke; rect: Rect } {
  const touched = new Map<number, Touched & { packed: Uint8Array }>();
  const radiusOf = ({ pressure }: BrushPoint) => Math.max(LEAST_RADIUS, (brush.diameter / 2) * pressure);
  let last = first;
  let pending: BrushPoint | undefined;
  /** Of the last strip, one pixel long. */
  let way: Point | undefined;
  /** Its disc at the end reaches beyond it on all sides. */
  let hasGrown = false;
  let isTipDrawn = false;

  function touch(index: number) {
    const known = touched.get(index);
    if (known) return known;
    const rect = tileRect(coverage, index);
    const made = { before: copyOf(coverage, rect), packed: packTile(coverage, index), amount: new Uint8Array(TILE * TILE), rect };
    touched.set(index, made);
    return made;
  }
  function paint(part: Part): Rect {
    const rect = clipped(boundsOf(part), wholeOf(coverage));
    if (isEmpty(rect)) return nothing;
    for (const index of tilesIn(coverage, rect)) sweep(coverage, touch(index), part, brush.hardness, brush.isErasing);
    return rect;
  }
  function tip(): Rect {
    if (isTipDrawn) return nothing;
    isTipDrawn = true;
    return paint(disc(last, radiusOf(last), hasGrown ? undefined : way, undefined));
  }

  /** On to a point, without the tip there. */
  function step(point: BrushPoint): Rect {
    const [a, b] = [radiusOf(last), radiusOf(point)];
    const length = Math.hypot(point.x - last.x, point.y - last.y);
    if (length === 0) {
      const rect = tip();
      last = point;
      isTipDrawn = b <= a;
      hasGrown ||= b > a;
      return rect;
    }
    const ahead = { x: (point.x - last.x) / length, y: (point.y - last.y) / length };
    // Ahead of both ways the next strip paints more, unless it grows thinner.
    const bend = isTipDrawn ? nothing : paint(disc(last, a, hasGrown ? undefined : way, b < a ? undefined : ahead));
    const rect = joined(bend, paint(strip(last, point, a, b)));
    [last, way, hasGrown, isTipDrawn] = [point, ahead, b > a, false];
    return rect;
  }

  const stroke: Stroke = {
    to(points, withTip = true) {
      let rect = nothing;
      for (const point of points) {
        const isNear = Math.hypot(point.x - last.x, point.y - last.y) < SPACING * radiusOf(last);
        pending = isNear && Math.abs(point.pressure - last.pressure) < SPACING ? point : undefined;
        if (!pending) rect = joined(rect, step(point));
      }
      return withTip ? joined(rect, tip()) : rect;
    },
    end() {
      const rect = joined(pending ? step(pending) : nothing, tip());
      return { rect, before: new Map([...touched].map(([index, { packed }]) => [index, packed])) };
    },
    drop() {
      for (const { before, rect } of touched.values()) putBack(coverage, rect, before);
      return [...touched.values()].map(({ rect }) => rect);
    },
  };
  return { stroke, rect: hasTip ? tip() : nothing };
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
