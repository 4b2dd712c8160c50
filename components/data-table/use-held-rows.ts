"use client";

import { useState, useSyncExternalStore } from "react";
import { holdRows } from "./held-rows";

const TOP_PX = 40;

function subscribe(listener: () => void): () => void {
  window.addEventListener("scroll", listener, { passive: true });
  return () => window.removeEventListener("scroll", listener);
}

/** At the top of the page new rows simply appear; further down they are held back, so that nothing jumps. `view` names the question. */
export function useHeldRows<Row extends { id: string }>(view: string, latest: Row[], canHold: boolean): { rows: Row[]; newCount: number } {
  const isAtTop = useSyncExternalStore(
    subscribe,
    () => window.scrollY < TOP_PX,
    () => true,
  );
  const [shown, setShown] = useState({ view, rows: latest });
  const isHolding = canHold && !isAtTop && shown.view === view && shown.rows.length > 0;
  if (!isHolding && (shown.rows !== latest || shown.view !== view)) setShown({ view, rows: latest });
  return isHolding ? holdRows(shown.rows, latest) : { rows: latest, newCount: 0 };
}
