import { GAP_X } from "./wall-layout";

type Point = { x: number; y: number };
type Grid = { columns: number; rowPx: number; picturePx: number; widthPx: number; count: number };

/** The tiles that a band between two points of the whole list touches, in the order of the list. */
export function tilesUnder(a: Point, b: Point, { columns, rowPx, widthPx, count }: Grid): number[] {
  const columnPx = (widthPx + GAP_X) / columns;
  const span = (from: number, to: number, sizePx: number, gapPx: number, most: number) => {
    const [low, high] = [Math.min(from, to), Math.max(from, to)];
    // A gap belongs to no tile.
    const first = Math.floor(low / sizePx) + (low - Math.floor(low / sizePx) * sizePx > sizePx - gapPx ? 1 : 0);
    return { first: Math.max(0, first), last: Math.min(most, Math.floor(high / sizePx)) };
  };
  const across = span(a.x, b.x, columnPx, GAP_X, columns - 1);
  const down = span(a.y, b.y, rowPx, 8, Math.ceil(count / columns) - 1);
  const found: number[] = [];
  for (let row = down.first; row <= down.last; row += 1) {
    for (let column = across.first; column <= across.last; column += 1) {
      const index = row * columns + column;
      if (index < count) found.push(index);
    }
  }
  return found;
}
