import { type RefObject, useEffect, useState } from "react";
import { flushSync } from "react-dom";
import { GROUP, type Grouped } from "./row-groups";
import { createRowWindow, type RowWindow, type View } from "./row-window";

// Whether rows wait during fast scrolling: nothing can be read then, and on a slow machine every row made costs frames that
// show the list moving. Passing rows show their text, and are completed once the list slows down.
// Nothing waits while frames still come in time.

/** Rows per second; at a higher speed a screenful passes in half a second. */
const FLYING = 40;
/** More than one frame at sixty per second has been missed. */
const LATE_MS = 25;
/** A wheel moves the list in steps: it counts as slow only after this long. */
const SETTLED_MS = 120;
/** Frames further apart do not belong to one movement. */
const APART_MS = 500;

function createFlight() {
  let last: { atMs: number; place: number } | undefined;
  let flewAtMs = -Infinity;
  let isBurdened = false;
  let hasMade = false;
  return {
    /** Called once per frame with the position in the list at the screen's upper edge, in rows and fractions: whether rows wait. */
    isOn(atMs: number, place: number): boolean {
      const gapMs = last ? atMs - last.atMs : APART_MS;
      const isOneMove = gapMs > 0 && gapMs < APART_MS;
      if (isOneMove && last && (Math.abs(place - last.place) * 1000) / gapMs > FLYING) flewAtMs = atMs;
      last = { atMs, place };
      const isFlying = atMs - flewAtMs < SETTLED_MS;
      isBurdened = isFlying && (isBurdened || (hasMade && isOneMove && gapMs > LATE_MS));
      hasMade = false;
      return isBurdened;
    },
    /** Rows were made in this frame: the next one shows what they cost. */
    made(): void {
      hasMade = true;
    },
  };
}

type Flight = ReturnType<typeof createFlight>;

/** Rendered by the server: more than a tall screen holds. */
const FIRST_ROWS = 30;
/** The time for making rows in a frame: the browser needs as much again to lay them out and paint them. */
const SHARE_MS = 4;
/** While a visible place is empty, rows take precedence over frames. */
const URGENT_SHARE_MS = 8;

/** Renders the rows near the screen, as many per frame as the machine can without missing the next one. */
export function useRowWindow<Row>(table: RefObject<HTMLTableElement | null>, grouped: Grouped<Row>): RowWindow {
  const [rowWindow] = useState(() => createRowWindow(FIRST_ROWS / GROUP));
  const [flight] = useState(createFlight);
  useEffect(() => {
    let frame = 0;
    const mustStay = (key: number) => document.activeElement?.closest("tbody")?.dataset.group === String(key);
    const look = (atMs: number) => {
      frame = 0;
      const view = viewOf(table.current, grouped);
      if (view && (flight.isOn(atMs, view.exact) || work(rowWindow, view, mustStay, flight))) ask();
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

/** A frame's share of the work; returns whether there may be more. Groups are dropped only when no row has to be made. */
function work(rowWindow: RowWindow, view: View, mustStay: (key: number) => boolean, flight: Flight): boolean {
  const untilMs = performance.now() + (rowWindow.isCut(view) ? URGENT_SHARE_MS : SHARE_MS);
  let made = 0;
  // One at a time: on a slow machine two take longer than a frame.
  const make = () => flushSync(() => rowWindow.makeOne(view));
  while ((made === 0 || performance.now() < untilMs) && make()) made += 1;
  if (made > 0) flight.made();
  return made > 0 || rowWindow.dropOne(view, mustStay);
}

function viewOf<Row>(table: HTMLTableElement | null, { rows, base, groups }: Grouped<Row>): (View & { exact: number }) | undefined {
  const top = table?.tBodies[0]?.getBoundingClientRect().top;
  const bottom = table?.tBodies[groups.length - 1]?.getBoundingClientRect().bottom;
  if (top === undefined || bottom === undefined || bottom <= top) return undefined;
  const rowPx = (bottom - top) / rows.length;
  return { ...viewAt({ top, rowPx, screenPx: window.innerHeight, count: rows.length, base }), exact: -top / rowPx };
}

type Seen = { top: number; rowPx: number; screenPx: number; count: number; base: number };

/** `top`: the first row's distance from the screen's upper edge. */
export function viewAt({ top, rowPx, screenPx, count, base }: Seen): View {
  const placeAt = (px: number) => base + Math.min(count - 1, Math.max(0, Math.floor(px / rowPx)));
  return { from: placeAt(-top), to: placeAt(screenPx - top), first: base, last: base + count - 1 };
}
