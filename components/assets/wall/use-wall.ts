import { type RefObject, startTransition, useCallback, useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { covers, type Drawn, fullPx, isSame, placeRows, rowsOf, type Shape } from "./drawn";
import { createMotion, type Motion } from "./motion";
import { follow, pagePx, type Position, toScroll } from "./scroll-map";
import { type Rows, rowsAround, rowsAtOnce, type View } from "./wall-layout";

/** The page's own bars above and below the visible part. */
function barsUnder(headPx: number): { top: number; bottom: number } {
  const isWide = window.matchMedia("(min-width: 48rem)").matches;
  return isWide ? { top: 103 + headPx, bottom: 44 } : { top: 49 + headPx, bottom: 93 };
}
/** Left visible of the row above the revealed row, which stays the first in view. */
const BREATH_PX = 8;
const SETTLED_MS = 150;

export type Wall<S extends Shape> = {
  container: RefObject<HTMLDivElement | null>;
  /** Undefined until the browser has measured the width. */
  drawn: Drawn<S> | undefined;
  motion: Motion;
  /** Scrolls a tile's row to the top of the view. */
  jumpTo: (index: number) => void;
  /** Scrolls as little as necessary to show a tile. */
  reveal: (index: number) => void;
  firstIndex: () => number;
  /** Converts a point of the screen to a position in the whole list, in pixels. */
  pointAt: (clientX: number, clientY: number) => { x: number; y: number; widthPx: number };
};

type WallOptions<S extends Shape> = {
  count: number;
  /** Must be a stable function while nothing changes. */
  layoutOf: (widthPx: number, screenPx: number) => S;
  /** The index at which the list opens. */
  startIndex: number;
  /** The scrolling came to rest with this tile at the top. */
  onRest: (firstIndex: number) => void;
  /** The height of a sticky list header, which covers rows. */
  headPx?: number;
};

/** A list of any length in the page's own scroll: draws only what is near the view, in a page short enough for every browser. */
export function useWall<S extends Shape>({ count, layoutOf, startIndex, onRest, headPx = 0 }: WallOptions<S>): Wall<S> {
  const container = useRef<HTMLDivElement>(null);
  const [motion] = useState(() => createMotion());
  const [drawn, setDrawn] = useState<Drawn<S>>();
  const place = useRef<Position>({ scrollPx: 0, atPx: 0 });
  const shape = useRef<S>(undefined);
  const size = useRef(count);
  const rested = useEffectEvent(onRest);

  const barsPx = useCallback(() => barsUnder(headPx), [headPx]);
  const scrolledPx = () => -(container.current?.getBoundingClientRect().top ?? 0);
  const firstIndex = useCallback(() => {
    const now = shape.current;
    if (!now) return 0;
    return Math.floor(Math.max(0, place.current.atPx + barsPx().top + BREATH_PX + 1) / now.rowPx) * now.columns;
  }, [barsPx]);

  const shown = useRef<Drawn<S>>(undefined);
  useLayoutEffect(() => {
    shown.current = drawn;
  }, [drawn]);
  const asked = useRef<Drawn<S>>(undefined);

  const placed = useCallback((rowsOfView: (view: View) => Rows): Drawn<S> | undefined => {
    const now = shape.current;
    if (!now || !container.current) return undefined;
    const view = { atPx: place.current.atPx, screenPx: window.innerHeight, rowPx: now.rowPx, columns: now.columns };
    return placeRows(now, rowsOfView({ ...view, rows: rowsOf(now, size.current) }), place.current, size.current);
  }, []);
  const draw = useCallback(() => {
    const next = placed(rowsAround);
    if (!next || (asked.current && isSame(asked.current, next))) return;
    asked.current = next;
    setDrawn(next);
  }, [placed]);
  /** Draws in this frame, as fast scrolling would otherwise show an empty page; does nothing if all visible rows are drawn already. */
  const drawInView = useCallback(() => {
    const bare = placed((view) => rowsAround({ ...view, isBare: true }));
    if (!bare || (shown.current && covers(shown.current, bare))) return;
    const next = placed((view) => rowsAtOnce(bare, rowsAround(view), shown.current));
    asked.current = next;
    flushSync(() => setDrawn(next));
  }, [placed]);

  /** Scrolls so that `atPx` of the list is at the upper edge of the screen. */
  const scrollTo = useCallback((atPx: number) => {
    const now = shape.current;
    if (!now || !container.current) return;
    const wanted = toScroll(atPx, fullPx(now, size.current));
    window.scrollTo({ top: window.scrollY + wanted - scrolledPx(), behavior: "instant" });
    const scrollPx = scrolledPx();
    // The page may end before that; a position between two pixels is kept exactly.
    const isExact = Math.abs(scrollPx - wanted) < 1;
    place.current = { scrollPx, atPx: isExact ? atPx : atPx + scrollPx - wanted };
  }, []);

  const jumpTo = useCallback(
    (index: number) => {
      const now = shape.current;
      if (!now) return;
      const row = Math.floor(index / now.columns);
      if (row === 0) window.scrollTo({ top: 0, behavior: "instant" });
      if (row === 0) place.current = { scrollPx: scrolledPx(), atPx: scrolledPx() };
      else scrollTo(row * now.rowPx - barsPx().top - BREATH_PX);
      drawInView();
    },
    [drawInView, scrollTo, barsPx],
  );
  const reveal = useCallback(
    (index: number) => {
      const now = shape.current;
      if (!now) return;
      const topPx = Math.floor(index / now.columns) * now.rowPx;
      const bars = barsPx();
      const { atPx } = place.current;
      if (topPx < atPx + bars.top) scrollTo(topPx - bars.top - BREATH_PX);
      else if (topPx + now.rowPx > atPx + window.innerHeight - bars.bottom)
        scrollTo(topPx + now.rowPx - window.innerHeight + bars.bottom + BREATH_PX);
      else return;
      drawInView();
    },
    [drawInView, scrollTo, barsPx],
  );

  /** When width, tile size or length changes, the tile at the top stays there. */
  const layOut = useCallback(() => {
    const element = container.current;
    if (!element || element.clientWidth === 0) return;
    const next = layoutOf(element.clientWidth, window.innerHeight);
    const before = shape.current;
    const isOther = before && (before.columns !== next.columns || before.rowPx !== next.rowPx);
    const first = firstIndex();
    const isAtTop = place.current.atPx + barsPx().top < (before?.rowPx ?? 0) / 2;
    shape.current = next;
    element.style.height = `${pagePx(fullPx(next, size.current))}px`;
    if (isOther && !isAtTop) scrollTo(Math.floor(first / next.columns) * next.rowPx - barsPx().top - BREATH_PX);
    else place.current = { ...place.current, ...(before ? {} : { scrollPx: scrolledPx(), atPx: scrolledPx() }) };
  }, [layoutOf, firstIndex, scrollTo, barsPx]);

  useLayoutEffect(() => {
    size.current = count;
    const isFirst = shape.current === undefined;
    layOut();
    const now = shape.current;
    if (isFirst && now && startIndex >= now.columns) scrollTo(Math.floor(startIndex / now.columns) * now.rowPx - barsPx().top - BREATH_PX);
    draw();
    // eslint-disable-next-line react-hooks/exhaustive-deps -- where the list opens is asked for once
  }, [count, layOut, draw, scrollTo, barsPx]);

  useEffect(() => {
    let frame = 0;
    let settling: ReturnType<typeof setTimeout> | undefined;
    function settle() {
      const now = shape.current;
      if (!now) return;
      // Small steps in the mapped middle leave the scroll bar slightly behind: it is corrected here, invisibly.
      if (Math.abs(toScroll(place.current.atPx, fullPx(now, size.current)) - place.current.scrollPx) >= 1) {
        scrollTo(place.current.atPx);
        drawInView();
      }
      // The rows that a jump left out above and below are drawn in a transition, now that nothing moves.
      startTransition(draw);
      rested(firstIndex());
    }
    function look() {
      frame = 0;
      const now = shape.current;
      const scrollPx = scrolledPx();
      if (!now) return;
      clearTimeout(settling);
      settling = setTimeout(settle, SETTLED_MS);
      // Our own jump has been drawn already.
      if (scrollPx === place.current.scrollPx) return;
      const before = place.current;
      place.current = follow(before, scrollPx, { fullPx: fullPx(now, size.current), screenPx: window.innerHeight });
      motion.moved(place.current.atPx);
      const isLeap = Math.abs(place.current.atPx - before.atPx) > window.innerHeight;
      drawInView();
      // A jump continues, so the next frame shows other rows anyway.
      if (!isLeap) startTransition(draw);
    }
    const ask = () => {
      frame ||= requestAnimationFrame(look);
    };
    const resized = () => {
      layOut();
      draw();
    };
    const watcher = new ResizeObserver(resized);
    if (container.current) watcher.observe(container.current);
    window.addEventListener("scroll", ask, { passive: true });
    window.addEventListener("resize", resized, { passive: true });
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(settling);
      watcher.disconnect();
      window.removeEventListener("scroll", ask);
      window.removeEventListener("resize", resized);
      motion.stop();
    };
  }, [motion, draw, drawInView, layOut, scrollTo, firstIndex]);

  const pointAt = useCallback((clientX: number, clientY: number) => {
    const box = container.current?.getBoundingClientRect();
    return { x: clientX - (box?.left ?? 0), y: clientY + place.current.atPx, widthPx: box?.width ?? 0 };
  }, []);

  return { container, drawn, motion, jumpTo, reveal, firstIndex, pointAt };
}
