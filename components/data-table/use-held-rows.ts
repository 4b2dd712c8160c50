"use client";

import { useState, useSyncExternalStore } from "react";
import { holdRows, shareRows } from "./held-rows";

const TOP_PX = 40;

function subscribe(listener: () => void): () => void {
  window.addEventListener("scroll", listener, { passive: true });
  return () => window.removeEventListener("scroll", listener);
}

type Held<Row> = { view: string; latest: Row[]; isHolding: boolean; rows: Row[]; newCount: number };

/** At the top of the page new rows simply appear; further down they are held back, so that nothing jumps. `view` names the question. */
export function useHeldRows<Row extends { id: string }>(view: string, latest: Row[], canHold: boolean): { rows: Row[]; newCount: number } {
  const isAtTop = useSyncExternalStore(
    subscribe,
    () => window.scrollY < TOP_PX,
    () => true,
  );
  const [held, setHeld] = useState<Held<Row>>({ view, latest, isHolding: false, rows: latest, newCount: 0 });
  const isHolding = canHold && !isAtTop && held.view === view && held.rows.length > 0;
  if (held.latest === latest && held.view === view && held.isHolding === isHolding) return held;
  const next = isHolding ? holdRows(held.rows, latest) : { rows: latest, newCount: 0 };
  const rows = held.view === view ? shareRows(held.rows, next.rows) : next.rows;
  const now = { view, latest, isHolding, rows, newCount: next.newCount };
  setHeld(now);
  return now;
}
