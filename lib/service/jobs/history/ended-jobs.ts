import { sql } from "kysely";
import { runWithPauses } from "@/lib/service/housekeeping";
import { type ServiceSettings } from "@/lib/service/settings";
import { type Database, query } from "@/lib/service/store/database";
import { type StoreDialect } from "@/lib/service/store/dialect";
import { countJobs } from "../list-jobs";
import { terminalStates } from "../transitions";

const BATCH_SIZE = 100;

type Removal = {
  userId: number;
  endedUntil: number;
  atMost?: number;
  canContinue: () => boolean;
};

/** Returns how many jobs were removed. */
async function removeEnded(database: Database, { userId, endedUntil, atMost = Infinity, canContinue }: Removal): Promise<number> {
  let removed = 0;
  const canRemoveMore = () => removed < atMost && canContinue();
  await runWithPauses(canRemoveMore, async () => {
    const oldestJobs = selectOldestEnded(userId, endedUntil, Math.min(BATCH_SIZE, atMost - removed));
    const deleted = await database.commitFreeing(async (tx) => {
      const seqs = (await tx.rows(oldestJobs)).map((job) => job.seq);
      if (seqs.length > 0) await tx.run(query.deleteFrom("jobs").where("seq", "in", seqs));
      return seqs.length;
    });
    removed += deleted;
    return deleted > 0;
  });
  return removed;
}

export async function removeEndedByIds(database: Database, userId: number, ids: readonly string[]): Promise<number> {
  const unique = [...new Set(ids)];
  let removed = 0;
  for (let start = 0; start < unique.length; start += BATCH_SIZE) {
    const batch = unique.slice(start, start + BATCH_SIZE);
    // Tests each row, so that the planner looks up a few ids instead of scanning the whole history.
    const isOwnEndedJob = ({ rowByRow }: StoreDialect) =>
      sql<boolean>`${rowByRow("user_id")} = ${userId} and ${rowByRow("state")} in (${sql.join(terminalStates)})`;
    removed += await database.commitFreeing((tx) =>
      tx.run(query.deleteFrom("jobs").where("id", "in", batch).where(isOwnEndedJob(tx.dialect))),
    );
  }
  return removed;
}

/** Reads each state from its own index, so that no more rows are read than are removed. */
function selectOldestEnded(userId: number, endedUntil: number, limit: number) {
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

/** A longer removal continues in the next round of `finishClears`. */
const CLEAR_TIMEOUT_MS = 5000;

/** Returns how many entries were cleared. A mark on the user lets any process finish the removal. */
export async function clearHistory(database: Database, userId: number, at: number): Promise<number> {
  const entries = await countJobs(database, userId, terminalStates);
  if (entries === 0) return 0;
  const mark = query.updateTable("users").set({ history_cleared_until: at }).where("id", "=", userId);
  await database.commitFreeing((tx) => tx.run(mark));
  const deadlineMs = performance.now() + CLEAR_TIMEOUT_MS;
  await removeCleared(database, { userId, endedUntil: at, canContinue: () => performance.now() < deadlineMs });
  return entries;
}

/** Continues unfinished removals of any process. */
export async function finishClears(database: Database, canContinue: () => boolean): Promise<void> {
  const marked = query
    .selectFrom("users")
    .select(["id", "history_cleared_until as endedUntil"])
    .where("history_cleared_until", "is not", null);
  for (const { id, endedUntil } of await database.rows(marked))
    if (endedUntil !== null) await removeCleared(database, { userId: id, endedUntil, canContinue });
}

async function removeCleared(database: Database, removal: Removal): Promise<void> {
  const { userId, endedUntil, canContinue } = removal;
  await removeEnded(database, removal);
  if (!canContinue()) return;
  // Another clear may have set a later mark meanwhile.
  const unmark = query.updateTable("users").set({ history_cleared_until: null }).where("id", "=", userId);
  await database.commitFreeing((tx) => tx.run(unmark.where("history_cleared_until", "=", endedUntil)));
}

const DAY_MS = 86_400_000;

export type RetentionParts = { database: Database; settings: Pick<ServiceSettings, "retentionDays" | "retentionJobs">; now: () => number };

export function hasRetention({ retentionDays, retentionJobs }: RetentionParts["settings"]): boolean {
  return retentionDays !== undefined || retentionJobs !== undefined;
}

export async function applyRetention({ database, settings, now }: RetentionParts, canContinue: () => boolean): Promise<number> {
  const { retentionDays, retentionJobs } = settings;
  let removed = 0;
  for (const { id: userId } of await database.rows(query.selectFrom("users").select("id"))) {
    if (retentionDays !== undefined) {
      removed += await removeEnded(database, { userId, endedUntil: now() - retentionDays * DAY_MS, canContinue });
    }
    if (retentionJobs !== undefined) {
      const excess = (await countJobs(database, userId, terminalStates)) - retentionJobs;
      removed += await removeEnded(database, { userId, endedUntil: now(), atMost: excess, canContinue });
    }
  }
  return removed;
}
