// Removing jobs that have ended, oldest first and in small commits: a million of them must not hold up anybody's request.
// With a job go its inputs and results; its assets stay. What waits or runs is never touched.

import { sql } from "kysely";
import { type Database, query } from "../store/database";
import { terminalStates } from "./transitions";

/** Some ten milliseconds of a commit. */
const AT_ONCE = 200;

export type Removal = {
  userId: number;
  /** Only what ended until then. */
  endedUntil: number;
  /** No more than so many, the oldest. */
  atMost?: number;
  /** Asked between commits; false ends the work early. */
  goOn?: () => boolean;
};

/** Returns how many jobs went. */
export async function removeEnded(database: Database, { userId, endedUntil, atMost = Infinity, goOn }: Removal): Promise<number> {
  let removed = 0;
  while (removed < atMost && (goOn?.() ?? true)) {
    const limit = Math.min(AT_ONCE, atMost - removed);
    const gone = await database.commit(() => {
      const seqs = database.rows(oldestEnded(userId, endedUntil, limit)).map((job) => job.seq);
      return seqs.length === 0 ? 0 : database.run(query.deleteFrom("jobs").where("seq", "in", seqs));
    });
    if (gone === 0) break;
    removed += gone;
  }
  return removed;
}

/** Those of `ids` that are the user's and have ended. Returns how many went. */
export async function removeEndedByIds(database: Database, userId: number, ids: readonly string[]): Promise<number> {
  const asked = [...new Set(ids)];
  let removed = 0;
  for (let start = 0; start < asked.length; start += AT_ONCE) {
    const some = asked.slice(start, start + AT_ONCE);
    const removal = query.deleteFrom("jobs").where("user_id", "=", userId).where("state", "in", terminalStates).where("id", "in", some);
    removed += await database.commit(() => database.run(removal));
  }
  return removed;
}

/** Each state is walked in its own index, so that no more rows are read than go. */
function oldestEnded(userId: number, endedUntil: number, limit: number) {
  const [first, ...others] = terminalStates.map((state) =>
    query
      .selectFrom("jobs")
      .select(["seq", "create_time", "id"])
      .where("user_id", "=", userId)
      .where(sql<boolean>`state = ${sql.lit(state)}`)
      .where("create_time", "<=", endedUntil)
      .where("state_time", "<=", endedUntil),
  );
  if (!first) throw new Error("there are no terminal states");
  return others
    .reduce((merged, branch) => merged.unionAll(branch), first)
    .orderBy("create_time")
    .orderBy("id")
    .limit(limit);
}
