// The in-memory queue of a single process: round robin between users, submission order within a user.

import { type WaitingJob } from "../transitions";
import { createSlots, type JobQueue, listWaitingJobs, type QueueContext } from "./job-queue";

/** The waiting jobs of a user and kind. Removed jobs are skipped, and filtered out once they are half of the queue. */
type KindQueue = { seqs: number[]; head: number; removedSeqs: Set<number> };
type CanRun = (kind: string) => boolean;

export function createFairQueue() {
  const queuesByUser = new Map<number, Map<string, KindQueue>>();
  /** Each user's last turn. One entry per user, never evicted. */
  const lastTurnByUser = new Map<number, number>();
  let turnCount = 0;

  function getOrCreateQueue(userId: number, kind: string): KindQueue {
    const userQueues = queuesByUser.get(userId) ?? new Map<string, KindQueue>();
    queuesByUser.set(userId, userQueues);
    const kindQueue = userQueues.get(kind) ?? { seqs: [], head: 0, removedSeqs: new Set() };
    userQueues.set(kind, kindQueue);
    return kindQueue;
  }

  function deleteQueue(userId: number, kind: string): void {
    const userQueues = queuesByUser.get(userId);
    userQueues?.delete(kind);
    if (userQueues?.size === 0) queuesByUser.delete(userId);
  }

  function getHead(kindQueue: KindQueue): number | undefined {
    for (; kindQueue.head < kindQueue.seqs.length; kindQueue.head += 1) {
      const seq = kindQueue.seqs[kindQueue.head];
      if (seq !== undefined && !kindQueue.removedSeqs.has(seq)) return seq;
    }
    return undefined;
  }

  function findFirstJob(userId: number, canRun: CanRun): WaitingJob | undefined {
    let firstJob: WaitingJob | undefined;
    for (const [kind, kindQueue] of queuesByUser.get(userId) ?? []) {
      if (!canRun(kind)) continue;
      const seq = getHead(kindQueue);
      if (seq === undefined) deleteQueue(userId, kind);
      else if (firstJob === undefined || seq < firstJob.seq) firstJob = { userId, seq, kind };
    }
    return firstJob;
  }

  /** If several users were served equally long ago, the earliest to join wins. */
  function findNextJob(canRun: CanRun): WaitingJob | undefined {
    let nextJob: WaitingJob | undefined;
    let earliestTurn = Infinity;
    for (const userId of [...queuesByUser.keys()]) {
      const turn = lastTurnByUser.get(userId) ?? 0;
      if (turn >= earliestTurn) continue;
      const firstJob = findFirstJob(userId, canRun);
      if (!firstJob) continue;
      nextJob = firstJob;
      earliestTurn = turn;
    }
    return nextJob;
  }

  return {
    enqueue(userId: number, seq: number, kind = ""): void {
      getOrCreateQueue(userId, kind).seqs.push(seq);
    },

    returnEntry(userId: number, seq: number, kind = ""): void {
      const kindQueue = getOrCreateQueue(userId, kind);
      kindQueue.seqs = [seq, ...kindQueue.seqs.slice(kindQueue.head)];
      kindQueue.head = 0;
    },

    dequeue(canRun: CanRun = () => true): WaitingJob | undefined {
      const nextJob = findNextJob(canRun);
      if (!nextJob) return undefined;
      const kindQueue = getOrCreateQueue(nextJob.userId, nextJob.kind);
      kindQueue.head += 1;
      if (kindQueue.head >= kindQueue.seqs.length) deleteQueue(nextJob.userId, nextJob.kind);
      else if (kindQueue.head > 1024 && kindQueue.head * 2 > kindQueue.seqs.length) {
        kindQueue.seqs.splice(0, kindQueue.head);
        kindQueue.head = 0;
      }
      lastTurnByUser.set(nextJob.userId, ++turnCount);
      return nextJob;
    },

    /** Removes jobs without using a turn. */
    remove(userId: number, seqs: readonly number[]): void {
      for (const [kind, kindQueue] of [...(queuesByUser.get(userId) ?? [])]) {
        for (const seq of seqs) kindQueue.removedSeqs.add(seq);
        if (kindQueue.removedSeqs.size * 2 < kindQueue.seqs.length - kindQueue.head) continue;
        kindQueue.seqs = kindQueue.seqs.slice(kindQueue.head).filter((seq) => !kindQueue.removedSeqs.has(seq));
        kindQueue.head = 0;
        kindQueue.removedSeqs.clear();
        if (kindQueue.seqs.length === 0) deleteQueue(userId, kind);
      }
    },
  };
}

export function createMemoryQueue(context: QueueContext): JobQueue {
  const { database, pool } = context.dependencies;
  const queue = createFairQueue();
  const returnEntry = ({ userId, seq, kind }: WaitingJob) => Promise.resolve(queue.returnEntry(userId, seq, kind));
  const slots = createSlots(context, { returnEntry, onSlotFree: assignJobs });

  function assignJobs(): void {
    for (;;) {
      const canStart = slots.getStartFilter();
      const nextJob = canStart && queue.dequeue(canStart);
      if (!nextJob) return;
      context.runInBackground(slots.assignEntry({ ...nextJob, turn: 0 }));
    }
  }

  /** A job that was submitted meanwhile may be queued twice. The second claim then finds that it is no longer waiting. */
  async function loadWaitingJobs(): Promise<void> {
    const waitingJobs = await listWaitingJobs(database);
    await pool.loadNeeds(waitingJobs.map(({ needs }) => needs));
    for (const { userId, seq, kind } of waitingJobs) queue.enqueue(userId, seq, kind);
    assignJobs();
  }

  return {
    start: loadWaitingJobs,
    enqueue: () => Promise.resolve(),
    notifyWaiting({ userId, seq, kind }, isFirst) {
      if (isFirst) queue.returnEntry(userId, seq, kind);
      else queue.enqueue(userId, seq, kind);
      assignJobs();
    },
    removeWaiting: (userId, seqs) => Promise.resolve(queue.remove(userId, seqs)),
    repair: () => Promise.resolve(),
    releaseProcesses: () => Promise.resolve(),
    handleSlotsChanged: assignJobs,
    resume: slots.resume,
    stop: () => Promise.resolve(),
  };
}
