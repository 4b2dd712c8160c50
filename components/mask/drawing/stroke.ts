// A stroke is the exact area that a round brush sweeps between two points, not a row of dabs.
// Guarantees: a stroke paints each pixel only once, even if it crosses itself, and saves only the tiles it reaches.
// Each part is a strip and, at a bend, the wedge outside it. The disc at the tip is drawn once per batch of points or, if single pixels are
// invisible, once at the end. Work is yielded tile by tile, since a disc of 2,000 pixels takes longer than a frame.

import {
  COARSE,
  type CoarseCoverage,
  compactTile,
  containsRect,
  copyTile,
  type Coverage,
  emptyRect,
  findTiles,
  fullRect,
  intersect,
  paintPixel,
  type Point,
  putTile,
  type Rect,
  roundOut,
  type SavedTiles,
  TILE,
  type Tile,
  tileRect,
  union,
} from "./coverage";

export type Brush = { diameter: number; /** 0 all soft to 1 sharp. */ hardness: number; isErasing: boolean };
/** Pressure scales the diameter: 0 to 1. */
export type BrushPoint = Point & { pressure: number };

/** Yields the changed rectangles. Each generator must be finished before the next starts. */
type StrokeWork = Generator<Rect>;
export type Stroke = {
  /** Without the tip, only the part that the next point can't change is painted. */
  to: (points: readonly BrushPoint[], hasTip?: boolean) => StrokeWork;
  /** Does the remaining work and returns the original tiles for the history. */
  end: () => Generator<Rect, SavedTiles>;
  /** Removes the whole stroke. */
  drop: () => StrokeWork;
};

const MIN_RADIUS = 0.5;
/** Moves shorter than this share of the radius are accumulated. */
const SPACING = 0.08;

export function beginStroke(coverage: Coverage, brush: Brush, first: BrushPoint): Stroke {
  const touched = new Map<number, TouchedTile>();
  const getRadius = ({ pressure }: BrushPoint) => Math.max(MIN_RADIUS, (brush.diameter / 2) * pressure);
  let last = first;
  let pending: BrushPoint | undefined;
  /** The direction of the last strip, as a vector one pixel long. */
  let direction: Point | undefined;
  /** Whether the last strip grew, so that its end disc extends beyond it on all sides. */
  let hasGrown = false;
  let isTipDrawn = false;

  function touch(index: number) {
    const touchedTile = touched.get(index);
    if (touchedTile) return touchedTile;
    const rect = tileRect(coverage, index);
    const tileEntry = { before: copyTile(coverage, rect), amount: new Uint8Array(TILE * TILE), rect };
    touched.set(index, tileEntry);
    return tileEntry;
  }
  function* paint(part: Part): StrokeWork {
    const rect = intersect(getBounds(part), fullRect(coverage));
    for (const index of findTiles(coverage, rect)) {
      const square = touch(index);
      sweep(coverage, square, part, brush.hardness, brush.isErasing);
      yield intersect(rect, square.rect);
    }
  }
  function* tip(): StrokeWork {
    if (isTipDrawn) return;
    isTipDrawn = true;
    yield* paint(disc(last, getRadius(last), hasGrown ? undefined : direction, undefined));
  }

  /** Paints up to a point, without the tip there. */
  function* step(point: BrushPoint): StrokeWork {
    const [a, b] = [getRadius(last), getRadius(point)];
    const length = Math.hypot(point.x - last.x, point.y - last.y);
    if (length === 0) {
      yield* tip();
      last = point;
      isTipDrawn = b <= a;
      hasGrown ||= b > a;
      return;
    }
    const ahead = { x: (point.x - last.x) / length, y: (point.y - last.y) / length };
    // The area ahead in both directions is painted by the next strip, unless it gets thinner.
    if (!isTipDrawn) yield* paint(disc(last, a, hasGrown ? undefined : direction, b < a ? undefined : ahead));
    yield* paint(strip(last, point, a, b));
    [last, direction, hasGrown, isTipDrawn] = [point, ahead, b > a, false];
  }

  return {
    *to(points, withTip = true) {
      for (const point of points) {
        const isNear = Math.hypot(point.x - last.x, point.y - last.y) < SPACING * getRadius(last);
        pending = isNear && Math.abs(point.pressure - last.pressure) < SPACING ? point : undefined;
        if (!pending) yield* step(point);
      }
      if (withTip) yield* tip();
    },
    *end() {
      if (pending) yield* step(pending);
      yield* tip();
      const savedTiles: SavedTiles = new Map();
      for (const [index, { before }] of touched) {
        savedTiles.set(index, compactTile(before));
        yield emptyRect;
      }
      return savedTiles;
    },
    *drop() {
      for (const { before, rect } of touched.values()) {
        putTile(coverage, rect, before);
        yield rect;
      }
    },
  };
}

// Paints one part of a stroke, a strip or a disc, row by row within a tile. A pixel keeps the largest amount of all parts, so visiting it twice
// changes nothing.

/** A tile that a stroke has reached. */
type TouchedTile = { before: Tile; amount: Uint8Array; rect: Rect };
/** A half plane relative to the part's start: x * nx + y * ny <= max. */
type Bound = { nx: number; ny: number; max: number };
/** `a` and `b` are the radii at the two ends. */
export type Part = { from: Point; to: Point; a: number; b: number; bounds: readonly Bound[] };

/** Extends bounds by a pixel, so that parts overlap slightly. */
const SLACK = 1;

const falloff = Uint8Array.from({ length: 256 }, (_, at) => {
  const share = at / 255;
  return Math.round(255 * share * share * (3 - 2 * share));
});

/** The area between two points, without the round ends. */
function strip(from: Point, to: Point, a: number, b: number): Part {
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  const [nx, ny] = [(to.x - from.x) / length, (to.y - from.y) / length];
  const halfWidth = Math.max(a, b) + SLACK;
  const bounds = [
    { nx: -nx, ny: -ny, max: SLACK },
    { nx, ny, max: length + SLACK },
    { nx: -ny, ny: nx, max: halfWidth },
    { nx: ny, ny: -nx, max: halfWidth },
  ];
  return { from, to, a, b, bounds };
}

/** The whole disc, or the part ahead of one direction and behind another. */
function disc(at: Point, radius: number, ahead: Point | undefined, behind: Point | undefined): Part {
  const bounds: Bound[] = [];
  if (ahead) bounds.push({ nx: -ahead.x, ny: -ahead.y, max: SLACK });
  if (behind) bounds.push({ nx: behind.x, ny: behind.y, max: SLACK });
  return { from: at, to: at, a: radius, b: radius, bounds };
}

function getBounds({ from, to, a, b }: Part): Rect {
  const margin = Math.max(a, b) + SLACK;
  return roundOut({
    left: Math.min(from.x, to.x) - margin,
    top: Math.min(from.y, to.y) - margin,
    right: Math.max(from.x, to.x) + margin,
    bottom: Math.max(from.y, to.y) + margin,
  });
}

function sweep(coverage: Coverage, tile: TouchedTile, part: Part, hardness: number, isErasing: boolean): void {
  const { from, to, a, b, bounds } = part;
  const { amount, before } = tile;
  const { left, top, right, bottom } = intersect(getBounds(part), tile.rect);
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
  for (let y = top; y < bottom; y += 1) {
    const py = y + 0.5 - from.y;
    let [least, max] = [left - fromX, right - fromX];
    if (length2 === 0) {
      const half = Math.sqrt(Math.max(0, outer2 - py * py)) + SLACK;
      [least, max] = [Math.max(least, -half), Math.min(max, half)];
    }
    for (const { nx, ny, max: limit } of bounds) {
      const rest = limit - ny * py;
      if (Math.abs(nx) < 1e-9) {
        if (rest < 0) max = least;
      } else if (nx > 0) max = Math.min(max, rest / nx);
      else least = Math.max(least, rest / nx);
    }
    const [first, end] = [Math.max(left, Math.floor(fromX + least)), Math.min(right, Math.ceil(fromX + max))];
    const inTile = (y - tile.rect.top) * TILE - tile.rect.left;
    const inAll = y * coverage.width;
    for (let x = first; x < end; x += 1) {
      const previousAmount = amount[inTile + x] ?? 0;
      if (previousAmount === 255) continue;
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
      const now = distance2 <= inner2 ? 255 : (falloff[(((outer - Math.sqrt(distance2)) / feather) * 255) | 0] ?? 255);
      if (now <= previousAmount) continue;
      amount[inTile + x] = now;
      coverage.data[inAll + x] = paintPixel(before[inTile + x] ?? 0, now, isErasing);
    }
  }
}

// A stroke on screen. With a large brush and zoomed out, it is drawn on the coarse coverage for a sixteenth of the work, and the pixels follow
// as time allows. Otherwise the pixels are drawn first and the means follow at the end.
// Guarantees: after `end` or `drop`, pixels and means are exact and every change was reported. `end` may pause after each piece, and never shows
// less of the stroke than before.

export type ShownStroke = {
  /** Returns the area to redraw. `isLate`: work on invisible pixels may wait for the next point. */
  to: (points: readonly BrushPoint[], isFar: boolean, isLate: () => boolean) => Rect;
  end: () => Generator<Rect, SavedTiles>;
  drop: () => Rect[];
};

/** Smaller brushes are fast enough without a sketch. */
const MIN_SKETCH_DIAMETER = 256;

export function beginShownStroke(
  coverage: Coverage,
  coarse: CoarseCoverage,
  brush: Brush,
  first: BrushPoint,
  isFar: boolean,
): { preview: ShownStroke; rect: Rect } {
  const isSketched = isFar && brush.diameter >= MIN_SKETCH_DIAMETER;
  const stroke = beginStroke(coverage, brush, first);
  const sketch = isSketched ? beginStroke(coarse, { ...brush, diameter: brush.diameter / COARSE }, toCoarsePoint(first)) : undefined;
  /** The area whose means are not updated yet. */
  let stale: Rect | undefined;
  /** Work on pixels that are not visible yet, in order. */
  const waiting: StrokeWork[] = [];

  /** Without a sketch, the means must be updated while they are on screen. */
  function shownRect(changedRect: Rect, isLookedAtFromAfar: boolean): Rect {
    stale = union(stale, changedRect);
    if (!isLookedAtFromAfar) return changedRect;
    const lateRect = stale;
    coarse.update(lateRect);
    stale = undefined;
    return lateRect;
  }
  function catchUp(isLate: () => boolean): Rect {
    let rect = emptyRect;
    while (waiting[0] && !isLate()) {
      const piece = waiting[0].next();
      if (piece.done) waiting.shift();
      else rect = union(rect, piece.value);
    }
    return rect;
  }
  function* updateMeans(squares: Iterable<Rect>): StrokeWork {
    for (const rect of squares) {
      coarse.update(rect);
      yield rect;
    }
  }

  const shownStroke: ShownStroke = {
    to(points, isFarNow, isLate) {
      if (!sketch) return shownRect(runToEnd(stroke.to(points)), isFarNow);
      waiting.push(stroke.to(points, !isFarNow));
      const rect = toFullRect(runToEnd(sketch.to(points.map(toCoarsePoint))));
      return union(
        rect,
        catchUp(() => isFarNow && isLate()),
      );
    },
    *end() {
      for (const work of waiting) yield* work;
      const before = yield* stroke.end();
      const squares = [...before.keys()].map((index) => tileRect(coverage, index));
      if (!sketch) {
        yield* updateMeans(squares);
        return before;
      }
      // Replaces the sketch tile by tile, so that there is never a gap.
      const rects: Rect[] = [];
      for (const square of sketch.drop()) {
        rects.push(toFullRect(square));
        yield* updateMeans([toFullRect(square)]);
      }
      yield* updateMeans(squares.filter((square) => !rects.some((rect) => containsRect(rect, square))));
      return before;
    },
    drop() {
      const squares = [...(sketch ? [...sketch.drop()].map(toFullRect) : []), ...stroke.drop()];
      for (const square of squares) coarse.update(square);
      return squares;
    },
  };
  return { preview: shownStroke, rect: sketch ? toFullRect(runToEnd(sketch.to([]))) : shownRect(runToEnd(stroke.to([])), isFar) };
}

function runToEnd(work: StrokeWork): Rect {
  let rect = emptyRect;
  for (const piece of work) rect = union(rect, piece);
  return rect;
}

const toCoarsePoint = ({ x, y, pressure }: BrushPoint): BrushPoint => ({ x: x / COARSE, y: y / COARSE, pressure });

function toFullRect({ left, top, right, bottom }: Rect): Rect {
  return { left: left * COARSE, top: top * COARSE, right: right * COARSE, bottom: bottom * COARSE };
}
