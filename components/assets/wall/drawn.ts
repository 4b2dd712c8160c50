// Which rows of a wall are drawn, and where in the page. Pure arithmetic.
// Guarantees: a page is never longer than browsers support (scroll-map.ts); rows that are drawn already are recognised.

import { pagePx, type Position } from "./scroll-map";
import { type Rows } from "./wall-layout";

export type Shape = { columns: number; rowPx: number };
/** These rows, at this distance below the container's upper edge, in a container of that height. */
export type Drawn<S extends Shape> = S & Rows & { topPx: number; heightPx: number };

export const rowsOf = ({ columns }: Shape, count: number) => Math.ceil(count / columns);
export const fullPx = (shape: Shape, count: number) => rowsOf(shape, count) * shape.rowPx;

export function placeRows<S extends Shape>(shape: S, { from, to }: Rows, { atPx, scrollPx }: Position, count: number): Drawn<S> {
  return { ...shape, from, to, topPx: from * shape.rowPx + scrollPx - atPx, heightPx: pagePx(fullPx(shape, count)) };
}

export function isSame(a: Drawn<Shape>, b: Drawn<Shape>): boolean {
  return a.from === b.from && a.to === b.to && covers(a, b);
}

/** Whether `a` already holds the rows of `b` at the same place. */
export function covers(a: Drawn<Shape>, b: Drawn<Shape>): boolean {
  const isAlike = a.columns === b.columns && a.rowPx === b.rowPx && a.heightPx === b.heightPx;
  const movedPx = a.topPx - a.from * a.rowPx - (b.topPx - b.from * b.rowPx);
  // In the mapped middle, positions are not whole pixels.
  return isAlike && Math.abs(movedPx) < 0.01 && a.from <= b.from && a.to >= b.to;
}

/** Adding or removing rows above moves none of the others: the padding above them grows, and their box stays in place. */
export function standAt(topPx: number): { paddingTop: number; marginTop: number } {
  return { paddingTop: Math.max(0, topPx), marginTop: Math.min(0, topPx) };
}
