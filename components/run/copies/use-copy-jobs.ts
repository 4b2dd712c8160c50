"use client";
// Where the jobs of a set of copies stand, asked for all of them at once.
// Guarantees: one question however many copies there are; a state that was seen stays until a newer one is; nothing is asked once all have ended.

import { useState } from "react";
import { type Motion } from "@/lib/browser/poll-plan";
import { withQuery } from "@/lib/browser/urls";
import { usePoll } from "@/lib/browser/use-poll";
import { toJobView } from "@/lib/contract/job-view";
import { type JobsAnswer } from "@/lib/contract/schemas/job";
import { type CopiesSet, type CopyJob, type CopyJobs } from "./copies-state";

const MOST_ROWS = 1000;
/** Other runs of the same workflow may lie between the copies. */
const OTHERS = 50;

const none: CopyJobs = new Map();

export function useCopyJobs(set: CopiesSet) {
  const ids = acceptedIds(set);
  const path =
    set.connection === undefined || ids.length === 0
      ? undefined
      : withQuery("/api/jobs", {
          workflow_id: set.workflowId,
          limit: Math.min(MOST_ROWS, set.copies.length + OTHERS),
          connection: set.connection,
        });
  const [seen, setSeen] = useState<{ answer?: CopyJobs; jobs: CopyJobs }>({ jobs: none });
  const motion = (answer: CopyJobs) => motionOf(set, ids, new Map([...seen.jobs, ...answer]));
  const poll = usePoll(path, { read: toCopyJobs, motion });
  if (poll.value && poll.value !== seen.answer) setSeen({ answer: poll.value, jobs: new Map([...seen.jobs, ...poll.value]) });
  const hasEnded = motionOf(set, ids, seen.jobs) === "final";
  return { jobs: seen.jobs, atMs: poll.atMs, everyMs: poll.everyMs, failure: poll.failure, hasEnded };
}

function acceptedIds({ copies }: CopiesSet): string[] {
  return copies.flatMap(({ outcome }) => (outcome?.kind === "accepted" ? [outcome.jobId] : []));
}

function toCopyJobs({ jobs }: Pick<JobsAnswer, "jobs">): CopyJobs {
  return new Map(
    jobs.map((item): [string, CopyJob] => {
      const { id, word, state, terminal, progress } = toJobView(item);
      return [id, { word, state, hasEnded: terminal, ...(progress?.value !== undefined && { progress: progress.value }) }];
    }),
  );
}

function motionOf({ ending }: CopiesSet, ids: readonly string[], jobs: CopyJobs): Motion {
  const open = ids.filter((id) => jobs.get(id)?.hasEnded !== true);
  if (open.length === 0) return ending ? "final" : "moving";
  // One that no list holds, such as a job that was deleted, is no reason to ask in haste.
  return ending && open.every((id) => !jobs.has(id)) ? "background" : "moving";
}
