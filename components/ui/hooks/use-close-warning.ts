import { useEffect } from "react";

let isMeant = false;

/** The question was asked already. */
export function leaveUnasked(isLeaving: boolean): void {
  isMeant = isLeaving;
}

/** For components that hear otherwise that the page is left: the browser asks, unless it has asked already. */
export function askToStay(event: BeforeUnloadEvent): void {
  if (!isMeant) event.preventDefault();
}

/** The browser asks before the tab is closed or reloaded; browsers show words of their own. */
export function useCloseWarning(isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return;
    // Its own for each user: one that is shared would be taken away for all at once.
    const warn = (event: BeforeUnloadEvent) => askToStay(event);
    window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [isOn]);
}
