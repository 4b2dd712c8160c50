// The queue as its user sees it and manages it: only pending jobs are cancelled here, and the receipt lists what really was.

import { type ManageBody } from "@/lib/contract/schemas/queue";
import { type KnownJobState } from "@/lib/contract/states";
import { type Database, query } from "../store/database";
import { type Engine } from "./engine";
import { cancelPending } from "./finish";
import { readRecord, readStrings } from "./job-row";

/** A tuple holds a whole graph: a bound keeps one answer from filling the memory. GET /api/prompt counts exactly. */
const MOST_LISTED = 5000;

/** [position from 1, id, graph, output node ids, { create_time }]; oldest first. */
export function listQueue(database: Database, userId: number) {
  const tuples = (state: KnownJobState) =>
    database
      .rows(
        query
          .selectFrom("jobs")
          .innerJoin("job_inputs", "job_seq", "seq")
          .select(["id", "prompt", "outputs_to_execute", "create_time"])
          .where("user_id", "=", userId)
          .where("state", "=", state)
          .orderBy("seq")
          .limit(MOST_LISTED),
      )
      .map((job, index) => [
        index + 1,
        job.id,
        readRecord(job.prompt),
        readStrings(job.outputs_to_execute),
        { create_time: job.create_time },
      ]);
  return { queue_running: tuples("in_progress"), queue_pending: tuples("pending") };
}

/** clear wins over delete. */
export async function manageQueue(parts: { database: Database; engine: Engine; now: () => number }, userId: number, body: ManageBody) {
  if (!body.clear) return { deleted: await cancelPendingJobs(parts, userId, body.delete ?? []), cleared: false };
  const deleted = await cancelPendingJobs(parts, userId, undefined);
  return { deleted, cleared: true };
}

/** Unknown, running and ended ids are left out of the answer. */
export async function cancelPendingJobs(
  parts: { database: Database; engine: Engine; now: () => number },
  userId: number,
  ids: readonly string[] | undefined,
): Promise<string[]> {
  const { database } = parts;
  if (ids?.length === 0) return [];
  return database.commit(() => {
    let pending = query.selectFrom("jobs").select(["seq", "id"]).where("user_id", "=", userId).where("state", "=", "pending");
    if (ids) pending = pending.where("id", "in", [...new Set(ids)]);
    const cancelled = database.rows(pending.orderBy("seq")).filter((job) => cancelPending(database, job, parts.now()));
    if (!ids) parts.engine.forgetPending(userId);
    return cancelled.map((job) => job.id);
  });
}
