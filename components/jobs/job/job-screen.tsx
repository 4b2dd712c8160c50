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
import { ClampedClock, formatDuration, useNumberFormat } from "@/components/ui/time";
import { OutputList } from "@/components/viewer/output-list";
import { type TimedValue, toInitialOptions, useLive, useReadOnce } from "@/lib/browser/live/use-live";
import { toJobHref, toShortId, withQuery } from "@/lib/browser/urls";
import { type Failure } from "@/lib/contract/failure";
import { type JobState } from "@/lib/contract/jobs/job-list";
import { isAddressableId } from "@/lib/contract/params";
import { type JobDetail, type JobsResponse } from "@/lib/contract/schemas/job";
import { toJobView } from "@/lib/contract/views/job-view";
import { type Result } from "@/lib/shared/result";
import { getRunWithoutSecretsHref, JobActionResult, JobActions, useJobActions } from "./job-actions";
import { JobDetails, JobProgress } from "./job-details";
import { JobError, JobMissing, JobNotes, MissingJobBadge } from "./job-error";
import { getCustomWorkflowName, getFactsAfterFailure, type JobFacts, toJobFacts, toStatusFacts, withStatusFacts } from "./job-facts";
import { JobGraph, JobTimeline } from "./job-graph";

type JobScreenProps = { jobId: string; connection?: string; canRun: boolean; job: Promise<Result<TimedValue<JobFacts>, Failure>> };

const parseJob = (detail: JobDetail) => toJobFacts(detail);
const hasEnded = (facts: JobFacts) => facts.job.terminal;

export function JobScreen({ jobId, connection, canRun, job }: JobScreenProps) {
  const canSave = useFeature("fullAccess");
  const t = useTranslations("jobs");
  const actionTexts = useTranslations("acts");
  const initialResult = use(job);
  const connectionId = useConnection()?.id;
  const hasStatus = useFeature("jobStatus");
  const id = encodeURIComponent(jobId);
  const path = connectionId ? withQuery(`/api/jobs/${id}`, { connection: connectionId }) : undefined;
  const live = useLive(path, { ...toInitialOptions(initialResult), read: parseJob, isFinal: hasEnded });
  const failure = live.failure;
  const initialFacts = initialResult.ok ? initialResult.value.value : undefined;
  // The details update live. When their state changes, the status view is read once for its raw state and the machine.
  const rawState = live.value?.rawStates.details;
  const isStatusCurrent =
    !hasStatus || rawState === undefined || (initialFacts?.rawStates.status !== undefined && rawState === initialFacts.rawStates.details);
  const status = useReadOnce(
    connectionId && !isStatusCurrent
      ? (`${withQuery(`/api/job/${id}/status`, { connection: connectionId })}#${rawState}` as const)
      : undefined,
    toStatusFacts,
  );
  const latestStatus = isStatusCurrent
    ? { ...initialFacts?.job, word: initialFacts?.rawStates.status }
    : { ...initialFacts?.job, word: undefined, ...status.value };
  const { facts, isMissing, wasActive, isForbidden } = getFactsAfterFailure(
    live.value && withStatusFacts(live.value, latestStatus),
    failure,
  );
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
            <CopyableId id={jobId} maxLength={8} className="max-sm:hidden" />
            {wasActive ? <MissingJobBadge /> : facts ? <JobStatus word={facts.job.rawStatus} state={facts.job.state} /> : null}
          </>
        }
      >
        {facts === undefined || facts.job.terminal ? null : <Freshness atMs={live.atMs} isFailing={live.failure !== undefined} />}
        {canRun && facts && !isMissing && !isForbidden && facts.outputs.length > 0 ? (
          <ShareButton subject={{ job: jobId }} connectionId={connectionId} />
        ) : null}
        {canRun && facts && !isMissing && !isForbidden ? <JobActions facts={facts} actions={actions} /> : null}
      </PageHeader>
      <div className="flex flex-col gap-3.5 p-4 md:px-5">
        {isMissing || isForbidden ? (
          <JobMissing
            hasExisted={facts !== undefined}
            wasActive={wasActive}
            isForbidden={isForbidden}
            hasInvalidId={!isAddressableId(jobId)}
            backLink={
              <Link href={withQuery("/jobs", { connection })} className={buttonStyle()}>
                {t("job.missing.back")}
              </Link>
            }
          />
        ) : null}
        {failure && !isMissing && !isForbidden ? <FailureMessage failure={failure} onRetry={() => void live.refresh()} /> : null}
        {facts ? (
          <ClampedClock value={failure && live.atMs}>
            <div className="grid items-start gap-3.5 lg:grid-cols-[minmax(0,1fr)_380px]">
              <div className="flex min-w-0 flex-col gap-3.5">
                {facts.failure ? <JobError failure={facts.failure} facts={facts} onShowNode={showNode} /> : null}
                {facts.secretPlaces ? (
                  <SecretsNotice
                    places={facts.secretPlaces}
                    actions={
                      canRun && facts.workflowCounts && hasRemovableSecrets(facts.secretPlaces) ? (
                        <Link href={getRunWithoutSecretsHref(jobId, connection)} className={buttonStyle()}>
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
                  <JobRuns key={facts.job.rawStatus} jobId={jobId} workflowId={facts.job.workflowId} connection={connectionId} />
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
  const name = facts && getCustomWorkflowName(facts);
  return (
    <span title={name} className="block max-w-[min(440px,64vw)] truncate">
      {name ?? t("title")}
    </span>
  );
}

export function JobOutputs({ facts: { job, outputs }, connection }: { facts: JobFacts; connection?: string }) {
  const t = useTranslations("jobs.job.outputs");
  const formatNumber = useNumberFormat();
  if (outputs.length === 0) {
    return job.terminal ? (
      <Card title={t("title")}>
        <p className="text-ink-3">{t("none")}</p>
      </Card>
    ) : null;
  }
  return (
    <Card title={t("title")} note={formatNumber(outputs.length)} bodyClassName="flex flex-col gap-3">
      <OutputList outputs={outputs} connection={connection} />
    </Card>
  );
}

const MAX_RUNS = 20;

export type WorkflowRun = { id: string; state: JobState; runMs?: number };

function toRuns({ jobs }: Pick<JobsResponse, "jobs">): WorkflowRun[] {
  return jobs.map((item) => {
    const { id, state, runMs } = toJobView(item);
    return { id, state, ...(runMs !== undefined && { runMs }) };
  });
}

type JobRunsProps = { jobId: string; workflowId: string; connection?: string };

/** The newest runs of the same workflow. If they fail to load, the rest of the page still works. */
function JobRuns({ jobId, workflowId, connection }: JobRunsProps) {
  const path = withQuery("/api/jobs", { workflow_id: workflowId, limit: MAX_RUNS, connection });
  const runs = useReadOnce(path, toRuns).value;
  return runs ? <RunBars runs={runs} jobId={jobId} /> : null;
}

const stateOrder = ["completed", "failed", "cancelled", "in_progress", "pending", "unknown"] as const satisfies readonly JobState[];

const stateFills: Readonly<Record<JobState, string>> = {
  completed: "bg-ok",
  in_progress: "bg-run",
  pending: "bg-wait",
  failed: "bg-bad",
  cancelled: "bg-off",
  unknown: "bg-off",
};

/** Bars for the runs, oldest first. The height is the duration. */
export function RunBars({ runs: allRuns, jobId }: { runs: readonly WorkflowRun[]; jobId: string }) {
  const connectionParam = useConnectionParam();
  const runs = allRuns.filter(({ id }) => isAddressableId(id));
  const t = useTranslations("jobs.job.runs");
  const states = useTranslations("frame.states");
  const durationTexts = useTranslations("common.duration");
  if (runs.length < 2) return null;
  const maxRunMs = Math.max(1, ...runs.map(({ runMs = 0 }) => runMs));
  const counts = stateOrder
    .map((state) => ({ state, count: runs.filter((run) => run.state === state).length }))
    .filter(({ count }) => count > 0);
  const summary =
    counts.length === 1 && counts[0]?.state === "completed"
      ? t("allCompleted", { count: runs.length })
      : counts.map(({ state, count }) => t(`tally.${state}`, { count })).join(", ");
  return (
    <Card title={t("title", { count: runs.length })} bodyClassName="flex flex-col gap-2">
      <ol className="flex h-12 items-stretch gap-0.5">
        {runs.toReversed().map(({ id, state, runMs }) => {
          const stateText = state === "unknown" ? t("unknown") : states(state);
          const labelValues = { id: toShortId(id), state: stateText };
          const label =
            runMs === undefined ? t("run", labelValues) : t("ranFor", { ...labelValues, time: formatDuration(durationTexts, runMs) });
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
                  className={cn("block w-full rounded-sm group-hover:opacity-80", stateFills[state], !isCurrent && "opacity-60")}
                />
              </Link>
            </li>
          );
        })}
      </ol>
      <p className="text-ink-3">{summary}</p>
    </Card>
  );
}
