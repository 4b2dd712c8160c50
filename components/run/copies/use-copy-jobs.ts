// The states of the jobs of a set of copies, requested together.
// Guarantees: one request however many copies there are; a known state stays while requests fail; a job that had not ended counts as gone
// when a whole list lacks it though the list was asked for after the job was accepted; requests end once all jobs have ended or are gone.

import { useCallback, useState } from "react";
import { type Motion } from "@/lib/browser/poll/poll-plan";
import { usePoll } from "@/lib/browser/poll/use-poll";
import { withQuery } from "@/lib/browser/urls";
import { type JobsAnswer } from "@/lib/contract/schemas/job";
import { toJobView } from "@/lib/contract/views/job-view";
import { type CopiesSet, type CopyJob, type CopyJobs } from "./copies-state";

const MOST_ROWS = 1000;
/** Room for other runs of the same workflow between the copies. */
const OTHERS = 50;

type Listed = Pick<JobsAnswer, "jobs" | "unreadable"> & Partial<Pick<JobsAnswer, "pagination">>;
type Answer = { jobs: CopyJobs; isWhole: boolean; oldestMs: number };
/** `known`: the jobs of the copies at the newest answer; the next request is made after they were accepted. */
type Seen = { answer?: Answer; known: ReadonlySet<string>; jobs: CopyJobs };

export function useCopyJobs(set: CopiesSet) {
  const ids = acceptedIds(set);
  const limit = Math.min(MOST_ROWS, set.copies.length + OTHERS);
  const path =
    set.connection === undefined || ids.length === 0
      ? undefined
      : // A cache key of its own, as a job's page reads the job's other runs from the same list.
        (`${withQuery("/api/jobs", { workflow_id: set.workflowId, limit, connection: set.connection })}#copies` as const);
  const read = useCallback((answer: Listed) => toAnswer(answer, limit), [limit]);
  const [seen, setSeen] = useState<Seen>({ known: new Set(), jobs: new Map() });
  const motion = (answer: Answer) => motionOf(set, ids, new Map([...seen.jobs, ...answer.jobs]));
  const poll = usePoll(path, { read, motion });
  const answer = poll.value;
  if (answer && answer !== seen.answer) setSeen({ answer, known: new Set(ids), jobs: withAnswer(seen, answer) });
  const hasEnded = set.ending !== undefined && ids.every((id) => seen.jobs.get(id)?.hasEnded);
  return { jobs: seen.jobs, atMs: poll.atMs, everyMs: poll.everyMs, failure: poll.failure, refresh: poll.refresh, hasEnded };
}

/** A truncated list says nothing about jobs older than its last one. */
function withAnswer({ known, jobs: before }: Seen, { jobs, isWhole, oldestMs }: Answer): CopyJobs {
  const gone = [...known].flatMap((id): [string, CopyJob][] => {
    const last = before.get(id);
    const isCovered = isWhole || (last?.createdAtMs ?? 0) > oldestMs;
    return !jobs.has(id) && !last?.hasEnded && isCovered ? [[id, { word: "", state: "unknown", hasEnded: true, isGone: true }]] : [];
  });
  return new Map([...before, ...gone, ...jobs]);
}

function acceptedIds({ copies }: CopiesSet): string[] {
  return copies.flatMap(({ outcome }) => (outcome?.kind === "accepted" ? [outcome.jobId] : []));
}

function toAnswer({ jobs: items, pagination, unreadable = 0 }: Listed, limit: number): Answer {
  const views = items.map((item) => toJobView(item));
  const jobs = views.map(({ id, word, state, terminal, progress, createdAtMs }): [string, CopyJob] => [
    id,
    { word, state, hasEnded: terminal, createdAtMs, progress: progress?.value },
  ]);
  // A service may return fewer rows than requested, and an unreadable row may be any of them.
  const isCut = items.length >= limit || pagination?.has_more === true || (pagination?.total ?? 0) > items.length;
  const oldestMs = unreadable > 0 ? Infinity : Math.min(...views.map(({ createdAtMs = Infinity }) => createdAtMs));
  return { jobs: new Map(jobs), isWhole: !isCut && unreadable === 0, oldestMs };
}

function motionOf({ ending }: CopiesSet, ids: readonly string[], jobs: CopyJobs): Motion {
  const open = ids.filter((id) => jobs.get(id)?.hasEnded !== true || jobs.get(id)?.isGone);
  if (open.length === 0) return ending ? "final" : "moving";
  // A job that is in no list does not make the page ask more often; it may reappear.
  return ending && open.every((id) => jobs.get(id)?.isGone) ? "background" : "moving";
}
