import { useEffect } from "react";

let isIncluded = false;

/** Set while the person has already confirmed leaving. */
export function allowLeaving(isLeaving: boolean): void {
  isIncluded = isLeaving;
}

/** For components with their own beforeunload listener: the browser warns unless the user has confirmed leaving. */
export function askToStay(event: BeforeUnloadEvent): void {
  if (!isIncluded) event.preventDefault();
}

/** The browser warns before the tab is closed or reloaded. */
export function useCloseWarning(isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return;
    // One listener per caller, since a shared one would be removed for all callers at once.
    const warn = (event: BeforeUnloadEvent) => askToStay(event);
    window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [isOn]);
}
