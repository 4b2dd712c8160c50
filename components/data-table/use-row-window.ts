import { type RefObject, useEffect, useState } from "react";
import { flushSync } from "react-dom";
import { createFlight, type Flight } from "./flight";
import { GROUP, type Grouped } from "./row-groups";
import { createRowWindow, type RowWindow, type View } from "./row-window";

/** What the server draws: more than a tall screen holds. */
const FIRST_ROWS = 30;
/** What making rows may take of a frame: the browser takes as much again to lay them out and paint them. */
const SHARE_MS = 4;
/** Where a person looks at their empty place, rows come before frames. */
const URGENT_SHARE_MS = 8;

/** Draws the rows that are near the screen, as many in each frame as the machine can without missing the next. */
export function useRowWindow<Row>(table: RefObject<HTMLTableElement | null>, grouped: Grouped<Row>): RowWindow {
  const [rowWindow] = useState(() => createRowWindow(FIRST_ROWS / GROUP));
  const [flight] = useState(createFlight);
  useEffect(() => {
    let frame = 0;
    const isHeld = (key: number) => document.activeElement?.closest("tbody")?.dataset.group === String(key);
    const look = (atMs: number) => {
      frame = 0;
      const view = viewOf(table.current, grouped);
      if (view && (flight.isOn(atMs, view.exact) || work(rowWindow, view, isHeld, flight))) ask();
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
  }, [table, grouped, rowWindow, flight]);
  return rowWindow;
}

/** A frame's share, and whether there may be more to do. Rows are let go of only where none is to be made. */
function work(rowWindow: RowWindow, view: View, isHeld: (key: number) => boolean, flight: Flight): boolean {
  const untilMs = performance.now() + (rowWindow.isCut(view) ? URGENT_SHARE_MS : SHARE_MS);
  let made = 0;
  // One at a time: on a slow machine two are more than a frame has.
  const make = () => flushSync(() => rowWindow.makeOne(view));
  while ((made === 0 || performance.now() < untilMs) && make()) made += 1;
  if (made > 0) flight.made();
  return made > 0 || rowWindow.dropOne(view, isHeld);
}

function viewOf<Row>(table: HTMLTableElement | null, { rows, base, groups }: Grouped<Row>): (View & { exact: number }) | undefined {
  const top = table?.tBodies[0]?.getBoundingClientRect().top;
  const bottom = table?.tBodies[groups.length - 1]?.getBoundingClientRect().bottom;
  if (top === undefined || bottom === undefined || bottom <= top) return undefined;
  const rowPx = (bottom - top) / rows.length;
  return { ...viewAt({ top, rowPx, screenPx: window.innerHeight, count: rows.length, base }), exact: -top / rowPx };
}

type Seen = { top: number; rowPx: number; screenPx: number; count: number; base: number };

/** `top`: where the first row is, measured from the screen's upper edge. */
export function viewAt({ top, rowPx, screenPx, count, base }: Seen): View {
  const placeAt = (px: number) => base + Math.min(count - 1, Math.max(0, Math.floor(px / rowPx)));
  return { from: placeAt(-top), to: placeAt(screenPx - top), first: base, last: base + count - 1 };
}
