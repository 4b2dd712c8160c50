// The list of jobs: every filter with every sort, an exact total, ties broken by id.
// A page is found on narrow index rows (several states are merged, each in its own index order) and only then read in full;
// totals come from counters that triggers keep, never from counting.

import { sql } from "kysely";
import { type JobsQuery } from "@/lib/contract/schemas/job";
import { type KnownJobState } from "@/lib/contract/states";
import { type Database, query } from "../store/database";
import { type StoredJob } from "./job-row";

const sortColumns = { create_time: "create_time", execution_time: "execution_time" } as const;
const flags = { image: "has_image", video: "has_video", audio: "has_audio" } as const;

export function listJobs(database: Database, userId: number, wanted: JobsQuery): { jobs: StoredJob[]; total: number } {
  const asked = statesOf(wanted);
  if (asked?.length === 0) return { jobs: [], total: 0 };
  const total = count(database, userId, wanted, asked);
  if (wanted.offset >= total) return { jobs: [], total };
  // States that leave nothing out are no filter: one index is walked instead of several merged.
  const states = wanted.output_type || count(database, userId, wanted, undefined) > total ? asked : undefined;

  const column = sortColumns[wanted.sort_by];
  let mine = query.selectFrom("jobs").select(["seq", "id", column]).where("user_id", "=", userId);
  if (wanted.workflow_id !== undefined) mine = mine.where("workflow_id", "=", wanted.workflow_id);
  // A literal, so that the planner recognises the partial index.
  if (wanted.output_type) mine = mine.where(sql<boolean>`${sql.ref(flags[wanted.output_type])} = 1`);
  const branches = (states ?? []).map((state) => mine.where(sql<boolean>`state = ${sql.lit(state)}`));
  const all = branches.length === 0 ? mine : branches.reduce((merged, branch) => merged.unionAll(branch));
  const page = database.rows(
    all.orderBy(sql.ref(column), wanted.sort_order).orderBy("id", wanted.sort_order).limit(wanted.limit).offset(wanted.offset),
  );
  return {
    jobs: readInOrder(
      database,
      page.map((row) => row.seq),
    ),
    total,
  };
}

/** Undefined: no filter. output_type speaks of completed jobs only. */
function statesOf(wanted: JobsQuery): KnownJobState[] | undefined {
  const asked = wanted.status && wanted.status.length > 0 ? [...new Set(wanted.status)] : undefined;
  if (!wanted.output_type) return asked;
  return asked === undefined || asked.includes("completed") ? ["completed"] : [];
}

function count(database: Database, userId: number, wanted: JobsQuery, states: KnownJobState[] | undefined): number {
  let counts = query
    .selectFrom("job_counts")
    .select(({ fn }) => fn.sum<number | null>("n").as("n"))
    .where("user_id", "=", userId)
    .where("workflow_id", "=", wanted.workflow_id ?? "");
  if (states) counts = counts.where("state", "in", states);
  if (wanted.output_type) counts = counts.where(flags[wanted.output_type], "=", 1);
  return Number(database.row(counts)?.n ?? 0);
}

function readInOrder(database: Database, seqs: readonly number[]): StoredJob[] {
  if (seqs.length === 0) return [];
  const rows = new Map(database.rows(query.selectFrom("jobs").selectAll().where("seq", "in", seqs)).map((row) => [row.seq, row]));
  return seqs.flatMap((seq) => rows.get(seq) ?? []);
}

/** By state, over everything of the user. */
export function countJobs(database: Database, userId: number, states: readonly KnownJobState[]): number {
  const counts = query
    .selectFrom("job_counts")
    .select(({ fn }) => fn.sum<number | null>("n").as("n"))
    .where("user_id", "=", userId)
    .where("workflow_id", "=", "");
  return Number(database.row(counts.where("state", "in", states))?.n ?? 0);
}
