// A stroke as it is seen while it is drawn. Of a large brush seen from afar the coarse picture shows where it is, at a sixteenth of the
// work, and the pixels follow without the brush's tip; seen from near, the pixels are shown themselves and the means follow at the end.
// Guarantees: once it has ended, or was dropped, pixels and means are as if each point had been painted in full.

import { COARSE, type Coarse } from "./coarse";
import { type Coverage } from "./coverage";
import { joined, type Rect } from "./geometry";
import { type KeptTiles } from "./history";
import { beginStroke, type Brush, type BrushPoint } from "./stroke";
import { tileRect } from "./tiles";

export type ShownStroke = {
  /** What is to be drawn anew. */
  to: (points: readonly BrushPoint[], isFar: boolean) => Rect;
  end: () => { rects: Rect[]; before: KeptTiles };
  drop: () => Rect[];
};

/** A smaller one costs next to nothing. */
const LARGE = 256;

export function beginShownStroke(
  coverage: Coverage,
  coarse: Coarse,
  brush: Brush,
  first: BrushPoint,
  isFar: boolean,
): { shown: ShownStroke; rect: Rect } {
  const sketches = isFar && brush.diameter >= LARGE;
  const { stroke, rect } = beginStroke(coverage, brush, first, !sketches);
  const sketch = sketches ? beginStroke(coarse, { ...brush, diameter: brush.diameter / COARSE }, smaller(first)) : undefined;
  /** What the means do not know yet. */
  let stale: Rect | undefined = rect;

  /** Where nobody sketches, the means have to keep up while they are looked at. */
  function seen(changed: Rect, isLookedAtFromAfar: boolean): Rect {
    stale = joined(stale, changed);
    if (!isLookedAtFromAfar) return changed;
    const late = stale;
    coarse.update(late);
    stale = undefined;
    return late;
  }
  function settle(rects: Rect[]): Rect[] {
    sketch?.stroke.drop();
    for (const settled of rects) coarse.update(settled);
    return rects;
  }

  const shown: ShownStroke = {
    to(points, isFarNow) {
      if (!sketch) return seen(stroke.to(points), isFarNow);
      const exact = stroke.to(points, !isFarNow);
      return joined(larger(sketch.stroke.to(points.map(smaller))), exact);
    },
    end() {
      const { before } = stroke.end();
      return { rects: settle([...before.keys()].map((index) => tileRect(coverage, index))), before };
    },
    drop: () => settle(stroke.drop()),
  };
  return { shown, rect: sketch ? larger(sketch.rect) : seen(rect, isFar) };
}

const smaller = ({ x, y, pressure }: BrushPoint): BrushPoint => ({ x: x / COARSE, y: y / COARSE, pressure });

function larger({ left, top, right, bottom }: Rect): Rect {
  return { left: left * COARSE, top: top * COARSE, right: right * COARSE, bottom: bottom * COARSE };
}
