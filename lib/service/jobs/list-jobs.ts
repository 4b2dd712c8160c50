// The list of jobs: every filter with every sort, an exact total, ties broken by id.
// Guarantees: totals come from counters that triggers keep, never from counting; a page is found on narrow index rows, along the index
// that the counters say is shortest and from whichever end is nearer, and only its own rows are then read in full.

import { type RawBuilder, sql } from "kysely";
import { type JobsQuery } from "@/lib/contract/schemas/job";
import { type KnownJobState } from "@/lib/contract/states";
import { type Database, query } from "../store/database";
import { statement } from "../store/statement";
import { asNoted, countNoted, hasNotes, isNoted, isSplit } from "./cancel-notes";
import { countLeft, countRows, endedSince, type JobFilter, unfinishedOf } from "./count-jobs";
import { isBeingCleared } from "./history-cleared";
import { type StoredJob } from "./job-row";
import { findStart } from "./job-spread";

/**
 * A way to the page: how many index rows it holds, how dear one is, and the branches to be merged in order.
 * `spread`: the filter is no other than these states, whose spread is known.
 */
type Way = { rows: number; cost: number; index: string; branches: RawBuilder<unknown>[]; spread?: Pick<JobFilter, "states"> };

/** Of one index row; taken from measurements, only their proportions matter. */
const COVERED = 1;
const REJECTING = 1.4;
const MERGED = 2.5;
const LOOKED_UP = 6;

/** Walking so far costs less than finding out where to begin. */
const SHALLOW = 500;

export function listJobs(database: Database, userId: number, wanted: JobsQuery): { jobs: StoredJob[]; total: number } {
  const states = statesOf(wanted);
  const filter = { userId, states, workflowId: wanted.workflow_id, output: wanted.output_type };
  const isClearing = isBeingCleared(database, userId);
  const total = states?.length === 0 ? 0 : isClearing ? countLeft(database, filter) : countShown(database, filter);
  if (wanted.offset >= total) return { jobs: [], total };
  const read = (seqs: readonly number[]) => ({ jobs: readInOrder(database, userId, seqs), total });
  if (isClearing) return read(pageOfLeft(database, filter, wanted));
  if (states && isSplit(states) && hasNotes(database, userId)) return read(pageBesideNotes(database, filter, states, wanted));

  const length = Math.min(wanted.limit, total - wanted.offset);
  const fromEnd = total - wanted.offset - length;
  const backwards = fromEnd < wanted.offset;
  const descending = (wanted.sort_order === "desc") !== backwards;
  const ways = waysTo(database, filter, wanted.sort_by, total);
  const way = ways.reduce((best, other) => (other.rows * other.cost < best.rows * best.cost ? other : best));
  const seqs = readPage(database, userId, way, { sortBy: wanted.sort_by, descending, length, offset: backwards ? fromEnd : wanted.offset });
  return read(backwards ? seqs.reverse() : seqs);
}

type Page = { sortBy: JobsQuery["sort_by"]; descending: boolean; length: number; offset: number };

function readPage(database: Database, userId: number, way: Way, page: Page): number[] {
  const { sortBy, descending, length } = page;
  const start = way.spread && page.offset > SHALLOW ? findStart(database, { userId, states: way.spread.states, ...page }) : undefined;
  const column = sql.ref(sortBy);
  const order = sql.raw(descending ? "desc" : "asc");
  const begun = start ? sql` and ${column} ${sql.raw(descending ? "<=" : ">=")} ${start.value}` : sql``;
  const branches = way.branches.map(
    (where) => sql`select seq, id, ${column} from jobs indexed by ${sql.raw(way.index)} where user_id = ${userId} and ${where}${begun}`,
  );
  const found = sql<{ seq: number }>`${sql.join(branches, sql` union all `)} order by ${column} ${order}, id ${order}
    limit ${length} offset ${start?.offset ?? page.offset}`;
  return database.rows(statement(found)).map((row) => row.seq);
}

/** While the history is being cleared: what waits or runs, along its index, and what has ended since, which is little. */
function pageOfLeft(database: Database, filter: JobFilter, wanted: JobsQuery): number[] {
  const unfinished = filter.output === undefined ? unfinishedOf(filter) : [];
  return mergedPage(database, [...unfinished.map((state) => inState(filter, state, wanted)), endedSince(filter)], wanted);
}

/** While jobs are noted as cancelled whose rows still wait, and one of these two is asked for without the other. */
function pageBesideNotes(database: Database, filter: JobFilter, states: readonly KnownJobState[], wanted: JobsQuery): number[] {
  const noted = states.includes("cancelled") ? [sql`${rowsIn(filter, "pending", wanted)} and ${isNoted}`] : [];
  return mergedPage(database, [...states.map((state) => inState(filter, state, wanted)), ...noted], wanted);
}

function inState(filter: JobFilter, state: KnownJobState, wanted: JobsQuery): RawBuilder<unknown> {
  return state === "pending" ? sql`${rowsIn(filter, state, wanted)} and not ${isNoted}` : rowsIn(filter, state, wanted);
}

function rowsIn({ userId, workflowId }: JobFilter, state: KnownJobState, wanted: JobsQuery): RawBuilder<unknown> {
  const byDuration = wanted.sort_by === "execution_time" ? "_duration" : "";
  const index = workflowId === undefined ? `jobs_by_state${byDuration}` : `jobs_by_workflow${byDuration}`;
  const inWorkflow = workflowId === undefined ? sql`` : sql` and workflow_id = ${workflowId}`;
  return sql`jobs indexed by ${sql.raw(index)} where user_id = ${userId} and state = ${sql.lit(state)}${inWorkflow}`;
}

function mergedPage(database: Database, rows: readonly RawBuilder<unknown>[], wanted: JobsQuery): number[] {
  const column = sql.ref(`jobs.${wanted.sort_by}`);
  const order = sql.raw(wanted.sort_order);
  const branches = rows.map((some) => sql`select jobs.seq, jobs.id as tie, ${column} as place from ${some}`);
  const page = sql<{ seq: number }>`${sql.join(branches, sql` union all `)} order by place ${order}, tie ${order}
    limit ${wanted.limit} offset ${wanted.offset}`;
  return database.rows(statement(page)).map((row) => row.seq);
}

function waysTo(database: Database, filter: JobFilter, sortBy: JobsQuery["sort_by"], total: number): Way[] {
  const { userId, states, output } = filter;
  const everything = countRows(database, { userId });
  // A filter that leaves nothing out is none.
  const ofWorkflow = filter.workflowId === undefined ? everything : countRows(database, { userId, workflowId: filter.workflowId });
  const workflowId = ofWorkflow === everything ? undefined : filter.workflowId;
  const leavesOut = total < ofWorkflow;
  const byDuration = sortBy === "execution_time";

  const inWorkflow = workflowId !== undefined && sql`workflow_id = ${workflowId}`;
  // Literals, so that the planner recognises the partial indexes; the plus keeps it from another index.
  const inStates = leavesOut && states && sql`state in (${sql.join(states.map((state) => sql.lit(state)))})`;
  const withOutput = output && sql.raw(`has_${output} = 1`);
  const all = (...conditions: (RawBuilder<unknown> | false | undefined)[]) =>
    sql.join([sql`1`, ...conditions.filter((one) => !!one)], sql` and `);
  const dear = (cost: number) => (workflowId === undefined ? cost : LOOKED_UP);
  const scanned = leavesOut ? REJECTING : COVERED;

  const spread = workflowId === undefined && output === undefined ? { states: leavesOut ? states : undefined } : undefined;
  const ways: Way[] = [
    {
      spread,
      rows: everything,
      cost: dear(scanned),
      index: byDuration ? "jobs_by_duration" : "jobs_by_time",
      branches: [all(inWorkflow, inStates, withOutput)],
    },
  ];
  if (workflowId !== undefined) {
    const index = byDuration ? "jobs_by_workflow_duration" : "jobs_by_workflow";
    ways.push({ rows: ofWorkflow, cost: scanned, index, branches: [all(inWorkflow, inStates, withOutput)] });
  }
  if (output) {
    const index = `jobs_with_${output}${byDuration ? "_by_duration" : ""}`;
    const branches = [all(inWorkflow, withOutput, sql`state = 'completed'`)];
    ways.push({ rows: countRows(database, { userId, states, output }), cost: REJECTING, index, branches });
  } else if (states) {
    const index = byDuration ? "jobs_by_state_duration" : "jobs_by_state";
    const branches = states.map((state) => all(inWorkflow, sql`state = ${sql.lit(state)}`));
    ways.push({
      rows: countRows(database, { userId, states }),
      cost: dear(states.length === 1 ? COVERED : MERGED),
      index,
      branches,
      spread,
    });
  }
  return ways;
}

/** Undefined: no filter. output_type speaks of completed jobs only. */
function statesOf(wanted: JobsQuery): KnownJobState[] | undefined {
  const asked = wanted.status && wanted.status.length > 0 ? [...new Set(wanted.status)] : undefined;
  if (!wanted.output_type) return asked;
  return asked === undefined || asked.includes("completed") ? ["completed"] : [];
}

function readInOrder(database: Database, userId: number, seqs: readonly number[]): StoredJob[] {
  if (seqs.length === 0) return [];
  const found = asNoted(database, userId, database.rows(query.selectFrom("jobs").selectAll().where("seq", "in", seqs)));
  const rows = new Map(found.map((row) => [row.seq, row]));
  return seqs.flatMap((seq) => rows.get(seq) ?? []);
}

/** By state, over everything of the user that is shown. */
export function countJobs(database: Database, userId: number, states: readonly KnownJobState[]): number {
  const filter = { userId, states };
  return isBeingCleared(database, userId) ? countLeft(database, filter) : countShown(database, filter);
}

function countShown(database: Database, filter: JobFilter): number {
  return countRows(database, filter) + countNoted(database, filter.userId, filter.states, filter.workflowId);
}
