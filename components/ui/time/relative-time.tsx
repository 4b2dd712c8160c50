"use client";

import { useLocale, useTranslations } from "next-intl";
import { useMemo } from "react";
import { type Ago, agoOf } from "./elapsed";
import { clockText } from "./use-clock";
import { useHydrated, useReadingFrom, useRenderedMs } from "./use-now";

/** What every time on a page needs to format itself. */
export type AgoWords = { textOf: (ago: Ago) => string; locale: string; renderedMs: number };

export function useAgoWords(): AgoWords {
  const t = useTranslations("common.time");
  const locale = useLocale();
  const renderedMs = useRenderedMs();
  return useMemo(() => {
    const texts = new Map<Ago, string>();
    const textOf = (ago: Ago) => {
      const text = texts.get(ago) ?? (ago.unit === "now" ? t("now") : t(ago.unit, { count: ago.count }));
      texts.set(ago, text);
      return text;
    };
    return { textOf, locale, renderedMs };
  }, [t, locale, renderedMs]);
}

/** "4 min ago"; hovering shows the exact time with its zone. */
export function RelativeTime({ ms, className }: { ms: number; className?: string }) {
  return <AgoTime ms={ms} words={useAgoWords()} className={className} />;
}

/** The same for long lists: shared values are computed once for all rows. */
export function AgoTime({ ms, words, className }: { ms: number; words: AgoWords; className?: string }) {
  const ago = useReadingFrom(words.renderedMs, (nowMs) => agoOf(ms, nowMs));
  // Only the browser knows the reader's time zone.
  const title = useHydrated() ? clockText(words.locale, ms, "exact") : undefined;
  return (
    <time dateTime={new Date(ms).toISOString()} title={title} className={className} suppressHydrationWarning>
      {words.textOf(ago)}
    </time>
  );
}
