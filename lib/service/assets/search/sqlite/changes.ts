// Records in order which assets have changed, for everything that is kept of them in memory: each reader knows how far it has read, and
// reads on before it is used.
// Bounded: old changes are dropped; a reader that needs them gets that as its answer, and starts again.

import { type SqliteDatabase } from "@/lib/service/store/sqlite";

export type Changes = ReturnType<typeof followChanges>;

const MOST_KEPT = 50_000;

export function followChanges(database: SqliteDatabase, mostKept = MOST_KEPT) {
  let begin = 0;
  /** How far the most advanced reader has read. */
  let readUntil = 0;
  let seqs: number[] = [];
  let kinds: number[] = [];

  database.listenToAssets((seq, changed) => {
    if (changed === 0) return;
    const last = seqs.length - 1;
    // Creating an asset with its tags makes many changes of one row; they are merged if no reader has read in between.
    if (seqs[last] === seq && readUntil <= begin + last) {
      kinds[last] = (kinds[last] ?? 0) | changed;
      return;
    }
    if (seqs.length >= mostKept) {
      begin += seqs.length;
      seqs = [];
      kinds = [];
    }
    seqs.push(seq);
    kinds.push(changed);
  });

  function end(): number {
    readUntil = begin + seqs.length;
    return readUntil;
  }

  return {
    /** Where a reader that starts now begins. */
    end,

    /** The assets that changed in one of the `wanted` ways since `position`, each once; undefined if that is no longer known. */
    since(position: number, wanted: number): number[] | undefined {
      if (position < begin) return undefined;
      if (position === end()) return [];
      const changed = new Set<number>();
      for (let at = position - begin; at < seqs.length; at += 1) {
        const seq = seqs[at];
        if (seq !== undefined && ((kinds[at] ?? 0) & wanted) !== 0) changed.add(seq);
      }
      return [...changed];
    },
  };
}
