// The waiting jobs, in memory: round robin between users, submission order within a user. The next job is that of the user who was served
// longest ago, so a user's first job does not wait behind the second one of a user who just had a turn.
// Jobs have kinds: the caller says which kinds it can do, and a job that it cannot do holds up none that it can.
// Holds numbers only; whether a job is still pending is read from the store when the job is taken.

import { type Waiting } from "../run/job-queue";

/** `gone`: cancelled while they waited. They are skipped, since removing one would copy the whole line each time. */
type Line = { seqs: number[]; head: number; gone: Set<number> };
type CanDo = (kind: string) => boolean;

export type FairQueue = ReturnType<typeof createFairQueue>;

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
    /** At most how many of these wait: cancelled jobs may still be counted. */
    size(canDo: CanDo = anything): number {
      let sum = 0;
      for (const lines of waiting.values()) for (const [kind, { seqs, head }] of lines) if (canDo(kind)) sum += seqs.length - head;
      return sum;
    },

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
