// What waits, in memory: round robin between users, submission order within one. The next job is that of the user who was
// served longest ago, so somebody who comes with a first job is not behind the second one of who just had a turn.
// Holds numbers only; whether a job still is pending is asked of the store when it is taken.

type Line = { seqs: number[]; head: number };

export type FairQueue = ReturnType<typeof createFairQueue>;

export function createFairQueue() {
  const waiting = new Map<number, Line>();
  /** The turn in which a user was last served; nobody is forgotten, there are as many as users. */
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

  function setLine(userId: number, line: Line): void {
    if (line.head >= line.seqs.length) waiting.delete(userId);
    else waiting.set(userId, line);
  }

  return {
    /** How many wait. */
    size: () => [...waiting.values()].reduce((sum, { seqs, head }) => sum + seqs.length - head, 0),

    add(userId: number, seq: number): void {
      const line = waiting.get(userId);
      if (line) line.seqs.push(seq);
      else waiting.set(userId, { seqs: [seq], head: 0 });
    },

    /** Back to the front of its user's line. */
    putBack(userId: number, seq: number): void {
      const line = waiting.get(userId);
      waiting.set(userId, { seqs: [seq, ...(line ? line.seqs.slice(line.head) : [])], head: 0 });
    },

    take(): { userId: number; seq: number } | undefined {
      const userId = nextUser();
      const line = userId === undefined ? undefined : waiting.get(userId);
      const seq = line?.seqs[line.head];
      if (userId === undefined || line === undefined || seq === undefined) return undefined;
      served.set(userId, ++turns);
      line.head += 1;
      if (line.head > 1024 && line.head * 2 > line.seqs.length) {
        line.seqs.splice(0, line.head);
        line.head = 0;
      }
      setLine(userId, line);
      return { userId, seq };
    },

    /** What was cancelled while it waited takes no turn: these of the user, or all. */
    forget(userId: number, seqs?: readonly number[]): void {
      const line = waiting.get(userId);
      if (!line) return;
      const gone = seqs && new Set(seqs);
      setLine(userId, { seqs: gone ? line.seqs.slice(line.head).filter((seq) => !gone.has(seq)) : [], head: 0 });
    },
  };
}
