"use client";

import Link from "next/link";
import { useTranslations } from "next-intl";
import { type ReactNode, useState } from "react";
import { useConnection } from "@/components/frame/connection-context";
import { FailureMessage } from "@/components/frame/failure-message";
import { Freshness } from "@/components/frame/freshness";
import { Button, buttonStyle } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { ProgressBar } from "@/components/ui/progress-bar";
import { ReceiptLine } from "@/components/ui/receipt-line";
import { useHeld } from "@/components/ui/use-held";
import { withQuery } from "@/lib/browser/urls";
import { cancelTallyOf, type CopiesSet, type Copy, type CopyJob, type CopyJobs, isOpen, type Tally, tallyOf } from "./copies-state";
import { CopyLine } from "./copy-line";
import { useCopyJobs } from "./use-copy-jobs";

export type CopiesWork = {
  stop: () => void;
  goOn: () => Promise<void>;
  cancelWaiting: (hasBegun: (jobId: string) => boolean) => Promise<void>;
  leave: () => void;
};
type CopiesCardProps = { set: CopiesSet; fallbackName: string; canRun: boolean; work: CopiesWork };

const SHOWN_AT_FIRST = 20;

/** The copies of a run: how far they are, what became of each and where its job stands, and what can still be done. */
export function CopiesCard({ set, fallbackName, canRun, work }: CopiesCardProps) {
  const t = useTranslations("run.copies");
  const live = useCopyJobs(set);
  const hasBegun = (jobId: string) => !mayWait(live.jobs.get(jobId));
  const { held, hold, undo } = useHeld<"cancel">(() => void work.cancelWaiting(hasBegun));
  const current = useConnection()?.id;
  const linked = set.connection === current ? undefined : set.connection;
  const isSending = set.ending === undefined;
  const waiting = set.copies.filter(({ outcome }) => outcome?.kind === "accepted" && !outcome.cancel && !hasBegun(outcome.jobId)).length;
  const receipt = live.jobs.size > 0 && !set.isCancelling ? cancelTallyOf(set) : [];
  return (
    <Card
      title={t("card", { count: set.copies.length, name: set.name || fallbackName })}
      actions={
        isSending ? (
          <Button size="small" busy={set.isStopping} onClick={work.stop}>
            {t(set.isStopping ? "stopping" : "stop")}
          </Button>
        ) : (
          <Button size="small" tone="quiet" onClick={work.leave}>
            {t("dismiss")}
          </Button>
        )
      }
      bodyClassName="flex flex-col gap-2.5"
    >
      <Progress set={set} jobs={live.jobs}>
        <Freshness atMs={live.atMs} everyMs={live.everyMs} isFailing={live.failure !== undefined} />
      </Progress>
      <EndingNote set={set} />
      {set.cancelFailure ? <FailureMessage failure={set.cancelFailure} /> : null}
      {receipt.length > 0 ? (
        <ReceiptLine tone="off" text={t("cancelReceipt")}>
          <TallyWords tally={receipt} />
        </ReceiptLine>
      ) : null}
      {held ? (
        <ReceiptLine tone="wait" text={t("held", { count: waiting })}>
          <Button size="small" onClick={undo}>
            {t("undo")}
          </Button>
        </ReceiptLine>
      ) : null}
      {isSending || !canRun ? null : (
        <span className="flex flex-wrap gap-2">
          {set.canGoOn && set.copies.some(isOpen) ? (
            <Button onClick={() => void work.goOn()}>{t("goOn", { count: set.copies.filter(isOpen).length })}</Button>
          ) : null}
          {waiting > 0 && !held ? (
            <Button tone="danger" busy={set.isCancelling} onClick={() => hold("cancel")}>
              {t("cancelWaiting")}
            </Button>
          ) : null}
          <Link href={withQuery("/jobs", { workflow_id: set.workflowId, connection: linked })} className={buttonStyle({ tone: "quiet" })}>
            {t("theirJobs")}
          </Link>
        </span>
      )}
      <CopyList copies={set.copies} jobs={live.jobs} linked={linked} />
    </Card>
  );
}

/** A service is not asked to cancel what is known to run or to be over. */
function mayWait(job: CopyJob | undefined): boolean {
  return job === undefined || job.state === "pending" || job.state === "unknown";
}

/** While they are sent, how many are; from then on, how many of their jobs have ended. */
function Progress({ set, jobs, children }: { set: CopiesSet; jobs: CopyJobs; children: ReactNode }) {
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
      {/* What changes with every step of a job is not read out each time; that they are sent and that all have ended is. */}
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

function EndingNote({ set: { ending } }: { set: CopiesSet }) {
  const t = useTranslations("run.copies.ending");
  if (!ending || ending.kind === "done" || ending.kind === "stopped") return null;
  if (ending.kind === "left") return <p className="text-ink-2">{t("left")}</p>;
  return (
    <div className="flex flex-col gap-1">
      <p className="text-ink-2">{t(ending.kind)}</p>
      {ending.failure ? <FailureMessage failure={ending.failure} /> : null}
    </div>
  );
}

function CopyList({ copies, jobs, linked }: { copies: readonly Copy[]; jobs: CopyJobs; linked?: string }) {
  const t = useTranslations("run.copies");
  const [isAll, setAll] = useState(false);
  const shown = isAll ? copies : copies.slice(0, SHOWN_AT_FIRST);
  return (
    <>
      <ul aria-label={t("list")} className="max-h-80 divide-y divide-line overflow-y-auto">
        {shown.map((copy) => (
          <CopyLine
            key={copy.key}
            copy={copy}
            job={copy.outcome?.kind === "accepted" ? jobs.get(copy.outcome.jobId) : undefined}
            linked={linked}
          />
        ))}
      </ul>
      {copies.length > shown.length ? (
        <Button size="small" className="self-start" onClick={() => setAll(true)}>
          {t("showAll", { count: copies.length })}
        </Button>
      ) : null}
    </>
  );
}
