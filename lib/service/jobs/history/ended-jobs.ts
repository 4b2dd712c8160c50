// Removes jobs that have ended, oldest first and in small commits: a million of them must not hold up other requests.
// A job's inputs and results are removed with it; its assets stay. Waiting and running jobs are never touched.

import { type RawBuilder, sql } from "kysely";
import { unhurried } from "@/lib/service/housekeeping";
import { type Database, query, type Transaction } from "@/lib/service/store/database";
import { type StoreDialect } from "@/lib/service/store/dialect/dialect";
import { isBeingCleared, wasCleared } from "../history-cleared";
import { terminalStates } from "../transitions";

/** Takes about twenty milliseconds of a commit. */
const AT_ONCE = 100;

export type Removal = {
  userId: number;
  /** Only jobs that ended by then. */
  endedUntil: number;
  /** At most this many, the oldest first. */
  atMost?: number;
  /** Called between commits; false ends the work early. */
  goOn?: () => boolean;
};

/** Returns how many jobs were removed. */
export async function removeEnded(database: Database, { userId, endedUntil, atMost = Infinity, goOn }: Removal): Promise<number> {
  let removed = 0;
  while (removed < atMost && (goOn?.() ?? true)) {
    const limit = Math.min(AT_ONCE, atMost - removed);
    const gone = await database.commitFreeing(async (tx) => {
      const seqs = (await tx.rows(oldestEnded(userId, endedUntil, limit))).map((job) => job.seq);
      return seqs.length === 0 ? 0 : tx.run(query.deleteFrom("jobs").where("seq", "in", seqs));
    });
    if (gone === 0) break;
    removed += gone;
  }
  return removed;
}

/**
 * Removes the rows that a cleared history still has; the mark is removed after the last of them. `isOwn`: false if another process does it
 * from now on.
 */
export async function removeCleared(
  database: Database,
  userId: number,
  { goOn, isOwn }: { goOn: () => boolean; isOwn: () => Promise<boolean> },
): Promise<void> {
  const removeSome = async (tx: Transaction) => {
    // Without the mark nothing was cleared: every job that has ended would look cleared.
    if (!(await isBeingCleared(tx, userId))) return 0;
    const seqs = (await tx.rows(oldestEnded(userId, Number.MAX_SAFE_INTEGER, AT_ONCE, wasCleared))).map((job) => job.seq);
    if (seqs.length > 0) return tx.run(query.deleteFrom("jobs").where("seq", "in", seqs));
    await tx.run(query.updateTable("users").set({ history_cleared_until: null }).where("id", "=", userId));
    await tx.run(query.deleteFrom("ended_since_clear").where("user_id", "=", userId));
    return 0;
  };
  await unhurried(goOn, async () => (await isOwn()) && (await database.commitFreeing(removeSome)) > 0);
}

/** Removes those of `ids` that belong to the user and have ended. Returns how many were removed. */
export async function removeEndedByIds(database: Database, userId: number, ids: readonly string[]): Promise<number> {
  const asked = [...new Set(ids)];
  let removed = 0;
  for (let start = 0; start < asked.length; start += AT_ONCE) {
    const some = asked.slice(start, start + AT_ONCE);
    // Row by row, which keeps the planner from walking the whole history instead of looking up a few ids.
    const isOwn = ({ rowByRow }: StoreDialect) =>
      sql<boolean>`${rowByRow("user_id")} = ${userId} and ${rowByRow("state")} in (${sql.join(terminalStates)})`;
    removed += await database.commitFreeing(async (tx) => {
      const removal = query.deleteFrom("jobs").where("id", "in", some).where(isOwn(tx.dialect));
      // Jobs that were cleared before are gone already, and are not counted again.
      return tx.run((await isBeingCleared(tx, userId)) ? removal.where(sql<boolean>`not ${wasCleared}`) : removal);
    });
  }
  return removed;
}

/** Each state is read from its own index, so that no more rows are read than are removed. */
function oldestEnded(userId: number, endedUntil: number, limit: number, also: RawBuilder<boolean> = sql`true`) {
  const [first, ...others] = terminalStates.map((state) =>
    query
      .selectFrom("jobs")
      .select(["seq", "create_time", "id"])
      .where("user_id", "=", userId)
      .where(sql<boolean>`state = ${sql.lit(state)}`)
      .where("create_time", "<=", endedUntil)
      .where("state_time", "<=", endedUntil)
      .where(also),
  );
  if (!first) throw new Error("there are no terminal states");
  return others
    .reduce((merged, branch) => merged.unionAll(branch), first)
    .orderBy("create_time")
    .orderBy("id")
    .limit(limit);
}
