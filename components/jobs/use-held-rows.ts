"use client";

import { useState, useSyncExternalStore } from "react";
import { holdRows } from "./held-rows";
import { type JobRow } from "./job-row";

const TOP_PX = 40;

function subscribe(listener: () => void): () => void {
  window.addEventListener("scroll", listener, { passive: true });
  return () => window.removeEventListener("scroll", listener);
}

/** At the top of the page new rows simply appear; further down they are held back, so that nothing jumps. */
export function useHeldRows(latest: JobRow[], canHold: boolean): { rows: JobRow[]; newCount: number } {
  const isAtTop = useSyncExternalStore(
    subscribe,
    () => window.scrollY < TOP_PX,
    () => true,
  );
  const [shown, setShown] = useState(latest);
  const isHolding = canHold && !isAtTop;
  if (!isHolding && shown !== latest) setShown(latest);
  return isHolding ? holdRows(shown, latest) : { rows: latest, newCount: 0 };
}
