import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { useRef } from "react";
import { useConnection, useLinkedConnection } from "@/components/frame/connection/connection-context";
import { useNear } from "@/components/ui/hooks/use-media";
import { Skeleton } from "@/components/ui/skeleton";
import { browserZone, chosenZone, useClock } from "@/components/ui/time/use-clock";
import { usePoll } from "@/lib/browser/poll/use-poll";
import { withQuery } from "@/lib/browser/urls";
import { type RunsByDay, type RunsOfDay } from "@/lib/contract/console";
import { Part, useDayName } from "./part";

/** The chart's library loads when the chart comes near the visible part. */
const RunsChart = dynamic(() => import("./runs-chart").then((module) => module.RunsChart), {
  ssr: false,
  loading: () => <Skeleton className="h-[200px] w-full" />,
});

const outcomes = ["completed", "failed", "cancelled", "other"] as const;
const isUnread = (runs: RunsOfDay) => runs.isUnread === true;
const same = (runs: RunsByDay) => runs;

/** How many jobs were submitted on each of the last days, as bars and as a table. */
export function RunsPart({ className }: { className?: string }) {
  const t = useTranslations("overview.runs");
  const place = useRef<HTMLDivElement>(null);
  const isNear = useNear(place);
  const connection = useConnection()?.id;
  const linked = useLinkedConnection();
  const clock = useClock();
  const zone = isNear ? (chosenZone() ?? browserZone()) : undefined;
  const path = connection && zone ? withQuery("/api/console/runs-by-day", { zone, connection }) : undefined;
  const poll = usePoll(path, { read: same, motion: ({ days }) => (days.some(isUnread) ? "counting" : "slow") });
  const runs = poll.value;
  const cut = runs && runs.sinceMs !== undefined ? t("cut", { jobs: runs.jobs, time: clock(runs.sinceMs, "until") ?? "" }) : undefined;
  const period = runs?.days.some(isUnread) ? t("reading", { jobs: runs.jobs }) : cut;
  return (
    <div ref={place} className={className}>
      <Part
        title={t("title")}
        note={runs && (period ?? t("period", { days: runs.days.length, jobs: runs.jobs }))}
        all={{ href: withQuery("/jobs", { connection: linked }), text: useTranslations("frame")("jobs") }}
        poll={poll}
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

function RunsTable({ days }: Pick<RunsByDay, "days">) {
  const t = useTranslations("overview.runs");
  const nameOf = useDayName();
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
            {outcomes.map((outcome) => (
              <th key={outcome} scope="col" className="py-1 pl-2 font-normal">
                {t(outcome)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days.toReversed().map((runs) => (
            <tr key={runs.day} data-day={runs.day} className="border-b border-line last:border-b-0">
              <th scope="row" className="py-1 text-left font-normal whitespace-nowrap">
                {nameOf(runs.day)}
              </th>
              {isUnread(runs) ? (
                <td colSpan={outcomes.length} className="py-1 pl-2 text-ink-3">
                  {t("unread")}
                </td>
              ) : (
                outcomes.map((outcome) => (
                  <td key={outcome} className="py-1 pl-2">
                    {runs[outcome]}
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
