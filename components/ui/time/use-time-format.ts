import { useLocale } from "next-intl";
import { useHydrated } from "./use-now";

const timeStyles = {
  exact: { dateStyle: "medium", timeStyle: "long" },
  minute: { timeStyle: "short" },
  second: { timeStyle: "medium" },
  day: { dateStyle: "medium" },
  until: { dateStyle: "medium", timeStyle: "short" },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

/** Creating a format is as slow as using it a hundred times, and each row of a list needs one. */
const formatCache = new Map<string, Intl.DateTimeFormat>();

/** The browser's regional variant of the page's language, such as "en-GB" for "en". It sets the time and date style. */
export function regionalLocale(language: string): string {
  const getLanguage = (tag: string) => tag.split("-")[0]?.toLowerCase();
  return navigator.languages.find((tag) => getLanguage(tag) === getLanguage(language)) ?? language;
}

function cachedFormat(locale: string, style: keyof typeof timeStyles): Intl.DateTimeFormat {
  const timeZone = selectedTimeZone();
  const key = `${locale} ${style} ${timeZone ?? ""}`;
  const format = formatCache.get(key) ?? new Intl.DateTimeFormat(regionalLocale(locale), { ...timeStyles[style], timeZone });
  formatCache.set(key, format);
  return format;
}

export function formatTime(locale: string, ms: number, style: keyof typeof timeStyles): string {
  return cachedFormat(locale, style).format(ms);
}

/**
 * Formats times in the user's time zone, language and regional style. Returns undefined on the server and in the first render, because
 * only the browser has the time zone.
 */
export function useTimeFormat(): (ms: number, style: keyof typeof timeStyles) => string | undefined {
  const locale = useLocale();
  const isHydrated = useHydrated();
  return (ms, style) => (isHydrated ? formatTime(locale, ms, style) : undefined);
}

const STORAGE_KEY = "lightdesk.time-zone";
let selectedZone: string | undefined;
let isStorageRead = false;

/** The time zone chosen in this browser. Undefined: the browser's own. */
export function selectedTimeZone(): string | undefined {
  if (isStorageRead) return selectedZone;
  isStorageRead = true;
  try {
    const storedZone = window.localStorage.getItem(STORAGE_KEY) ?? undefined;
    // Formatting throws for a time zone that this browser does not support.
    selectedZone = storedZone && supportedTimeZones().includes(storedZone) ? storedZone : undefined;
  } catch {
    selectedZone = undefined; // no access to storage: use the browser's time zone
  }
  return selectedZone;
}

/** Returns false if the browser stores nothing. The caller must render the page again. */
export function storeTimeZone(zone: string | undefined): boolean {
  try {
    if (zone === undefined) window.localStorage.removeItem(STORAGE_KEY);
    else window.localStorage.setItem(STORAGE_KEY, zone);
    isStorageRead = false;
    return true;
  } catch {
    return false;
  }
}

export function browserTimeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** UTC is first, as teams compare logs in it and not every browser lists it. */
export function supportedTimeZones(): string[] {
  return ["UTC", ...Intl.supportedValuesOf("timeZone").filter((zone) => zone !== "UTC")];
}

/** Formats a count in the page's language: 12,345. The same on the server and in the browser. */
export function useNumberFormat(): (value: number) => string {
  const locale = useLocale();
  return (value) => value.toLocaleString(locale);
}
