"use client";

import { useState, useSyncExternalStore } from "react";
import { holdRows, shareRows } from "./held-rows";

const TOP_PX = 40;

let isAtTop = true;
const listeners = new Set<() => void>();

/** The place is read when it changes and not when it is asked for: in the middle of a drawing that would lay out the page. */
function look(): void {
  const next = window.scrollY < TOP_PX;
  if (next === isAtTop) return;
  isAtTop = next;
  for (const notify of listeners) notify();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (listeners.size === 1) window.addEventListener("scroll", look, { passive: true });
  look();
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) window.removeEventListener("scroll", look);
  };
}

type Held<Row> = { view: string; latest: Row[]; isHolding: boolean; rows: Row[]; newCount: number };

/** At the top of the page new rows simply appear; further down they are held back, so that nothing jumps. `view` names the question. */
export function useHeldRows<Row extends { id: string }>(view: string, latest: Row[], canHold: boolean): { rows: Row[]; newCount: number } {
  const [held, setHeld] = useState<Held<Row>>({ view, latest, isHolding: false, rows: latest, newCount: 0 });
  // Who leaves the top changes nothing yet; the next answer is held back, and whoever comes back to the top gets it.
  const isBack = useSyncExternalStore(
    subscribe,
    () => !held.isHolding || isAtTop,
    () => true,
  );
  const isNew = held.latest !== latest || held.view !== view;
  const isAway = held.isHolding ? !isBack : isNew && !isAtTop;
  const isHolding = canHold && isAway && held.view === view && held.rows.length > 0;
  if (!isNew && held.isHolding === isHolding) return held;
  const next = isHolding ? holdRows(held.rows, latest) : { rows: latest, newCount: 0 };
  const rows = held.view === view ? shareRows(held.rows, next.rows) : next.rows;
  const now = { view, latest, isHolding, rows, newCount: next.newCount };
  setHeld(now);
  return now;
}
