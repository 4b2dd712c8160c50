// What dead processes left: running jobs go back to pending with their attempt counted; after three attempts, a job fails as WorkerLost.
// Must never: touch a job of a living process.

import { sql } from "kysely";
import { isHandedOver } from "@/lib/service/runners/attempts";
import { kindOf } from "@/lib/service/runners/pool";
import { query, type Transaction } from "@/lib/service/store/database";
import { type JobQueue } from "../queue/job-queue";
import { isUnfinished, MOST_ATTEMPTS, move } from "../transitions";
import { type EngineParts } from "./engine-parts";
import { failJob } from "./finish";

type Parts = Pick<EngineParts, "database" | "processes" | "now"> & { queue: Pick<JobQueue, "enqueue" | "takeBack"> };

/** Returns how many jobs went back, how many were given up, and which were sent to a runner, where they may go on (engine.ts). */
export async function recoverJobs({ database, processes, queue, now }: Parts): Promise<{ returned: number; lost: number; sent: number[] }> {
  return database.commitFreeing(async (tx) => {
    await queue.takeBack(tx, await processes.giveUpSilent(tx));
    const left = query
      .selectFrom("jobs")
      .select(["seq", "id", "user_id", "needs", "attempts"])
      .select(sql<unknown>`exists (select 1 from attempts where job_seq = seq and ended_at is null)`.as("is_sent"))
      .where(isHandedOver)
      .where(isUnfinished)
      .where(processes.isHolderGone)
      .orderBy("seq");
    const sent: number[] = [];
    let [returned, lost] = [0, 0];
    for (const { is_sent, user_id, ...job } of await tx.rows(left)) {
      if (is_sent) sent.push(job.seq);
      else if (await giveBackOrFail(tx, job, now())) lost += 1;
      else {
        await queue.enqueue(tx, { userId: user_id, seq: job.seq, kind: await kindOf(tx, job) }, true);
        returned += 1;
      }
    }
    return { returned, lost, sent };
  });
}

/** Inside a commit. True if the job was given up. */
export async function giveBackOrFail(
  tx: Transaction,
  job: { seq: number; id: string; attempts: number; fence?: number },
  at: number,
  reason = "",
): Promise<boolean> {
  if (job.attempts >= MOST_ATTEMPTS) {
    return failJob(tx, job, "WorkerLost", `The worker was lost ${job.attempts} times while it ran this job.${reason && ` ${reason}`}`, at);
  }
  await move(tx, { seq: job.seq, fence: job.fence, from: "in_progress", to: "pending", at }, { start_time: null, slot: null });
  return false;
}
