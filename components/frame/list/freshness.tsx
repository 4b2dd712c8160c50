import { useTranslations } from "next-intl";
import { cn } from "@/components/ui/cn";
import { useClock } from "@/components/ui/time/use-clock";
import { useHydrated, useNow } from "@/components/ui/time/use-now";
import { freshnessOf } from "@/lib/browser/poll/poll-plan";

type FreshnessProps = { atMs: number | undefined; everyMs: number; isFailing: boolean };

/** "live", "12 s old", or "not updated since 14:02": an outdated page always says so. */
export function Freshness({ atMs, everyMs, isFailing }: FreshnessProps) {
  const t = useTranslations("common.age");
  const nowMs = useNow();
  const isHydrated = useHydrated();
  const clock = useClock();
  if (atMs === undefined) return null;
  const freshness = freshnessOf({ nowMs: isHydrated ? nowMs : atMs, answeredMs: atMs, everyMs, isFailing });
  const ageText = (seconds: number) =>
    seconds < 100 ? t("seconds", { count: seconds }) : t("minutes", { count: Math.floor(seconds / 60) });
  const word =
    freshness.kind === "aged" ? t("aged", { age: ageText(freshness.seconds) }) : t(freshness.kind, { time: clock(atMs, "minute") ?? "" });
  const dot = { live: "bg-ok", aged: "bg-wait", offline: "bg-bad" }[freshness.kind];
  return (
    <span title={t("hint")} data-freshness={freshness.kind} className="inline-flex items-center gap-1.5 text-ink-3 whitespace-nowrap">
      <span aria-hidden="true" className={cn("size-2 rounded-full", dot)} />
      {word}
    </span>
  );
}
