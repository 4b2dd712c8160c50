"use client";

import { useEffect } from "react";

let isMeant = false;

/** Somebody was asked already. */
export function leaveUnasked(isLeaving: boolean): void {
  isMeant = isLeaving;
}

/** The browser asks before the tab is closed or reloaded; browsers show words of their own. */
export function useCloseWarning(isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return;
    const warn = (event: BeforeUnloadEvent) => {
      if (!isMeant) event.preventDefault();
    };
    window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [isOn]);
}
