"use client";

import { useState } from "react";
import { type KnownJob, named } from "@/components/jobs/actions/end-jobs";
import { type JobAct, useJobWork } from "@/components/jobs/actions/use-job-work";
import { inBatches, type BatchOutcome } from "@/lib/browser/in-batches";
import { type Work, callPatiently, meetsAll } from "@/lib/browser/patient-call";
import { type JobSearchQuery } from "@/lib/contract/console-job-search";
import { narrowedTo } from "./bulk-selection";
import { countJobs, walkJobs } from "./walk-jobs";
import { newIdempotencyKey } from "@/lib/browser/idempotency-key";
import { withQuery } from "@/lib/browser/urls";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { objectOf } from "@/lib/contract/json";
import { mayHaveStarted, IDEMPOTENCY_HEADER } from "@/lib/contract/submission";
import { type JobDetail } from "@/lib/contract/schemas/job";
import { toResubmission } from "../actions/run-again";
import { type Outcome, type ReceiptEntry } from "@/components/jobs/actions/receipt-entry";

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

/** The job's own workflow once more. What left no clear answer is told as such and never sent again. */
async function runAgain(id: string, work: Work): Promise<BatchOutcome<ReceiptEntry>> {
  const { connection } = work;
  const read = await callPatiently<JobDetail>(withQuery(`/api/jobs/${encodeURIComponent(id)}`, { connection }), {}, work);
  if (!read.ok && read.failure.code === "CONSOLE_UNREACHABLE") return { entries: [{ id, outcome: "unsent" }], isOver: true };
  if (!read.ok) return told(id, read.failure.status === 404 ? "missing" : "failed", read.failure);
  const again = toResubmission(read.value.workflow);
  if (again.kind !== "ready") return { entries: [{ id, outcome: again.kind === "masked" ? "secret" : "noWorkflow" }] };
  if (work.signal.aborted) return { entries: [{ id, outcome: "notDone" }] };
  const init = { method: "POST", json: again.submission, headers: { [IDEMPOTENCY_HEADER]: newIdempotencyKey() } };
  const sent = await callPatiently<unknown>(withQuery("/api/prompt", { connection }), init, work);
  if (!sent.ok) return told(id, isUnanswered(sent.failure) ? "unknown" : "refused", sent.failure);
  const newId = objectOf(sent.value)?.prompt_id ?? objectOf(sent.value)?.job_id;
  return { entries: [typeof newId === "string" ? { id, outcome: "ranAgain", newId } : { id, outcome: "unknown" }] };
}

function isUnanswered(failure: ApiFailure): boolean {
  return failure.status === 0 || failure.code === "CONSOLE_UNREACHABLE" || mayHaveStarted(failure);
}

function told(id: string, outcome: Outcome, failure: ApiFailure): BatchOutcome<ReceiptEntry> {
  return { entries: [{ id, outcome, failure }], isOver: meetsAll(failure) };
}
