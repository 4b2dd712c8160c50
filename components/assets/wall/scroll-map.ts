// From a place in the page's scroll to a place in a list of any length, and back. Browsers lose exactness in pages of tens of millions
// of pixels; a page here is never longer than LONGEST_PX, and the middle of a longer list is mapped onto what is left.
// Guarantees: near both ends a pixel scrolled is a pixel moved; small steps are a pixel a pixel everywhere, so that a wheel and a finger
// feel no mapping; a leap (the scroll bar, the End key) lands in proportion. Pure.

export const LONGEST_PX = 7_900_000;
const PLAIN_PX = 2_000_000;

/** How long the page is for a list of `fullPx`. */
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

/** Where the page is scrolled to, and which place of the list is there. */
export type Position = { scrollPx: number; atPx: number };

export function follow(before: Position, scrollPx: number, extent: { fullPx: number; screenPx: number }): Position {
  const byPx = scrollPx - before.scrollPx;
  const isLeap = Math.abs(byPx) > extent.screenPx * 2;
  return { scrollPx, atPx: isLeap ? toFull(scrollPx, extent.fullPx) : before.atPx + byPx };
}

function stretch(fullPx: number): number {
  return (fullPx - 2 * PLAIN_PX) / (LONGEST_PX - 2 * PLAIN_PX);
}
