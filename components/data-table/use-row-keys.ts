import { type RefObject } from "react";
import { isFreeKey, usePageKey } from "@/components/ui/hooks/page-keys";

/**
 * j and k, and on a row the arrows, move from row to row, and select with Shift; x selects the row; Enter opens it, as the focus is on its
 * link. Ignored while a person types.
 */
export function useRowKeys(table: RefObject<HTMLTableElement | null>): void {
  usePageKey((event) => {
    if (!isFreeKey(event)) return;
    const rows = [...(table.current?.querySelectorAll<HTMLElement>("tbody tr[data-row]") ?? [])];
    const here = rows.findIndex((row) => row.contains(document.activeElement));
    const key = event.key.toLowerCase();
    const by = stepOf(key, here >= 0 && document.activeElement?.matches("a, input") === true);
    if (by !== undefined) {
      const next = here < 0 ? rows[firstInView(rows)] : beside(rows, here, by);
      if (event.shiftKey) for (const row of [rows[here], next]) choose(row, true);
      const link = next?.querySelector<HTMLElement>("a[href]");
      link?.focus({ preventScroll: true });
      // Scrolls it back into view if the page was scrolled far away.
      (next ?? rows[here])?.scrollIntoView?.({ block: "nearest" });
    } else if (key === "x" && here >= 0) {
      choose(rows[here]);
    } else return;
    event.preventDefault();
  });
}

/** Elsewhere an arrow scrolls the page, or moves within a row's menu. */
function stepOf(key: string, isOnRow: boolean): 1 | -1 | undefined {
  if (key === "j" || (key === "arrowdown" && isOnRow)) return 1;
  return key === "k" || (key === "arrowup" && isOnRow) ? -1 : undefined;
}

/** The next row in the list, which is not rendered while it is far from view. */
function beside(rows: readonly HTMLElement[], here: number, by: 1 | -1): HTMLElement | undefined {
  const placeOf = (row: HTMLElement | undefined) => Number(row?.getAttribute("aria-rowindex"));
  const next = rows[here + by];
  return placeOf(next) === 0 || placeOf(next) === placeOf(rows[here]) + by ? next : undefined;
}

/** The keys begin at the scroll position. */
function firstInView(rows: readonly HTMLElement[]): number {
  const at = rows.findIndex((row) => row.getBoundingClientRect().top >= 0);
  return Math.max(0, at);
}

function choose(row: HTMLElement | undefined, wanted?: boolean): void {
  const box = row?.querySelector<HTMLInputElement>('input[type="checkbox"]');
  if (box && (wanted === undefined || box.checked !== wanted)) box.click();
}
