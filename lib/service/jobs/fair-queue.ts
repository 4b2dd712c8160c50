// What waits, in memory: round robin between users, submission order within one. The next job is that of the user who was
// served longest ago, so a user's first job does not wait behind the second one of a user who just had a turn.
// Holds numbers only; whether a job still is pending is asked of the store when it is taken.

/** `gone` was cancelled while it waited: it is passed over, as taking it out would copy the whole line each time. */
type Line = { seqs: number[]; head: number; gone: Set<number> };

export type FairQueue = ReturnType<typeof createFairQueue>;

export function createFairQueue() {
  const waiting = new Map<number, Line>();
  /** The turn in which a user was last served; never forgotten, as there are only as many as users. */
  const served = new Map<number, number>();
  let turns = 0;

  /** Of users who were served equally long ago, who came first. */
  function nextUser(): number | undefined {
    let next: number | undefined;
    let longestAgo = Infinity;
    for (const userId of waiting.keys()) {
      const turn = served.get(userId) ?? 0;
      if (turn >= longestAgo) continue;
      next = userId;
      longestAgo = turn;
    }
    return next;
  }

  /** Undefined when the line has come to its end: then it is forgotten. */
  function takeFrom(userId: number, line: Line): number | undefined {
    while (line.head < line.seqs.length) {
      const seq = line.seqs[line.head++];
      if (seq === undefined || line.gone.delete(seq)) continue;
      if (line.head >= line.seqs.length) waiting.delete(userId);
      else if (line.head > 1024 && line.head * 2 > line.seqs.length) {
        line.seqs.splice(0, line.head);
        line.head = 0;
      }
      return seq;
    }
    waiting.delete(userId);
    return undefined;
  }

  return {
    /** How many wait, at the most: what was cancelled may still be counted. */
    size: () => [...waiting.values()].reduce((sum, { seqs, head }) => sum + seqs.length - head, 0),

    add(userId: number, seq: number): void {
      const line = waiting.get(userId);
      if (line) line.seqs.push(seq);
      else waiting.set(userId, { seqs: [seq], head: 0, gone: new Set() });
    },

    /** Back to the front of its user's line. */
    putBack(userId: number, seq: number): void {
      const { seqs, head, gone } = waiting.get(userId) ?? { seqs: [], head: 0, gone: new Set<number>() };
      waiting.set(userId, { seqs: [seq, ...seqs.slice(head)], head: 0, gone });
    },

    take(): { userId: number; seq: number } | undefined {
      for (let userId = nextUser(); userId !== undefined; userId = nextUser()) {
        const line = waiting.get(userId);
        const seq = line && takeFrom(userId, line);
        if (seq === undefined) continue;
        served.set(userId, ++turns);
        return { userId, seq };
      }
      return undefined;
    },

    /** What `take` would give now. */
    peek(): number | undefined {
      const line = waiting.get(nextUser() ?? NaN);
      for (let at = line?.head ?? 0; line && at < line.seqs.length; at++) {
        const seq = line.seqs[at];
        if (seq !== undefined && !line.gone.has(seq)) return seq;
      }
      return undefined;
    },

    /** What was cancelled while it waited takes no turn: these of the user, or all. */
    forget(userId: number, seqs?: readonly number[]): void {
      if (!seqs) waiting.delete(userId);
      else for (const seq of seqs) waiting.get(userId)?.gone.add(seq);
    },
  };
}
