// What a crash left: running jobs go back to pending with their attempt counted; after three, the job fails as WorkerLost.

import { sql } from "kysely";
import { type Database, query, type Transaction } from "../store/database";
import { failJob } from "./finish";
import { isUnfinished, MOST_ATTEMPTS, move } from "./transitions";

/** Before the engine starts. Returns how many jobs went back and how many were given up. */
export async function recoverJobs(database: Database, now: () => number): Promise<{ returned: number; lost: number }> {
  return database.commitFreeing(async (tx) => {
    const started = query
      .selectFrom("jobs")
      .select(["seq", "id", "attempts"])
      .where("state", "=", "in_progress")
      .where(isUnfinished)
      // What was sent to a runner is found there again (engine.ts).
      .where(sql<boolean>`not exists (select 1 from attempts where job_seq = seq and ended_at is null)`);
    const running = await tx.rows(started);
    let lost = 0;
    for (const job of running) {
      if (await giveBackOrFail(tx, job, now())) lost += 1;
    }
    return { returned: running.length - lost, lost };
  });
}

/** True when the job was given up. Inside a commit. */
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
