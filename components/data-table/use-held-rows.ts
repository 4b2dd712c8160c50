import { useState, useSyncExternalStore } from "react";
import { isAtTop, subscribeToTop } from "./at-top";
import { holdRows, shareRows } from "./held-rows";

type Held<Row> = { view: string; latest: Row[]; isHolding: boolean; rows: Row[]; newCount: number };

/** At the top of the page new rows simply appear; further down they are held back, so that nothing jumps. `view` identifies the query. */
export function useHeldRows<Row extends { id: string }>(view: string, latest: Row[], canHold: boolean): { rows: Row[]; newCount: number } {
  const [held, setHeld] = useState<Held<Row>>({ view, latest, isHolding: false, rows: latest, newCount: 0 });
  // Scrolling away from the top changes nothing yet; the next answer is held back until the reader returns to the top.
  const isBack = useSyncExternalStore(
    subscribeToTop,
    () => !held.isHolding || isAtTop(),
    () => true,
  );
  const isNew = held.latest !== latest || held.view !== view;
  const isAway = held.isHolding ? !isBack : isNew && !isAtTop();
  const isHolding = canHold && isAway && held.view === view && held.rows.length > 0;
  if (!isNew && held.isHolding === isHolding) return held;
  const next = isHolding ? holdRows(held.rows, latest) : { rows: latest, newCount: 0 };
  const rows = held.view === view ? shareRows(held.rows, next.rows) : next.rows;
  const now = { view, latest, isHolding, rows, newCount: next.newCount };
  setHeld(now);
  return now;
}
