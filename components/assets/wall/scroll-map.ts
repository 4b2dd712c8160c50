// Maps the page's scroll position to a position in a list of any length, and back. Browsers are inexact in pages of tens of millions
// of pixels; a page here is never longer than LONGEST_PX, and the middle of a longer list is mapped onto the remaining length.
// Guarantees: near both ends one scrolled pixel moves one pixel; small steps do so everywhere, so that wheel and finger
// feel no mapping; a jump (scroll bar, End key) lands in proportion. Pure.

export const LONGEST_PX = 7_900_000;
const PLAIN_PX = 2_000_000;

/** The page's length for a list of `fullPx`. */
export function pagePx(fullPx: number): number {
  return Math.min(fullPx, LONGEST_PX);
}

export function toFull(scrollPx: number, fullPx: number): number {
  if (fullPx <= LONGEST_PX || scrollPx <= PLAIN_PX) return scrollPx;
  if (scrollPx >= LONGEST_PX - PLAIN_PX) return fullPx - (LONGEST_PX - scrollPx);
  return PLAIN_PX + (scrollPx - PLAIN_PX) * stretch(fullPx);
}

export function toScroll(atPx: number, fullPx: number): number {
  if (fullPx <= LONGEST_PX || atPx <= PLAIN_PX) return atPx;
  if (atPx >= fullPx - PLAIN_PX) return LONGEST_PX - (fullPx - atPx);
  return PLAIN_PX + (atPx - PLAIN_PX) / stretch(fullPx);
}

/** The page's scroll position, and the position in the list that it shows. */
export type Position = { scrollPx: number; atPx: number };

export function follow(before: Position, scrollPx: number, extent: { fullPx: number; screenPx: number }): Position {
  const byPx = scrollPx - before.scrollPx;
  const isLeap = Math.abs(byPx) > extent.screenPx * 2;
  return { scrollPx, atPx: isLeap ? toFull(scrollPx, extent.fullPx) : before.atPx + byPx };
}

function stretch(fullPx: number): number {
  return (fullPx - 2 * PLAIN_PX) / (LONGEST_PX - 2 * PLAIN_PX);
}
