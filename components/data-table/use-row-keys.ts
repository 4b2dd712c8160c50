"use client";

import { type RefObject, useEffect } from "react";
import { isFreeKey } from "@/components/ui/free-key";

/** j and k move from row to row, x chooses the row; Enter opens it, since the focus is on its link. Not while somebody types. */
export function useRowKeys(table: RefObject<HTMLTableElement | null>): void {
  useEffect(() => {
    function onKey(event: KeyboardEvent) {
      if (!isFreeKey(event)) return;
      const rows = [...(table.current?.querySelectorAll<HTMLElement>("tbody tr") ?? [])];
      const here = rows.findIndex((row) => row.contains(document.activeElement));
      if (event.key === "j" || event.key === "k") {
        const next = here < 0 ? rows[0] : rows[here + (event.key === "j" ? 1 : -1)];
        next?.querySelector<HTMLElement>("a[href]")?.focus();
      } else if (event.key === "x" && here >= 0) {
        rows[here]?.querySelector<HTMLInputElement>('input[type="checkbox"]')?.click();
      } else return;
      event.preventDefault();
    }
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [table]);
}
