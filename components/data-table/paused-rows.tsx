import { useState, useSyncExternalStore } from "react";

/** `baseTotal`: the total when the rows were last refreshed. */
type ShownRows<Row> = { view: string; latestRows: Row[]; isPaused: boolean; rows: Row[]; newCount: number; baseTotal: number | undefined };
/** `isAlwaysPaused`: set on later pages, where new rows never appear automatically. */
type PageState = { total: number | undefined; isAlwaysPaused: boolean };

/** New rows appear immediately at the top of the first page. Elsewhere they wait, so that the list does not jump. `view` identifies the query. */
export function usePausedRows<Row extends { id: string }>(
  view: string,
  latestRows: Row[],
  { total, isAlwaysPaused }: PageState,
): { rows: Row[]; newCount: number } {
  const [shownRows, setShownRows] = useState<ShownRows<Row>>({
    view,
    latestRows,
    isPaused: false,
    rows: latestRows,
    newCount: 0,
    baseTotal: total,
  });
  // After scrolling away from the top, new rows wait until the user returns.
  const isAtTopAgain = useSyncExternalStore(
    subscribeToTop,
    () => !shownRows.isPaused || isAtTop(),
    () => true,
  );
  const hasChanged = shownRows.latestRows !== latestRows || shownRows.view !== view;
  const shouldPause = isAlwaysPaused || (shownRows.isPaused ? !isAtTopAgain : hasChanged && !isAtTop());
  const isPaused = shouldPause && shownRows.view === view && shownRows.rows.length > 0;
  if (!hasChanged && shownRows.isPaused === isPaused) return shownRows;
  const baseTotal = isPaused ? shownRows.baseTotal : total;
  const growth = total === undefined || baseTotal === undefined ? undefined : total - baseTotal;
  const update = isPaused ? pauseRows(shownRows.rows, latestRows, growth === undefined || growth > 0) : { rows: latestRows, newCount: 0 };
  const rows = shownRows.view === view ? reuseRows(shownRows.rows, update.rows) : update.rows;
  // There may be more new rows than fit on one page.
  const newCount = update.newCount > 0 ? Math.max(update.newCount, growth ?? 0) : 0;
  const updatedRows = { view, latestRows, isPaused, rows, newCount, baseTotal };
  setShownRows(updatedRows);
  return updatedRows;
}

type WithId = { id: string };

/**
 * Updates the shown rows in place while new rows wait. Rows pushed off the page by new ones are kept. Removed rows are replaced by rows from
 * the next page. `hasGrown`: the list is longer than when the rows were first shown.
 */
export function pauseRows<Row extends WithId>(
  rows: readonly Row[],
  latestRows: readonly Row[],
  hasGrown = true,
): { rows: Row[]; newCount: number } {
  const latestById = new Map(latestRows.map((row) => [row.id, row]));
  const shownIds = new Set(rows.map(({ id }) => id));
  const lastShownIndex = latestRows.findLastIndex(({ id }) => shownIds.has(id));
  if (lastShownIndex < 0 && !hasGrown) return { rows: [...latestRows], newCount: 0 };
  const followingRows = lastShownIndex < 0 ? [] : latestRows.slice(lastShownIndex + 1);
  const newCount = latestRows.length - followingRows.length - rows.filter(({ id }) => latestById.has(id)).length;
  const firstPushedIndex = rows.findLastIndex(({ id }) => latestById.has(id)) + 1;
  const canPushRows = followingRows.length === 0 && newCount > 0 && latestRows.length >= rows.length;
  const retainedRows = rows.flatMap((row, index) => latestById.get(row.id) ?? (canPushRows && index >= firstPushedIndex ? row : []));
  return { rows: [...retainedRows, ...followingRows], newCount };
}

/** Reuses the objects of unchanged rows and lists, so that they are not rendered again. */
export function reuseRows<Row extends WithId>(previousRows: Row[], rows: Row[]): Row[] {
  const rowsById = new Map(previousRows.map((row) => [row.id, row]));
  const mergedRows = rows.map((row) => {
    const previousRow = rowsById.get(row.id);
    return previousRow && (previousRow === row || hasSameFields(previousRow, row)) ? previousRow : row;
  });
  const isUnchanged = mergedRows.length === previousRows.length && mergedRows.every((row, index) => row === previousRows[index]);
  return isUnchanged ? previousRows : mergedRows;
}

function hasSameFields(a: object, b: object): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => hasSameValue(Reflect.get(a, name), Reflect.get(b, name)));
}

function hasSameValue(a: unknown, b: unknown): boolean {
  return a === b || (typeof a === "object" && typeof b === "object" && a !== null && b !== null && hasSameFields(a, b));
}

// Tracks whether the page is scrolled to the top. Updated on scroll, because reading the position while rendering would force a layout.

const TOP_THRESHOLD_PX = 40;

let isScrolledToTop = true;
const listeners = new Set<() => void>();

function updateIsScrolledToTop(): void {
  const isNearTop = window.scrollY < TOP_THRESHOLD_PX;
  if (isNearTop === isScrolledToTop) return;
  isScrolledToTop = isNearTop;
  for (const listener of listeners) listener();
}

export function subscribeToTop(listener: () => void): () => void {
  listeners.add(listener);
  if (listeners.size === 1) window.addEventListener("scroll", updateIsScrolledToTop, { passive: true });
  updateIsScrolledToTop();
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) window.removeEventListener("scroll", updateIsScrolledToTop);
  };
}

/** Valid only while there is a subscriber. Updated on scroll. */
export function isAtTop(): boolean {
  return isScrolledToTop;
}

type NewRowsProps = {
  count: number;
  /** "12 new jobs" */
  text: string;
  onFirstPage?: () => void;
};

/** Shows the number of waiting new rows. A click scrolls to the top, where they appear. */
export function NewRows({ count, text, onFirstPage }: NewRowsProps) {
  if (count === 0) return null;
  return (
    <div className="pointer-events-none fixed inset-x-0 top-48 z-30 flex justify-center md:top-[calc(60px+var(--tool-bar))] md:left-[208px]">
      <button
        type="button"
        onClick={onFirstPage ?? (() => window.scrollTo({ top: 0 }))}
        className="pointer-events-auto rounded-full bg-accent px-3 py-1 font-medium text-accent-ink shadow-lg"
      >
        {text}
      </button>
    </div>
  );
}
