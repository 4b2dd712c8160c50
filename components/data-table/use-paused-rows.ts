import { useState, useSyncExternalStore } from "react";
import { isAtTop, subscribeToTop } from "./at-top";
import { pauseRows, shareRows } from "./paused-rows";

/** `baseTotal`: the length of the list when its rows were last refreshed. */
type Shown<Row> = { view: string; latest: Row[]; isPaused: boolean; rows: Row[]; newCount: number; baseTotal: number | undefined };
/** `isHeld`: a later page of the list, where new rows never appear automatically. */
type Page = { total: number | undefined; isHeld: boolean };

/** At the top of a first page, new rows appear at once. Elsewhere they wait, so that nothing jumps. `view` identifies the query. */
export function usePausedRows<Row extends { id: string }>(
  view: string,
  latest: Row[],
  { total, isHeld }: Page,
): { rows: Row[]; newCount: number } {
  const [shown, setShown] = useState<Shown<Row>>({ view, latest, isPaused: false, rows: latest, newCount: 0, baseTotal: total });
  // Scrolling away from the top changes nothing yet; the next answer waits until the reader returns to the top.
  const isBack = useSyncExternalStore(
    subscribeToTop,
    () => !shown.isPaused || isAtTop(),
    () => true,
  );
  const isNew = shown.latest !== latest || shown.view !== view;
  const isAway = isHeld || (shown.isPaused ? !isBack : isNew && !isAtTop());
  const isPaused = isAway && shown.view === view && shown.rows.length > 0;
  if (!isNew && shown.isPaused === isPaused) return shown;
  const baseTotal = isPaused ? shown.baseTotal : total;
  const growth = total === undefined || baseTotal === undefined ? undefined : total - baseTotal;
  const next = isPaused ? pauseRows(shown.rows, latest, growth === undefined || growth > 0) : { rows: latest, newCount: 0 };
  const rows = shown.view === view ? shareRows(shown.rows, next.rows) : next.rows;
  // More may have arrived than one page holds.
  const newCount = next.newCount > 0 ? Math.max(next.newCount, growth ?? 0) : 0;
  const now = { view, latest, isPaused, rows, newCount, baseTotal };
  setShown(now);
  return now;
}
