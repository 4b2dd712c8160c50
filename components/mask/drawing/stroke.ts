// A stroke as the exact area that a round brush sweeps between two points: not a row of dabs, so no gaps and no beads.
// Guarantees: a stroke paints a pixel only once, however often it crosses itself; only the tiles it reaches are kept. Of a moving brush
// each part is a strip and, at a bend, the wedge outside it: the disc at the tip, which a large brush would paint over and over, is drawn
// once for all points that arrive together, or, if single pixels are invisible, once at the end. All work comes tile by tile, so
// that the caller may stop in between: a disc of 2,000 pixels is more than a frame's work.

import { type Coverage } from "./coverage";
import { clipped, nothing, type Point, type Rect, wholeOf } from "./geometry";
import { type KeptTiles } from "./history";
import { boundsOf, disc, type Part, strip, sweep, type Touched } from "./sweep";
import { packRect, TILE, tileRect, tilesIn } from "./tiles";

export type Brush = { diameter: number; /** 0 all soft to 1 sharp. */ hardness: number; isErasing: boolean };
/** Pressure scales the diameter: 0 to 1. */
export type BrushPoint = Point & { pressure: number };

/** Its changes, piece by piece; each piece must be finished before the next begins. */
export type StrokeWork = Generator<Rect>;
export type Stroke = {
  /** Without its tip, only the part that the next point cannot change is painted. */
  to: (points: readonly BrushPoint[], hasTip?: boolean) => StrokeWork;
  /** The remaining work; then the tiles as they were, for the history. */
  end: () => Generator<Rect, KeptTiles>;
  /** Removes the whole stroke. */
  drop: () => StrokeWork;
};

const LEAST_RADIUS = 0.5;
/** Shorter moves are added up: at this share of the radius the difference is invisible. */
const SPACING = 0.08;

export function beginStroke(coverage: Coverage, brush: Brush, first: BrushPoint): Stroke {
  const touched = new Map<number, Touched>();
  const radiusOf = ({ pressure }: BrushPoint) => Math.max(LEAST_RADIUS, (brush.diameter / 2) * pressure);
  let last = first;
  let pending: BrushPoint | undefined;
  /** The direction of the last strip, as a vector one pixel long. */
  let way: Point | undefined;
  /** The disc at its end reaches beyond it on all sides. */
  let hasGrown = false;
  let isTipDrawn = false;

  function touch(index: number) {
    const known = touched.get(index);
    if (known) return known;
    const rect = tileRect(coverage, index);
    const made = { before: copyOf(coverage, rect), amount: new Uint8Array(TILE * TILE), rect };
    touched.set(index, made);
    return made;
  }
  function* paint(part: Part): StrokeWork {
    const rect = clipped(boundsOf(part), wholeOf(coverage));
    for (const index of tilesIn(coverage, rect)) {
      const square = touch(index);
      sweep(coverage, square, part, brush.hardness, brush.isErasing);
      yield clipped(rect, square.rect);
    }
  }
  function* tip(): StrokeWork {
    if (isTipDrawn) return;
    isTipDrawn = true;
    yield* paint(disc(last, radiusOf(last), hasGrown ? undefined : way, undefined));
  }

  /** On to a point, without the tip there. */
  function* step(point: BrushPoint): StrokeWork {
    const [a, b] = [radiusOf(last), radiusOf(point)];
    const length = Math.hypot(point.x - last.x, point.y - last.y);
    if (length === 0) {
      yield* tip();
      last = point;
      isTipDrawn = b <= a;
      hasGrown ||= b > a;
      return;
    }
    const ahead = { x: (point.x - last.x) / length, y: (point.y - last.y) / length };
    // The area ahead in both directions is painted by the next strip, unless that one grows thinner.
    if (!isTipDrawn) yield* paint(disc(last, a, hasGrown ? undefined : way, b < a ? undefined : ahead));
    yield* paint(strip(last, point, a, b));
    [last, way, hasGrown, isTipDrawn] = [point, ahead, b > a, false];
  }

  return {
    *to(points, withTip = true) {
      for (const point of points) {
        const isNear = Math.hypot(point.x - last.x, point.y - last.y) < SPACING * radiusOf(last);
        pending = isNear && Math.abs(point.pressure - last.pressure) < SPACING ? point : undefined;
        if (!pending) yield* step(point);
      }
      if (withTip) yield* tip();
    },
    *end() {
      if (pending) yield* step(pending);
      yield* tip();
      const kept: KeptTiles = new Map();
      for (const [index, { before, rect }] of touched) {
        kept.set(index, packCopy(before, rect));
        yield nothing;
      }
      return kept;
    },
    *drop() {
      for (const { before, rect } of touched.values()) {
        putBack(coverage, rect, before);
        yield rect;
      }
    },
  };
}

/** In rows of a whole tile, also at the right edge. */
function copyOf({ data, width }: Coverage, { left, top, right, bottom }: Rect): Coverage["data"] {
  const copy = new Uint8Array(TILE * TILE);
  for (let y = top; y < bottom; y += 1) copy.set(data.subarray(y * width + left, y * width + right), (y - top) * TILE);
  return copy;
}

function packCopy(data: Coverage["data"], { left, top, right, bottom }: Rect): Uint8Array {
  return packRect({ width: TILE, height: TILE, data }, { left: 0, top: 0, right: right - left, bottom: bottom - top });
}

function putBack({ data, width }: Coverage, { left, top, right, bottom }: Rect, before: Uint8Array): void {
  for (let y = top; y < bottom; y += 1) {
    data.set(before.subarray((y - top) * TILE, (y - top) * TILE + right - left), y * width + left);
  }
}
