// Where a gallery is scrolled to and which of its rows are drawn: plain code between the page's scroll and React.
// Guarantees: what is in view is drawn in the frame that shows it; when width, tile size or length changes, the tile at the top stays there.

import { startTransition } from "react";
import { flushSync } from "react-dom";
import { type Rows, rowsAround, rowsAtOnce, type View } from "./gallery-layout";
import { type Motion } from "./motion";

/** Height of the previous row that stays visible above the revealed row. */
const TOP_MARGIN_PX = 8;
const SETTLED_MS = 150;

/** Values from the page. `headPx`: the height of a sticky list header, which covers rows. */
type ScrollTarget<S extends Shape> = {
  element: HTMLElement;
  count: number;
  headPx: number;
  layoutOf: (widthPx: number, screenPx: number) => S;
};

/** The page's own bars above and below the visible part. */
function barsUnder(headPx: number): { top: number; bottom: number } {
  const isWide = window.matchMedia("(min-width: 48rem)").matches;
  return isWide ? { top: 103 + headPx, bottom: 44 } : { top: 49 + headPx, bottom: 93 };
}

export function createGalleryScroll<S extends Shape>(setRendered: (range: RenderedRows<S>) => void) {
  let lastTarget: ScrollTarget<S> | undefined;
  /** Undefined until the browser has measured the width. */
  let shape: S | undefined;
  let position: Position = { scrollPx: 0, atPx: 0 };
  /** The newest value given to React, and the newest on screen. */
  let rendered: RenderedRows<S> | undefined;
  let current: RenderedRows<S> | undefined;

  const scrolledPx = () => -(lastTarget?.element.getBoundingClientRect().top ?? 0);
  const bars = () => barsUnder(lastTarget?.headPx ?? 0);
  const lengthPx = (of: S) => fullPx(of, lastTarget?.count ?? 0);
  /** The position at which a tile's row is the first in view. */
  const topOf = (index: number, { columns, rowPx }: Shape) => Math.floor(index / columns) * rowPx - bars().top - TOP_MARGIN_PX;

  function firstIndex(): number {
    if (!shape) return 0;
    return Math.floor(Math.max(0, position.atPx + bars().top + TOP_MARGIN_PX + 1) / shape.rowPx) * shape.columns;
  }

  function layOutRows(rowsOfView: (view: View) => Rows): RenderedRows<S> | undefined {
    if (!shape || !lastTarget) return undefined;
    const { rowPx, columns } = shape;
    const view = { atPx: position.atPx, screenPx: window.innerHeight, rowPx, columns, rows: rowsOf(shape, lastTarget.count) };
    return placeRows(shape, rowsOfView(view), position, lastTarget.count);
  }

  function draw(): void {
    const next = layOutRows(rowsAround);
    if (!next || (rendered && isSame(rendered, next))) return;
    rendered = next;
    setRendered(next);
  }

  /** Draws in this frame, as fast scrolling would otherwise show an empty page; does nothing if all visible rows are drawn already. */
  function drawInView(): void {
    const bare = layOutRows((view) => rowsAround({ ...view, isBare: true }));
    if (!bare || (current && covers(current, bare))) return;
    const next = layOutRows((view) => rowsAtOnce(bare, rowsAround(view), current));
    if (!next) return;
    rendered = next;
    flushSync(() => setRendered(next));
  }

  /** Scrolls so that `atPx` of the list is at the upper edge of the screen. */
  function scrollTo(atPx: number): void {
    if (!shape) return;
    const targetPx = toScroll(atPx, lengthPx(shape));
    window.scrollTo({ top: window.scrollY + targetPx - scrolledPx(), behavior: "instant" });
    const scrollPx = scrolledPx();
    // The page may end before that; a position between two pixels is kept exactly.
    const isExact = Math.abs(scrollPx - targetPx) < 1;
    position = { scrollPx, atPx: isExact ? atPx : atPx + scrollPx - targetPx };
  }

  function layOut(): void {
    if (!lastTarget || lastTarget.element.clientWidth === 0) return;
    const { element, layoutOf } = lastTarget;
    const next = layoutOf(element.clientWidth, window.innerHeight);
    const before = shape;
    const first = firstIndex();
    const isAtTop = position.atPx + bars().top < (before?.rowPx ?? 0) / 2;
    shape = next;
    element.style.height = `${pagePx(lengthPx(next))}px`;
    if (!before) position = { scrollPx: scrolledPx(), atPx: scrolledPx() };
    else if (!isAtTop && (before.columns !== next.columns || before.rowPx !== next.rowPx)) scrollTo(topOf(first, next));
  }

  return {
    firstIndex,

    /** Called at first, and whenever something of it changes. */
    update(next: ScrollTarget<S>, startIndex: number): void {
      const isFirst = shape === undefined;
      lastTarget = next;
      layOut();
      if (isFirst && shape && startIndex >= shape.columns) scrollTo(topOf(startIndex, shape));
      draw();
    },

    isCurrent: (range: RenderedRows<S> | undefined) => void (current = range),

    /** Scrolls a tile's row to the top of the view. */
    jumpTo(index: number): void {
      if (!shape) return;
      if (index < shape.columns) {
        window.scrollTo({ top: 0, behavior: "instant" });
        position = { scrollPx: scrolledPx(), atPx: scrolledPx() };
      } else scrollTo(topOf(index, shape));
      drawInView();
    },

    /** Scrolls as little as necessary to show a tile. */
    reveal(index: number): void {
      if (!shape) return;
      const { top, bottom } = bars();
      const { atPx } = position;
      const topPx = Math.floor(index / shape.columns) * shape.rowPx;
      const endPx = topPx + shape.rowPx;
      if (topPx < atPx + top) scrollTo(topOf(index, shape));
      else if (endPx > atPx + window.innerHeight - bottom) scrollTo(endPx - window.innerHeight + bottom + TOP_MARGIN_PX);
      else return;
      drawInView();
    },

    /** Converts a point of the screen to a position in the whole list, in pixels. */
    pointAt(clientX: number, clientY: number): { x: number; y: number; widthPx: number } {
      const box = lastTarget?.element.getBoundingClientRect();
      return { x: clientX - (box?.left ?? 0), y: clientY + position.atPx, widthPx: box?.width ?? 0 };
    },

    /** Follows the page's scroll and size. Returns a function that ends it. */
    listen(motion: Motion, onRest: (firstIndex: number) => void): () => void {
      let frame = 0;
      let settling: ReturnType<typeof setTimeout> | undefined;

      function look(): void {
        frame = 0;
        if (!shape) return;
        clearTimeout(settling);
        settling = setTimeout(settle, SETTLED_MS);
        const scrollPx = scrolledPx();
        // Our own jump has been drawn already.
        if (scrollPx === position.scrollPx) return;
        const before = position;
        position = follow(before, scrollPx, { fullPx: lengthPx(shape), screenPx: window.innerHeight });
        motion.moved(position.atPx);
        const isLeap = Math.abs(position.atPx - before.atPx) > window.innerHeight;
        drawInView();
        // A jump continues, so the next frame shows other rows anyway.
        if (!isLeap) startTransition(draw);
      }

      function settle(): void {
        if (!shape) return;
        // Small steps in the mapped middle leave the scroll bar slightly behind: it is corrected here, invisibly.
        if (Math.abs(toScroll(position.atPx, lengthPx(shape)) - position.scrollPx) >= 1) {
          scrollTo(position.atPx);
          drawInView();
        }
        // Rows omitted by a jump are drawn in a transition, now that nothing moves.
        startTransition(draw);
        onRest(firstIndex());
      }

      const scrolled = () => {
        frame ||= requestAnimationFrame(look);
      };
      const resized = () => {
        layOut();
        draw();
      };
      const watcher = new ResizeObserver(resized);
      if (lastTarget) watcher.observe(lastTarget.element);
      window.addEventListener("scroll", scrolled, { passive: true });
      window.addEventListener("resize", resized, { passive: true });
      return () => {
        cancelAnimationFrame(frame);
        clearTimeout(settling);
        watcher.disconnect();
        window.removeEventListener("scroll", scrolled);
        window.removeEventListener("resize", resized);
        motion.stop();
      };
    },
  };
}

// Maps the page's scroll position to a position in a list of any length, and back. Browsers are inexact in pages of tens of millions of
// pixels, so a page is at most MAX_PX tall. Small steps move pixel by pixel; a jump (scroll bar, End key) is proportional.

export const MAX_PX = 7_900_000;
const PLAIN_PX = 2_000_000;

/** The page's length for a list of `fullPx`. */
export function pagePx(fullPx: number): number {
  return Math.min(fullPx, MAX_PX);
}

export function toFull(scrollPx: number, fullPx: number): number {
  if (fullPx <= MAX_PX || scrollPx <= PLAIN_PX) return scrollPx;
  if (scrollPx >= MAX_PX - PLAIN_PX) return fullPx - (MAX_PX - scrollPx);
  return PLAIN_PX + (scrollPx - PLAIN_PX) * stretch(fullPx);
}

export function toScroll(atPx: number, fullPx: number): number {
  if (fullPx <= MAX_PX || atPx <= PLAIN_PX) return atPx;
  if (atPx >= fullPx - PLAIN_PX) return MAX_PX - (fullPx - atPx);
  return PLAIN_PX + (atPx - PLAIN_PX) / stretch(fullPx);
}

/** The page's scroll position, and the position in the list that it shows. */
type Position = { scrollPx: number; atPx: number };

export function follow(before: Position, scrollPx: number, extent: { fullPx: number; screenPx: number }): Position {
  const byPx = scrollPx - before.scrollPx;
  const isLeap = Math.abs(byPx) > extent.screenPx * 2;
  return { scrollPx, atPx: isLeap ? toFull(scrollPx, extent.fullPx) : before.atPx + byPx };
}

function stretch(fullPx: number): number {
  return (fullPx - 2 * PLAIN_PX) / (MAX_PX - 2 * PLAIN_PX);
}

// Computes which rows are drawn, and where in the page.

export type Shape = { columns: number; rowPx: number };
/** These rows, at this distance below the container's upper edge, in a container of that height. */
export type RenderedRows<S extends Shape> = S & Rows & { topPx: number; heightPx: number };

const rowsOf = ({ columns }: Shape, count: number) => Math.ceil(count / columns);
const fullPx = (shape: Shape, count: number) => rowsOf(shape, count) * shape.rowPx;

function placeRows<S extends Shape>(shape: S, { from, to }: Rows, { atPx, scrollPx }: Position, count: number): RenderedRows<S> {
  return { ...shape, from, to, topPx: from * shape.rowPx + scrollPx - atPx, heightPx: pagePx(fullPx(shape, count)) };
}

function isSame(a: RenderedRows<Shape>, b: RenderedRows<Shape>): boolean {
  return a.from === b.from && a.to === b.to && covers(a, b);
}

/** Whether `a` already contains the rows of `b` at the same position. */
function covers(a: RenderedRows<Shape>, b: RenderedRows<Shape>): boolean {
  const isAlike = a.columns === b.columns && a.rowPx === b.rowPx && a.heightPx === b.heightPx;
  const movedPx = a.topPx - a.from * a.rowPx - (b.topPx - b.from * b.rowPx);
  // In the mapped middle, positions are not whole pixels.
  return isAlike && Math.abs(movedPx) < 0.01 && a.from <= b.from && a.to >= b.to;
}

/** Adding or removing rows above moves no others: the padding above grows instead. */
export function standAt(topPx: number): { paddingTop: number; marginTop: number } {
  return { paddingTop: Math.max(0, topPx), marginTop: Math.min(0, topPx) };
}
