// A stroke as it appears while it is drawn. With a large brush and zoomed out, the coarse picture shows it for a sixteenth of the
// work, and the pixels follow without the brush's tip as far as time allows; zoomed in, the pixels themselves are shown and the
// means follow at the end.
// Guarantees: after its end or drop, pixels and means are as if each point had been painted in full, and every change was
// reported; the end may pause after each piece, and never shows less of the stroke than before.

import { COARSE, type Coarse } from "./coarse";
import { type Coverage } from "./coverage";
import { holds, joined, nothing, type Rect } from "./geometry";
import { type KeptTiles } from "./history";
import { beginStroke, type Brush, type BrushPoint, type StrokeWork } from "./stroke";
import { tileRect } from "./tiles";

export type ShownStroke = {
  /** Returns the area to redraw. `isLate`: work on invisible pixels may wait for the next point. */
  to: (points: readonly BrushPoint[], isFar: boolean, isLate: () => boolean) => Rect;
  end: () => Generator<Rect, KeptTiles>;
  drop: () => Rect[];
};

/** Smaller brushes cost next to nothing. */
const LARGE = 256;

export function beginShownStroke(
  coverage: Coverage,
  coarse: Coarse,
  brush: Brush,
  first: BrushPoint,
  isFar: boolean,
): { shown: ShownStroke; rect: Rect } {
  const isSketched = isFar && brush.diameter >= LARGE;
  const stroke = beginStroke(coverage, brush, first);
  const sketch = isSketched ? beginStroke(coarse, { ...brush, diameter: brush.diameter / COARSE }, smaller(first)) : undefined;
  /** The area that the means do not include yet. */
  let stale: Rect | undefined;
  /** Work on pixels that are not visible yet, in order. */
  const waiting: StrokeWork[] = [];

  /** Without a sketch, the means must be updated while they are on screen. */
  function seen(changed: Rect, isLookedAtFromAfar: boolean): Rect {
    stale = joined(stale, changed);
    if (!isLookedAtFromAfar) return changed;
    const late = stale;
    coarse.update(late);
    stale = undefined;
    return late;
  }
  function catchUp(isLate: () => boolean): Rect {
    let rect = nothing;
    while (waiting[0] && !isLate()) {
      const piece = waiting[0].next();
      if (piece.done) waiting.shift();
      else rect = joined(rect, piece.value);
    }
    return rect;
  }
  function* settle(squares: Iterable<Rect>): StrokeWork {
    for (const rect of squares) {
      coarse.update(rect);
      yield rect;
    }
  }

  const shown: ShownStroke = {
    to(points, isFarNow, isLate) {
      if (!sketch) return seen(allOf(stroke.to(points)), isFarNow);
      waiting.push(stroke.to(points, !isFarNow));
      const drawn = larger(allOf(sketch.to(points.map(smaller))));
      return joined(
        drawn,
        catchUp(() => isFarNow && isLate()),
      );
    },
    *end() {
      for (const work of waiting) yield* work;
      const before = yield* stroke.end();
      const squares = [...before.keys()].map((index) => tileRect(coverage, index));
      if (!sketch) {
        yield* settle(squares);
        return before;
      }
      // The sketch gives way to the means tile by tile, so that there is never a gap.
      const made: Rect[] = [];
      for (const square of sketch.drop()) {
        made.push(larger(square));
        yield* settle([larger(square)]);
      }
      yield* settle(squares.filter((square) => !made.some((one) => holds(one, square))));
      return before;
    },
    drop() {
      const squares = [...(sketch ? [...sketch.drop()].map(larger) : []), ...stroke.drop()];
      for (const square of squares) coarse.update(square);
      return squares;
    },
  };
  return { shown, rect: sketch ? larger(allOf(sketch.to([]))) : seen(allOf(stroke.to([])), isFar) };
}

function allOf(work: StrokeWork): Rect {
  let rect = nothing;
  for (const piece of work) rect = joined(rect, piece);
  return rect;
}

const smaller = ({ x, y, pressure }: BrushPoint): BrushPoint => ({ x: x / COARSE, y: y / COARSE, pressure });

function larger({ left, top, right, bottom }: Rect): Rect {
  return { left: left * COARSE, top: top * COARSE, right: right * COARSE, bottom: bottom * COARSE };
}
