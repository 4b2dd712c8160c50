// What waits, in memory: round robin between users, submission order within one.
// Holds numbers only; whether a job still is pending is asked of the store when it is taken.

export function createFairQueue() {
  /** Users take turns in this map's order: whoever was served goes to its end. */
  const waiting = new Map<number, { seqs: number[]; head: number }>();

  return {
    add(userId: number, seq: number): void {
      const queue = waiting.get(userId);
      if (queue) queue.seqs.push(seq);
      else waiting.set(userId, { seqs: [seq], head: 0 });
    },

    /** Back to the front of its user's line. */
    putBack(userId: number, seq: number): void {
      const queue = waiting.get(userId);
      if (queue) waiting.set(userId, { seqs: [seq, ...queue.seqs.slice(queue.head)], head: 0 });
      else waiting.set(userId, { seqs: [seq], head: 0 });
    },

    take(): { userId: number; seq: number } | undefined {
      for (const [userId, queue] of waiting) {
        waiting.delete(userId);
        const seq = queue.seqs[queue.head];
        if (seq === undefined) continue;
        queue.head += 1;
        if (queue.head > 1024 && queue.head * 2 > queue.seqs.length) {
          queue.seqs.splice(0, queue.head);
          queue.head = 0;
        }
        if (queue.head < queue.seqs.length) waiting.set(userId, queue);
        return { userId, seq };
      }
      return undefined;
    },

    forget(userId: number): void {
      waiting.delete(userId);
    },
  };
}
