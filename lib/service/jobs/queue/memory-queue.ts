// The in-memory queue of a single process: round robin between users, submission order within a user. The next job is that of the user who
// was served longest ago, so a user's first job does not wait behind the second one of a user who just had a turn.
// Whether a job is still pending is read from the store when it is claimed.

import { BUILT_IN_RUNNER } from "@/lib/contract/runners/runners";
import { createSlots, type JobQueue, type QueueContext, type Waiting, waitingJobs } from "./job-queue";

/** `gone`: cancelled while they waited. They are skipped, since removing one would copy the whole line each time. */
type Line = { seqs: number[]; head: number; gone: Set<number> };
type CanDo = (kind: string) => boolean;

const anything: CanDo = () => true;

export function createFairQueue() {
  /** By user, then by kind. */
  const waiting = new Map<number, Map<string, Line>>();
  /** The turn in which each user was last served; never forgotten, since there is only one entry per user. */
  const served = new Map<number, number>();
  let turns = 0;

  function lineOf(userId: number, kind: string): Line {
    const lines = waiting.get(userId) ?? new Map<string, Line>();
    waiting.set(userId, lines);
    const line = lines.get(kind) ?? { seqs: [], head: 0, gone: new Set() };
    lines.set(kind, line);
    return line;
  }

  function forgetLine(userId: number, kind: string): void {
    const lines = waiting.get(userId);
    lines?.delete(kind);
    if (lines?.size === 0) waiting.delete(userId);
  }

  /** The first that still waits; cancelled ones before it are skipped. */
  function headOf(line: Line): number | undefined {
    for (; line.head < line.seqs.length; line.head++) {
      const seq = line.seqs[line.head];
      if (seq !== undefined && !line.gone.delete(seq)) return seq;
    }
    return undefined;
  }

  /** The user's oldest job of a kind that can be done. */
  function firstOf(userId: number, canDo: CanDo): Waiting | undefined {
    let first: Waiting | undefined;
    for (const [kind, line] of waiting.get(userId) ?? []) {
      if (!canDo(kind)) continue;
      const seq = headOf(line);
      if (seq === undefined) forgetLine(userId, kind);
      else if (first === undefined || seq < first.seq) first = { userId, seq, kind };
    }
    return first;
  }

  /** Of users who were served equally long ago, the one who came first. */
  function peek(canDo: CanDo = anything): Waiting | undefined {
    let next: Waiting | undefined;
    let longestAgo = Infinity;
    for (const userId of [...waiting.keys()]) {
      const turn = served.get(userId) ?? 0;
      if (turn >= longestAgo) continue;
      const first = firstOf(userId, canDo);
      if (!first) continue;
      next = first;
      longestAgo = turn;
    }
    return next;
  }

  return {
    add(userId: number, seq: number, kind = ""): void {
      lineOf(userId, kind).seqs.push(seq);
    },

    /** Puts it back at the front of its user's line. */
    putBack(userId: number, seq: number, kind = ""): void {
      const line = lineOf(userId, kind);
      line.seqs = [seq, ...line.seqs.slice(line.head)];
      line.head = 0;
    },

    take(canDo?: CanDo): Waiting | undefined {
      const next = peek(canDo);
      if (!next) return undefined;
      const line = lineOf(next.userId, next.kind);
      line.head += 1;
      if (line.head >= line.seqs.length) forgetLine(next.userId, next.kind);
      else if (line.head > 1024 && line.head * 2 > line.seqs.length) {
        line.seqs.splice(0, line.head);
        line.head = 0;
      }
      served.set(next.userId, ++turns);
      return next;
    },

    /** The job that `take` would return now. */
    peek,

    /** Cancelled jobs take no turn: these of the user, or all. */
    forget(userId: number, seqs?: readonly number[]): void {
      if (!seqs) waiting.delete(userId);
      else for (const line of waiting.get(userId)?.values() ?? []) for (const seq of seqs) line.gone.add(seq);
    },
  };
}

export function createMemoryQueue(context: QueueContext): JobQueue {
  const { database, pool, concurrency } = context.parts;
  const queue = createFairQueue();
  const putBack = ({ userId, seq, kind }: Waiting) => Promise.resolve(queue.putBack(userId, seq, kind));
  const slots = createSlots(context, { putBack, opened: giveOut });

  function giveOut(): void {
    for (;;) {
      const canBegin = slots.canBegin();
      const next = canBegin && queue.take(canBegin);
      if (!next) return;
      slots.take({ ...next, turn: 0 });
    }
  }

  /** A job that was submitted meanwhile may be in the queue twice: the second claim finds that it no longer waits. */
  async function load(which?: { userId: number; last: number }): Promise<void> {
    const waits = await waitingJobs(database, which);
    await pool.know(waits.map(({ needs }) => needs));
    for (const { userId, seq, kind } of waits) queue.add(userId, seq, kind);
    giveOut();
  }

  return {
    start: () => load(),
    enqueue: () => Promise.resolve(),
    waits({ userId, seq, kind }, isFirst) {
      if (isFirst) queue.putBack(userId, seq, kind);
      else queue.add(userId, seq, kind);
      giveOut();
    },
    forget: (userId, seqs) => Promise.resolve(queue.forget(userId, seqs)),
    waitAgain: (userId, last) => load({ userId, last }),
    repair: () => Promise.resolve(),
    takeBack: () => Promise.resolve(),
    changed: giveOut,
    resume: slots.resume,
    // With several slots it is not known which of them takes that job.
    guess: () => (concurrency === 1 ? queue.peek((kind) => pool.canDo(kind, BUILT_IN_RUNNER))?.seq : undefined),
    stop: () => Promise.resolve(),
  };
}
