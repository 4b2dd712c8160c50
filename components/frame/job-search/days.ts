import { chosenZone } from "@/components/ui/time-zone";

const DAY_MS = 24 * 60 * 60_000;

/** The day of a moment, as a date field writes it, in the reader's zone. */
export function dayOf(ms: number, timeZone = chosenZone()): string {
  // Swedish dates are ISO dates.
  return new Intl.DateTimeFormat("sv-SE", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" }).format(ms);
}

export function dayAfter(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + DAY_MS).toISOString().slice(0, 10);
}

/** When a day begins in the reader's zone; where its clocks skip midnight, the first moment after it. */
export function startOfDay(day: string, timeZone = chosenZone()): number {
  const asUtc = Date.parse(`${day}T00:00:00Z`);
  // No zone is further than fifteen hours from UTC: the day begins in between, at a full quarter of an hour.
  const QUARTER_MS = 15 * 60_000;
  let low = -15 * 4;
  let high = 15 * 4;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (dayOf(asUtc + middle * QUARTER_MS, timeZone) >= day) high = middle;
    else low = middle + 1;
  }
  return asUtc + low * QUARTER_MS;
}
