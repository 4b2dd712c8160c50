"use client";

import { useState } from "react";
import { type KnownJob, named } from "@/components/job-acts/end-jobs";
import { type JobAct, useJobWork } from "@/components/job-acts/use-job-work";
import { inBatches } from "@/lib/browser/in-batches";
import { type Work } from "@/lib/browser/patient-call";
import { type JobSearchQuery } from "@/lib/contract/console-job-search";
import { narrowedTo } from "./bulk-selection";
import { runAgain } from "./run-again";
import { countJobs, walkJobs } from "./walk-jobs";

/** `count` is undefined where the service does not tell it; `query` where the jobs are not known by name yet. */
export type Asked = { act: JobAct; count: number | undefined; jobs?: readonly KnownJob[]; query?: JobSearchQuery };

type Choices = {
  connection: string | undefined;
  onDone: () => void;
  /** What was selected is being acted on. */
  onBegun: () => void;
  onBack: (jobs: readonly KnownJob[]) => void;
};

/** Cancelling and removing named jobs is held for five seconds; what is meant by a query is asked for by its number. */
export function useBulk({ connection, onDone, onBegun, onBack }: Choices) {
  const [asked, setAsked] = useState<Asked>();
  const [isNothing, setNothing] = useState(false);
  const work = useJobWork<JobSearchQuery>({ connection, onDone, onBack, runAgain: runEachAgain, walk: walkJobs });
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
  function begin(): void {
    setNothing(false);
    work.dismissEnded();
  }

  return {
    ...work,
    asked,
    /** None of those that match is in a state for it. */
    isNothing,
    ask: (act: JobAct, query: JobSearchQuery) => {
      begin();
      return ask(act, query);
    },
    /** Jobs by name. Running again makes new ones, so more than one is asked for. */
    start: (act: JobAct, jobs: readonly KnownJob[]) => {
      begin();
      if (act === "runAgain" && jobs.length > 1) return setAsked({ act, count: jobs.length, jobs });
      if (act === "runAgain") void work.run({ act, items: jobs });
      else work.hold({ act, items: jobs });
      onBegun();
    },
    confirm: () => {
      setAsked(undefined);
      if (asked?.jobs) void work.run({ act: asked.act, items: asked.jobs });
      else if (asked?.query) void work.runAll(asked.act, asked.query);
      onBegun();
    },
    leave: () => setAsked(undefined),
    forgetNothing: () => setNothing(false),
  };
}

async function runEachAgain(jobs: readonly KnownJob[], work: Work) {
  return named(jobs, await inBatches(jobs, 1, ([job]) => runAgain(job?.id ?? "", work), work));
}
