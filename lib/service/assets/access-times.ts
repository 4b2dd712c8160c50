// Records when an asset's bytes were last read. Commits once a second, so that a gallery doesn't cause a commit per image.

import { sql } from "kysely";
import { type Database, toStatement } from "../store/database";
import { type StoredAsset } from "./asset-view";

export type AccessTimes = ReturnType<typeof createAccessTimes>;

const BATCH_SIZE = 500;

export function createAccessTimes(database: Pick<Database, "commit">, now: () => number) {
  const pendingTimes = new Map<number, number>();
  /** Times of the last commit. Rows that were read before it ended don't contain them yet. */
  let timesInCommit = new Map<number, number>();
  let pendingCommit: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  async function writePendingTimes(): Promise<void> {
    if (pendingTimes.size === 0) return;
    timesInCommit = new Map(pendingTimes);
    pendingTimes.clear();
    try {
      // PostgreSQL treats the values of a VALUES list as text unless they are cast.
      const times = [...timesInCommit].map(([seq, timeMs]) => sql`(cast(${seq} as bigint), cast(${timeMs} as bigint))`);
      await database.commit(async (tx) => {
        for (let start = 0; start < times.length; start += BATCH_SIZE) {
          const batch = sql.join(times.slice(start, start + BATCH_SIZE));
          await tx.run(
            // Another process may have written a later time.
            toStatement(
              sql`update assets set last_access_time = ${tx.dialect.greatest(sql.ref("last_access_time"), sql.ref("times.column2"))} from (values ${batch}) as times where seq = times.column1`,
            ),
          );
        }
      });
    } catch {
      // A full disk must not block reads. The next read of an asset records its time again.
      timesInCommit = new Map();
    }
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    pendingCommit = pendingCommit.then(writePendingTimes);
    return pendingCommit;
  }

  return {
    flush,
    touch(asset: StoredAsset): void {
      pendingTimes.set(asset.seq, now());
      timer ??= setTimeout(() => void flush(), 1000).unref();
    },
    withLatestAccessTime: (asset: StoredAsset): StoredAsset => ({
      ...asset,
      last_access_time: pendingTimes.get(asset.seq) ?? Math.max(timesInCommit.get(asset.seq) ?? 0, asset.last_access_time),
    }),
  };
}
