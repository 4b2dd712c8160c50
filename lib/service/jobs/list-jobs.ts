// The list of jobs: every filter with every sort, an exact total, ties broken by id.
// Guarantees: totals come from counters that triggers keep, never from counting; a page is read along the index of the filter that matches
// the fewest jobs, from whichever end is nearer.

import { type RawBuilder, sql } from "kysely";
import { type KnownJobState } from "@/lib/contract/jobs/job-list";
import { type JobsQuery } from "@/lib/contract/schemas/job";
import { type Reader } from "../store/database";
import { statement } from "../store/statement";
import { countLeft, countRows, endedSince, type JobFilter, readCounts, unfinishedOf } from "./count-jobs";
import { isBeingCleared } from "./history-cleared";
import { isTerminal } from "./transitions";

/** `reach`: the most rows that are read; `longestRan`: sorted from the longest on, and all of them ran. */
type Walk = { sortBy: JobsQuery["sort_by"]; direction: RawBuilder<unknown>; reach: number; longestRan: boolean };
/** Rows of `jobs`, as SQL after `from`. */
type Branch = RawBuilder<unknown>;
type Count = Awaited<ReturnType<typeof readCounts>>;

/** The numbers of the page's rows, in order: the caller reads what it shows of them. */
export async function listJobs(reader: Reader, userId: number, wanted: JobsQuery): Promise<{ seqs: number[]; total: number }> {
  const states = statesOf(wanted);
  const filter = { userId, states, workflowId: wanted.workflow_id, output: wanted.output_type };
  const isClearing = await isBeingCleared(reader, userId);
  const count = await readCounts(reader, userId, filter.workflowId);
  const total = isClearing ? await countLeft(reader, filter) : count(filter);
  const length = Math.min(wanted.limit, total - wanted.offset);
  if (length <= 0) return { seqs: [], total };
  const descends = wanted.sort_order === "desc";
  const fromEnd = total - wanted.offset - length;
  const isDeep = Math.min(fromEnd, wanted.offset) > DEEP && wanted.sort_by === "execution_time" && !isClearing;
  const longestRan = isDeep && (descends ? wanted.offset : fromEnd) + length <= total - (await countIdle(reader, filter));
  const backwards = longestRan ? !descends : fromEnd < wanted.offset;
  const offset = backwards ? fromEnd : wanted.offset;
  const direction = sql.raw(descends !== backwards ? "desc" : "asc");
  const walk = { sortBy: wanted.sort_by, direction, reach: offset + length, longestRan };
  const branches = isClearing ? branchesOfLeft(reader, filter, walk) : branchesOf(reader, count, filter, walk);
  const column = sql.ref(wanted.sort_by);
  const order = sql`order by ${column} ${direction}, id ${direction}`;
  const sources = branches.map((rows) => sql`select seq, ${column}, id from ${rows}`);
  const page = sql<{ seq: number }>`${reader.dialect.merged(sources, order, walk.reach)} ${order} limit ${length} offset ${offset}`;
  const seqs = (await reader.rows(statement(page))).map((row) => row.seq);
  return { seqs: backwards ? seqs.reverse() : seqs, total };
}

/** Along the index of one of the filters; the other filters are tested row by row. */
function branchesOf(reader: Reader, count: Count, filter: JobFilter, walk: Walk): Branch[] {
  const { userId, states, workflowId, output } = filter;
  const byDuration = walk.sortBy === "execution_time";
  const ofWorkflow = inWorkflow(filter);
  const withOutput = output && sql.raw(`has_${output} = 1`);

  const ways = [{ rows: Infinity, branches: () => [along(reader, byDuration ? "jobs_by_duration" : "jobs_by_time", userId)] }];
  if (workflowId !== undefined) {
    const index = byDuration ? "jobs_by_workflow_duration" : "jobs_by_workflow";
    const branches = () => [along(reader, index, userId, ofWorkflow, states && inStates(states), withOutput)];
    ways.push({ rows: count({ workflowId }), branches });
  }
  if (output) {
    const index = byDuration ? `jobs_with_${output}_by_duration` : `jobs_with_${output}`;
    const branches = () => [along(reader, index, userId, inState("completed"), withOutput, ofWorkflow)];
    ways.push({ rows: count({ states, output }), branches });
  } else if (states) {
    ways.push({ rows: count({ states }), branches: () => branchesInStates(reader, filter, states, walk) });
  }
  return ways.reduce((best, way) => (way.rows < best.rows ? way : best)).branches();
}

/** While the history is being cleared: waiting and running jobs, and the few that have ended since. */
function branchesOfLeft(reader: Reader, filter: JobFilter, walk: Walk): Branch[] {
  const unfinished = filter.output === undefined ? unfinishedOf(filter) : [];
  return [...branchesInStates(reader, filter, unfinished, walk), endedSince(reader, filter)];
}

function branchesInStates(reader: Reader, filter: JobFilter, states: readonly KnownJobState[], walk: Walk): Branch[] {
  const { sortBy, direction, reach, longestRan } = walk;
  const { userId } = filter;
  const ofWorkflow = inWorkflow(filter);
  if (sortBy === "create_time") return states.map((state) => along(reader, "jobs_by_state", userId, inState(state), ofWorkflow));
  const ran = states.filter(isTerminal).map((state) => along(reader, "jobs_that_ran", userId, inState(state), thatRan, ofWorkflow));
  if (longestRan) return ran;
  // In SQLite what has not run is in no index by state and id, where each change of its state would move an entry among many.
  // It is sorted here, and of a page near the end no more of it than the page reaches.
  const idle = idleAmong(states).map((state) => {
    const rows = along(reader, "jobs_by_state", userId, inState(state), noDuration, ofWorkflow);
    return reach > DEEP ? rows : sql`(select seq, execution_time, id from ${rows} order by id ${direction} limit ${reach}) as idle`;
  });
  return [...ran, ...idle];
}

/** From this many rows on, picking and sorting them again costs more than sorting them with all others, or not sorting at all. */
const DEEP = 1000;

/** The number of jobs without a duration, which sort below all others; Infinity if knowing it gains nothing. */
async function countIdle(reader: Reader, { userId, states = [], workflowId, output }: JobFilter): Promise<number> {
  const [idle, ran] = [idleAmong(states), states.filter(isTerminal)];
  if (idle.length === 0 || ran.length === 0 || workflowId !== undefined || output !== undefined) return Infinity;
  const idleRows = along(reader, "jobs_by_state", userId, inStates(idle), noDuration);
  const ranRows = along(reader, "jobs_that_ran", userId, inStates(ran), noDuration, thatRan);
  const counts = sql<{ n: number }>`select (select count(*) from ${idleRows}) + (select count(*) from ${ranRows}) as n`;
  return (await reader.row(statement(counts)))?.n ?? 0;
}

const idleAmong = (states: readonly KnownJobState[]) => states.filter((state) => state !== "completed" && state !== "failed");
const noDuration = sql`execution_time = 0`;

/** Worded like the index. */
const thatRan = sql`(execution_time > 0 or state in ('completed', 'failed'))`;
/** Literals, so that the planner recognises the partial indexes. */
const inState = (state: KnownJobState) => sql`state = ${sql.lit(state)}`;
const inStates = (states: readonly KnownJobState[]) => sql`state in (${sql.join(states.map((state) => sql.lit(state)))})`;
const inWorkflow = ({ workflowId }: JobFilter) => workflowId !== undefined && sql`workflow_id = ${workflowId}`;

function along({ dialect }: Reader, index: string, userId: number, ...conditions: (RawBuilder<unknown> | false | undefined)[]): Branch {
  const all = [sql`user_id = ${userId}`, ...conditions.filter((one) => !!one)];
  return sql`${dialect.along("jobs", index)} where ${sql.join(all, sql` and `)}`;
}

/** Undefined: no filter. output_type applies to completed jobs only. */
function statesOf(wanted: JobsQuery): KnownJobState[] | undefined {
  const asked = wanted.status && wanted.status.length > 0 ? [...new Set(wanted.status)] : undefined;
  if (!wanted.output_type) return asked;
  return asked === undefined || asked.includes("completed") ? ["completed"] : [];
}

/** How many of the user's visible jobs are in these states. */
export async function countJobs(reader: Reader, userId: number, states: readonly KnownJobState[]): Promise<number> {
  const filter = { userId, states };
  return (await isBeingCleared(reader, userId)) ? countLeft(reader, filter) : countRows(reader, filter);
}
