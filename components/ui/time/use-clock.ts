import { useLocale } from "next-intl";
import { useHydrated } from "./use-now";

const looks = {
  exact: { dateStyle: "medium", timeStyle: "long" },
  minute: { timeStyle: "short" },
  second: { timeStyle: "medium" },
  day: { dateStyle: "medium" },
  until: { dateStyle: "medium", timeStyle: "short" },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

/** Creating a format takes longer than using it a hundred times, and a list has one per row. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** "en" does not say how its reader writes 14:02; the browser's own variant of English does, if it has one. */
export function habitsOf(language: string): string {
  const base = (tag: string) => tag.split("-")[0]?.toLowerCase();
  return navigator.languages.find((tag) => base(tag) === base(language)) ?? language;
}

function formatOf(locale: string, look: keyof typeof looks): Intl.DateTimeFormat {
  const timeZone = chosenZone();
  const key = `${locale} ${look} ${timeZone ?? ""}`;
  const known = formats.get(key) ?? new Intl.DateTimeFormat(habitsOf(locale), { ...looks[look], timeZone });
  formats.set(key, known);
  return known;
}

export function clockText(locale: string, ms: number, look: keyof typeof looks): string {
  return formatOf(locale, look).format(ms);
}

/**
 * Formats every time in the product: in the reader's time zone or the one they chose, in the page's language and by the reader's habits.
 * Only the browser knows the zone: undefined on the server and in the first render, so that both agree.
 */
export function useClock(): (ms: number, look: keyof typeof looks) => string | undefined {
  const locale = useLocale();
  const isHydrated = useHydrated();
  return (ms, look) => (isHydrated ? clockText(locale, ms, look) : undefined);
}

// The time zone for all times: the browser's own, or the one chosen in this browser.

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

/** Formats a count in the page's language: 12,345. The same on the server and in the browser. */
export function useNumber(): (value: number) => string {
  const locale = useLocale();
  return (value) => value.toLocaleString(locale);
}
