import { useLocale, useTranslations } from "next-intl";
import { createContext, type ReactNode, use, useRef, useState } from "react";
import { useConnection, useConnectionParam } from "@/components/frame/connection/connection-context";
import { formatFailure } from "@/components/frame/failure/failure-message";
import { Freshness } from "@/components/frame/list/tool-bar";
import { Card } from "@/components/ui/card";
import { cn } from "@/components/ui/cn";
import { Button } from "@/components/ui/controls/button";
import { useIsNearViewport } from "@/components/ui/hooks/use-media";
import { Link } from "@/components/ui/link";
import { Skeleton } from "@/components/ui/skeleton";
import { ToneIcon } from "@/components/ui/status-badge";
import {
  ClampedClock,
  getBrowserTimeZone,
  getRegionalLocale,
  getSelectedTimeZone,
  useHydrated,
  useNumberFormat,
  useTimeFormat,
} from "@/components/ui/time";
import { type LiveValue, useLive } from "@/lib/browser/live/use-live";
import { withQuery } from "@/lib/browser/urls";
import { type DayRuns, type RunsByDay } from "@/lib/contract/console";

type OverviewCardProps<T> = {
  title: string;
  note?: ReactNode;
  /** The page with the complete list, if any. */
  listLink?: { href: `/${string}`; text: string };
  live: LiveValue<T>;
  skeleton: ReactNode;
  bodyClassName?: string;
  className?: string;
  children: (value: T) => ReactNode;
};

/** The failure code that the page shows. A card with the same failure only shows that it has no data. */
export const PageFailureContext = createContext<string | undefined>(undefined);

/** A card of the overview. It loads and fails independently, and keeps its last value. */
export function OverviewCard<T>({ title, note, listLink, live, skeleton, bodyClassName, className, children }: OverviewCardProps<T>) {
  const { value, failure } = live;
  return (
    <Card
      title={title}
      note={value === undefined ? undefined : note}
      className={className}
      bodyClassName={bodyClassName}
      actions={
        <>
          {value !== undefined && failure ? <Freshness atMs={live.atMs} isFailing /> : null}
          {listLink ? (
            <Link href={listLink.href} className="text-accent underline-offset-2 hover:underline">
              {listLink.text}
            </Link>
          ) : null}
        </>
      }
    >
      {value === undefined ? (
        failure ? (
          <CardFailure live={live} failure={failure} />
        ) : (
          skeleton
        )
      ) : (
        <ClampedClock value={failure && live.atMs}>{children(value)}</ClampedClock>
      )}
    </Card>
  );
}

function CardFailure<T>({ live, failure }: { live: LiveValue<T>; failure: NonNullable<LiveValue<T>["failure"]> }) {
  const t = useTranslations("overview");
  const pageFailureCode = use(PageFailureContext);
  const errors = useTranslations("errors");
  // The details would be repeated in each card of the page.
  const text = failure.code === "UPSTREAM_UNREACHABLE" ? errors("UPSTREAM_UNREACHABLE.title") : formatFailure(errors, failure);
  if (failure.code === pageFailureCode) return <CardNote>{t("unread")}</CardNote>;
  return (
    <div role="alert" className="flex items-start gap-2.5 p-3.5">
      <span className="mt-0.5 text-bad">
        <ToneIcon tone="bad" />
      </span>
      <div className="flex min-w-0 flex-col items-start gap-2">
        <p>{text}</p>
        <Button size="small" busy={live.isValidating} onClick={() => void live.refresh()}>
          {t("retry")}
        </Button>
      </div>
    </div>
  );
}

export function CardNote({ children }: { children: ReactNode }) {
  return <p className="p-3.5 text-ink-3">{children}</p>;
}

export const imageGridStyle = "grid grid-cols-3 gap-2.5 sm:grid-cols-4 lg:grid-cols-6";

export function RowsSkeleton({ rows }: { rows: number }) {
  return (
    <ul>
      {Array.from({ length: rows }, (_, index) => (
        <li key={index} className="flex min-h-[49px] items-center gap-3 border-b border-line px-3.5 last:border-b-0">
          <Skeleton className="h-3.5 w-2/5" />
          <Skeleton className="ml-auto h-3.5 w-16" />
        </li>
      ))}
    </ul>
  );
}

export function ImagesSkeleton() {
  return (
    <ul className={imageGridStyle}>
      {Array.from({ length: 6 }, (_, index) => (
        <li key={index}>
          <Skeleton className="aspect-[4/3] w-full" />
        </li>
      ))}
    </ul>
  );
}

/** Formats a date, already in the user's time zone, as "Sat, 22 Nov". */
export function useDayFormat(): (day: string) => string {
  const locale = useLocale();
  // The server doesn't have the user's date format.
  const format = new Intl.DateTimeFormat(useHydrated() ? getRegionalLocale(locale) : locale, {
    weekday: "short",
    day: "numeric",
    month: "short",
    timeZone: "UTC",
  });
  return (day) => format.format(Date.parse(day));
}

const outcomes = [
  { name: "completed", colorClass: "bg-ok" },
  { name: "failed", colorClass: "bg-bad" },
  { name: "cancelled", colorClass: "bg-control" },
  { name: "other", colorClass: "bg-run" },
] as const;
const isUnreadDay = (runs: DayRuns) => runs.isUnread === true;
const identity = (runs: RunsByDay) => runs;

/** Shows how many jobs were submitted on each recent day, as a chart and as a table. */
export function RunsCard({ className }: { className?: string }) {
  const t = useTranslations("overview.runs");
  const container = useRef<HTMLDivElement>(null);
  const isNearViewport = useIsNearViewport(container);
  const connection = useConnection()?.id;
  const connectionParam = useConnectionParam();
  const formatTime = useTimeFormat();
  const timeZone = isNearViewport ? (getSelectedTimeZone() ?? getBrowserTimeZone()) : undefined;
  const path = connection && timeZone ? withQuery("/api/console/runs-by-day", { zone: timeZone, connection }) : undefined;
  const live = useLive(path, { read: identity });
  const runs = live.value;
  const truncationNote =
    runs && runs.sinceMs !== undefined ? t("cut", { jobs: runs.jobs, time: formatTime(runs.sinceMs, "until") ?? "" }) : undefined;
  const rangeNote = runs?.days.some(isUnreadDay) ? t("reading", { jobs: runs.jobs }) : truncationNote;
  return (
    <div ref={container} className={className}>
      <OverviewCard
        title={t("title")}
        note={runs && (rangeNote ?? t("period", { days: runs.days.length, jobs: runs.jobs }))}
        listLink={{ href: withQuery("/jobs", { connection: connectionParam }), text: useTranslations("frame")("jobs") }}
        live={live}
        skeleton={<Skeleton className="h-[200px] w-full" />}
        className="h-full"
        bodyClassName="min-h-[294px]"
      >
        {({ days, jobs }) =>
          jobs === 0 && !days.some(isUnreadDay) ? (
            <p className="text-ink-3">{t("none")}</p>
          ) : (
            <>
              <RunsChart days={days} />
              <RunsTable days={days} />
            </>
          )
        }
      </OverviewCard>
    </div>
  );
}

/** Only every fourth day has a label, which fits in narrow windows. */
const DAYS_PER_LABEL = 4;

/** Stacked bars, one per day. The table below has the same numbers, so screen readers skip the chart. */
function RunsChart({ days }: Pick<RunsByDay, "days">) {
  const t = useTranslations("overview.runs");
  const formatDay = useDayFormat();
  const formatNumber = useNumberFormat();
  const [hoveredDay, setHoveredDay] = useState<string>();
  const maxCount = Math.max(1, ...days.map((runs) => outcomes.reduce((sum, { name }) => sum + runs[name], 0)));
  const hoveredRuns = days.find(({ day }) => day === hoveredDay);
  const formatRuns = ({ day, isUnread, ...counts }: DayRuns) =>
    isUnread ? t("unreadLine", { day: formatDay(day) }) : t("line", { ...counts, day: formatDay(day) });
  return (
    <div aria-hidden="true" data-testid="runs-chart">
      <div className="flex gap-2 text-xs text-ink-3 tabular-nums" onPointerLeave={() => setHoveredDay(undefined)}>
        <span className="-mt-1.5">{formatNumber(maxCount)}</span>
        <div className="flex min-w-0 flex-1 pb-6">
          {days.map((runs, index) => (
            <div
              key={runs.day}
              onPointerEnter={() => setHoveredDay(runs.day)}
              className="relative flex h-[176px] flex-1 flex-col-reverse items-center border-y border-line hover:bg-sunken"
            >
              {isUnreadDay(runs) ? (
                <span className="size-full bg-[repeating-linear-gradient(135deg,var(--color-line)_0_3px,transparent_3px_7px)]" />
              ) : (
                outcomes.map(({ name, colorClass }) => (
                  <span key={name} style={{ height: `${(runs[name] / maxCount) * 100}%` }} className={cn("w-[70%] max-w-10", colorClass)} />
                ))
              )}
              {(days.length - 1 - index) % DAYS_PER_LABEL === 0 ? (
                <span
                  className={cn(
                    "absolute top-full pt-1.5 whitespace-nowrap",
                    index === days.length - 1 ? "right-0" : "left-1/2 -translate-x-1/2",
                  )}
                >
                  {formatDay(runs.day)}
                </span>
              ) : null}
            </div>
          ))}
        </div>
      </div>
      <p className="mt-1 flex min-h-5 flex-wrap gap-x-3 text-sm text-ink-2 max-sm:min-h-10">
        {hoveredRuns
          ? formatRuns(hoveredRuns)
          : outcomes.map(({ name, colorClass }) => (
              <span key={name} className="inline-flex items-center gap-1.5">
                <span className={cn("size-2 rounded-sm", colorClass)} />
                {t(name)}
              </span>
            ))}
      </p>
    </div>
  );
}

function RunsTable({ days }: Pick<RunsByDay, "days">) {
  const t = useTranslations("overview.runs");
  const formatDay = useDayFormat();
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
                {formatDay(runs.day)}
              </th>
              {isUnreadDay(runs) ? (
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
