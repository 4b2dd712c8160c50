// Tracks a gallery's scroll position and the rows to draw.
// Guarantees: visible rows are drawn in the same frame. A change of the width, tile size or length keeps the top tile in place.

import { startTransition } from "react";
import { flushSync } from "react-dom";
import { type GalleryViewport, getRowsAround, getRowsToDraw, type RowRange } from "./gallery-layout";
import { type ScrollMotion } from "./scroll-motion";

/** Part of the previous row that stays visible above the revealed row. */
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
  let currentRows: RenderedRows<S> | undefined;

  const getScrollPx = () => -(lastTarget?.element.getBoundingClientRect().top ?? 0);
  const getBars = () => getBarHeights(lastTarget?.headPx ?? 0);
  const getLengthPx = (layoutShape: S) => getFullHeightPx(layoutShape, lastTarget?.count ?? 0);
  /** Returns the scroll position that shows a tile's row at the top. */
  const getTopPx = (index: number, { columns, rowPx }: Shape) => Math.floor(index / columns) * rowPx - getBars().top - TOP_MARGIN_PX;

  function getFirstIndex(): number {
    if (!shape) return 0;
    return Math.floor(Math.max(0, position.atPx + getBars().top + TOP_MARGIN_PX + 1) / shape.rowPx) * shape.columns;
  }

  function layOutRows(selectRows: (view: GalleryViewport) => RowRange): RenderedRows<S> | undefined {
    if (!shape || !lastTarget) return undefined;
    const { rowPx, columns } = shape;
    const view = { atPx: position.atPx, screenPx: window.innerHeight, rowPx, columns, rows: countRows(shape, lastTarget.count) };
    return placeRows(shape, selectRows(view), position, lastTarget.count);
  }

  function drawNearbyRows(): void {
    const nearbyRows = layOutRows(getRowsAround);
    if (!nearbyRows || (rendered && hasSameRows(rendered, nearbyRows))) return;
    rendered = nearbyRows;
    setRendered(nearbyRows);
  }

  /** Draws missing rows in this frame, since fast scrolling would otherwise show an empty page. */
  function drawInView(): void {
    const visibleRows = layOutRows((view) => getRowsAround({ ...view, isVisibleOnly: true }));
    if (!visibleRows || (currentRows && covers(currentRows, visibleRows))) return;
    const rowsToDraw = layOutRows((view) => getRowsToDraw(visibleRows, getRowsAround(view), currentRows));
    if (!rowsToDraw) return;
    rendered = rowsToDraw;
    flushSync(() => setRendered(rowsToDraw));
  }

  /** Scrolls so that `atPx` of the list is at the upper edge of the screen. */
  function scrollTo(atPx: number): void {
    if (!shape) return;
    const targetPx = toScroll(atPx, getLengthPx(shape));
    window.scrollTo({ top: window.scrollY + targetPx - getScrollPx(), behavior: "instant" });
    const scrollPx = getScrollPx();
    // The page may end before the target. Fractional positions stay exact.
    const isExact = Math.abs(scrollPx - targetPx) < 1;
    position = { scrollPx, atPx: isExact ? atPx : atPx + scrollPx - targetPx };
  }

  function layOut(): void {
    if (!lastTarget || lastTarget.element.clientWidth === 0) return;
    const { element, getLayout } = lastTarget;
    const newShape = getLayout(element.clientWidth, window.innerHeight);
    const previousShape = shape;
    const firstVisibleIndex = getFirstIndex();
    const isAtTop = position.atPx + getBars().top < (previousShape?.rowPx ?? 0) / 2;
    shape = newShape;
    element.style.height = `${toPageHeight(getLengthPx(newShape))}px`;
    if (!previousShape) position = { scrollPx: getScrollPx(), atPx: getScrollPx() };
    else if (!isAtTop && (previousShape.columns !== newShape.columns || previousShape.rowPx !== newShape.rowPx))
      scrollTo(getTopPx(firstVisibleIndex, newShape));
  }

  return {
    getFirstIndex,

    /** Called initially and on every change. */
    update(target: ScrollTarget<S>, startIndex: number): void {
      const isFirst = shape === undefined;
      lastTarget = target;
      layOut();
      if (isFirst && shape && startIndex >= shape.columns) scrollTo(getTopPx(startIndex, shape));
      drawNearbyRows();
    },

    setCurrentRows: (range: RenderedRows<S> | undefined) => void (currentRows = range),

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

    /** Listens for scrolling and resizing. Returns a function that stops listening. */
    listen(motion: ScrollMotion, onScrollEnd: (firstIndex: number) => void): () => void {
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
        const previousPosition = position;
        position = updatePosition(previousPosition, scrollPx, { fullPx: getLengthPx(shape), screenPx: window.innerHeight });
        motion.recordPosition(position.atPx);
        const isJump = Math.abs(position.atPx - previousPosition.atPx) > window.innerHeight;
        drawInView();
        // During a longer jump, the next frame shows other rows anyway.
        if (!isJump) startTransition(drawNearbyRows);
      }

      function settle(): void {
        if (!shape) return;
        // In the mapped range, small steps leave the scroll bar slightly behind. This corrects it.
        if (Math.abs(toScroll(position.atPx, getLengthPx(shape)) - position.scrollPx) >= 1) {
          scrollTo(position.atPx);
          drawInView();
        }
        // Rows that were skipped during a jump are drawn in a transition when scrolling ends.
        startTransition(drawNearbyRows);
        onScrollEnd(getFirstIndex());
      }

      const handleScroll = () => {
        frame ||= requestAnimationFrame(onFrame);
      };
      const handleResize = () => {
        layOut();
        drawNearbyRows();
      };
      const resizeObserver = new ResizeObserver(handleResize);
      if (lastTarget) resizeObserver.observe(lastTarget.element);
      window.addEventListener("scroll", handleScroll, { passive: true });
      window.addEventListener("resize", handleResize, { passive: true });
      return () => {
        cancelAnimationFrame(frame);
        clearTimeout(settleTimer);
        resizeObserver.disconnect();
        window.removeEventListener("scroll", handleScroll);
        window.removeEventListener("resize", handleResize);
        motion.stop();
      };
    },
  };
}

// Maps the page's scroll position to a position in a list of any length, and back. Browsers are inexact in very tall pages, so a page is at
// most MAX_PX tall. Small steps move pixel by pixel. Jumps (scroll bar, End key) are proportional.

export const MAX_PX = 7_900_000;
const EXACT_RANGE_PX = 2_000_000;

/** Returns the page's height for a list of height `fullPx`. */
export function toPageHeight(fullPx: number): number {
  return Math.min(fullPx, MAX_PX);
}

export function toFullScroll(scrollPx: number, fullPx: number): number {
  if (fullPx <= MAX_PX || scrollPx <= EXACT_RANGE_PX) return scrollPx;
  if (scrollPx >= MAX_PX - EXACT_RANGE_PX) return fullPx - (MAX_PX - scrollPx);
  return EXACT_RANGE_PX + (scrollPx - EXACT_RANGE_PX) * getScale(fullPx);
}

export function toScroll(atPx: number, fullPx: number): number {
  if (fullPx <= MAX_PX || atPx <= EXACT_RANGE_PX) return atPx;
  if (atPx >= fullPx - EXACT_RANGE_PX) return MAX_PX - (fullPx - atPx);
  return EXACT_RANGE_PX + (atPx - EXACT_RANGE_PX) / getScale(fullPx);
}

/** The page's scroll position, and the position in the list that it shows. */
type Position = { scrollPx: number; atPx: number };

export function updatePosition(previousPosition: Position, scrollPx: number, extent: { fullPx: number; screenPx: number }): Position {
  const deltaPx = scrollPx - previousPosition.scrollPx;
  const isJump = Math.abs(deltaPx) > extent.screenPx * 2;
  return { scrollPx, atPx: isJump ? toFullScroll(scrollPx, extent.fullPx) : previousPosition.atPx + deltaPx };
}

function getScale(fullPx: number): number {
  return (fullPx - 2 * EXACT_RANGE_PX) / (MAX_PX - 2 * EXACT_RANGE_PX);
}

// Computes which rows are drawn, and where on the page.

export type Shape = { columns: number; rowPx: number };
/** Rows, their distance from the container's top, and the container's height. */
export type RenderedRows<S extends Shape> = S & RowRange & { topPx: number; heightPx: number };

const countRows = ({ columns }: Shape, count: number) => Math.ceil(count / columns);
const getFullHeightPx = (shape: Shape, count: number) => countRows(shape, count) * shape.rowPx;

function placeRows<S extends Shape>(shape: S, { from, to }: RowRange, { atPx, scrollPx }: Position, count: number): RenderedRows<S> {
  return { ...shape, from, to, topPx: from * shape.rowPx + scrollPx - atPx, heightPx: toPageHeight(getFullHeightPx(shape, count)) };
}

function hasSameRows(a: RenderedRows<Shape>, b: RenderedRows<Shape>): boolean {
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
