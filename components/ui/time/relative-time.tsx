"use client";

import { useLocale, useTranslations } from "next-intl";
import { createContext, use, useMemo } from "react";
import { useHydrated, useNow, useReadingFrom, useRenderedMs } from "./use-now";
import { formatTime } from "./use-time-format";

export type AgoWords = { formatAgo: (ago: Ago) => string; locale: string; renderedMs: number };

export function useAgoWords(): AgoWords {
  const t = useTranslations("common.time");
  const locale = useLocale();
  const renderedMs = useRenderedMs();
  return useMemo(() => {
    const texts = new Map<Ago, string>();
    const formatAgo = (ago: Ago) => {
      const text = texts.get(ago) ?? (ago.unit === "now" ? t("now") : t(ago.unit, { count: ago.count }));
      texts.set(ago, text);
      return text;
    };
    return { formatAgo: formatAgo, locale, renderedMs };
  }, [t, locale, renderedMs]);
}

/** "4 min ago"; hovering shows the exact time with its zone. */
export function RelativeTime({ ms, className }: { ms: number; className?: string }) {
  return <AgoTime ms={ms} words={useAgoWords()} className={className} />;
}

/** The same for long lists: shared values are computed once for all rows. */
export function AgoTime({ ms, words, className }: { ms: number; words: AgoWords; className?: string }) {
  const ago = useReadingFrom(words.renderedMs, (nowMs) => toAgo(ms, nowMs));
  // Only the browser has the reader's time zone.
  const title = useHydrated() ? formatTime(words.locale, ms, "exact") : undefined;
  return (
    <time dateTime={new Date(ms).toISOString()} title={title} className={className} suppressHydrationWarning>
      {words.formatAgo(ago)}
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
