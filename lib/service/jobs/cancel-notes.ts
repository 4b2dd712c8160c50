// Jobs that are cancelled though their rows still say that they wait: those of a long queue that was cleared, until the background has
// moved them (see queue-clears.ts). Whoever shows, counts, takes or cancels what waits asks here.
// Guarantees: only jobs that waited are noted, and nothing takes a noted one; notes and rows change in one commit. While the history is
// being cleared every note is older than that, so what is noted is gone with it.

import { type RawBuilder, type Selectable, sql } from "kysely";
import { writeExactJson } from "@/lib/contract/exact-json";
import { type KnownJobState } from "@/lib/contract/states";
import { type Database, query } from "../store/database";
import { type JobRow } from "../store/schema";
import { plainStatement, statement } from "../store/statement";

/** Of a row of `jobs`. */
export const isNoted: RawBuilder<boolean> = sql<boolean>`exists
  (select 1 from cancel_notes where cancel_notes.user_id = jobs.user_id and job_seq = jobs.seq)`;

export function hasNotes(database: Database, userId: number): boolean {
  return database.row(query.selectFrom("cancel_notes").select("job_seq").where("user_id", "=", userId).limit(1)) !== undefined;
}

/** Inside a commit. */
export function note(database: Database, userId: number, seqs: readonly number[], at: number): void {
  const insert = "INSERT INTO cancel_notes (user_id, job_seq, at) SELECT ?, value, ? FROM json_each(?)";
  database.run(plainStatement(insert, [userId, at, writeExactJson(seqs)]));
}

/** Inside a commit that moves or removes the rows. */
export function takeNotes(database: Database, userId: number, atMost: number): number[] {
  const notes = query.selectFrom("cancel_notes").select("job_seq").where("user_id", "=", userId).orderBy("job_seq").limit(atMost);
  const seqs = database.rows(notes).map((row) => row.job_seq);
  if (seqs.length > 0) database.run(query.deleteFrom("cancel_notes").where("user_id", "=", userId).where("job_seq", "in", seqs));
  return seqs;
}

/** Jobs of the user as they are shown. */
export function asNoted(database: Database, userId: number, jobs: Selectable<JobRow>[]): Selectable<JobRow>[] {
  const seqs = jobs.filter((job) => job.state === "pending").map((job) => job.seq);
  if (seqs.length === 0) return jobs;
  const notes = query.selectFrom("cancel_notes").select(["job_seq", "at"]).where("user_id", "=", userId).where("job_seq", "in", seqs);
  const noted = new Map(database.rows(notes).map(({ job_seq, at }) => [job_seq, at]));
  return jobs.map((job) => {
    const at = noted.get(job.seq);
    if (at === undefined) return job;
    const time = Math.max(job.update_time, at);
    return { ...job, state: "cancelled", update_time: time, state_time: time };
  });
}

/** How many more of these states are shown than the rows say; negative for fewer. */
export function countNoted(database: Database, userId: number, states: readonly KnownJobState[] | undefined, workflowId?: string): number {
  if (!states || !isSplit(states) || !hasNotes(database, userId)) return 0;
  const rows =
    workflowId === undefined
      ? sql`cancel_notes where user_id = ${userId}`
      : sql`jobs indexed by jobs_by_workflow where user_id = ${userId} and workflow_id = ${workflowId} and state = 'pending' and ${isNoted}`;
  const n = database.row(statement(sql<{ n: number }>`select count(*) as n from ${rows}`))?.n ?? 0;
  return states.includes("cancelled") ? n : -n;
}

/** Whether a note moves a job in or out of these states. */
export function isSplit(states: readonly KnownJobState[]): boolean {
  return states.includes("pending") !== states.includes("cancelled");
}
