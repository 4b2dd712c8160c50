// When an asset's bytes were last read. Gathered in memory and written once a second: a gallery must not cost a commit per picture.
// A crash or a full disk may lose the last second of these times, and nothing else.

import { type Database, query } from "../store/database";
import { type StoredAsset } from "./asset-row";

export type AccessTimes = ReturnType<typeof createAccessTimes>;

export function createAccessTimes(database: Database, now: () => number) {
  const unwritten = new Map<number, number>();
  /** Those of the commit that is under way: no longer waiting, and in no row yet. */
  let written = new Map<number, number>();
  let underWay: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  async function write(): Promise<void> {
    if (unwritten.size === 0) return;
    written = new Map(unwritten);
    unwritten.clear();
    try {
      await database.commit(() => {
        for (const [seq, at] of written) database.run(query.updateTable("assets").set({ last_access_time: at }).where("seq", "=", seq));
      });
    } catch {
      // A disk that takes nothing must not keep anybody from reading, and these times are told anew with the next read.
    }
    written = new Map();
  }

  /** Resolves once every time that was told before is in its row. */
  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    underWay = underWay.then(write);
    return underWay;
  }

  return {
    flush,
    touch(asset: StoredAsset): void {
      unwritten.set(asset.seq, now());
      timer ??= setTimeout(() => void flush(), 1000).unref();
    },
    /** The row with a time that is not written yet. */
    fresh: (asset: StoredAsset): StoredAsset => ({
      ...asset,
      last_access_time: unwritten.get(asset.seq) ?? written.get(asset.seq) ?? asset.last_access_time,
    }),
  };
}
