// The time zone for all times: the browser's own, unless the person chose another one in this browser.

const KEY = "lightdesk.time-zone";
let chosen: string | undefined;
let isRead = false;

/** Undefined: the browser's zone. */
export function chosenZone(): string | undefined {
  if (isRead) return chosen;
  isRead = true;
  try {
    const kept = window.localStorage.getItem(KEY) ?? undefined;
    // A zone unknown to this browser would make every time on every page throw.
    chosen = kept && browserZones().includes(kept) ? kept : undefined;
  } catch {
    chosen = undefined; // storage is not accessible: the browser's zone is used
  }
  return chosen;
}

/** The caller renders the page again. False if the browser stores nothing. */
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
