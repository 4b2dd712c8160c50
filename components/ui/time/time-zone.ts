// In which zone moments are written: the browser's own, unless a person chose another one in this browser.

const KEY = "lightdesk.time-zone";
let chosen: string | undefined;
let isRead = false;

/** Undefined: as the browser. */
export function chosenZone(): string | undefined {
  if (isRead) return chosen;
  isRead = true;
  try {
    const kept = window.localStorage.getItem(KEY) ?? undefined;
    // A zone that this browser does not know would make every time of every page throw.
    chosen = kept && browserZones().includes(kept) ? kept : undefined;
  } catch {
    chosen = undefined; // storage is closed to us: the browser's own zone is right
  }
  return chosen;
}

/** The caller redraws the page. False where the browser keeps nothing. */
export function chooseZone(zone: string | undefined): boolean {
  try {
    if (zone === undefined) window.localStorage.removeItem(KEY);
    else window.localStorage.setItem(KEY, zone);
    isRead = false;
    return true;
  } catch {
    return false;
  }
}

export function browserZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** UTC first: teams compare logs in it, and not every browser lists it. */
export function browserZones(): string[] {
  return ["UTC", ...Intl.supportedValuesOf("timeZone").filter((zone) => zone !== "UTC")];
}
