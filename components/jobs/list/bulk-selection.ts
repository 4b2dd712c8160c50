import { type JobSearchQuery } from "@/lib/contract/console-job-search";
import { type KnownJob } from "@/components/jobs/actions/end-jobs";
import { type JobAct } from "@/components/jobs/actions/use-job-work";
import { jobStates, type KnownJobState } from "@/lib/contract/states";
import { type JobRow } from "../job-row";

/** Chosen jobs by id, or everything that a query matches, on whatever page. */
export type BulkSelection = { kind: "ids"; ids: readonly string[] } | { kind: "matching"; query: JobSearchQuery; total: number };

const moving: readonly KnownJobState[] = ["pending", "in_progress"];
const ended: readonly KnownJobState[] = ["completed", "failed", "cancelled"];
const fitting: Readonly<Record<JobAct, readonly KnownJobState[]>> = { cancel: moving, remove: ended, runAgain: jobStates };

export function chosenJobs(ids: readonly string[], rows: readonly JobRow[]): KnownJob[] {
  const known = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => {
    const row = known.get(id);
    return row ? toKnownJob(row) : { id };
  });
}

export function toKnownJob({ id, word, state, workflow, label, createdMs }: JobRow): KnownJob {
  return { id, word, state, workflow, label, createdMs };
}

/** The part of a query that an act is for; nothing where none of its states is. */
export function narrowedTo(act: JobAct, query: JobSearchQuery): JobSearchQuery | undefined {
  if (act === "runAgain") return query;
  const status = query.status ? query.status.filter((state) => fitting[act].includes(state)) : [...fitting[act]];
  return status.length === 0 ? undefined : { ...query, status };
}
