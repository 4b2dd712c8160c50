"use client";

import { useTranslations } from "next-intl";
import { use, useCallback, useState } from "react";
import { useConnection, useFeature } from "@/components/frame/connection/connection-context";
import { useFollowCounts } from "@/components/frame/counts-context";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { JobStatus } from "@/components/frame/job-status";
import { Freshness } from "@/components/frame/list/tool-bar";
import { PageHeader, PageSkeleton } from "@/components/frame/page-header";
import { ShareButton } from "@/components/frame/share/share-button";
import { canLeaveOut, SecretsNotice } from "@/components/jobs/actions/secrets-notice";
import { Card } from "@/components/ui/card";
import { buttonStyle } from "@/components/ui/controls/button";
import { CopyableId } from "@/components/ui/controls/copy-button";
import { Link } from "@/components/ui/link";
import { Skeleton } from "@/components/ui/skeleton";
import { KnownUntil } from "@/components/ui/time/relative-time";
import { useNumber } from "@/components/ui/time/use-clock";
import { OutputList } from "@/components/viewer/output-list";
import { initialOf, type Stamped, usePoll } from "@/lib/browser/poll/use-poll";
import { withQuery } from "@/lib/browser/urls";
import { type Failure } from "@/lib/contract/failure";
import { isAddressableId } from "@/lib/contract/params";
import { type JobDetail } from "@/lib/contract/schemas/job";
import { type Result } from "@/lib/shared/result";
import { JobActAnswer, JobActions, withoutSecretsHref } from "./job-actions";
import { useJobActs } from "./job-actions";
import { JobDetails } from "./job-details";
import { JobProgress } from "./job-details";
import { JobError, JobNotes } from "./job-error";
import { GoneBadge, JobMissing } from "./job-error";
import { factsAfter, type JobFacts, ownName, toJobFacts, toStatusFacts, withStatusFacts } from "./job-facts";
import { JobGraph } from "./job-graph";
import { JobTimeline } from "./job-graph";
import { JobRuns } from "./job-runs";

type JobScreenProps = { jobId: string; connection?: string; canRun: boolean; job: Promise<Result<Stamped<JobFacts>, Failure>> };

const readJob = (detail: JobDetail) => toJobFacts(detail);
const once = () => "final" as const;
const motionOf = (facts: JobFacts) => (facts.job.terminal ? "final" : "moving");

export function JobScreen({ jobId, connection, canRun, job }: JobScreenProps) {
  const canSave = useFeature("fullAccess");
  const t = useTranslations("jobs");
  const acted = useTranslations("acts");
  const first = use(job);
  const connectionId = useConnection()?.id;
  const hasStatus = useFeature("jobStatus");
  const id = encodeURIComponent(jobId);
  const path = connectionId ? withQuery(`/api/jobs/${id}`, { connection: connectionId }) : undefined;
  const poll = usePoll(path, { ...initialOf(first), read: readJob, motion: motionOf });
  const failure = poll.failure;
  const read = first.ok ? first.value.value : undefined;
  // The page polls the details; whenever their state changes, the status view is requested once for its own word and the machine.
  const word = poll.value?.words.details;
  const isKnown = !hasStatus || word === undefined || (read?.words.status !== undefined && word === read.words.details);
  const status = usePoll(
    connectionId && !isKnown ? (`${withQuery(`/api/job/${id}/status`, { connection: connectionId })}#${word}` as const) : undefined,
    { read: toStatusFacts, motion: once },
  );
  const known = isKnown ? { ...read?.job, word: read?.words.status } : { ...read?.job, word: undefined, ...status.value };
  const { facts, isGone, wasMoving, isForbidden } = factsAfter(poll.value && withStatusFacts(poll.value, known), failure);
  const acts = useJobActs({ jobId, connection: connectionId, onDone: () => void poll.refresh() });
  const [ask, setAsk] = useState<{ id: string; serial: number }>();
  const showNode = useCallback((nodeId: string) => setAsk((last) => ({ id: nodeId, serial: (last?.serial ?? 0) + 1 })), []);
  useFollowCounts(facts?.job.state);
  return (
    <>
      <PageHeader
        trail={
          <Link href={withQuery("/jobs", { connection })} className="rounded-sm hover:text-ink max-sm:hidden">
            {t("job.trail")}
          </Link>
        }
        title={<JobTitle facts={facts} />}
        badge={
          <>
            {/* Narrow screens show it in the details. */}
            <CopyableId id={jobId} shown={8} className="max-sm:hidden" />
            {wasMoving ? <GoneBadge /> : facts ? <JobStatus word={facts.job.word} state={facts.job.state} /> : null}
          </>
        }
      >
        {facts === undefined || facts.job.terminal ? null : (
          <Freshness atMs={poll.atMs} everyMs={poll.everyMs} isFailing={poll.failure !== undefined} />
        )}
        {canRun && facts && !isGone && !isForbidden && facts.outputs.length > 0 ? (
          <ShareButton subject={{ job: jobId }} connectionId={connectionId} />
        ) : null}
        {canRun && facts && !isGone && !isForbidden ? <JobActions facts={facts} linked={connection} acts={acts} /> : null}
      </PageHeader>
      <div className="flex flex-col gap-3.5 p-4 md:px-5">
        {isGone || isForbidden ? (
          <JobMissing
            wasThere={facts !== undefined}
            wasMoving={wasMoving}
            isForbidden={isForbidden}
            isUnopenable={!isAddressableId(jobId)}
            back={
              <Link href={withQuery("/jobs", { connection })} className={buttonStyle()}>
                {t("job.missing.back")}
              </Link>
            }
          />
        ) : null}
        {failure && !isGone && !isForbidden ? <FailureMessage failure={failure} onRetry={() => void poll.refresh()} /> : null}
        {facts ? (
          <KnownUntil value={failure && poll.atMs}>
            <div className="grid items-start gap-3.5 lg:grid-cols-[minmax(0,1fr)_380px]">
              <div className="flex min-w-0 flex-col gap-3.5">
                {facts.failure ? <JobError failure={facts.failure} facts={facts} onShowNode={showNode} /> : null}
                {facts.secretPlaces ? (
                  <SecretsNotice
                    places={facts.secretPlaces}
                    actions={
                      canRun && facts.workflowParts && canLeaveOut(facts.secretPlaces) ? (
                        <Link href={withoutSecretsHref(jobId, connection)} className={buttonStyle()}>
                          {acted("secrets.again")}
                        </Link>
                      ) : null
                    }
                  />
                ) : null}
                <JobProgress facts={facts} />
                <JobNotes notes={facts.notes} onShowNode={showNode} />
                <JobOutputs facts={facts} connection={connectionId} />
                <JobGraph facts={facts} connection={connectionId} ask={ask} canSave={canSave} />
              </div>
              <div className="flex min-w-0 flex-col gap-3.5">
                <JobTimeline facts={facts} />
                <JobDetails facts={facts} linked={connection} />
                {facts.job.workflowId ? (
                  <JobRuns
                    key={facts.job.word}
                    jobId={jobId}
                    workflowId={facts.job.workflowId}
                    connection={connectionId}
                    linked={connection}
                  />
                ) : null}
              </div>
            </div>
          </KnownUntil>
        ) : null}
      </div>
      {facts ? <JobActAnswer facts={facts} linked={connection} acts={acts} /> : null}
    </>
  );
}

/** The name of the job's workflow, if it has one. */
export function JobTitle({ facts }: { facts: JobFacts | undefined }) {
  const t = useTranslations("jobs.job");
  const name = facts && ownName(facts);
  return (
    <span title={name} className="block max-w-[min(440px,64vw)] truncate">
      {name ?? t("title")}
    </span>
  );
}

export function JobOutputs({ facts: { job, outputs }, connection }: { facts: JobFacts; connection?: string }) {
  const t = useTranslations("jobs.job.outputs");
  const number = useNumber();
  if (outputs.length === 0) {
    return job.terminal ? (
      <Card title={t("title")}>
        <p className="text-ink-3">{t("none")}</p>
      </Card>
    ) : null;
  }
  return (
    <Card title={t("title")} note={number(outputs.length)} bodyClassName="flex flex-col gap-3">
      <OutputList outputs={outputs} connection={connection} />
    </Card>
  );
}

export function JobSkeleton() {
  const t = useTranslations("jobs.job");
  const title = (
    <>
      <span className="sr-only">{t("title")}</span>
      <Skeleton className="h-4 w-20" />
    </>
  );
  return (
    <PageSkeleton
      trail={<span className="max-sm:hidden">{t("trail")}</span>}
      title={title}
      label={t("loading")}
      className="grid items-start gap-3.5 p-4 md:px-5 lg:grid-cols-[minmax(0,1fr)_380px]"
    >
      <Skeleton className="h-[260px] rounded-lg" />
      <div className="flex flex-col gap-3.5">
        <Skeleton className="h-[150px] rounded-lg" />
        <Skeleton className="h-[190px] rounded-lg" />
      </div>
    </PageSkeleton>
  );
}
