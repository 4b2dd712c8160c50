// Takes the next job for a slot inside a commit: if the slot has just run a job, the commit that ends it. So no reader ever sees two jobs
// on a slot, or a moment without one, and the disk is waited for once.
// Guarantees: jobs taken in a commit that failed wait again, in their place; a job that cannot be read affects no other job.

import { type Place } from "@/lib/service/runners/pool";
import { readRunner, stateOf } from "@/lib/service/runners/store";
import { asStorageFailure } from "@/lib/service/storage-failure";
import { type Transaction } from "@/lib/service/store/database";
import { type Claimed, claimJob, createRunning, type Running } from "../run/claim";
import { type EngineParts } from "../run/engine-parts";
import { type NextClaim, type Waiting } from "../run/job-queue";
import { type FairQueue } from "./fair-queue";

type ClaimParts = { parts: EngineParts; queue: FairQueue; running: Map<string, Running>; mayTake: () => boolean };

/** For one commit. */
export function createNextClaim({ parts, queue, running, mayTake }: ClaimParts, place: Place): NextClaim {
  const { log, pool } = parts;
  let taken: Waiting[] = [];
  let claimed: Claimed | undefined;
  let isKept = false;
  let isRunnerGone = false;

  async function tryOne(tx: Transaction, seq: number): Promise<Claimed | undefined> {
    try {
      return await tx.attempt(() => claimJob(tx, parts, seq, place));
    } catch (error) {
      // If the disk rejects a claim, it rejects the rest of this commit too.
      if (asStorageFailure(error)) throw error;
      log.error({ err: error, seq }, "a job could not be begun");
      return undefined;
    }
  }

  /** Everything taken waits again, in its place. */
  function putBack(): void {
    if (claimed) running.delete(claimed.id);
    claimed = undefined;
    for (const { userId, seq, kind } of taken.reverse()) queue.putBack(userId, seq, kind);
    taken = [];
  }

  return {
    soon: () => undefined,

    /** Skips jobs that were cancelled while they waited, or that cannot be read. */
    async take(tx: Transaction): Promise<void> {
      putBack(); // what an earlier try of the same commit took
      if (!mayTake() || queue.size() === 0) return;
      // Read as it is stored now: it may have been paused or removed a moment ago, perhaps from the command line.
      const runner = await readRunner(tx, place.runner.id);
      if (!runner || stateOf(runner) !== "ready") {
        isRunnerGone = true;
        return;
      }
      while (!claimed && mayTake()) {
        const next = queue.take((kind) => pool.mayTake(kind, runner));
        if (!next) return;
        taken.push(next);
        claimed = await tryOne(tx, next.seq);
        // Known as running from its claim on, so that no cancel falls between waiting and running.
        if (claimed) running.set(claimed.id, createRunning(claimed, parts.events));
      }
    },

    async keepIf<T>(commit: Promise<T>): Promise<T> {
      try {
        const result = await commit;
        isKept = true;
        if (isRunnerGone) await pool.refresh();
        return result;
      } catch (error) {
        if (!isKept) putBack();
        throw error;
      }
    },

    job: () => (isKept ? claimed : undefined),
  };
}
