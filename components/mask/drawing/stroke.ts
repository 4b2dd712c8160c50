// A stroke is the exact area that a round brush sweeps between two points, not a row of dabs.
// Guarantees: a stroke paints each pixel only once, even if it crosses itself, and saves only the tiles it touches.
// Each segment is a strip and, at a bend, the wedge outside it. The disc at the tip is drawn once per batch of points. When
// zoomed out, it is drawn once at the end. Work is yielded tile by tile, because a disc of 2,000 pixels takes longer than a frame.

import {
  COARSE_FACTOR,
  type CoarseCoverage,
  compactTile,
  containsRect,
  copyTile,
  type Coverage,
  emptyRect,
  findTileIndexes,
  fullRect,
  getTileRect,
  intersect,
  paintPixel,
  type Point,
  putTile,
  type Rect,
  roundOut,
  type SavedTiles,
  type Tile,
  TILE_SIZE,
  union,
} from "./coverage";

export type Brush = { diameter: number; /** From 0 (soft) to 1 (sharp). */ hardness: number; isErasing: boolean };
/** Pressure scales the diameter: 0 to 1. */
export type BrushPoint = Point & { pressure: number };

/** Yields the changed rectangles. Each generator must be finished before the next starts. */
type StrokeWork = Generator<Rect>;
export type Stroke = {
  /** Without the tip, paints only the area that the next point can't change. */
  extend: (points: readonly BrushPoint[], includeTip?: boolean) => StrokeWork;
  /** Finishes the remaining work and returns the original tiles for the history. */
  end: () => Generator<Rect, SavedTiles>;
  /** Removes the stroke. */
  drop: () => StrokeWork;
};

const MIN_RADIUS = 0.5;
/** Moves shorter than this fraction of the radius are accumulated. */
const MIN_SPACING = 0.08;

export function startStroke(coverage: Coverage, brush: Brush, firstPoint: BrushPoint): Stroke {
  const touchedTiles = new Map<number, TouchedTile>();
  const getRadius = ({ pressure }: BrushPoint) => Math.max(MIN_RADIUS, (brush.diameter / 2) * pressure);
  let lastPoint = firstPoint;
  let pendingPoint: BrushPoint | undefined;
  /** The direction of the last strip, as a unit vector. */
  let direction: Point | undefined;
  /** Whether the last strip got wider, so that its end disc extends beyond it on all sides. */
  let hasWidened = false;
  let isTipDrawn = false;

  function getTouchedTile(index: number) {
    const touchedTile = touchedTiles.get(index);
    if (touchedTile) return touchedTile;
    const rect = getTileRect(coverage, index);
    const tileEntry = { originalTile: copyTile(coverage, rect), amounts: new Uint8Array(TILE_SIZE * TILE_SIZE), rect };
    touchedTiles.set(index, tileEntry);
    return tileEntry;
  }
  function* paint(segment: Segment): StrokeWork {
    const rect = intersect(getBounds(segment), fullRect(coverage));
    for (const index of findTileIndexes(coverage, rect)) {
      const touchedTile = getTouchedTile(index);
      paintSegment(coverage, touchedTile, segment, brush.hardness, brush.isErasing);
      yield intersect(rect, touchedTile.rect);
    }
  }
  function* drawTip(): StrokeWork {
    if (isTipDrawn) return;
    isTipDrawn = true;
    yield* paint(createDisc(lastPoint, getRadius(lastPoint), hasWidened ? undefined : direction, undefined));
  }

  /** Paints up to a point, without the tip at that point. */
  function* drawSegment(point: BrushPoint): StrokeWork {
    const [startRadius, endRadius] = [getRadius(lastPoint), getRadius(point)];
    const length = Math.hypot(point.x - lastPoint.x, point.y - lastPoint.y);
    if (length === 0) {
      yield* drawTip();
      lastPoint = point;
      isTipDrawn = endRadius <= startRadius;
      hasWidened ||= endRadius > startRadius;
      return;
    }
    const newDirection = { x: (point.x - lastPoint.x) / length, y: (point.y - lastPoint.y) / length };
    // Skips the area that the next strip covers, unless that strip narrows.
    if (!isTipDrawn)
      yield* paint(
        createDisc(lastPoint, startRadius, hasWidened ? undefined : direction, endRadius < startRadius ? undefined : newDirection),
      );
    yield* paint(createStrip(lastPoint, point, startRadius, endRadius));
    [lastPoint, direction, hasWidened, isTipDrawn] = [point, newDirection, endRadius > startRadius, false];
  }

  return {
    *extend(points, includeTip = true) {
      for (const point of points) {
        const isNear = Math.hypot(point.x - lastPoint.x, point.y - lastPoint.y) < MIN_SPACING * getRadius(lastPoint);
        pendingPoint = isNear && Math.abs(point.pressure - lastPoint.pressure) < MIN_SPACING ? point : undefined;
        if (!pendingPoint) yield* drawSegment(point);
      }
      if (includeTip) yield* drawTip();
    },
    *end() {
      if (pendingPoint) yield* drawSegment(pendingPoint);
      yield* drawTip();
      const savedTiles: SavedTiles = new Map();
      for (const [index, { originalTile }] of touchedTiles) {
        savedTiles.set(index, compactTile(originalTile));
        yield emptyRect;
      }
      return savedTiles;
    },
    *drop() {
      for (const { originalTile, rect } of touchedTiles.values()) {
        putTile(coverage, rect, originalTile);
        yield rect;
      }
    },
  };
}

// Paints one segment of a stroke, a strip or a disc, row by row within a tile. Pixels store the maximum amount of all
// segments, so painting one twice changes nothing.

/** A tile that a stroke has touched. */
type TouchedTile = { originalTile: Tile; amounts: Uint8Array; rect: Rect };
/** A half plane relative to the start of the segment: x * nx + y * ny <= max. */
type HalfPlane = { nx: number; ny: number; max: number };
/** `a` and `b` are the radii at the two ends. */
export type Segment = { from: Point; to: Point; a: number; b: number; bounds: readonly HalfPlane[] };

/** Extends bounds by a pixel, so that segments overlap slightly. */
const OVERLAP_PX = 1;

const falloffTable = Uint8Array.from({ length: 256 }, (_, index) => {
  const ratio = index / 255;
  return Math.round(255 * ratio * ratio * (3 - 2 * ratio));
});

/** The area between two points, without the round ends. */
function createStrip(from: Point, to: Point, a: number, b: number): Segment {
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  const [nx, ny] = [(to.x - from.x) / length, (to.y - from.y) / length];
  const halfWidth = Math.max(a, b) + OVERLAP_PX;
  const bounds = [
    { nx: -nx, ny: -ny, max: OVERLAP_PX },
    { nx, ny, max: length + OVERLAP_PX },
    { nx: -ny, ny: nx, max: halfWidth },
    { nx: ny, ny: -nx, max: halfWidth },
  ];
  return { from, to, a, b, bounds };
}

/** The full disc, or the part ahead of one direction and behind another. */
function createDisc(center: Point, radius: number, frontDirection: Point | undefined, backDirection: Point | undefined): Segment {
  const bounds: HalfPlane[] = [];
  if (frontDirection) bounds.push({ nx: -frontDirection.x, ny: -frontDirection.y, max: OVERLAP_PX });
  if (backDirection) bounds.push({ nx: backDirection.x, ny: backDirection.y, max: OVERLAP_PX });
  return { from: center, to: center, a: radius, b: radius, bounds };
}

function getBounds({ from, to, a, b }: Segment): Rect {
  const margin = Math.max(a, b) + OVERLAP_PX;
  return roundOut({
    left: Math.min(from.x, to.x) - margin,
    top: Math.min(from.y, to.y) - margin,
    right: Math.max(from.x, to.x) + margin,
    bottom: Math.max(from.y, to.y) + margin,
  });
}

function paintSegment(coverage: Coverage, tile: TouchedTile, segment: Segment, hardness: number, isErasing: boolean): void {
  const { from, to, a, b, bounds } = segment;
  const { amounts, originalTile } = tile;
  const { left, top, right, bottom } = intersect(getBounds(segment), tile.rect);
  const fromX = from.x;
  const dx = to.x - from.x;
  const dy = to.y - from.y;
  const length2 = dx * dx + dy * dy;
  const inverseLength2 = length2 > 0 ? 1 / length2 : 0;
  const growth = b - a;
  let outer = a + 0.5;
  let feather = Math.max(1, (1 - hardness) * outer);
  let outer2 = outer * outer;
  let inner2 = outer > feather ? (outer - feather) ** 2 : -1;
  for (let y = top; y < bottom; y += 1) {
    const py = y + 0.5 - from.y;
    let [min, max] = [left - fromX, right - fromX];
    if (length2 === 0) {
      const halfChord = Math.sqrt(Math.max(0, outer2 - py * py)) + OVERLAP_PX;
      [min, max] = [Math.max(min, -halfChord), Math.min(max, halfChord)];
    }
    for (const { nx, ny, max: limit } of bounds) {
      const xLimit = limit - ny * py;
      if (Math.abs(nx) < 1e-9) {
        if (xLimit < 0) max = min;
      } else if (nx > 0) max = Math.min(max, xLimit / nx);
      else min = Math.max(min, xLimit / nx);
    }
    const [startX, endX] = [Math.max(left, Math.floor(fromX + min)), Math.min(right, Math.ceil(fromX + max))];
    const tileOffset = (y - tile.rect.top) * TILE_SIZE - tile.rect.left;
    const coverageOffset = y * coverage.width;
    for (let x = startX; x < endX; x += 1) {
      const previousAmount = amounts[tileOffset + x] ?? 0;
      if (previousAmount === 255) continue;
      const px = x + 0.5 - fromX;
      let position = (px * dx + py * dy) * inverseLength2;
      position = position < 0 ? 0 : position > 1 ? 1 : position;
      const ex = px - dx * position;
      const ey = py - dy * position;
      const distance2 = ex * ex + ey * ey;
      if (growth !== 0) {
        outer = a + growth * position + 0.5;
        feather = Math.max(1, (1 - hardness) * outer);
        outer2 = outer * outer;
        inner2 = outer > feather ? (outer - feather) ** 2 : -1;
      }
      if (distance2 >= outer2) continue;
      const newAmount = distance2 <= inner2 ? 255 : (falloffTable[(((outer - Math.sqrt(distance2)) / feather) * 255) | 0] ?? 255);
      if (newAmount <= previousAmount) continue;
      amounts[tileOffset + x] = newAmount;
      coverage.data[coverageOffset + x] = paintPixel(originalTile[tileOffset + x] ?? 0, newAmount, isErasing);
    }
  }
}

// Previews a stroke on the screen. When zoomed out, a large brush draws on the coarse coverage, which is 16 times cheaper.
// The pixels are then drawn as time allows. Otherwise the pixels are drawn first, and the coarse coverage is updated at the end.
// Guarantees: after `end` or `drop`, pixels and coarse coverage are exact, and every change was reported. `end` yields tile by tile, and
// the visible part of the stroke never shrinks.

export type StrokePreview = {
  /** Returns the area to redraw. `shouldYield`: work on invisible pixels may wait for the next point. */
  extend: (points: readonly BrushPoint[], isZoomedOut: boolean, shouldYield: () => boolean) => Rect;
  end: () => Generator<Rect, SavedTiles>;
  drop: () => Rect[];
};

/** Smaller brushes are fast enough without a sketch. */
const MIN_SKETCH_DIAMETER = 256;

export function startStrokePreview(
  coverage: Coverage,
  coarse: CoarseCoverage,
  brush: Brush,
  firstPoint: BrushPoint,
  isZoomedOut: boolean,
): { preview: StrokePreview; rect: Rect } {
  const isSketched = isZoomedOut && brush.diameter >= MIN_SKETCH_DIAMETER;
  const stroke = startStroke(coverage, brush, firstPoint);
  const sketch = isSketched
    ? startStroke(coarse, { ...brush, diameter: brush.diameter / COARSE_FACTOR }, toCoarsePoint(firstPoint))
    : undefined;
  /** The area in which the coarse coverage is not updated yet. */
  let staleRect: Rect | undefined;
  /** Work on pixels that are not visible yet, in order. */
  const pendingWork: StrokeWork[] = [];

  /** Without a sketch, the coarse coverage must be updated while it is shown. */
  function updateShownRect(changedRect: Rect, isZoomedOutNow: boolean): Rect {
    staleRect = union(staleRect, changedRect);
    if (!isZoomedOutNow) return changedRect;
    const updatedRect = staleRect;
    coarse.update(updatedRect);
    staleRect = undefined;
    return updatedRect;
  }
  function runPendingWork(shouldYield: () => boolean): Rect {
    let rect = emptyRect;
    while (pendingWork[0] && !shouldYield()) {
      const piece = pendingWork[0].next();
      if (piece.done) pendingWork.shift();
      else rect = union(rect, piece.value);
    }
    return rect;
  }
  function* updateCoarse(rects: Iterable<Rect>): StrokeWork {
    for (const rect of rects) {
      coarse.update(rect);
      yield rect;
    }
  }

  const preview: StrokePreview = {
    extend(points, isZoomedOutNow, shouldYield) {
      if (!sketch) return updateShownRect(runToEnd(stroke.extend(points)), isZoomedOutNow);
      pendingWork.push(stroke.extend(points, !isZoomedOutNow));
      const rect = toFullRect(runToEnd(sketch.extend(points.map(toCoarsePoint))));
      return union(
        rect,
        runPendingWork(() => isZoomedOutNow && shouldYield()),
      );
    },
    *end() {
      for (const work of pendingWork) yield* work;
      const savedTiles = yield* stroke.end();
      const tileRects = [...savedTiles.keys()].map((index) => getTileRect(coverage, index));
      if (!sketch) {
        yield* updateCoarse(tileRects);
        return savedTiles;
      }
      // Replaces the sketch tile by tile, so that there is never a gap.
      const rects: Rect[] = [];
      for (const sketchRect of sketch.drop()) {
        rects.push(toFullRect(sketchRect));
        yield* updateCoarse([toFullRect(sketchRect)]);
      }
      yield* updateCoarse(tileRects.filter((tileRect) => !rects.some((rect) => containsRect(rect, tileRect))));
      return savedTiles;
    },
    drop() {
      const rects = [...(sketch ? [...sketch.drop()].map(toFullRect) : []), ...stroke.drop()];
      for (const rect of rects) coarse.update(rect);
      return rects;
    },
  };
  return { preview, rect: sketch ? toFullRect(runToEnd(sketch.extend([]))) : updateShownRect(runToEnd(stroke.extend([])), isZoomedOut) };
}

function runToEnd(work: StrokeWork): Rect {
  let rect = emptyRect;
  for (const piece of work) rect = union(rect, piece);
  return rect;
}

const toCoarsePoint = ({ x, y, pressure }: BrushPoint): BrushPoint => ({ x: x / COARSE_FACTOR, y: y / COARSE_FACTOR, pressure });

function toFullRect({ left, top, right, bottom }: Rect): Rect {
  return { left: left * COARSE_FACTOR, top: top * COARSE_FACTOR, right: right * COARSE_FACTOR, bottom: bottom * COARSE_FACTOR };
}
