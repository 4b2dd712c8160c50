import { useTranslations } from "next-intl";
import { useRef, useState } from "react";
import { useConnection, useConnectionParam } from "@/components/frame/connection/connection-context";
import { cn } from "@/components/ui/cn";
import { useIsNear } from "@/components/ui/hooks/use-media";
import { Skeleton } from "@/components/ui/skeleton";
import { browserTimeZone, selectedTimeZone, useNumberFormat, useTimeFormat } from "@/components/ui/time/use-time-format";
import { useLive } from "@/lib/browser/live/use-live";
import { withQuery } from "@/lib/browser/urls";
import { type RunsByDay, type RunsOfDay } from "@/lib/contract/console";
import { Part, useDayName } from "./part";

const outcomes = [
  { name: "completed", ink: "bg-ok" },
  { name: "failed", ink: "bg-bad" },
  { name: "cancelled", ink: "bg-control" },
  { name: "other", ink: "bg-run" },
] as const;
const isUnread = (runs: RunsOfDay) => runs.isUnread === true;
const identity = (runs: RunsByDay) => runs;

/** How many jobs were submitted on each of the last days, as bars and as a table. */
export function RunsPart({ className }: { className?: string }) {
  const t = useTranslations("overview.runs");
  const container = useRef<HTMLDivElement>(null);
  const isNear = useIsNear(container);
  const connection = useConnection()?.id;
  const connectionParam = useConnectionParam();
  const clock = useTimeFormat();
  const zone = isNear ? (selectedTimeZone() ?? browserTimeZone()) : undefined;
  const path = connection && zone ? withQuery("/api/console/runs-by-day", { zone, connection }) : undefined;
  const live = useLive(path, { read: identity });
  const runs = live.value;
  const truncationNote =
    runs && runs.sinceMs !== undefined ? t("cut", { jobs: runs.jobs, time: clock(runs.sinceMs, "until") ?? "" }) : undefined;
  const period = runs?.days.some(isUnread) ? t("reading", { jobs: runs.jobs }) : truncationNote;
  return (
    <div ref={container} className={className}>
      <Part
        title={t("title")}
        note={runs && (period ?? t("period", { days: runs.days.length, jobs: runs.jobs }))}
        all={{ href: withQuery("/jobs", { connection: connectionParam }), text: useTranslations("frame")("jobs") }}
        live={live}
        skeleton={<Skeleton className="h-[200px] w-full" />}
        className="h-full"
        bodyClassName="min-h-[294px]"
      >
        {({ days, jobs }) =>
          jobs === 0 && !days.some(isUnread) ? (
            <p className="text-ink-3">{t("none")}</p>
          ) : (
            <>
              <RunsChart days={days} />
              <RunsTable days={days} />
            </>
          )
        }
      </Part>
    </div>
  );
}

/** A date below every fourth day fits in narrow windows. */
const DAYS_PER_DATE = 4;

/** Stacked bars, one per day. The table below has the same numbers, so screen readers skip the chart. */
function RunsChart({ days }: Pick<RunsByDay, "days">) {
  const t = useTranslations("overview.runs");
  const toDayName = useDayName();
  const number = useNumberFormat();
  const [hoveredDay, setHoveredDay] = useState<string>();
  const max = Math.max(1, ...days.map((runs) => outcomes.reduce((sum, { name }) => sum + runs[name], 0)));
  const runsOfDay = days.find(({ day }) => day === hoveredDay);
  const toLine = ({ day, isUnread: unread, ...counts }: RunsOfDay) =>
    unread ? t("unreadLine", { day: toDayName(day) }) : t("line", { ...counts, day: toDayName(day) });
  return (
    <div aria-hidden="true" data-testid="runs-chart">
      <div className="flex gap-2 text-xs text-ink-3 tabular-nums" onPointerLeave={() => setHoveredDay(undefined)}>
        <span className="-mt-1.5">{number(max)}</span>
        <div className="flex min-w-0 flex-1 pb-6">
          {days.map((runs, index) => (
            <div
              key={runs.day}
              onPointerEnter={() => setHoveredDay(runs.day)}
              className="relative flex h-[176px] flex-1 flex-col-reverse items-center border-y border-line hover:bg-sunken"
            >
              {isUnread(runs) ? (
                <span className="size-full bg-[repeating-linear-gradient(135deg,var(--color-line)_0_3px,transparent_3px_7px)]" />
              ) : (
                outcomes.map(({ name, ink }) => (
                  <span key={name} style={{ height: `${(runs[name] / max) * 100}%` }} className={cn("w-[70%] max-w-10", ink)} />
                ))
              )}
              {(days.length - 1 - index) % DAYS_PER_DATE === 0 ? (
                <span
                  className={cn(
                    "absolute top-full pt-1.5 whitespace-nowrap",
                    index === days.length - 1 ? "right-0" : "left-1/2 -translate-x-1/2",
                  )}
                >
                  {toDayName(runs.day)}
                </span>
              ) : null}
            </div>
          ))}
        </div>
      </div>
      <p className="mt-1 flex min-h-5 flex-wrap gap-x-3 text-sm text-ink-2 max-sm:min-h-10">
        {runsOfDay
          ? toLine(runsOfDay)
          : outcomes.map(({ name, ink }) => (
              <span key={name} className="inline-flex items-center gap-1.5">
                <span className={cn("size-2 rounded-sm", ink)} />
                {t(name)}
              </span>
            ))}
      </p>
    </div>
  );
}

function RunsTable({ days }: Pick<RunsByDay, "days">) {
  const t = useTranslations("overview.runs");
  const toDayName = useDayName();
  return (
    <details className="mt-2">
      <summary className="w-fit cursor-pointer text-ink-2 hover:text-ink">{t("table")}</summary>
      <table className="mt-2 w-full border-collapse text-right tabular-nums">
        <caption className="sr-only">{t("title")}</caption>
        <thead>
          <tr className="border-b border-line text-sm text-ink-3">
            <th scope="col" className="py-1 text-left font-normal">
              {t("day")}
            </th>
            {outcomes.map(({ name }) => (
              <th key={name} scope="col" className="py-1 pl-2 font-normal">
                {t(name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days.toReversed().map((runs) => (
            <tr key={runs.day} data-day={runs.day} className="border-b border-line last:border-b-0">
              <th scope="row" className="py-1 text-left font-normal whitespace-nowrap">
                {toDayName(runs.day)}
              </th>
              {isUnread(runs) ? (
                <td colSpan={outcomes.length} className="py-1 pl-2 text-ink-3">
                  {t("unread")}
                </td>
              ) : (
                outcomes.map(({ name }) => (
                  <td key={name} className="py-1 pl-2">
                    {runs[name]}
                  </td>
                ))
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
