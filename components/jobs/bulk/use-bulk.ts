"use client";

import { useState } from "react";
import { useBulkWork } from "@/components/data-table/use-bulk-work";
import { type JobsQuery } from "@/lib/contract/schemas/job";
import { runBulk } from "./bulk-acts";
import { type BulkAct, type BulkJob, narrowedTo } from "./bulk-selection";
import { type ReceiptEntry } from "./receipt-entry";
import { countJobs, walkJobs } from "./walk-jobs";

/** `count` is undefined where the service does not tell it; `query` where the jobs are not known by name yet. */
export type Asked = { act: BulkAct; count: number | undefined; jobs?: readonly BulkJob[]; query?: JobsQuery };

type Choices = { connection: string | undefined; onDone: () => void; onLeft: (entries: readonly ReceiptEntry[]) => void };

/** Cancelling and removing named jobs is held for five seconds; what is meant by a query is asked for by its number. */
export function useBulk(choices: Choices) {
  const [asked, setAsked] = useState<Asked>();
  const [isNothing, setNothing] = useState(false);
  const work = useBulkWork<BulkAct, BulkJob, JobsQuery, ReceiptEntry>({
    ...choices,
    carryOut: ({ act, items }, outside) => runBulk(act, items, outside),
    walk: walkJobs,
  });
  async function ask(act: BulkAct, query: JobsQuery): Promise<void> {
    const narrowed = narrowedTo(act, query);
    if (!narrowed) return setNothing(true);
    const outside = work.begin();
    const count = await countJobs(narrowed, outside);
    if (outside.signal.aborted) return;
    if (!count.ok) work.fail(count.failure);
    else if (count.value === 0) setNothing(true);
    else setAsked({ act, count: count.value, query: narrowed });
  }

  return {
    ...work,
    asked,
    /** None of those that match is in a state for it. */
    isNothing,
    ask,
    /** Jobs by name. Running again makes new ones, so more than one is asked for. */
    start: (act: BulkAct, jobs: readonly BulkJob[]) => {
      work.dismiss();
      if (act !== "runAgain") work.hold({ act, items: jobs });
      else if (jobs.length > 1) setAsked({ act, count: jobs.length, jobs });
      else void work.run({ act, items: jobs });
    },
    confirm: () => {
      setAsked(undefined);
      if (asked?.jobs) void work.run({ act: asked.act, items: asked.jobs });
      else if (asked?.query) void work.runAll(asked.act, asked.query);
    },
    leave: () => setAsked(undefined),
    dismiss: () => {
      setNothing(false);
      work.dismiss();
    },
  };
}
