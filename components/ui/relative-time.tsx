"use client";

import { useTranslations } from "next-intl";
import { agoOf } from "./elapsed";
import { useClock } from "./use-clock";
import { useReading } from "./use-now";

/** "4 min ago"; the exact time with its zone is one hover away. */
export function RelativeTime({ ms, className }: { ms: number; className?: string }) {
  const t = useTranslations("common.time");
  const ago = useReading((nowMs) => agoOf(ms, nowMs));
  // The reader's zone is known in the browser only.
  const title = useClock()(ms, "exact");
  return (
    <time dateTime={new Date(ms).toISOString()} title={title} className={className} suppressHydrationWarning>
      {ago.unit === "now" ? t("now") : t(ago.unit, { count: ago.count })}
    </time>
  );
}
