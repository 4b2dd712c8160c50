// The in-memory queue of a single process: fair between users, first in, first out for each.

import { BUILT_IN_RUNNER } from "@/lib/contract/runners/runners";
import { type Place } from "@/lib/service/runners/pool";
import { readRunner, stateOf } from "@/lib/service/runners/store";
import { asStorageFailure } from "@/lib/service/service-error";
import { type Transaction } from "@/lib/service/store/database";
import { type Claimed, claimJob, createRunning, type Running } from "../run/claim";
import { type EngineParts } from "../run/engine-parts";
import { type Floor, type JobQueue, type NextClaim, type Waiting, waitingJobs } from "../run/job-queue";
import { createFairQueue, type FairQueue } from "./fair-queue";

type ClaimParts = { parts: EngineParts; queue: FairQueue; running: Map<string, Running>; mayTake: () => boolean };

/** For one commit. */
function createNextClaim({ parts, queue, running, mayTake }: ClaimParts, place: Place): NextClaim {
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

const PAUSE_MS = 1000;

export function createMemoryQueue(floor: Floor): JobQueue {
  const { database, log, pool, concurrency } = floor.parts;
  const queue = createFairQueue();
  /** Slots that are about to claim a job. */
  let asking = 0;
  let isStopped = false;
  let rest: NodeJS.Timeout | undefined;

  const mayTake = () => floor.mayTake() && rest === undefined && !isStopped;
  const nextClaim = (place: Place) => createNextClaim({ parts: floor.parts, queue, running: floor.running, mayTake }, place);

  /** Pause: if the disk rejected one claim, it would reject the next. */
  function pause(): void {
    rest ??= setTimeout(() => {
      rest = undefined;
      pump();
    }, PAUSE_MS).unref();
  }

  function pump(): void {
    while (mayTake()) {
      const free = pool.free();
      const canBegin = (kind: string) => free.some(({ id }) => pool.canDo(kind, id));
      // A slot that asks for a job finds one, because no more slots ask than jobs wait.
      const next = free.length > 0 && asking < queue.size(canBegin) ? queue.peek(canBegin) : undefined;
      const runner = next && pool.best(next.kind, free);
      if (!runner) return;
      const place = pool.occupy(runner);
      floor.inBackground(
        serve(place).finally(() => {
          place.release();
          pump();
        }),
      );
    }
  }

  /** Runs one job after the other until none waits. */
  async function serve(place: Place, first?: Claimed): Promise<void> {
    let job = first ?? (await claimAlone(place));
    while (job) {
      const next = nextClaim(place);
      await floor.run(job, next);
      job = next.job() ?? (await claimAlone(place));
    }
  }

  async function claimAlone(place: Place): Promise<Claimed | undefined> {
    if (queue.size() === 0) return undefined;
    const claim = nextClaim(place);
    asking += 1;
    try {
      await claim.keepIf(database.commit(claim.take));
    } catch (error) {
      log.error({ err: error }, "no job could be begun");
      pause();
    } finally {
      asking -= 1;
      // Jobs that came while this slot was asking were counted as the one that it asked for.
      pump();
    }
    return claim.job();
  }

  /** A job that was submitted meanwhile may be in the queue twice: the second claim finds that it no longer waits. */
  async function load(which?: { userId: number; last: number }): Promise<void> {
    const waits = await waitingJobs(database, which);
    await pool.know(waits.map(({ needs }) => needs));
    for (const { userId, seq, kind } of waits) queue.add(userId, seq, kind);
    pump();
  }

  return {
    start: () => load(),
    enqueue: () => Promise.resolve(),
    waits({ userId, seq, kind }, isFirst) {
      if (isFirst) queue.putBack(userId, seq, kind);
      else queue.add(userId, seq, kind);
      pump();
    },
    forget: (userId, seqs) => Promise.resolve(queue.forget(userId, seqs)),
    waitAgain: (userId, last) => load({ userId, last }),
    repair: () => Promise.resolve(),
    takeBack: () => Promise.resolve(),
    changed: pump,
    goOn: (job, place) => serve(place, job),
    // With several slots it is not known which of them takes that job.
    guess: () => (concurrency === 1 ? queue.peek((kind) => pool.canDo(kind, BUILT_IN_RUNNER))?.seq : undefined),
    stop() {
      isStopped = true;
      clearTimeout(rest);
      return Promise.resolve();
    },
  };
}
