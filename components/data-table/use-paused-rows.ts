import { useState, useSyncExternalStore } from "react";
import { isAtTop, subscribeToTop } from "./at-top";
import { pauseRows, shareRows } from "./paused-rows";

type Shown<Row> = { view: string; latest: Row[]; isPaused: boolean; rows: Row[]; newCount: number };

/** At the top of the page new rows simply appear; further down they wait, so that nothing jumps. `view` identifies the query. */
export function usePausedRows<Row extends { id: string }>(
  view: string,
  latest: Row[],
  canPause: boolean,
): { rows: Row[]; newCount: number } {
  const [shown, setShown] = useState<Shown<Row>>({ view, latest, isPaused: false, rows: latest, newCount: 0 });
  // Scrolling away from the top changes nothing yet; the next answer waits until the reader returns to the top.
  const isBack = useSyncExternalStore(
    subscribeToTop,
    () => !shown.isPaused || isAtTop(),
    () => true,
  );
  const isNew = shown.latest !== latest || shown.view !== view;
  const isAway = shown.isPaused ? !isBack : isNew && !isAtTop();
  const isPaused = canPause && isAway && shown.view === view && shown.rows.length > 0;
  if (!isNew && shown.isPaused === isPaused) return shown;
  const next = isPaused ? pauseRows(shown.rows, latest) : { rows: latest, newCount: 0 };
  const rows = shown.view === view ? shareRows(shown.rows, next.rows) : next.rows;
  const now = { view, latest, isPaused, rows, newCount: next.newCount };
  setShown(now);
  return now;
}
