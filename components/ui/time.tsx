"use client";

import { useLocale, useNow as usePageNow, useTranslations } from "next-intl";
import { createContext, use, useMemo, useSyncExternalStore } from "react";

export type RelativeTimeContext = { formatRelativeTime: (ago: Ago) => string; locale: string; renderedMs: number };

export function useRelativeTimeContext(): RelativeTimeContext {
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
    return { formatRelativeTime, locale, renderedMs };
  }, [t, locale, renderedMs]);
}

/** Shows a time as "4 min ago". Hovering shows the exact time with its time zone. */
export function RelativeTime({ ms, className }: { ms: number; className?: string }) {
  return <AgoTime ms={ms} words={useRelativeTimeContext()} className={className} />;
}

/** Shows a relative time in long lists, where shared values are computed once for all rows. */
export function AgoTime({ ms, words, className }: { ms: number; words: RelativeTimeContext; className?: string }) {
  const ago = useRenderedValue(words.renderedMs, (nowMs) => toAgo(ms, nowMs));
  // The user's time zone is known only in the browser.
  const title = useHydrated() ? formatTime(words.locale, ms, "exact") : undefined;
  return (
    <time dateTime={new Date(ms).toISOString()} title={title} className={className} suppressHydrationWarning>
      {words.formatRelativeTime(ago)}
    </time>
  );
}

type TranslateDuration = ReturnType<typeof useTranslations<"common.duration">>;

export function Duration({ fromMs, toMs }: { fromMs: number; toMs: number }) {
  return <>{formatDuration(useTranslations("common.duration"), toMs - fromMs)}</>;
}

export function formatDuration(t: TranslateDuration, spanMs: number, isRunning = false): string {
  const { unit, ...parts } = toDuration(spanMs, isRunning);
  return t(unit, parts);
}

/** The time of the last response, set if the data is outdated. */
export const ClampedClock = createContext<number | undefined>(undefined);

/** A running duration, updated by the page's clock. */
export function RunningDuration({ fromMs }: { fromMs: number }) {
  return <>{formatDuration(useTranslations("common.duration"), useClampedNow() - fromMs, true)}</>;
}

export function useClampedNow(): number {
  const nowMs = useNow();
  return use(ClampedClock) ?? nowMs;
}

// Converts durations and ages to units and counts.

type Ago = { unit: "now" } | { unit: "seconds" | "minutes" | "hours" | "days"; count: number };

const justNow: Ago = { unit: "now" };
const cachedAges = new Map<string, Ago>();

/** Returns the same object for equal ages, so that a component renders again only when the age changes. */
export function toAgo(eventMs: number, nowMs: number): Ago {
  const seconds = Math.max(0, Math.floor((nowMs - eventMs) / 1000));
  if (seconds < 10) return justNow;
  if (seconds < 60) return getCachedAge("seconds", Math.floor(seconds / 10) * 10);
  if (seconds < 3_600) return getCachedAge("minutes", Math.floor(seconds / 60));
  if (seconds < 86_400) return getCachedAge("hours", Math.floor(seconds / 3_600));
  return getCachedAge("days", Math.floor(seconds / 86_400));
}

function getCachedAge(unit: Exclude<Ago["unit"], "now">, count: number): Ago {
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
 * Formats all durations of the console: `46.4 s` under a minute, `1m 07s`, `2h 07m`, `3d 04h`, `324d`. A running duration has no tenths, because
 * they would flicker.
 */
export function toDuration(spanMs: number, isRunning = false): Duration {
  const ms = Math.max(0, spanMs);
  // A duration that would round to 60.0 s is shown as a minute.
  if (ms < (isRunning ? 60_000 : 59_950)) {
    return { unit: "seconds", seconds: isRunning ? String(Math.floor(ms / 1000)) : (ms / 1000).toFixed(1) };
  }
  const seconds = isRunning ? Math.floor(ms / 1000) : Math.round(ms / 1000);
  if (seconds < 3_600) return { unit: "minutes", minutes: String(Math.floor(seconds / 60)), seconds: padToTwoDigits(seconds % 60) };
  const hours = Math.floor(seconds / 3_600);
  // Durations of up to two days are shown in hours.
  if (hours >= 240) return { unit: "manyDays", days: String(Math.floor(hours / 24)) };
  if (hours >= 48) return { unit: "days", days: String(Math.floor(hours / 24)), hours: padToTwoDigits(hours % 24) };
  return { unit: "hours", hours: String(hours), minutes: padToTwoDigits(Math.floor((seconds % 3_600) / 60)) };
}

function padToTwoDigits(value: number): string {
  return String(value).padStart(2, "0");
}

let clockMs = 0;
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

/** The whole page shares one clock, which stops while no time is shown. */
function subscribeToClock(listener: () => void): () => void {
  listeners.add(listener);
  clockMs = Date.now();
  timer ??= setInterval(() => {
    clockMs = Date.now();
    for (const listener of listeners) listener();
  }, 1_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0 && timer) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/** Returns a value derived from the clock. The component renders again only when it changes, so equal values must be identical. */
function useClockValue<T>(getValue: (nowMs: number) => T): T {
  return useRenderedValue(useRenderedMs(), getValue);
}

export function useRenderedMs(): number {
  return usePageNow().getTime();
}

export function useRenderedValue<T>(renderedMs: number, getValue: (nowMs: number) => T): T {
  return useSyncExternalStore(
    subscribeToClock,
    () => getValue(clockMs || Date.now()),
    () => getValue(renderedMs),
  );
}

/** Milliseconds since 1970, rounded down to seconds. The first render uses the moment at which the server rendered. */
export function useNow(): number {
  return useClockValue((ms) => Math.floor(ms / 1_000) * 1_000);
}

const neverNotify = () => () => undefined;

/** False on the server and in the browser's first render. Content that depends on the user's time zone is rendered afterwards. */
export function useHydrated(): boolean {
  return useSyncExternalStore(
    neverNotify,
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

/** Formats are cached, because creating one takes as long as using it a hundred times, and each row of a list needs one. */
const formatCache = new Map<string, Intl.DateTimeFormat>();

/** Returns the browser's regional variant of the page's language, such as "en-GB" for "en". It determines the time and date style. */
export function getRegionalLocale(language: string): string {
  const getLanguage = (tag: string) => tag.split("-")[0]?.toLowerCase();
  return navigator.languages.find((tag) => getLanguage(tag) === getLanguage(language)) ?? language;
}

function getCachedFormat(locale: string, style: keyof typeof timeStyles): Intl.DateTimeFormat {
  const timeZone = getSelectedTimeZone();
  const key = `${locale} ${style} ${timeZone ?? ""}`;
  const format = formatCache.get(key) ?? new Intl.DateTimeFormat(getRegionalLocale(locale), { ...timeStyles[style], timeZone });
  formatCache.set(key, format);
  return format;
}

function formatTime(locale: string, ms: number, style: keyof typeof timeStyles): string {
  return getCachedFormat(locale, style).format(ms);
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

/** Returns the time zone selected in this browser, or undefined for the browser's own time zone. */
export function getSelectedTimeZone(): string | undefined {
  if (isStorageRead) return selectedZone;
  isStorageRead = true;
  try {
    const storedZone = window.localStorage.getItem(STORAGE_KEY) ?? undefined;
    // Formatting throws for a time zone that this browser does not support.
    selectedZone = storedZone && getSupportedTimeZones().includes(storedZone) ? storedZone : undefined;
  } catch {
    selectedZone = undefined; // Storage is unavailable, so the browser's time zone is used.
  }
  return selectedZone;
}

/** Returns false if storage is unavailable. The caller must render the page again. */
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

export function getBrowserTimeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** UTC is first, because teams use it to compare logs, and not every browser lists it. */
export function getSupportedTimeZones(): string[] {
  return ["UTC", ...Intl.supportedValuesOf("timeZone").filter((zone) => zone !== "UTC")];
}

/** Formats a count in the page's language, such as 12,345. The result is the same on the server and in the browser. */
export function useNumberFormat(): (value: number) => string {
  const locale = useLocale();
  return (value) => value.toLocaleString(locale);
}
