// Runs the jobs that the queue gives out (job-queue.ts) to their end, takes over what dead processes left, and cancels running jobs (the
// states are in transitions.ts).
// Guarantees: a claim is durable before a node runs; a cancelled job keeps nothing, whatever its worker still does; `stop` waits for
// background work.

import { kindOf, kindWith } from "@/lib/service/runners/pool";
import { type Transaction } from "@/lib/service/store/database";
import { move } from "../transitions";
import { createBackground } from "./background";
import { cancelAll, CANCELLED, clearCancelled, runningJobs, staleRuns } from "./cancel-running";
import { type Claimed, createRunning, resumeJob, type Running } from "./claim";
import { type EngineParts } from "./engine-parts";
import { type CreateQueue, type JobQueue } from "./job-queue";
import { recoverJobs } from "./recover";
import { runClaimed, tellEnd } from "./run-claimed";
import { createPatience } from "./until-stored";
import { createWorkFolders } from "./work-folders";

export type Engine = ReturnType<typeof createEngine>;

export function createEngine(parts: EngineParts, createQueue: CreateQueue) {
  const { database, events, log, now, pool } = parts;
  /** By id, the jobs that run here. */
  const running = new Map<string, Running>();
  let accepting = false;
  let isStopped = false;
  const background = createBackground(log);
  const patience = createPatience(database, () => accepting);
  const workFolders = createWorkFolders(parts.folders.work);
  const queue: JobQueue = createQueue({
    parts,
    running,
    mayTake: () => accepting,
    run: (job, next) => runClaimed({ parts, running, queue, background, workFolders, ...patience }, job, next),
    inBackground: background.add,
  });

  /** Returns the jobs that dead processes sent to a runner, where they may go on; their other jobs wait again or have failed. */
  async function recover(): Promise<number[]> {
    const { returned, lost, sent } = await recoverJobs({ ...parts, queue });
    if (returned + lost > 0) log.warn({ returned, lost }, "jobs were running at a process of the service that has ended");
    return sent;
  }

  /** Goes on with jobs that are at a runner, unless they have ended here meanwhile. */
  function resume(seqs: readonly number[]): void {
    for (const seq of seqs) background.add(resumeOne(seq));
  }

  async function resumeOne(seq: number): Promise<void> {
    let taken: Claimed | undefined;
    const takeOver = async (tx: Transaction) => {
      taken = await resumeJob(tx, parts, seq);
      // Known as running from this moment on, so that no cancel misses it.
      if (taken) running.set(taken.id, createRunning(taken, events));
      return taken;
    };
    const job = await patience.untilStored(takeOver, () => taken && running.delete(taken.id));
    if (!job?.remote) return;
    const place = pool.occupy(job.remote.runner);
    try {
      await queue.goOn(job, place);
    } finally {
      place.release();
      queue.changed();
    }
  }

  /** They wait again, and their attempt is not counted. */
  async function giveBackAll(runs: readonly Running[]): Promise<void> {
    await database.commitFreeing(async (tx) => {
      for (const { userId, seq, fence, needs, ...run } of runs) {
        const attempts = run.attempts - 1;
        const back = { start_time: null, slot: null, attempts };
        if (await move(tx, { seq, fence, from: "in_progress", to: "pending", at: now() }, back))
          await queue.enqueue(tx, { userId, seq, kind: await kindOf(tx, { seq, needs, attempts }) }, true);
      }
    });
  }

  return {
    /** Loads waiting jobs and begins; afterwards `submitted` reports each new job. */
    async start(): Promise<void> {
      const sent = await recover();
      if (isStopped) return;
      accepting = true;
      resume(sent);
      await queue.start();
    },

    /** Called when other processes were silent for too long. */
    async takeOver(): Promise<void> {
      const sent = await recover();
      if (accepting) resume(sent);
      queue.changed();
    },

    /** Ends runs whose job was cancelled or taken over by another process; they write nothing. */
    async endStale(): Promise<void> {
      for (const run of await staleRuns(database, running)) run.cancel();
    },

    enqueue: (tx: Transaction, userId: number, seq: number, needs: number) => queue.enqueue(tx, { userId, seq, kind: kindWith(needs) }),
    submitted: (userId: number, seq: number, needs: number) => queue.waits({ userId, seq, kind: kindWith(needs) }),
    waitAgain: queue.waitAgain,
    repair: queue.repair,
    forgetPending: queue.forget,

    /** Something about the runners has changed. */
    async runnersChanged(): Promise<void> {
      await pool.refresh();
      queue.changed();
    },

    /** The jobs that run here. */
    runs: (): Iterable<Running> => running.values(),

    /**
     * Cancels those of `jobIds` (all of the user's, if absent) that run now, here or elsewhere; returns the ids that were really cancelled.
     */
    async cancelRunning(userId: number, jobIds?: readonly string[]): Promise<string[]> {
      const ran = [...running.values()].filter(
        (run) => run.isBegun() && run.userId === userId && (jobIds === undefined || jobIds.includes(run.id)),
      );
      const which = { userId, jobIds };
      if (ran.length === 0 && (await runningJobs(database, parts, which)).length === 0) return [];
      const cancelled = await database.commitFreeing((tx) => cancelAll(tx, parts, which, { ran, running }));
      for (const { seq, run } of cancelled) {
        run?.cancel();
        if (!run || run.remote) background.add(clearCancelled(database, seq));
      }
      for (const { run } of cancelled) if (run) await tellEnd(parts, run);
      if (cancelled.length > 0) events.queueChanged(userId);
      return cancelled.map(({ id }) => id);
    },

    /** Called after pending jobs in runners' queues were cancelled in the store. */
    async cancelledAtRunners(seqs: readonly number[]): Promise<void> {
      if (seqs.length === 0) return;
      const ended = new Set(seqs);
      for (const run of [...running.values()].filter(({ seq }) => ended.has(seq))) {
        run.cancel();
        await tellEnd(parts, run);
      }
      for (const seq of seqs) background.add(clearCancelled(database, seq));
      await parts.processes.tell(CANCELLED, null);
    },

    /** Lets short jobs end within `graceMs`; the rest is given back. */
    async stop(graceMs: number): Promise<void> {
      accepting = false;
      isStopped = true;
      await queue.stop();
      // It goes on at its runner, and the next start finds it again.
      for (const run of running.values()) if (run.remote) run.leave();
      await background.doneWithin(graceMs);
      const left = [...running.values()].filter((run) => !run.remote);
      if (left.length > 0)
        await giveBackAll(left).catch((error: unknown) =>
          log.error({ err: error }, "running jobs could not be given back: the next start finds them running"),
        );
      for (const run of left) run.cancel();
      await parts.runner.stop();
      await background.done();
    },
  };
}
