import { type JobsQuery } from "@/lib/contract/schemas/job";
import { type JobState, jobStates, isTerminalWord, type KnownJobState } from "@/lib/contract/states";
import { type JobRow } from "../job-row";
import { type JobNames } from "./receipt-entry";

/** Chosen jobs by id, or everything that a query matches, on whatever page. */
export type BulkSelection = { kind: "ids"; ids: readonly string[] } | { kind: "matching"; query: JobsQuery; total: number };

export type BulkAct = "cancel" | "runAgain" | "remove";
/** `word` and `state` are absent where the job is not on the page that is shown. */
export type BulkJob = JobNames & { id: string; word?: string; state?: JobState };

const moving: readonly KnownJobState[] = ["pending", "in_progress"];
const ended: readonly KnownJobState[] = ["completed", "failed", "cancelled"];
const fitting: Readonly<Record<BulkAct, readonly KnownJobState[]>> = { cancel: moving, remove: ended, runAgain: jobStates };

/** Jobs that are not shown are left to the service to judge. */
export function fits(act: BulkAct, { word, state }: BulkJob): boolean {
  if (word === undefined || state === undefined || act === "runAgain") return true;
  return act === "remove" ? isTerminalWord(word) : state === "pending" || state === "in_progress";
}

export function chosenJobs(ids: readonly string[], rows: readonly JobRow[]): BulkJob[] {
  const known = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => {
    const row = known.get(id);
    return row ? toBulkJob(row) : { id };
  });
}

export function toBulkJob({ id, word, state, workflow, label, createdMs }: JobRow): BulkJob {
  return { id, word, state, workflow, label, createdMs };
}

/** The part of a query that an act is for; nothing where none of its states is. */
export function narrowedTo(act: BulkAct, query: JobsQuery): JobsQuery | undefined {
  if (act === "runAgain") return query;
  const status = query.status ? query.status.filter((state) => fitting[act].includes(state)) : [...fitting[act]];
  return status.length === 0 ? undefined : { ...query, status };
}
