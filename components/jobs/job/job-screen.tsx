"use client";

import { useTranslations } from "next-intl";
import { use, useCallback, useState } from "react";
import { useConnection, useConnectionParam, useFeature } from "@/components/frame/connection/connection-context";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { JobStatus } from "@/components/frame/job-status";
import { Freshness } from "@/components/frame/list/tool-bar";
import { PageHeader } from "@/components/frame/page-header";
import { ShareButton } from "@/components/frame/share/share-button";
import { hasRemovableSecrets, SecretsNotice } from "@/components/jobs/actions/job-lines";
import { Card } from "@/components/ui/card";
import { cn } from "@/components/ui/cn";
import { buttonStyle } from "@/components/ui/controls/button";
import { CopyableId } from "@/components/ui/controls/copy-button";
import { Link } from "@/components/ui/link";
import { ClampedClock, durationText, useNumberFormat } from "@/components/ui/time";
import { OutputList } from "@/components/viewer/output-list";
import { type TimedValue, toInitial, useLive, useOnce } from "@/lib/browser/live/use-live";
import { shortId, toJobHref, withQuery } from "@/lib/browser/urls";
import { type Failure } from "@/lib/contract/failure";
import { type JobState } from "@/lib/contract/jobs/job-list";
import { isAddressableId } from "@/lib/contract/params";
import { type JobDetail, type JobsAnswer } from "@/lib/contract/schemas/job";
import { toJobView } from "@/lib/contract/views/job-view";
import { type Result } from "@/lib/shared/result";
import { JobActionResult, JobActions, useJobActions, withoutSecretsHref } from "./job-actions";
import { JobDetails, JobProgress } from "./job-details";
import { GoneBadge, JobError, JobMissing, JobNotes } from "./job-error";
import { getFactsAfterFailure, type JobFacts, ownName, toJobFacts, toStatusFacts, withStatusFacts } from "./job-facts";
import { JobGraph, JobTimeline } from "./job-graph";

type JobScreenProps = { jobId: string; connection?: string; canRun: boolean; job: Promise<Result<TimedValue<JobFacts>, Failure>> };

const readJob = (detail: JobDetail) => toJobFacts(detail);
const hasEnded = (facts: JobFacts) => facts.job.terminal;

export function JobScreen({ jobId, connection, canRun, job }: JobScreenProps) {
  const canSave = useFeature("fullAccess");
  const t = useTranslations("jobs");
  const actionTexts = useTranslations("acts");
  const first = use(job);
  const connectionId = useConnection()?.id;
  const hasStatus = useFeature("jobStatus");
  const id = encodeURIComponent(jobId);
  const path = connectionId ? withQuery(`/api/jobs/${id}`, { connection: connectionId }) : undefined;
  const live = useLive(path, { ...toInitial(first), read: readJob, isFinal: hasEnded });
  const failure = live.failure;
  const jobFacts = first.ok ? first.value.value : undefined;
  // The details are live. When their state changes, the status view is read once for its raw state and the machine.
  const word = live.value?.words.details;
  const isKnown = !hasStatus || word === undefined || (jobFacts?.words.status !== undefined && word === jobFacts.words.details);
  const status = useOnce(
    connectionId && !isKnown ? (`${withQuery(`/api/job/${id}/status`, { connection: connectionId })}#${word}` as const) : undefined,
    toStatusFacts,
  );
  const newestJob = isKnown ? { ...jobFacts?.job, word: jobFacts?.words.status } : { ...jobFacts?.job, word: undefined, ...status.value };
  const { facts, isGone, wasActive, isForbidden } = getFactsAfterFailure(live.value && withStatusFacts(live.value, newestJob), failure);
  const actions = useJobActions({ jobId, connection: connectionId, onDone: () => void live.refresh() });
  const [nodeRequest, setNodeRequest] = useState<{ id: string; serial: number }>();
  const showNode = useCallback((nodeId: string) => setNodeRequest((current) => ({ id: nodeId, serial: (current?.serial ?? 0) + 1 })), []);
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
            {/* Narrow screens show this in the details. */}
            <CopyableId id={jobId} displayText={8} className="max-sm:hidden" />
            {wasActive ? <GoneBadge /> : facts ? <JobStatus word={facts.job.word} state={facts.job.state} /> : null}
          </>
        }
      >
        {facts === undefined || facts.job.terminal ? null : <Freshness atMs={live.atMs} isFailing={live.failure !== undefined} />}
        {canRun && facts && !isGone && !isForbidden && facts.outputs.length > 0 ? (
          <ShareButton subject={{ job: jobId }} connectionId={connectionId} />
        ) : null}
        {canRun && facts && !isGone && !isForbidden ? <JobActions facts={facts} actions={actions} /> : null}
      </PageHeader>
      <div className="flex flex-col gap-3.5 p-4 md:px-5">
        {isGone || isForbidden ? (
          <JobMissing
            hasExisted={facts !== undefined}
            wasActive={wasActive}
            isForbidden={isForbidden}
            isUnopenable={!isAddressableId(jobId)}
            backLink={
              <Link href={withQuery("/jobs", { connection })} className={buttonStyle()}>
                {t("job.missing.back")}
              </Link>
            }
          />
        ) : null}
        {failure && !isGone && !isForbidden ? <FailureMessage failure={failure} onRetry={() => void live.refresh()} /> : null}
        {facts ? (
          <ClampedClock value={failure && live.atMs}>
            <div className="grid items-start gap-3.5 lg:grid-cols-[minmax(0,1fr)_380px]">
              <div className="flex min-w-0 flex-col gap-3.5">
                {facts.failure ? <JobError failure={facts.failure} facts={facts} onShowNode={showNode} /> : null}
                {facts.secretPlaces ? (
                  <SecretsNotice
                    places={facts.secretPlaces}
                    actions={
                      canRun && facts.workflowParts && hasRemovableSecrets(facts.secretPlaces) ? (
                        <Link href={withoutSecretsHref(jobId, connection)} className={buttonStyle()}>
                          {actionTexts("secrets.again")}
                        </Link>
                      ) : null
                    }
                  />
                ) : null}
                <JobProgress facts={facts} connection={connectionId} />
                <JobNotes notes={facts.notes} onShowNode={showNode} />
                <JobOutputs facts={facts} connection={connectionId} />
                <JobGraph facts={facts} connection={connectionId} nodeRequest={nodeRequest} canSave={canSave} />
              </div>
              <div className="flex min-w-0 flex-col gap-3.5">
                <JobTimeline facts={facts} />
                <JobDetails facts={facts} />
                {facts.job.workflowId ? (
                  <JobRuns key={facts.job.word} jobId={jobId} workflowId={facts.job.workflowId} connection={connectionId} />
                ) : null}
              </div>
            </div>
          </ClampedClock>
        ) : null}
      </div>
      {facts ? <JobActionResult facts={facts} actions={actions} /> : null}
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
  const number = useNumberFormat();
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

const MAX_COUNT = 20;

export type Run = { id: string; state: JobState; runMs?: number };

function toRuns({ jobs }: Pick<JobsAnswer, "jobs">): Run[] {
  return jobs.map((item) => {
    const { id, state, runMs } = toJobView(item);
    return { id, state, ...(runMs !== undefined && { runMs }) };
  });
}

type JobRunsProps = { jobId: string; workflowId: string; connection?: string };

/** The newest runs of the same workflow. If they fail to load, the rest of the page still works. */
function JobRuns({ jobId, workflowId, connection }: JobRunsProps) {
  const path = withQuery("/api/jobs", { workflow_id: workflowId, limit: MAX_COUNT, connection });
  const runs = useOnce(path, toRuns).value;
  return runs ? <RunBars runs={runs} jobId={jobId} /> : null;
}

const tallyStates = ["completed", "failed", "cancelled", "in_progress", "pending", "unknown"] as const satisfies readonly JobState[];

const fills: Readonly<Record<JobState, string>> = {
  completed: "bg-ok",
  in_progress: "bg-run",
  pending: "bg-wait",
  failed: "bg-bad",
  cancelled: "bg-off",
  unknown: "bg-off",
};

/** Bars for the runs, oldest first. The height is the duration. */
export function RunBars({ runs: all, jobId }: { runs: readonly Run[]; jobId: string }) {
  const connectionParam = useConnectionParam();
  const runs = all.filter(({ id }) => isAddressableId(id));
  const t = useTranslations("jobs.job.runs");
  const states = useTranslations("frame.states");
  const time = useTranslations("common.duration");
  if (runs.length < 2) return null;
  const maxRunMs = Math.max(1, ...runs.map(({ runMs = 0 }) => runMs));
  const counts = tallyStates
    .map((state) => ({ state, count: runs.filter((run) => run.state === state).length }))
    .filter(({ count }) => count > 0);
  const tally =
    counts.length === 1 && counts[0]?.state === "completed"
      ? t("allCompleted", { count: runs.length })
      : counts.map(({ state, count }) => t(`tally.${state}`, { count })).join(", ");
  return (
    <Card title={t("title", { count: runs.length })} bodyClassName="flex flex-col gap-2">
      <ol className="flex h-12 items-stretch gap-0.5">
        {runs.toReversed().map(({ id, state, runMs }) => {
          const word = state === "unknown" ? t("unknown") : states(state);
          const name = { id: shortId(id), state: word };
          const label = runMs === undefined ? t("run", name) : t("ranFor", { ...name, time: durationText(time, runMs) });
          const isCurrent = id === jobId;
          return (
            <li key={id} className="max-w-8 min-w-0 flex-1">
              <Link
                href={toJobHref(id, connectionParam)}
                prefetch={false}
                aria-label={label}
                aria-current={isCurrent ? "page" : undefined}
                title={label}
                className="group flex h-full items-end rounded-sm"
              >
                <span
                  style={{ height: `${Math.max(8, ((runMs ?? 0) / maxRunMs) * 100)}%` }}
                  className={cn("block w-full rounded-sm group-hover:opacity-80", fills[state], !isCurrent && "opacity-60")}
                />
              </Link>
            </li>
          );
        })}
      </ol>
      <p className="text-ink-3">{tally}</p>
    </Card>
  );
}
