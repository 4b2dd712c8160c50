import { useTranslations } from "next-intl";
import { useState } from "react";
import { useConnections } from "@/components/frame/connection/connection-context";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { useJobHrefs } from "@/components/frame/job-link";
import { Freshness } from "@/components/frame/list/tool-bar";
import { JobLines } from "@/components/jobs/actions/job-lines";
import { Card } from "@/components/ui/card";
import { Button } from "@/components/ui/controls/button";
import { ButtonLink } from "@/components/ui/link";
import { withQuery } from "@/lib/browser/urls";
import { useEndJobs } from "../submit/use-started-job";
import { CopiesProgress, CopyLine, useCopyJobs } from "./copies-progress";
import { canResend, type CopiesSet, type CopyJobs } from "./copies-state";

export type CopiesActions = {
  stop: () => void;
  resume: () => Promise<void>;
  markCancelled: (jobIds: readonly string[]) => void;
  dismiss: () => void;
};
type CopiesCardProps = { set: CopiesSet; fallbackName: string; canRun: boolean; work: CopiesActions };

const INITIAL_COUNT = 20;

/** The copies of a run: progress, each copy's outcome with a job link, and available actions. */
export function CopiesCard({ set, fallbackName, canRun, work }: CopiesCardProps) {
  const t = useTranslations("run.copies");
  const hrefs = useJobHrefs(set.connection);
  const liveJobs = useCopyJobs(set);
  const jobActions = useEndJobs({ connection: set.connection, onCancelled: work.markCancelled, refresh: liveJobs.refresh });
  const isSending = set.ending === undefined;
  const waitingJobs = set.copies.flatMap(({ label, outcome }) => {
    if (outcome?.kind !== "accepted" || outcome.isCancelled || jobActions.pendingIds.has(outcome.jobId)) return [];
    const job = liveJobs.jobs.get(outcome.jobId);
    // Running and ended jobs are not cancelled.
    return !job || (!job.hasEnded && job.state !== "in_progress") ? [{ id: outcome.jobId, label }] : [];
  });
  return (
    <Card
      title={t("card", { count: set.copies.length, name: set.name || fallbackName })}
      actions={<StopOrDismissButton set={set} work={work} />}
      bodyClassName="flex flex-col gap-2.5"
    >
      <CopiesProgress set={set} jobs={liveJobs.jobs}>
        {liveJobs.hasEnded ? null : <Freshness atMs={liveJobs.atMs} isFailing={liveJobs.failure !== undefined} />}
      </CopiesProgress>
      <EndingNote set={set} />
      <JobLines actions={jobActions} connection={set.connection} onStopped={() => void liveJobs.refresh()} />
      {isSending || !canRun ? null : (
        <span className="flex flex-wrap gap-2">
          {set.canResume && set.copies.some(canResend) ? (
            <Button onClick={() => void work.resume()}>{t("goOn", { count: set.copies.filter(canResend).length })}</Button>
          ) : null}
          {waitingJobs.length > 0 ? (
            <Button
              tone="danger"
              busy={jobActions.busyIds.size > 0}
              onClick={() => jobActions.schedule({ action: "cancel", items: waitingJobs })}
            >
              {t("cancelWaiting")}
            </Button>
          ) : null}
          <ButtonLink href={hrefs.getJobsHref({ workflow_id: set.workflowId })} tone="quiet">
            {t("theirJobs")}
          </ButtonLink>
        </span>
      )}
      <CopyList set={set} jobs={liveJobs.jobs} />
    </Card>
  );
}

function EndingNote({ set: { ending, canResume, copies } }: { set: CopiesSet }) {
  const t = useTranslations("run.copies.ending");
  if (!ending) return null;
  const isPlanLost = !canResume && copies.some(canResend);
  return (
    <div className="flex flex-col gap-1 empty:hidden">
      {ending.kind === "done" || ending.kind === "stopped" ? null : <p className="text-ink-2">{t(ending.kind)}</p>}
      {ending.failure ? <FailureMessage failure={ending.failure} /> : null}
      {isPlanLost ? <p className="text-ink-2">{t("gone")}</p> : null}
    </div>
  );
}

function CopyList({ set: { copies, connection }, jobs }: { set: CopiesSet; jobs: CopyJobs }) {
  const t = useTranslations("run.copies");
  const [isExpanded, setExpanded] = useState(false);
  const visibleCopies = isExpanded ? copies : copies.slice(0, INITIAL_COUNT);
  return (
    <>
      <ul aria-label={t("list")} className="max-h-80 divide-y divide-line overflow-y-auto">
        {visibleCopies.map((copy) => (
          <CopyLine
            key={copy.key}
            copy={copy}
            connection={connection}
            job={copy.outcome?.kind === "accepted" ? jobs.get(copy.outcome.jobId) : undefined}
          />
        ))}
      </ul>
      {copies.length > visibleCopies.length ? (
        <Button size="small" className="self-start" onClick={() => setExpanded(true)}>
          {t("showAll", { count: copies.length })}
        </Button>
      ) : null}
    </>
  );
}

function StopOrDismissButton({ set, work }: Pick<CopiesCardProps, "set" | "work">) {
  const t = useTranslations("run.copies");
  return set.ending === undefined ? (
    <Button size="small" busy={set.isStopping} onClick={work.stop}>
      {t(set.isStopping ? "stopping" : "stop")}
    </Button>
  ) : (
    <Button size="small" tone="quiet" onClick={work.dismiss}>
      {t("dismiss")}
    </Button>
  );
}

type CopiesSummaryProps = {
  set: CopiesSet;
  fallbackName: string;
  /** Whether these copies use another connection than the page. */
  isOtherConnection: boolean;
  work: CopiesActions;
  onShow: () => void;
};

/** One line for copies of another workflow or connection: their progress and a button that shows them. */
export function CopiesSummary({ set, fallbackName, isOtherConnection, work, onShow }: CopiesSummaryProps) {
  const t = useTranslations("run.copies");
  const liveJobs = useCopyJobs(set);
  const connectionName = useConnections().find(({ id }) => id === set.connection)?.name;
  const count = set.copies.length;
  const name = set.name || fallbackName;
  return (
    <section
      aria-label={t("card", { count, name })}
      className="flex flex-wrap items-center gap-x-3 gap-y-2 rounded-lg border border-line bg-surface px-3.5 py-2"
    >
      <span className="min-w-0 flex-1 basis-52 truncate">
        {isOtherConnection && connectionName !== undefined
          ? t("cardOn", { count, name, connection: connectionName })
          : t("card", { count, name })}
      </span>
      <CopiesProgress set={set} jobs={liveJobs.jobs} />
      <span className="flex gap-2">
        {isOtherConnection ? (
          <ButtonLink href={withQuery("/run", { connection: set.connection })} size="small">
            {t("showThere")}
          </ButtonLink>
        ) : (
          <Button size="small" onClick={onShow}>
            {t("show")}
          </Button>
        )}
        <StopOrDismissButton set={set} work={work} />
      </span>
    </section>
  );
}
