// Lists and counts a user's jobs with any filter and sort. Totals are exact and maintained by triggers. Ties are sorted by id.

import { type RawBuilder, sql } from "kysely";
import { type KnownJobState } from "@/lib/contract/jobs/job-list";
import { type JobsQuery } from "@/lib/contract/schemas/job";
import { createStatement, type Reader, toStatement } from "../store/database";
import { type JobCountRow } from "../store/schema";
import { isTerminal } from "./transitions";

type JobFilter = { userId: number; states?: readonly KnownJobState[]; workflowId?: string; output?: "image" | "video" | "audio" };
type Condition = RawBuilder<unknown>;
type JobCounter = Awaited<ReturnType<typeof createJobCounter>>;

export async function listJobs(reader: Reader, userId: number, query: JobsQuery): Promise<{ seqs: number[]; total: number }> {
  const filter = { userId, states: getStates(query), workflowId: query.workflow_id?.toLowerCase(), output: query.output_type };
  const countMatching = await createJobCounter(reader, userId, filter.workflowId);
  const total = countMatching(filter);
  const length = Math.min(query.limit, total - query.offset);
  if (length <= 0) return { seqs: [], total };
  // Reads the index from the nearer end.
  const endOffset = total - query.offset - length;
  const isReversed = endOffset < query.offset;
  const offset = isReversed ? endOffset : query.offset;
  const direction = sql.raw((query.sort_order === "desc") !== isReversed ? "desc" : "asc");
  const column = sql.ref(query.sort_by);
  const order = sql`order by ${column} ${direction}, id ${direction}`;
  const selections = createSelections(reader, countMatching, filter, query.sort_by);
  const pageQuery = sql<{
    seq: number;
  }>`${reader.dialect.mergeSelections(selections, order, offset + length)} ${order} limit ${length} offset ${offset}`;
  const seqs = (await reader.rows(toStatement(pageQuery))).map((row) => row.seq);
  return { seqs: isReversed ? seqs.reverse() : seqs, total };
}

export async function countJobs(reader: Reader, userId: number, states: readonly KnownJobState[]): Promise<number> {
  return (await createJobCounter(reader, userId))({ states });
}

const selectJobs = (column: JobsQuery["sort_by"], condition: Condition) =>
  sql`select seq, ${sql.ref(column)}, id from jobs where ${condition}`;

/** Selections that an index returns in order: one per state, or a single one for a workflow with fewer jobs. */
function createSelections({ dialect }: Reader, countMatching: JobCounter, filter: JobFilter, sortBy: JobsQuery["sort_by"]): Condition[] {
  const { userId, states, workflowId, output } = filter;
  const userCondition = sql`user_id = ${userId}`;
  const outputCondition = output && sql`${sql.ref(`has_${output}`)} = 1`;
  if (workflowId !== undefined && (!states || countMatching({ workflowId }) < countMatching({ states, output }))) {
    const statesCondition = states && sql`${dialect.rowByRow("state")} in ${toSqlList(states)}`;
    return [selectJobs(sortBy, combineConditions(userCondition, sql`workflow_id = ${workflowId}`, statesCondition, outputCondition))];
  }
  if (!states) return [selectJobs(sortBy, userCondition)];
  const workflowCondition = workflowId !== undefined && sql`${dialect.rowByRow("workflow_id")} = ${workflowId}`;
  const createStateCondition = (state: KnownJobState, extraCondition?: Condition) =>
    combineConditions(userCondition, sql`state = ${sql.lit(state)}`, extraCondition, workflowCondition, outputCondition);
  if (output || sortBy === "create_time") return states.map((state) => selectJobs(sortBy, createStateCondition(state)));
  const executedSelections = states.filter(isTerminal).map((state) => selectJobs(sortBy, createStateCondition(state, executedCondition)));
  const idleStates = states.filter((state) => state !== "completed" && state !== "failed");
  // These need a sort. An index of waiting jobs by state and id would be rewritten at each state change.
  const idleCondition = sql`${dialect.rowByRow("execution_time")} = 0`;
  return [
    ...executedSelections,
    ...idleStates.map((state) => sql`select seq, 0 as execution_time, id from jobs where ${createStateCondition(state, idleCondition)}`),
  ];
}

/** Must match the condition of the partial index `jobs_that_ran`, so states are literals. */
const executedCondition = sql`(execution_time > 0 or state in ('completed', 'failed'))`;

const toSqlList = (states: readonly KnownJobState[]) => sql`(${sql.join(states.map((state) => sql.lit(state)))})`;

function combineConditions(...conditions: (Condition | false | undefined)[]): Condition {
  return sql.join(
    conditions.filter((condition) => !!condition),
    sql` and `,
  );
}

function getStates({ status, output_type }: JobsQuery): KnownJobState[] | undefined {
  const states = status && status.length > 0 ? [...new Set(status)] : undefined;
  if (!output_type) return states;
  return states === undefined || states.includes("completed") ? ["completed"] : [];
}

const COUNTERS_SQL = `SELECT workflow_id, state, has_image, has_video, has_audio, n FROM job_counts WHERE user_id = ? AND workflow_id IN ('', ?)`;

async function createJobCounter(reader: Reader, userId: number, countedWorkflowId = "") {
  const counters = await reader.rows(createStatement<Omit<JobCountRow, "user_id">>(COUNTERS_SQL, [userId, countedWorkflowId]));
  return ({ states, workflowId = "", output }: Omit<JobFilter, "userId">) =>
    counters
      .filter((row) => row.workflow_id === workflowId && (states?.includes(row.state) ?? true) && (!output || row[`has_${output}`] === 1))
      .reduce((sum, { n }) => sum + n, 0);
}
