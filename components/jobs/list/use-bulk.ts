import { useState } from "react";
import { callWithRetry, readAllPages, type Work } from "@/lib/browser/bulk/bulk-calls";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type JobSearchQuery } from "@/lib/contract/console";
import { jobStates } from "@/lib/contract/jobs/job-list";
import { type JobsAnswer } from "@/lib/contract/schemas/job";
import { ok, type Result } from "@/lib/shared/result";
import { watchBusy } from "../actions/busy-jobs";
import { canApply, type TargetJob } from "../actions/end-jobs";
import { type JobAction, useJobWork } from "../actions/use-job-work";
import { type JobRow, toJobRow } from "../job-row";
import { listApiPath } from "./list-address";

/** `count` is undefined if the service doesn't report it; `query` is set while the jobs' ids are unknown. */
export type PendingJobAction = { action: JobAction; count: number | undefined; jobs?: readonly TargetJob[]; query?: JobSearchQuery };

type BulkOptions = {
  connection: string | undefined;
  onDone: () => void;
  onStarted: () => void;
  onRestored?: (jobs: readonly TargetJob[]) => void;
};

/** Cancelling and removing listed jobs can be undone for five seconds. Actions on a query require confirmation. */
export function useBulk({ connection, onDone, onStarted, onRestored }: BulkOptions) {
  const [pendingAction, setPendingAction] = useState<PendingJobAction>();
  const [hasNoMatches, setNoMatches] = useState(false);
  const work = useJobWork<JobSearchQuery>({ connection, onDone, onRestored, walk: walkJobs });
  async function prepareAction(jobAction: JobAction, query: JobSearchQuery): Promise<void> {
    const narrowedQuery = narrowQuery(jobAction, query);
    if (!narrowedQuery) return setNoMatches(true);
    const context = work.begin();
    const count = await countJobs(narrowedQuery, context);
    if (context.signal.aborted) return;
    if (!count.ok) work.fail(count.failure);
    else if (count.value === 0) setNoMatches(true);
    else setPendingAction({ action: jobAction, count: count.value, query: narrowedQuery });
  }
  /** Skips jobs that another component is ending before or during the read of the list, since they are reported there. */
  async function runAll(jobAction: JobAction, query: JobSearchQuery): Promise<void> {
    const busyElsewhere = watchBusy();
    await work.runAll(jobAction, query, ({ id }) => jobAction === "runAgain" || !busyElsewhere.ids.has(id));
    busyElsewhere.end();
  }
  function begin(): void {
    setNoMatches(false);
    work.dismissEnded();
  }

  return {
    ...work,
    pendingAct: pendingAction,
    hasNoMatches,
    ask: (jobAction: JobAction, query: JobSearchQuery) => {
      begin();
      return prepareAction(jobAction, query);
    },
    /** For listed jobs. Rerunning creates jobs, so more than one is confirmed. */
    start: (jobAction: JobAction, jobs: readonly TargetJob[]) => {
      begin();
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
    leave: () => setPendingAction(undefined),
    reportNoMatches: () => setNoMatches(true),
    dismissNoMatches: () => setNoMatches(false),
  };
}

export type Bulk = ReturnType<typeof useBulk>;

/** An action to start immediately: on these jobs, or on all matching ones. */
export type Command = { action: "cancel" | "runAgain"; ids?: readonly string[] };

/** Chosen jobs by id, or everything that a query matches, on any page. */
export type ChosenJobs = { kind: "ids"; ids: readonly string[] } | { kind: "matching"; query: JobSearchQuery; total: number };

export function toTargetJobs(ids: readonly string[], rows: readonly JobRow[]): TargetJob[] {
  const rowsById = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => rowsById.get(id) ?? { id });
}

/** Narrows the query to jobs that the action applies to; undefined if there are none. */
export function narrowQuery(jobAction: JobAction, query: JobSearchQuery): JobSearchQuery | undefined {
  if (jobAction === "runAgain") return query;
  const status = (query.status ?? jobStates).filter((state) => canApply(jobAction, { id: "", word: state, state }));
  return status.length === 0 ? undefined : { ...query, status };
}

const PAGE_SIZE = 1000;
export const MAX_PER_ACTION = 10_000;

function walkJobs(query: JobSearchQuery, work: Work) {
  const getPath = (offset: number) => listApiPath("jobs", { ...query, limit: PAGE_SIZE, offset }, work.connection);
  const parsePage = ({ jobs, pagination: { total, has_more: hasMore }, unreadable = 0 }: JobsAnswer) => {
    return { items: jobs.map(toJobRow), rows: jobs.length + unreadable, total, hasMore };
  };
  return readAllPages<JobsAnswer, TargetJob>({ pathAt: getPath, read: parsePage, maxItems: MAX_PER_ACTION }, work);
}

/** How many jobs a query matches now; undefined if the service reports no total. */
async function countJobs(query: JobSearchQuery, work: Work): Promise<Result<number | undefined, ApiFailure>> {
  const path = listApiPath("jobs", { ...query, limit: 1, offset: 0 }, work.connection);
  const result = await callWithRetry<JobsAnswer>(path, { cache: "no-store" }, work);
  return result.ok ? ok(result.value.pagination.total) : result;
}
