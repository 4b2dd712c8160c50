import { useTranslations } from "next-intl";
import { type ReactNode } from "react";
import { ProgressBar } from "@/components/ui/progress-bar";
import { type CopiesSet, type CopyJobs, type Tally, tallyOf } from "./copies-state";

/** During sending, how many copies are sent; afterwards, how many of their jobs have ended. */
export function CopiesProgress({ set, jobs, children }: { set: CopiesSet; jobs: CopyJobs; children?: ReactNode }) {
  const t = useTranslations("run.copies");
  const isSending = set.ending === undefined;
  const ids = set.copies.flatMap(({ outcome }) => (outcome?.kind === "accepted" ? [outcome.jobId] : []));
  const ended = ids.filter((id) => jobs.get(id)?.hasEnded).length;
  const through = set.copies.filter(({ outcome }) => outcome !== undefined).length;
  const isFollowed = !isSending && jobs.size > 0;
  const [done, total] = isFollowed ? [ended, ids.length] : [through, set.copies.length];
  const summary = <TallyWords tally={tallyOf(set, jobs)} />;
  return (
    <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
      <ProgressBar value={total === 0 ? 1 : done / total} label={t(isFollowed ? "progressEnded" : "progress")} className="w-[160px]" />
      {isFollowed ? <span className="tabular-nums">{t("ended", { ended, total: ids.length })}</span> : null}
      {isFollowed ? <span className="text-ink-2">{summary}</span> : null}
      {/* Screen readers announce only that all are sent and that all have ended, not every step of a job. */}
      <span role="status" className={isFollowed ? "sr-only" : undefined}>
        {isSending ? t("sent", { through, total: set.copies.length }) : isFollowed && ended < ids.length ? null : summary}
      </span>
      {set.waitMs === undefined ? null : <span className="text-wait">{t("waiting", { seconds: Math.ceil(set.waitMs / 1000) })}</span>}
      {children}
    </div>
  );
}

function TallyWords({ tally }: { tally: Tally }) {
  const t = useTranslations("run.copies.tally");
  return tally.map(({ kind, count }) => t(kind, { count })).join(" · ");
}
