import { useEffect } from "react";

let isIncluded = false;

/** Set while the person has already confirmed leaving. */
export function allowLeaving(isLeaving: boolean): void {
  isIncluded = isLeaving;
}

/** For components with their own beforeunload listener: the browser asks, unless the person has confirmed leaving already. */
export function askToStay(event: BeforeUnloadEvent): void {
  if (!isIncluded) event.preventDefault();
}

/** The browser asks before the tab is closed or reloaded, in its own words. */
export function useCloseWarning(isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return;
    // One listener per caller: a shared one would be removed for all callers at once.
    const warn = (event: BeforeUnloadEvent) => askToStay(event);
    window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [isOn]);
}
