import { useState } from "react";
import { callPatiently, walkPages, type Work } from "@/lib/browser/bulk/bulk-calls";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type JobSearchQuery } from "@/lib/contract/console";
import { jobStates, type KnownJobState } from "@/lib/contract/jobs/job-list";
import { type JobsAnswer } from "@/lib/contract/schemas/job";
import { ok, type Result } from "@/lib/shared/result";
import { watchBusy } from "../actions/busy-jobs";
import { type KnownJob } from "../actions/end-jobs";
import { type JobAct, useJobWork } from "../actions/use-job-work";
import { type JobRow, toJobRow } from "../job-row";
import { listApiPath } from "./list-address";

/** `count` is undefined where the service does not report it; `query` is set where the jobs are not known by id yet. */
export type Asked = { act: JobAct; count: number | undefined; jobs?: readonly KnownJob[]; query?: JobSearchQuery };

type Choices = {
  connection: string | undefined;
  onDone: () => void;
  /** An act on the selection is in progress. */
  onBegun: () => void;
  /** The act was undone in time. */
  onBack?: (jobs: readonly KnownJob[]) => void;
};

/** Cancelling and removing listed jobs can be undone for five seconds; an act on a query asks for confirmation with the number. */
export function useBulk({ connection, onDone, onBegun, onBack }: Choices) {
  const [asked, setAsked] = useState<Asked>();
  const [isNothing, setNothing] = useState(false);
  const work = useJobWork<JobSearchQuery>({ connection, onDone, onBack, walk: walkJobs });
  async function ask(act: JobAct, query: JobSearchQuery): Promise<void> {
    const narrowed = narrowedTo(act, query);
    if (!narrowed) return setNothing(true);
    const outside = work.begin();
    const count = await countJobs(narrowed, outside);
    if (outside.signal.aborted) return;
    if (!count.ok) work.fail(count.failure);
    else if (count.value === 0) setNothing(true);
    else setAsked({ act, count: count.value, query: narrowed });
  }
  /** Jobs that another part of the page is ending at the start of the list's reading or during it are reported there, not here. */
  async function runAll(act: JobAct, query: JobSearchQuery): Promise<void> {
    const elsewhere = watchBusy();
    await work.runAll(act, query, ({ id }) => act === "runAgain" || !elsewhere.ids.has(id));
    elsewhere.end();
  }
  function begin(): void {
    setNothing(false);
    work.dismissEnded();
  }

  return {
    ...work,
    asked,
    /** None of the matching jobs is in a state for this act. */
    isNothing,
    ask: (act: JobAct, query: JobSearchQuery) => {
      begin();
      return ask(act, query);
    },
    /** For listed jobs. Running again makes new jobs, so for more than one it asks for confirmation. */
    start: (act: JobAct, jobs: readonly KnownJob[]) => {
      begin();
      if (act === "runAgain" && jobs.length > 1) return setAsked({ act, count: jobs.length, jobs });
      if (act === "runAgain") void work.run({ act, items: jobs });
      else work.schedule({ act, items: jobs });
      onBegun();
    },
    confirm: () => {
      setAsked(undefined);
      if (asked?.jobs) void work.run({ act: asked.act, items: asked.jobs });
      else if (asked?.query) void runAll(asked.act, asked.query);
      onBegun();
    },
    leave: () => setAsked(undefined),
    reportNothing: () => setNothing(true),
    forgetNothing: () => setNothing(false),
  };
}

export type Bulk = ReturnType<typeof useBulk>;

/** An action to start immediately: on these jobs, or on all matching ones. */
export type Command = { act: "cancel" | "runAgain"; ids?: readonly string[] };

/** Chosen jobs by id, or everything that a query matches, on any page. */
export type ChosenJobs = { kind: "ids"; ids: readonly string[] } | { kind: "matching"; query: JobSearchQuery; total: number };

const moving: readonly KnownJobState[] = ["pending", "in_progress"];
const ended: readonly KnownJobState[] = ["completed", "failed", "cancelled"];
const fitting: Readonly<Record<JobAct, readonly KnownJobState[]>> = { cancel: moving, remove: ended, runAgain: jobStates };

export function jobsWith(ids: readonly string[], rows: readonly JobRow[]): KnownJob[] {
  const known = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => known.get(id) ?? { id });
}

/** The part of the query that the act applies to; undefined if it applies to none of its states. */
export function narrowedTo(act: JobAct, query: JobSearchQuery): JobSearchQuery | undefined {
  if (act === "runAgain") return query;
  const status = query.status ? query.status.filter((state) => fitting[act].includes(state)) : [...fitting[act]];
  return status.length === 0 ? undefined : { ...query, status };
}

const PAGE = 1000;
/** The most jobs in one action. */
export const MAX_AT_ONCE = 10_000;

function walkJobs(query: JobSearchQuery, work: Work) {
  const pathAt = (offset: number) => listApiPath("jobs", { ...query, limit: PAGE, offset }, work.connection);
  const read = ({ jobs, pagination: { total, has_more: hasMore }, unreadable = 0 }: JobsAnswer) => {
    return { items: jobs.map(toJobRow), rows: jobs.length + unreadable, total, hasMore };
  };
  return walkPages<JobsAnswer, KnownJob>({ pathAt, read, most: MAX_AT_ONCE }, work);
}

/** How many jobs a query matches now; undefined where the service does not say. */
async function countJobs(query: JobSearchQuery, work: Work): Promise<Result<number | undefined, ApiFailure>> {
  const path = listApiPath("jobs", { ...query, limit: 1, offset: 0 }, work.connection);
  const result = await callPatiently<JobsAnswer>(path, { cache: "no-store" }, work);
  return result.ok ? ok(result.value.pagination.total) : result;
}
