// How many jobs a filter leaves: from counters that triggers keep, never from counting. Only what has ended since a history was cleared
// is counted, while it is being cleared.

import { type RawBuilder, sql } from "kysely";
import { type KnownJobState } from "@/lib/contract/states";
import { type Database, query } from "../store/database";
import { statement } from "../store/statement";
import { isTerminal, terminalStates } from "./transitions";

export type JobFilter = { userId: number; states?: readonly KnownJobState[]; workflowId?: string; output?: "image" | "video" | "audio" };

/** Of all rows, those of a cleared history among them. */
export function countRows(database: Database, { userId, states, workflowId, output }: JobFilter): number {
  let counts = query
    .selectFrom("job_counts")
    .select(({ fn }) => fn.sum<number | null>("n").as("n"))
    .where("user_id", "=", userId)
    .where("workflow_id", "=", workflowId ?? "");
  if (states) counts = counts.where("state", "in", states);
  if (output) counts = counts.where(`has_${output}`, "=", 1);
  return Number(database.row(counts)?.n ?? 0);
}

const unfinishedStates: readonly KnownJobState[] = ["pending", "in_progress"];

export function unfinishedOf({ states = unfinishedStates }: JobFilter): KnownJobState[] {
  return states.filter((state) => !isTerminal(state));
}

/** While the history is being cleared. */
export function countLeft(database: Database, filter: JobFilter): number {
  const ended = statement(sql<{ n: number }>`select count(*) as n from ${endedSince(filter)}`);
  return countRows(database, { ...filter, states: unfinishedOf(filter) }) + (database.row(ended)?.n ?? 0);
}

/** The rows of `jobs` that have ended since the history was cleared and pass the filter. */
export function endedSince({ userId, states = terminalStates, workflowId, output }: JobFilter): RawBuilder<unknown> {
  const ended = states.filter(isTerminal);
  const conditions = [
    sql`ended_since_clear.user_id = ${userId} and jobs.user_id = ${userId}`,
    ended.length === 0 ? sql`0` : sql`state in (${sql.join(ended)})`,
    ...(workflowId === undefined ? [] : [sql`workflow_id = ${workflowId}`]),
    ...(output === undefined ? [] : [sql`${sql.ref(`has_${output}`)} = 1`]),
  ];
  return sql`ended_since_clear cross join jobs on jobs.seq = job_seq where ${sql.join(conditions, sql` and `)}`;
}
