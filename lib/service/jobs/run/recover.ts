// Gives back jobs that lost their worker or process: they go to pending with their attempt counted, and fail as WorkerLost after the last.

import { sql } from "kysely";
import { isHandedOver } from "@/lib/service/runners/attempts";
import { kindOf } from "@/lib/service/runners/pool";
import { query, type Transaction } from "@/lib/service/store/database";
import { type JobQueue, type Waiting } from "../queue/job-queue";
import { isUnfinished, MAX_ATTEMPTS, move } from "../transitions";
import { type EngineParts } from "./engine-parts";
import { failJob } from "./finish";

type Parts = { now: () => number; queue: Pick<JobQueue, "enqueue"> };
type Lost = { seq: number; id: string; userId: number; needs: number | null; attempts: number; fence?: number };

/** Inside a commit. Returns the job if it waits again; undefined if it has failed, or belongs to another attempt. */
export async function giveBack(
  tx: Transaction,
  { now, queue }: Parts,
  { userId, ...job }: Lost,
  { counts, reason = "" }: { counts: boolean; reason?: string },
): Promise<Waiting | undefined> {
  const { seq, fence, attempts } = job;
  const at = now();
  if (counts && attempts >= MAX_ATTEMPTS) {
    await failJob(tx, job, "WorkerLost", `The worker was lost ${attempts} times while it ran this job.${reason && ` ${reason}`}`, at);
    return undefined;
  }
  const back = { start_time: null, slot: null, runner: null, attempts: counts ? attempts : attempts - 1 };
  if (!(await move(tx, { seq, fence, from: "in_progress", to: "pending", at }, back))) return undefined;
  const waiting = { userId, seq, kind: await kindOf(tx, job) };
  await queue.enqueue(tx, waiting, true);
  return waiting;
}

/**
 * Jobs of dead processes; never of a living one. Returns how many wait again or have failed, and which were sent to a runner, where they may
 * go on (engine.ts).
 */
export async function recoverJobs({
  database,
  processes,
  queue,
  now,
}: Pick<EngineParts, "database" | "processes" | "now"> & { queue: JobQueue }) {
  return database.commitFreeing(async (tx) => {
    await queue.takeBack(tx, await processes.giveUpSilent(tx));
    const left = query
      .selectFrom("jobs")
      .select(["seq", "id", "user_id as userId", "needs", "attempts"])
      .select(sql<unknown>`exists (select 1 from attempts where job_seq = seq and ended_at is null)`.as("isSent"))
      .where(isHandedOver)
      .where(isUnfinished)
      .where(processes.isHolderGone)
      .orderBy("seq");
    const sent: number[] = [];
    let [returned, lost] = [0, 0];
    for (const { isSent, ...job } of await tx.rows(left)) {
      if (isSent) sent.push(job.seq);
      else if (await giveBack(tx, { now, queue }, job, { counts: true })) returned += 1;
      else lost += 1;
    }
    return { returned, lost, sent };
  });
}
