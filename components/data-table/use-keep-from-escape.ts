"use client";

import { useEffect } from "react";

/** Esc lets go of the selection, and with it of what became of it: not of what is under way. */
export function useKeepFromEscape(isMoving: boolean): void {
  useEffect(() => {
    if (!isMoving) return;
    const keep = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !document.querySelector("dialog[open]")) event.preventDefault();
    };
    window.addEventListener("keydown", keep, true);
    return () => window.removeEventListener("keydown", keep, true);
  }, [isMoving]);
}
