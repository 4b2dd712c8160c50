import { useState } from "react";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { type BulkCallContext, callWithRetry, readAllPages } from "@/lib/browser/bulk/bulk-calls";
import { type JobSearchQuery } from "@/lib/contract/console";
import { jobStates } from "@/lib/contract/jobs/job-list";
import { type JobsResponse } from "@/lib/contract/schemas/job";
import { ok, type Result } from "@/lib/shared/result";
import { watchBusyJobs } from "../actions/busy-jobs";
import { canApply, type TargetJob } from "../actions/end-jobs";
import { type JobAction, useJobWork } from "../actions/use-job-work";
import { type JobRow, toJobRow } from "../job-row";
import { getListApiPath } from "./list-urls";

/** `count` is undefined if the service doesn't report it. `query` is set while the jobs' ids are unknown. */
export type PendingJobAction = { action: JobAction; count: number | undefined; jobs?: readonly TargetJob[]; query?: JobSearchQuery };

type BulkJobOptions = {
  connection: string | undefined;
  onDone: () => void;
  onStarted: () => void;
  onRestored?: (jobs: readonly TargetJob[]) => void;
};

/** Cancelling and removing listed jobs can be undone for five seconds. Actions on a query require confirmation. */
export function useBulkJobActions({ connection, onDone, onStarted, onRestored }: BulkJobOptions) {
  const [pendingAction, setPendingAction] = useState<PendingJobAction>();
  const [hasNoMatches, setNoMatches] = useState(false);
  const work = useJobWork<JobSearchQuery>({ connection, onDone, onRestored, walk: readMatchingJobs });
  async function prepareAction(jobAction: JobAction, query: JobSearchQuery): Promise<void> {
    const narrowedQuery = narrowQuery(jobAction, query);
    if (!narrowedQuery) return setNoMatches(true);
    const context = work.begin();
    const countResult = await countJobs(narrowedQuery, context);
    if (context.signal.aborted) return;
    if (!countResult.ok) work.fail(countResult.failure);
    else if (countResult.value === 0) setNoMatches(true);
    else setPendingAction({ action: jobAction, count: countResult.value, query: narrowedQuery });
  }
  /** Skips jobs that another component is already cancelling or removing, because it reports their results. */
  async function runAll(jobAction: JobAction, query: JobSearchQuery): Promise<void> {
    const busyWatcher = watchBusyJobs();
    await work.runAll(jobAction, query, ({ id }) => jobAction === "runAgain" || !busyWatcher.ids.has(id));
    busyWatcher.stop();
  }
  function resetResults(): void {
    setNoMatches(false);
    work.dismissEnded();
  }

  return {
    ...work,
    pendingAction,
    hasNoMatches,
    requestConfirmation: (jobAction: JobAction, query: JobSearchQuery) => {
      resetResults();
      return prepareAction(jobAction, query);
    },
    /** Starts an action on listed jobs. Rerunning more than one job requires confirmation, since it creates jobs. */
    start: (jobAction: JobAction, jobs: readonly TargetJob[]) => {
      resetResults();
      if (jobAction === "runAgain" && jobs.length > 1) return setPendingAction({ action: jobAction, count: jobs.length, jobs });
      if (jobAction === "runAgain") void work.run({ action: jobAction, items: jobs });
      else work.schedule({ action: jobAction, items: jobs });
      onStarted();
    },
    confirm: () => {
      setPendingAction(undefined);
      if (pendingAction?.jobs) void work.run({ action: pendingAction.action, items: pendingAction.jobs });
      else if (pendingAction?.query) void runAll(pendingAction.action, pendingAction.query);
      onStarted();
    },
    cancelConfirmation: () => setPendingAction(undefined),
    reportNoMatches: () => setNoMatches(true),
    dismissNoMatches: () => setNoMatches(false),
  };
}

export type BulkJobActions = ReturnType<typeof useBulkJobActions>;

/** An action to start immediately on these jobs, or on all matching jobs. */
export type Command = { action: "cancel" | "runAgain"; ids?: readonly string[] };

/** Selected jobs by id, or all jobs that match a query. */
export type JobSelection = { kind: "ids"; ids: readonly string[] } | { kind: "matching"; query: JobSearchQuery; total: number };

export function toTargetJobs(ids: readonly string[], rows: readonly JobRow[]): TargetJob[] {
  const rowsById = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => rowsById.get(id) ?? { id });
}

/** Narrows the query to jobs that the action applies to. Undefined if there are none. */
export function narrowQuery(jobAction: JobAction, query: JobSearchQuery): JobSearchQuery | undefined {
  if (jobAction === "runAgain") return query;
  const status = (query.status ?? jobStates).filter((state) => canApply(jobAction, { id: "", rawStatus: state, state }));
  return status.length === 0 ? undefined : { ...query, status };
}

const PAGE_SIZE = 1000;
export const MAX_PER_ACTION = 10_000;

function readMatchingJobs(query: JobSearchQuery, context: BulkCallContext) {
  const getPath = (offset: number) => getListApiPath("jobs", { ...query, limit: PAGE_SIZE, offset }, context.connection);
  const parsePage = ({ jobs, pagination: { total, has_more: hasMore }, unreadable = 0 }: JobsResponse) => {
    return { items: jobs.map(toJobRow), rowCount: jobs.length + unreadable, total, hasMore };
  };
  return readAllPages<JobsResponse, TargetJob>({ getPath, parsePage, maxItems: MAX_PER_ACTION }, context);
}

/** Counts the jobs that match a query. Undefined if the service reports no total. */
async function countJobs(query: JobSearchQuery, context: BulkCallContext): Promise<Result<number | undefined, ApiFailure>> {
  const path = getListApiPath("jobs", { ...query, limit: 1, offset: 0 }, context.connection);
  const result = await callWithRetry<JobsResponse>(path, { cache: "no-store" }, context);
  return result.ok ? ok(result.value.pagination.total) : result;
}
