// How many jobs match a filter: from counters that triggers keep, never by counting rows. Only while a history is being cleared, the jobs
// that ended since then are counted.

import { type RawBuilder, sql } from "kysely";
import { type KnownJobState } from "@/lib/contract/jobs/job-list";
import { type Reader } from "../store/database";
import { type JobCountRow } from "../store/schema";
import { plainStatement, statement } from "../store/statement";
import { isTerminal, terminalStates } from "./transitions";

export type JobFilter = { userId: number; states?: readonly KnownJobState[]; workflowId?: string; output?: "image" | "video" | "audio" };

const COUNTERS = `SELECT workflow_id, state, has_image, has_video, has_audio, n FROM job_counts WHERE user_id = ? AND workflow_id IN ('', ?)`;

/**
 * Reads the counters of a user and of one workflow once, for all counts that need them. They include the rows of a history that is being
 * cleared.
 */
export async function readCounts(reader: Reader, userId: number, ofWorkflow = ""): Promise<(filter: Omit<JobFilter, "userId">) => number> {
  const counters = await reader.rows(plainStatement<Omit<JobCountRow, "user_id">>(COUNTERS, [userId, ofWorkflow]));
  return ({ states, workflowId = "", output }) =>
    counters
      .filter((row) => row.workflow_id === workflowId && (states?.includes(row.state) ?? true) && (!output || row[`has_${output}`] === 1))
      .reduce((sum, { n }) => sum + n, 0);
}

/** Like `readCounts`, for one filter. */
export async function countRows(reader: Reader, filter: JobFilter): Promise<number> {
  return (await readCounts(reader, filter.userId, filter.workflowId))(filter);
}

const unfinishedStates: readonly KnownJobState[] = ["pending", "in_progress"];

export function unfinishedOf({ states = unfinishedStates }: JobFilter): KnownJobState[] {
  return states.filter((state) => !isTerminal(state));
}

/** Counts while the history is being cleared. */
export async function countLeft(reader: Reader, filter: JobFilter): Promise<number> {
  const ended = statement(sql<{ n: number }>`select count(*) as n from ${endedSince(reader, filter)}`);
  const unfinished = await countRows(reader, { ...filter, states: unfinishedOf(filter) });
  return unfinished + ((await reader.row(ended))?.n ?? 0);
}

/** The rows of `jobs` that have ended since the history was cleared and match the filter. */
export function endedSince({ dialect }: Reader, { userId, states = terminalStates, workflowId, output }: JobFilter): RawBuilder<unknown> {
  const ended = states.filter(isTerminal);
  const conditions = [
    sql`ended_since_clear.user_id = ${userId} and jobs.user_id = ${userId}`,
    ended.length === 0 ? sql`false` : sql`state in (${sql.join(ended)})`,
    ...(workflowId === undefined ? [] : [sql`workflow_id = ${workflowId}`]),
    ...(output === undefined ? [] : [sql`${sql.ref(`has_${output}`)} = 1`]),
  ];
  return sql`ended_since_clear ${dialect.joinFromLeft} jobs on jobs.seq = job_seq where ${sql.join(conditions, sql` and `)}`;
}
