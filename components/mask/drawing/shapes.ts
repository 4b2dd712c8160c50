// A rectangle or a lasso as rows of coverage, from top to bottom.
// Guarantees: a pixel on the edge is covered in proportion to its part inside (sixteen steps vertically, exact horizontally); a lasso that
// crosses itself covers what it winds around.

import { clipped, outward, type Point, type Rect, type Size, wholeOf } from "./geometry";

export type Shape = {
  bounds: Rect;
  /** Writes row `y`, starting at `bounds.left`; rows are requested in order. */
  row: (y: number, into: Uint8Array) => void;
};

export function rectangle(size: Size, rect: Rect): Shape {
  const bounds = clipped(rect, wholeOf(size));
  return { bounds, row: (_, into) => void into.fill(255, 0, bounds.right - bounds.left) };
}

/** Slices of a row that are computed one by one. */
const SLICES = 16;

type Edge = { top: number; bottom: number; x: number; perRow: number; winds: 1 | -1 };

export function lasso(size: Size, points: readonly Point[]): Shape {
  const edges = edgesOf(points).toSorted((one, other) => one.top - other.top);
  const bounds = clipped(boundsOf(points), wholeOf(size));
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
      const at = y + (slice + 0.5) / SLICES;
      const crossings = active
        .filter(({ top, bottom }) => top <= at && at < bottom)
        .map(({ x, top, perRow, winds }) => ({ x: x + (at - top) * perRow, winds }))
        .sort((one, other) => one.x - other.x);
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

function edgesOf(points: readonly Point[]): Edge[] {
  return points.flatMap((from, index): Edge[] => {
    const to = points[(index + 1) % points.length];
    if (!to || to.y === from.y) return [];
    const [upper, lower] = from.y < to.y ? [from, to] : [to, from];
    const perRow = (lower.x - upper.x) / (lower.y - upper.y);
    return [{ top: upper.y, bottom: lower.y, x: upper.x, perRow, winds: from.y < to.y ? 1 : -1 }];
  });
}

function boundsOf(points: readonly Point[]): Rect {
  const bounds = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  for (const { x, y } of points) {
    bounds.left = Math.min(bounds.left, x);
    bounds.top = Math.min(bounds.top, y);
    bounds.right = Math.max(bounds.right, x);
    bounds.bottom = Math.max(bounds.bottom, y);
  }
  return points.length === 0 ? { left: 0, top: 0, right: 0, bottom: 0 } : outward(bounds);
}
