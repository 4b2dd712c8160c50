// The in-memory queue of a single process: round robin between users, submission order within a user.

import { BUILT_IN_RUNNER } from "@/lib/contract/runners/runners";
import { type WaitingJob } from "../transitions";
import { createSlots, type JobQueue, listWaitingJobs, type QueueContext } from "./job-queue";

/** `gone`: removed jobs. They are skipped, and filtered out once they are half of the line. */
type Line = { seqs: number[]; head: number; gone: Set<number> };
type CanRun = (kind: string) => boolean;

const anyKind: CanRun = () => true;

export function createFairQueue() {
  const linesByUser = new Map<number, Map<string, Line>>();
  /** Each user's last turn. One entry per user, never evicted. */
  const lastTurnByUser = new Map<number, number>();
  let turns = 0;

  function getLine(userId: number, kind: string): Line {
    const lines = linesByUser.get(userId) ?? new Map<string, Line>();
    linesByUser.set(userId, lines);
    const line = lines.get(kind) ?? { seqs: [], head: 0, gone: new Set() };
    lines.set(kind, line);
    return line;
  }

  function deleteLine(userId: number, kind: string): void {
    const lines = linesByUser.get(userId);
    lines?.delete(kind);
    if (lines?.size === 0) linesByUser.delete(userId);
  }

  function getHead(line: Line): number | undefined {
    for (; line.head < line.seqs.length; line.head += 1) {
      const seq = line.seqs[line.head];
      if (seq !== undefined && !line.gone.has(seq)) return seq;
    }
    return undefined;
  }

  function findFirstJob(userId: number, canDo: CanRun): WaitingJob | undefined {
    let first: WaitingJob | undefined;
    for (const [kind, line] of linesByUser.get(userId) ?? []) {
      if (!canDo(kind)) continue;
      const seq = getHead(line);
      if (seq === undefined) deleteLine(userId, kind);
      else if (first === undefined || seq < first.seq) first = { userId, seq, kind };
    }
    return first;
  }

  /** If several users were served equally long ago, the earliest to join wins. */
  function peek(canDo: CanRun = anyKind): WaitingJob | undefined {
    let next: WaitingJob | undefined;
    let earliestTurn = Infinity;
    for (const userId of [...linesByUser.keys()]) {
      const turn = lastTurnByUser.get(userId) ?? 0;
      if (turn >= earliestTurn) continue;
      const first = findFirstJob(userId, canDo);
      if (!first) continue;
      next = first;
      earliestTurn = turn;
    }
    return next;
  }

  return {
    add(userId: number, seq: number, kind = ""): void {
      getLine(userId, kind).seqs.push(seq);
    },

    returnEntry(userId: number, seq: number, kind = ""): void {
      const line = getLine(userId, kind);
      line.seqs = [seq, ...line.seqs.slice(line.head)];
      line.head = 0;
    },

    take(canDo?: CanRun): WaitingJob | undefined {
      const next = peek(canDo);
      if (!next) return undefined;
      const line = getLine(next.userId, next.kind);
      line.head += 1;
      if (line.head >= line.seqs.length) deleteLine(next.userId, next.kind);
      else if (line.head > 1024 && line.head * 2 > line.seqs.length) {
        line.seqs.splice(0, line.head);
        line.head = 0;
      }
      lastTurnByUser.set(next.userId, ++turns);
      return next;
    },

    peek,

    /** Removes jobs without using a turn. */
    forget(userId: number, seqs: readonly number[]): void {
      for (const [kind, line] of [...(linesByUser.get(userId) ?? [])]) {
        for (const seq of seqs) line.gone.add(seq);
        if (line.gone.size * 2 < line.seqs.length - line.head) continue;
        line.seqs = line.seqs.slice(line.head).filter((seq) => !line.gone.has(seq));
        line.head = 0;
        line.gone.clear();
        if (line.seqs.length === 0) deleteLine(userId, kind);
      }
    },
  };
}

export function createMemoryQueue(context: QueueContext): JobQueue {
  const { database, pool, concurrency } = context.parts;
  const queue = createFairQueue();
  const returnEntry = ({ userId, seq, kind }: WaitingJob) => Promise.resolve(queue.returnEntry(userId, seq, kind));
  const slots = createSlots(context, { returnEntry: returnEntry, onSlotFree: assignJobs });

  function assignJobs(): void {
    for (;;) {
      const canBegin = slots.canBegin();
      const next = canBegin && queue.take(canBegin);
      if (!next) return;
      context.inBackground(slots.take({ ...next, turn: 0 }));
    }
  }

  /** A job that was submitted meanwhile may be queued twice. The second claim then finds that it is no longer waiting. */
  async function load(): Promise<void> {
    const waits = await listWaitingJobs(database);
    await pool.loadNeeds(waits.map(({ needs }) => needs));
    for (const { userId, seq, kind } of waits) queue.add(userId, seq, kind);
    assignJobs();
  }

  return {
    start: load,
    enqueue: () => Promise.resolve(),
    notifyWaiting({ userId, seq, kind }, isFirst) {
      if (isFirst) queue.returnEntry(userId, seq, kind);
      else queue.add(userId, seq, kind);
      assignJobs();
    },
    removeWaiting: (userId, seqs) => Promise.resolve(queue.forget(userId, seqs)),
    repair: () => Promise.resolve(),
    freeProcesses: () => Promise.resolve(),
    slotsChanged: assignJobs,
    resume: slots.resume,
    // With several slots, it is unknown which of them takes the job.
    peekNext: () => (concurrency === 1 ? queue.peek((kind) => pool.canDo(kind, BUILT_IN_RUNNER))?.seq : undefined),
    stop: () => Promise.resolve(),
  };
}
