// The queue as its user sees it and manages it: only pending jobs are cancelled here, and the receipt lists what really was.

import { sql } from "kysely";
import { writeExactJson } from "@/lib/contract/exact-json";
import { type ManageBody } from "@/lib/contract/schemas/queue";
import { type KnownJobState } from "@/lib/contract/states";
import { type Database, query } from "../store/database";
import { type Engine } from "./engine";
import { cancelPending } from "./finish";
import { listText, objectText, queueColumns } from "./stored-texts";

/** A tuple holds a whole graph: a bound keeps one answer from filling the memory. GET /api/prompt counts exactly. */
const MOST_LISTED = 5000;

/** As JSON text: [position from 1, id, graph, output node ids, { create_time }]; oldest first. */
export function listQueue(database: Database, userId: number): string {
  const tuples = (state: KnownJobState) => {
    const jobs = database.rows(
      query
        .selectFrom("jobs")
        .innerJoin("job_inputs", "job_seq", "seq")
        .select(["id", "create_time", ...queueColumns])
        .where("user_id", "=", userId)
        .where("state", "=", state)
        .orderBy("seq")
        .limit(MOST_LISTED),
    );
    // A damaged row stands empty among the others.
    const tuple = ({ id, prompt, outputs_to_execute: outputs, create_time }: (typeof jobs)[number], index: number) =>
      listText([String(index + 1), writeExactJson(id), prompt ?? "{}", outputs ?? "[]", writeExactJson({ create_time })]);
    return listText(jobs.map(tuple));
  };
  return objectText({}, { queue_running: tuples("in_progress"), queue_pending: tuples("pending") });
}

type QueueParts = { database: Database; engine: Engine; now: () => number };

/** A commit cancels so many; a queue of a hundred thousand must not hold up everybody else. */
const AT_ONCE = 250;

/** clear wins over delete. */
export async function manageQueue(parts: QueueParts, userId: number, body: ManageBody) {
  if (body.clear) return { deleted: await clearQueue(parts, userId), cleared: true };
  return { deleted: await cancelPendingJobs(parts, userId, body.delete ?? []), cleared: false };
}

/** Unknown, running and ended ids are left out of the answer. */
export async function cancelPendingJobs(parts: QueueParts, userId: number, ids: readonly string[]): Promise<string[]> {
  const asked = [...new Set(ids)];
  const deleted: string[] = [];
  for (let start = 0; start < asked.length; start += AT_ONCE) {
    const some = asked.slice(start, start + AT_ONCE);
    const cancelled = await cancelSome(parts, pendingOf(userId).where("id", "in", some));
    parts.engine.forgetPending(
      userId,
      cancelled.map((job) => job.seq),
    );
    deleted.push(...cancelled.map((job) => job.id));
  }
  return deleted;
}

/** Everything that waits now. None of it starts while its turn to be cancelled has not come; what is sent meanwhile stays. */
async function clearQueue(parts: QueueParts, userId: number): Promise<string[]> {
  const { database, engine } = parts;
  const last = database.row(pendingOf(userId).clearOrderBy().orderBy("seq", "desc").limit(1))?.seq;
  if (last === undefined) return [];
  const deleted: string[] = [];
  const after = (seq: number) => pendingOf(userId).where("seq", ">", seq).where("seq", "<=", last);
  let done = 0;
  engine.forgetPending(userId);
  try {
    for (;;) {
      const cancelled = await cancelSome(parts, after(done).limit(AT_ONCE));
      const newest = cancelled.at(-1);
      if (!newest) return deleted;
      done = newest.seq;
      for (const { id } of cancelled) deleted.push(id);
    }
  } catch (error) {
    // What could not be cancelled waits on, and has to be known to wait.
    for (const { seq } of database.rows(after(done))) engine.submitted(userId, seq);
    throw error;
  }
}

function pendingOf(userId: number) {
  // A literal and a plus, so that the planner walks the partial index of what waits, which is in this order.
  const isPending = sql<boolean>`state = 'pending' AND +user_id = ${userId}`;
  return query.selectFrom("jobs").select(["seq", "id"]).where(isPending).orderBy("seq");
}

function cancelSome(parts: QueueParts, pending: ReturnType<typeof pendingOf>): Promise<{ seq: number; id: string }[]> {
  const { database, now } = parts;
  return database.commit(() => {
    const jobs = database.rows(pending);
    if (jobs.length > 0) cancelPending(database, jobs, now());
    return jobs;
  });
}
