import { useState } from "react";
import { type JobSearchQuery } from "@/lib/contract/console";
import { watchBusy } from "../actions/busy-jobs";
import { type KnownJob } from "../actions/end-jobs";
import { type JobAct, useJobWork } from "../actions/use-job-work";
import { countJobs, narrowedTo, walkJobs } from "./chosen-jobs";

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
