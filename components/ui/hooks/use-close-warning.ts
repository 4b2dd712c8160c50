import { useEffect } from "react";

let isLeavingAllowed = false;

/** Disables the warning once the user has confirmed leaving. */
export function allowLeaving(isLeaving: boolean): void {
  isLeavingAllowed = isLeaving;
}

/** For custom beforeunload listeners: makes the browser warn, unless the user has confirmed leaving. */
export function warnBeforeLeaving(event: BeforeUnloadEvent): void {
  if (!isLeavingAllowed) event.preventDefault();
}

/** The browser warns before the tab is closed or reloaded. */
export function useCloseWarning(isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return;
    // One listener per caller, since a shared one would be removed for all callers at once.
    const warn = (event: BeforeUnloadEvent) => warnBeforeLeaving(event);
    window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [isOn]);
}
