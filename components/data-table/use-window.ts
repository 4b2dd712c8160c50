"use client";

import { type RefObject, startTransition, useEffect, useState } from "react";

/** Rows are drawn and let go in groups, so that a step of the wheel is rarely work. */
export const CHUNK = 10;
/** What the server draws: more than a tall screen holds. */
const FIRST_ROWS = 40;
/** How much is drawn above and below what is seen, in screens. */
const MARGIN = 1;

type Range = { from: number; to: number };

/** Which of `count` rows of one height are worth drawing whole: those near the screen, and the one that has the focus. */
export function useWindow(table: RefObject<HTMLTableElement | null>, count: number, isOn: boolean): Range {
  const [range, setRange] = useState<Range>({ from: 0, to: FIRST_ROWS });
  useEffect(() => {
    if (!isOn) return;
    let frame = 0;
    const look = () => {
      frame = 0;
      const body = table.current?.tBodies[0]?.getBoundingClientRect();
      if (!body || body.height === 0 || count === 0) return;
      const next = rangeInView({ top: body.top, rowPx: body.height / count, screenPx: window.innerHeight, count });
      startTransition(() => setRange((now) => (now.from === next.from && now.to === next.to ? now : next)));
    };
    const ask = () => {
      frame ||= requestAnimationFrame(look);
    };
    ask();
    window.addEventListener("scroll", ask, { passive: true });
    window.addEventListener("resize", ask, { passive: true });
    return () => {
      cancelAnimationFrame(frame);
      window.removeEventListener("scroll", ask);
      window.removeEventListener("resize", ask);
    };
  }, [table, count, isOn]);
  if (!isOn) return { from: 0, to: count };
  return { from: Math.min(range.from, Math.floor(count / CHUNK) * CHUNK), to: Math.min(range.to, count) };
}

type InView = { top: number; rowPx: number; screenPx: number; count: number };

/** `top`: where the first row stands, measured from the screen's upper edge. */
export function rangeInView({ top, rowPx, screenPx, count }: InView): Range {
  const first = (-top - screenPx * MARGIN) / rowPx;
  const last = (-top + screenPx * (1 + MARGIN)) / rowPx;
  const most = Math.floor(Math.max(0, count - 1) / CHUNK) * CHUNK;
  const from = Math.min(most, Math.max(0, Math.floor(first / CHUNK) * CHUNK));
  return { from, to: Math.min(count, Math.max(from + CHUNK, Math.ceil(last / CHUNK) * CHUNK)) };
}
