// Which assets have changed, in order, for what is kept of them in memory: everything kept knows up to where it has read, and reads on
// before it is used. Bounded: whoever has not read for so long that the beginning was dropped is told so, and starts anew.

import { type SqliteDatabase } from "@/lib/service/store/sqlite";

export type Changes = ReturnType<typeof followChanges>;

const MOST_KEPT = 50_000;

export function followChanges(database: SqliteDatabase, mostKept = MOST_KEPT) {
  let begin = 0;
  /** How far the furthest reader is. */
  let readUntil = 0;
  let seqs: number[] = [];
  let kinds: number[] = [];

  database.listenToAssets((seq, changed) => {
    if (changed === 0) return;
    const last = seqs.length - 1;
    // An asset with its tags is many changes of one row, and nothing is read between them.
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
    /** Where a reader that begins now starts. */
    end,

    /** Each asset once that changed in one of the `wanted` ways from there on; undefined where that is no longer known. */
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
