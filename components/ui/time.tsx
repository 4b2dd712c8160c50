"use client";

import { useLocale, useNow as usePageNow, useTranslations } from "next-intl";
import { createContext, use, useMemo, useSyncExternalStore } from "react";

export type RelativeTimeContext = { formatRelativeTime: (ago: Ago) => string; locale: string; renderedMs: number };

export function useAgoWords(): RelativeTimeContext {
  const t = useTranslations("common.time");
  const locale = useLocale();
  const renderedMs = useRenderedMs();
  return useMemo(() => {
    const texts = new Map<Ago, string>();
    const formatRelativeTime = (ago: Ago) => {
      const text = texts.get(ago) ?? (ago.unit === "now" ? t("now") : t(ago.unit, { count: ago.count }));
      texts.set(ago, text);
      return text;
    };
    return { formatRelativeTime: formatRelativeTime, locale, renderedMs };
  }, [t, locale, renderedMs]);
}

/** "4 min ago"; hovering shows the exact time with its zone. */
export function RelativeTime({ ms, className }: { ms: number; className?: string }) {
  return <AgoTime ms={ms} words={useAgoWords()} className={className} />;
}

/** The same for long lists: shared values are computed once for all rows. */
export function AgoTime({ ms, words, className }: { ms: number; words: RelativeTimeContext; className?: string }) {
  const ago = useRenderedValue(words.renderedMs, (nowMs) => toAgo(ms, nowMs));
  // Only the browser has the reader's time zone.
  const title = useHydrated() ? formatTime(words.locale, ms, "exact") : undefined;
  return (
    <time dateTime={new Date(ms).toISOString()} title={title} className={className} suppressHydrationWarning>
      {words.formatRelativeTime(ago)}
    </time>
  );
}

type DurationWords = ReturnType<typeof useTranslations<"common.duration">>;

export function Duration({ fromMs, toMs }: { fromMs: number; toMs: number }) {
  return <>{durationText(useTranslations("common.duration"), toMs - fromMs)}</>;
}

export function durationText(t: DurationWords, spanMs: number, isCounting = false): string {
  const { unit, ...parts } = toDuration(spanMs, isCounting);
  return t(unit, parts);
}

/** The time of the last response, if the data is no longer current. */
export const ClampedClock = createContext<number | undefined>(undefined);

/** A duration that is still running: counts on with the page's clock. */
export function RunningDuration({ fromMs }: { fromMs: number }) {
  return <>{durationText(useTranslations("common.duration"), useClampedNow() - fromMs, true)}</>;
}

export function useClampedNow(): number {
  const nowMs = useNow();
  return use(ClampedClock) ?? nowMs;
}

// Durations and ages as the parts of a sentence.

type Ago = { unit: "now" } | { unit: "seconds" | "minutes" | "hours" | "days"; count: number };

const justNow: Ago = { unit: "now" };
const cachedAges = new Map<string, Ago>();

/** Equal ages are the same object, so that a component renders again only when the age changes. */
export function toAgo(thenMs: number, nowMs: number): Ago {
  const seconds = Math.max(0, Math.floor((nowMs - thenMs) / 1000));
  if (seconds < 10) return justNow;
  if (seconds < 60) return oneUnit("seconds", Math.floor(seconds / 10) * 10);
  if (seconds < 3_600) return oneUnit("minutes", Math.floor(seconds / 60));
  if (seconds < 86_400) return oneUnit("hours", Math.floor(seconds / 3_600));
  return oneUnit("days", Math.floor(seconds / 86_400));
}

function oneUnit(unit: Exclude<Ago["unit"], "now">, count: number): Ago {
  const key = `${count} ${unit}`;
  const ago = cachedAges.get(key) ?? { unit, count };
  cachedAges.set(key, ago);
  return ago;
}

export type Duration =
  | { unit: "seconds"; seconds: string }
  | { unit: "minutes"; minutes: string; seconds: string }
  | { unit: "hours"; hours: string; minutes: string }
  | { unit: "days"; days: string; hours: string }
  | { unit: "manyDays"; days: string };

/**
 * The one format of durations: `46.4 s` under a minute, `1m 07s`, `2h 07m`, `3d 04h`, `324d`. A running duration has no tenths, which would
 * flicker.
 */
export function toDuration(spanMs: number, isCounting = false): Duration {
  const ms = Math.max(0, spanMs);
  // A duration that would round to 60.0 s is shown as a minute.
  if (ms < (isCounting ? 60_000 : 59_950)) {
    return { unit: "seconds", seconds: isCounting ? String(Math.floor(ms / 1000)) : (ms / 1000).toFixed(1) };
  }
  const seconds = isCounting ? Math.floor(ms / 1000) : Math.round(ms / 1000);
  if (seconds < 3_600) return { unit: "minutes", minutes: String(Math.floor(seconds / 60)), seconds: two(seconds % 60) };
  const hours = Math.floor(seconds / 3_600);
  // Up to two days people still count in hours.
  if (hours >= 240) return { unit: "manyDays", days: String(Math.floor(hours / 24)) };
  if (hours >= 48) return { unit: "days", days: String(Math.floor(hours / 24)), hours: two(hours % 24) };
  return { unit: "hours", hours: String(hours), minutes: two(Math.floor((seconds % 3_600) / 60)) };
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}

let clockMs = 0;
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

/** One clock for the whole page, however many times it shows; it stops while no time is shown. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  clockMs = Date.now();
  timer ??= setInterval(() => {
    clockMs = Date.now();
    for (const notify of listeners) notify();
  }, 1_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0 && timer) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/** A value derived from the clock: the component renders again only when it changes, so equal values must be identical. */
function useReading<T>(read: (nowMs: number) => T): T {
  return useRenderedValue(useRenderedMs(), read);
}

export function useRenderedMs(): number {
  return usePageNow().getTime();
}

export function useRenderedValue<T>(renderedMs: number, read: (nowMs: number) => T): T {
  return useSyncExternalStore(
    subscribe,
    () => read(clockMs || Date.now()),
    () => read(renderedMs),
  );
}

/** Milliseconds since 1970, rounded down to seconds. The first render uses the moment at which the server rendered. */
export function useNow(): number {
  return useReading((ms) => Math.floor(ms / 1_000) * 1_000);
}

const never = () => () => undefined;

/** False on the server and in the browser's first render; content that depends on the reader's time zone waits for it. */
export function useHydrated(): boolean {
  return useSyncExternalStore(
    never,
    () => true,
    () => false,
  );
}

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

function formatTime(locale: string, ms: number, style: keyof typeof timeStyles): string {
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
