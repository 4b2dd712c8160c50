"use client";

import { useLocale } from "next-intl";
import { useHydrated } from "./use-now";

const looks = {
  exact: { dateStyle: "medium", timeStyle: "long" },
  minute: { hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
  second: { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" },
  until: { dateStyle: "medium", timeStyle: "short" },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

/** Moments in the reader's own zone and the page's language. Only the browser knows the zone: undefined on the server and in the first render, so that both agree. */
export function useClock(): (ms: number, look: keyof typeof looks) => string | undefined {
  const locale = useLocale();
  const isHydrated = useHydrated();
  return (ms, look) => (isHydrated ? new Intl.DateTimeFormat(locale, looks[look]).format(ms) : undefined);
}
