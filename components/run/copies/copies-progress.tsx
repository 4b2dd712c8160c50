import { useTranslations } from "next-intl";
import { type ReactNode, useCallback, useEffect, useEffectEvent, useState } from "react";
import { toFailureCode } from "@/components/frame/failure/failure-message";
import { JobLink } from "@/components/frame/job-link";
import { JobStatus, useRunProgress } from "@/components/frame/job-status";
import { ProgressBar } from "@/components/ui/skeleton";
import { StatusBadge, type Tone } from "@/components/ui/status-badge";
import { useLive } from "@/lib/browser/live/use-live";
import { withQuery } from "@/lib/browser/urls";
import { type JobsResponse } from "@/lib/contract/schemas/job";
import { toJobView } from "@/lib/contract/views/job-view";
import { type CopiesSet, type Copy, type CopyJob, type CopyJobs, countCopies, type Tally } from "./copies-state";

/** Shows how many copies have been sent, then how many of their jobs have ended. */
export function CopiesProgress({ set, jobs, children }: { set: CopiesSet; jobs: CopyJobs; children?: ReactNode }) {
  const t = useTranslations("run.copies");
  const isSending = set.ending === undefined;
  const jobIds = set.copies.flatMap(({ outcome }) => (outcome?.kind === "accepted" ? [outcome.jobId] : []));
  const endedCount = jobIds.filter((id) => jobs.get(id)?.hasEnded).length;
  const sentCount = set.copies.filter(({ outcome }) => outcome !== undefined).length;
  const hasJobs = !isSending && jobs.size > 0;
  const [doneCount, total] = hasJobs ? [endedCount, jobIds.length] : [sentCount, set.copies.length];
  const summary = <TallyText tally={countCopies(set, jobs)} />;
  return (
    <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
      <ProgressBar value={total === 0 ? 1 : doneCount / total} label={t(hasJobs ? "progressEnded" : "progress")} className="w-[160px]" />
      {hasJobs ? <span className="tabular-nums">{t("ended", { ended: endedCount, total: jobIds.length })}</span> : null}
      {hasJobs ? <span className="text-ink-2">{summary}</span> : null}
      {/* Screen readers announce only that all are sent and that all have ended, not every step of a job. */}
      <span role="status" className={hasJobs ? "sr-only" : undefined}>
        {isSending ? t("sent", { through: sentCount, total: set.copies.length }) : hasJobs && endedCount < jobIds.length ? null : summary}
      </span>
      {set.waitMs === undefined ? null : <span className="text-wait">{t("waiting", { seconds: Math.ceil(set.waitMs / 1000) })}</span>}
      {children}
    </div>
  );
}

function TallyText({ tally }: { tally: Tally }) {
  const t = useTranslations("run.copies.tally");
  return tally.map(({ kind, count }) => t(kind, { count })).join(" · ");
}

/** The outcome of one copy, or its job's state once known. */
export function CopyLine({ copy, job, connection }: { copy: Copy; job: CopyJob | undefined; connection?: string }) {
  const { label, outcome } = copy;
  const failure = outcome && outcome.kind !== "accepted" ? outcome.failure : undefined;
  const tErrors = useTranslations("errors");
  return (
    <li className="flex min-h-8 items-center gap-2.5 py-1 [content-visibility:auto]">
      <span title={label} className="min-w-0 flex-1 truncate tabular-nums">
        {label}
      </span>
      {failure ? (
        <span title={failure.message} className="max-w-[40%] min-w-0 truncate text-sm text-ink-3 max-sm:hidden">
          {failure.message || tErrors(`${toFailureCode(failure)}.title`)}
        </span>
      ) : null}
      {job ? <CopyStatus copy={copy} job={job} /> : <OutcomeBadge copy={copy} />}
      {outcome?.kind === "accepted" ? <JobLink id={outcome.jobId} connection={connection} /> : null}
    </li>
  );
}

function CopyStatus({ copy: { label, outcome }, job }: { copy: Copy; job: CopyJob }) {
  const t = useTranslations("run.copies.line");
  const { share } = useRunProgress({ value: job.progress, expected: job.expected, startedMs: job.startedMs });
  const acceptedOutcome = outcome?.kind === "accepted" ? outcome : undefined;
  if (job.isMissing) return <StatusBadge tone="off" label={t(acceptedOutcome?.isCancelled ? "cancelled" : "gone")} />;
  return (
    <>
      {job.state === "in_progress" && share !== undefined ? <ProgressBar value={share} label={label} className="max-sm:w-10" /> : null}
      {acceptedOutcome?.nodesRefused ? (
        <span className="text-sm text-ink-3">{t("without", { count: acceptedOutcome.nodesRefused })}</span>
      ) : null}
      <JobStatus word={job.word} state={job.state} />
    </>
  );
}

const toneByOutcome: Record<"accepted" | "unknown" | "refused" | "invalid" | "lost", Tone> = {
  accepted: "ok",
  unknown: "unknown",
  refused: "bad",
  invalid: "bad",
  lost: "off",
};

function OutcomeBadge({ copy: { isBegun, outcome } }: { copy: Copy }) {
  const t = useTranslations("run.copies.line");
  if (!outcome) return <StatusBadge tone={isBegun ? "run" : "off"} label={t(isBegun ? "sending" : "left")} />;
  if (outcome.kind !== "accepted") return <StatusBadge tone={toneByOutcome[outcome.kind]} label={t(outcome.kind)} />;
  const { isCancelled, nodesRefused } = outcome;
  if (isCancelled) return <StatusBadge tone="off" label={t("cancelled")} />;
  return <StatusBadge tone={toneByOutcome.accepted} label={nodesRefused > 0 ? t("partial", { count: nodesRefused }) : t("accepted")} />;
}

// The states of the jobs of a set of copies, fetched as one list.
// Guarantees: known states are kept while requests fail. An unfinished job counts as missing if a complete list requested after its submission
// lacks it. Updates end once all jobs have ended.

const MAX_ROWS = 1000;
/** Allows for other runs of the same workflow between the copies. */
const EXTRA_ROWS = 50;
const CONFIRM_DELAY_MS = 1500;

type JobsList = Pick<JobsResponse, "jobs" | "unreadable"> & Partial<Pick<JobsResponse, "pagination">>;
type JobsSnapshot = { jobs: CopyJobs; isComplete: boolean; oldestMs: number };
/** `jobIds`: the jobs that were accepted before the newest response was requested. */
type CopyJobsState = { snapshot?: JobsSnapshot; jobIds: ReadonlySet<string>; jobs: CopyJobs };

export function useCopyJobs(set: CopiesSet) {
  const ids = getAcceptedIds(set);
  const limit = Math.min(MAX_ROWS, set.copies.length + EXTRA_ROWS);
  const path =
    set.connection === undefined || ids.length === 0
      ? undefined
      : // A separate cache key, since a job's page parses the same list differently.
        (`${withQuery("/api/jobs", { workflow_id: set.workflowId, limit, connection: set.connection })}#copies` as const);
  const parseResponse = useCallback((response: JobsList) => toSnapshot(response, limit), [limit]);
  const [jobsState, setJobsState] = useState<CopyJobsState>({ jobIds: new Set(), jobs: new Map() });
  const liveJobs = useLive(path, {
    read: parseResponse,
    isFinal: (response) => hasFinished(set, ids, new Map([...jobsState.jobs, ...response.jobs])),
  });
  const snapshot = liveJobs.value;
  const refreshJobs = useEffectEvent(() => void liveJobs.refresh());
  const isMissing = set.ending !== undefined && ids.some((id) => !snapshot?.jobs.has(id) && !jobsState.jobs.get(id)?.hasEnded);
  // A list that lacks an accepted job may be stale, so one more response decides.
  useEffect(() => {
    if (!isMissing) return;
    const timer = setTimeout(refreshJobs, CONFIRM_DELAY_MS);
    return () => clearTimeout(timer);
  }, [isMissing]);
  if (snapshot && snapshot !== jobsState.snapshot)
    setJobsState({ snapshot, jobIds: new Set([...ids, ...snapshot.jobs.keys()]), jobs: withSnapshot(jobsState, snapshot) });
  const hasEnded = set.ending !== undefined && ids.every((id) => jobsState.jobs.get(id)?.hasEnded);
  return { jobs: jobsState.jobs, atMs: liveJobs.atMs, failure: liveJobs.failure, refresh: liveJobs.refresh, hasEnded };
}

/** A truncated list contains no jobs older than its last one, so those keep their state. */
function withSnapshot({ jobIds, jobs: previousJobs }: CopyJobsState, { jobs, isComplete, oldestMs }: JobsSnapshot): CopyJobs {
  const missingJobs = [...jobIds].flatMap((id): [string, CopyJob][] => {
    const job = previousJobs.get(id);
    const isCovered = isComplete || (job?.createdAtMs ?? 0) > oldestMs;
    return !jobs.has(id) && !job?.hasEnded && isCovered ? [[id, { word: "", state: "unknown", hasEnded: true, isMissing: true }]] : [];
  });
  return new Map([...previousJobs, ...missingJobs, ...jobs]);
}

function getAcceptedIds({ copies }: CopiesSet): string[] {
  return copies.flatMap(({ outcome }) => (outcome?.kind === "accepted" ? [outcome.jobId] : []));
}

function toSnapshot({ jobs: items, pagination, unreadable = 0 }: JobsList, limit: number): JobsSnapshot {
  const views = items.map((item) => toJobView(item));
  const jobs = views.map(
    ({ id, rawStatus, state, terminal, progress, expected, startedAtMs: startedMs, createdAtMs }): [string, CopyJob] => [
      id,
      { word: rawStatus, state, hasEnded: terminal, createdAtMs, progress: progress?.value, expected, startedMs },
    ],
  );
  // A service may return fewer rows than requested, and an unreadable row may be any of them.
  const isTruncated = items.length >= limit || pagination?.has_more === true || (pagination?.total ?? 0) > items.length;
  const oldestMs =
    unreadable > 0 ? Infinity : views.reduce((oldest, { createdAtMs = Infinity }) => Math.min(oldest, createdAtMs), Infinity);
  return { jobs: new Map(jobs), isComplete: !isTruncated && unreadable === 0, oldestMs };
}

/** A removed job may reappear. */
function hasFinished({ ending }: CopiesSet, ids: readonly string[], jobs: CopyJobs): boolean {
  return ending !== undefined && ids.every((id) => jobs.get(id)?.hasEnded && !jobs.get(id)?.isMissing);
}
