// Tracks a gallery's scroll position and the rows to draw.
// Guarantees: visible rows are drawn in the same frame. A change of the width, tile size or length keeps the top tile in place.

import { startTransition } from "react";
import { flushSync } from "react-dom";
import { getRowsToDraw, type Rows, rowsAround, type View } from "./gallery-layout";
import { type Motion } from "./motion";

/** Height of the previous row that stays visible above the revealed row. */
const TOP_MARGIN_PX = 8;
const SCROLL_END_MS = 150;

/** Values from the page. `headPx`: the height of a sticky list header, which covers rows. */
type ScrollTarget<S extends Shape> = {
  element: HTMLElement;
  count: number;
  headPx: number;
  getLayout: (widthPx: number, screenPx: number) => S;
};

/** The heights of the page's bars above and below the visible part. */
function getBarHeights(headPx: number): { top: number; bottom: number } {
  const isWide = window.matchMedia("(min-width: 48rem)").matches;
  return isWide ? { top: 103 + headPx, bottom: 44 } : { top: 49 + headPx, bottom: 93 };
}

export function createGalleryScroll<S extends Shape>(setRendered: (range: RenderedRows<S>) => void) {
  let lastTarget: ScrollTarget<S> | undefined;
  /** Undefined until the browser has measured the width. */
  let shape: S | undefined;
  let position: Position = { scrollPx: 0, atPx: 0 };
  /** The last value passed to React, and the last value on screen. */
  let rendered: RenderedRows<S> | undefined;
  let current: RenderedRows<S> | undefined;

  const getScrollPx = () => -(lastTarget?.element.getBoundingClientRect().top ?? 0);
  const getBars = () => getBarHeights(lastTarget?.headPx ?? 0);
  const getLengthPx = (forShape: S) => fullPx(forShape, lastTarget?.count ?? 0);
  /** The position at which a tile's row is the first in view. */
  const getTopPx = (index: number, { columns, rowPx }: Shape) => Math.floor(index / columns) * rowPx - getBars().top - TOP_MARGIN_PX;

  function firstIndex(): number {
    if (!shape) return 0;
    return Math.floor(Math.max(0, position.atPx + getBars().top + TOP_MARGIN_PX + 1) / shape.rowPx) * shape.columns;
  }

  function layOutRows(rowsOfView: (view: View) => Rows): RenderedRows<S> | undefined {
    if (!shape || !lastTarget) return undefined;
    const { rowPx, columns } = shape;
    const view = { atPx: position.atPx, screenPx: window.innerHeight, rowPx, columns, rows: countRows(shape, lastTarget.count) };
    return placeRows(shape, rowsOfView(view), position, lastTarget.count);
  }

  function draw(): void {
    const next = layOutRows(rowsAround);
    if (!next || (rendered && isSame(rendered, next))) return;
    rendered = next;
    setRendered(next);
  }

  /** Draws missing rows in this frame, since fast scrolling would otherwise show an empty page. */
  function drawInView(): void {
    const visibleRows = layOutRows((view) => rowsAround({ ...view, isBare: true }));
    if (!visibleRows || (current && covers(current, visibleRows))) return;
    const next = layOutRows((view) => getRowsToDraw(visibleRows, rowsAround(view), current));
    if (!next) return;
    rendered = next;
    flushSync(() => setRendered(next));
  }

  /** Scrolls so that `atPx` of the list is at the upper edge of the screen. */
  function scrollTo(atPx: number): void {
    if (!shape) return;
    const targetPx = toScroll(atPx, getLengthPx(shape));
    window.scrollTo({ top: window.scrollY + targetPx - getScrollPx(), behavior: "instant" });
    const scrollPx = getScrollPx();
    // The page may end before that. A fractional position is kept exactly.
    const isExact = Math.abs(scrollPx - targetPx) < 1;
    position = { scrollPx, atPx: isExact ? atPx : atPx + scrollPx - targetPx };
  }

  function layOut(): void {
    if (!lastTarget || lastTarget.element.clientWidth === 0) return;
    const { element, getLayout } = lastTarget;
    const next = getLayout(element.clientWidth, window.innerHeight);
    const before = shape;
    const first = firstIndex();
    const isAtTop = position.atPx + getBars().top < (before?.rowPx ?? 0) / 2;
    shape = next;
    element.style.height = `${pagePx(getLengthPx(next))}px`;
    if (!before) position = { scrollPx: getScrollPx(), atPx: getScrollPx() };
    else if (!isAtTop && (before.columns !== next.columns || before.rowPx !== next.rowPx)) scrollTo(getTopPx(first, next));
  }

  return {
    firstIndex,

    /** Called initially and on every change. */
    update(next: ScrollTarget<S>, startIndex: number): void {
      const isFirst = shape === undefined;
      lastTarget = next;
      layOut();
      if (isFirst && shape && startIndex >= shape.columns) scrollTo(getTopPx(startIndex, shape));
      draw();
    },

    isCurrent: (range: RenderedRows<S> | undefined) => void (current = range),

    /** Scrolls a tile's row to the top of the view. */
    jumpTo(index: number): void {
      if (!shape) return;
      if (index < shape.columns) {
        window.scrollTo({ top: 0, behavior: "instant" });
        position = { scrollPx: getScrollPx(), atPx: getScrollPx() };
      } else scrollTo(getTopPx(index, shape));
      drawInView();
    },

    /** Scrolls as little as necessary to show a tile. */
    reveal(index: number): void {
      if (!shape) return;
      const { top, bottom } = getBars();
      const { atPx } = position;
      const topPx = Math.floor(index / shape.columns) * shape.rowPx;
      const endPx = topPx + shape.rowPx;
      if (topPx < atPx + top) scrollTo(getTopPx(index, shape));
      else if (endPx > atPx + window.innerHeight - bottom) scrollTo(endPx - window.innerHeight + bottom + TOP_MARGIN_PX);
      else return;
      drawInView();
    },

    /** Converts a point of the screen to a position in the whole list, in pixels. */
    toListPoint(clientX: number, clientY: number): { x: number; y: number; widthPx: number } {
      const box = lastTarget?.element.getBoundingClientRect();
      return { x: clientX - (box?.left ?? 0), y: clientY + position.atPx, widthPx: box?.width ?? 0 };
    },

    /** Listens to the page's scroll and size. Returns a function that stops it. */
    listen(motion: Motion, onRest: (firstIndex: number) => void): () => void {
      let frame = 0;
      let settleTimer: ReturnType<typeof setTimeout> | undefined;

      function onFrame(): void {
        frame = 0;
        if (!shape) return;
        clearTimeout(settleTimer);
        settleTimer = setTimeout(settle, SCROLL_END_MS);
        const scrollPx = getScrollPx();
        // Programmatic jumps are already drawn.
        if (scrollPx === position.scrollPx) return;
        const before = position;
        position = follow(before, scrollPx, { fullPx: getLengthPx(shape), screenPx: window.innerHeight });
        motion.moved(position.atPx);
        const isLeap = Math.abs(position.atPx - before.atPx) > window.innerHeight;
        drawInView();
        // During a continuing jump, the next frame shows other rows anyway.
        if (!isLeap) startTransition(draw);
      }

      function settle(): void {
        if (!shape) return;
        // Small steps in the mapped range leave the scroll bar slightly behind, which is corrected here.
        if (Math.abs(toScroll(position.atPx, getLengthPx(shape)) - position.scrollPx) >= 1) {
          scrollTo(position.atPx);
          drawInView();
        }
        // Rows omitted during a jump are drawn in a transition once scrolling ends.
        startTransition(draw);
        onRest(firstIndex());
      }

      const scrolled = () => {
        frame ||= requestAnimationFrame(onFrame);
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
        clearTimeout(settleTimer);
        watcher.disconnect();
        window.removeEventListener("scroll", scrolled);
        window.removeEventListener("resize", resized);
        motion.stop();
      };
    },
  };
}

// Maps the page's scroll position to a position in a list of any length, and back. Browsers are inexact in very tall pages, so a page is at
// most MAX_PX tall. Small steps move pixel by pixel; a jump (scroll bar, End key) is proportional.

export const MAX_PX = 7_900_000;
const EXACT_PX = 2_000_000;

/** The page's length for a list of `fullPx`. */
export function pagePx(fullPx: number): number {
  return Math.min(fullPx, MAX_PX);
}

export function toFullScroll(scrollPx: number, fullPx: number): number {
  if (fullPx <= MAX_PX || scrollPx <= EXACT_PX) return scrollPx;
  if (scrollPx >= MAX_PX - EXACT_PX) return fullPx - (MAX_PX - scrollPx);
  return EXACT_PX + (scrollPx - EXACT_PX) * stretch(fullPx);
}

export function toScroll(atPx: number, fullPx: number): number {
  if (fullPx <= MAX_PX || atPx <= EXACT_PX) return atPx;
  if (atPx >= fullPx - EXACT_PX) return MAX_PX - (fullPx - atPx);
  return EXACT_PX + (atPx - EXACT_PX) / stretch(fullPx);
}

/** The page's scroll position, and the position in the list that it shows. */
type Position = { scrollPx: number; atPx: number };

export function follow(before: Position, scrollPx: number, extent: { fullPx: number; screenPx: number }): Position {
  const byPx = scrollPx - before.scrollPx;
  const isLeap = Math.abs(byPx) > extent.screenPx * 2;
  return { scrollPx, atPx: isLeap ? toFullScroll(scrollPx, extent.fullPx) : before.atPx + byPx };
}

function stretch(fullPx: number): number {
  return (fullPx - 2 * EXACT_PX) / (MAX_PX - 2 * EXACT_PX);
}

// Computes which rows are drawn, and where on the page.

export type Shape = { columns: number; rowPx: number };
/** Rows, their distance from the container's top, and the container's height. */
export type RenderedRows<S extends Shape> = S & Rows & { topPx: number; heightPx: number };

const countRows = ({ columns }: Shape, count: number) => Math.ceil(count / columns);
const fullPx = (shape: Shape, count: number) => countRows(shape, count) * shape.rowPx;

function placeRows<S extends Shape>(shape: S, { from, to }: Rows, { atPx, scrollPx }: Position, count: number): RenderedRows<S> {
  return { ...shape, from, to, topPx: from * shape.rowPx + scrollPx - atPx, heightPx: pagePx(fullPx(shape, count)) };
}

function isSame(a: RenderedRows<Shape>, b: RenderedRows<Shape>): boolean {
  return a.from === b.from && a.to === b.to && covers(a, b);
}

/** Whether `a` already contains the rows of `b` at the same position. */
function covers(a: RenderedRows<Shape>, b: RenderedRows<Shape>): boolean {
  const hasSameLayout = a.columns === b.columns && a.rowPx === b.rowPx && a.heightPx === b.heightPx;
  const movedPx = a.topPx - a.from * a.rowPx - (b.topPx - b.from * b.rowPx);
  // In the mapped range, positions are fractional.
  return hasSameLayout && Math.abs(movedPx) < 0.01 && a.from <= b.from && a.to >= b.to;
}

/** Keeps rows in place when rows above are added or removed, by adjusting the padding. */
export function getOffsetStyle(topPx: number): { paddingTop: number; marginTop: number } {
  return { paddingTop: Math.max(0, topPx), marginTop: Math.min(0, topPx) };
}
