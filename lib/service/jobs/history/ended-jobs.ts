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
  maxCount?: number;
  canContinue: () => boolean;
};

/** Returns how many jobs were removed. */
async function removeEndedJobs(database: Database, { userId, endedUntil, maxCount = Infinity, canContinue }: Removal): Promise<number> {
  let removedCount = 0;
  const canRemoveMore = () => removedCount < maxCount && canContinue();
  await runWithPauses(canRemoveMore, async () => {
    const oldestJobs = selectOldestEnded(userId, endedUntil, Math.min(BATCH_SIZE, maxCount - removedCount));
    const seqs = (await database.rows(oldestJobs)).map((job) => job.seq);
    if (seqs.length === 0) return false;
    removedCount += await database.commitWithReserve((tx) => tx.run(query.deleteFrom("jobs").where("seq", "in", seqs)));
    return true;
  });
  return removedCount;
}

export async function removeEndedByIds(database: Database, userId: number, ids: readonly string[]): Promise<number> {
  const uniqueIds = [...new Set(ids)];
  let removedCount = 0;
  for (let start = 0; start < uniqueIds.length; start += BATCH_SIZE) {
    const batch = uniqueIds.slice(start, start + BATCH_SIZE);
    // Tests each row, so that the planner looks up a few ids instead of scanning the whole history.
    const isOwnEndedJob = ({ rowByRow }: StoreDialect) =>
      sql<boolean>`${rowByRow("user_id")} = ${userId} and ${rowByRow("state")} in (${sql.join(terminalStates)})`;
    removedCount += await database.commitWithReserve((tx) =>
      tx.run(query.deleteFrom("jobs").where("id", "in", batch).where(isOwnEndedJob(tx.dialect))),
    );
  }
  return removedCount;
}

/** Reads each state from its own index, so that no more rows are read than are removed. */
function selectOldestEnded(userId: number, endedUntil: number, limit: number) {
  const [firstSelection, ...otherSelections] = terminalStates.map((state) =>
    query
      .selectFrom("jobs")
      .select(["seq", "create_time", "id"])
      .where("user_id", "=", userId)
      .where(sql<boolean>`state = ${sql.lit(state)}`)
      .where("create_time", "<=", endedUntil)
      .where("state_time", "<=", endedUntil),
  );
  if (!firstSelection) throw new Error("there are no terminal states");
  return otherSelections
    .reduce((union, selection) => union.unionAll(selection), firstSelection)
    .orderBy("create_time")
    .orderBy("id")
    .limit(limit);
}

/** A longer removal continues in the next run of `finishClears`. */
const CLEAR_TIMEOUT_MS = 5000;

/** Returns how many entries were cleared. Marks the user, so that any process can finish the removal. */
export async function clearHistory(database: Database, userId: number, nowMs: number): Promise<number> {
  const entryCount = await countJobs(database, userId, terminalStates);
  if (entryCount === 0) return 0;
  const markQuery = query.updateTable("users").set({ history_cleared_until: nowMs }).where("id", "=", userId);
  await database.commitWithReserve((tx) => tx.run(markQuery));
  const deadlineMs = performance.now() + CLEAR_TIMEOUT_MS;
  await removeClearedJobs(database, { userId, endedUntil: nowMs, canContinue: () => performance.now() < deadlineMs });
  return entryCount;
}

/** Continues unfinished removals of any process. */
export async function finishClears(database: Database, canContinue: () => boolean): Promise<void> {
  const markedUsers = query
    .selectFrom("users")
    .select(["id", "history_cleared_until as endedUntil"])
    .where("history_cleared_until", "is not", null);
  for (const { id, endedUntil } of await database.rows(markedUsers))
    if (endedUntil !== null) await removeClearedJobs(database, { userId: id, endedUntil, canContinue });
}

async function removeClearedJobs(database: Database, removal: Removal): Promise<void> {
  const { userId, endedUntil, canContinue } = removal;
  await removeEndedJobs(database, removal);
  if (!canContinue()) return;
  // Another clear may have set a later mark meanwhile.
  const unmarkQuery = query.updateTable("users").set({ history_cleared_until: null }).where("id", "=", userId);
  await database.commitWithReserve((tx) => tx.run(unmarkQuery.where("history_cleared_until", "=", endedUntil)));
}

const DAY_MS = 86_400_000;

export type RetentionDependencies = {
  database: Database;
  settings: Pick<ServiceSettings, "retentionDays" | "retentionJobs">;
  now: () => number;
};

export function hasRetention({ retentionDays, retentionJobs }: RetentionDependencies["settings"]): boolean {
  return retentionDays !== undefined || retentionJobs !== undefined;
}

export async function applyRetention({ database, settings, now }: RetentionDependencies, canContinue: () => boolean): Promise<number> {
  const { retentionDays, retentionJobs } = settings;
  let removedCount = 0;
  for (const { id: userId } of await database.rows(query.selectFrom("users").select("id"))) {
    if (retentionDays !== undefined) {
      removedCount += await removeEndedJobs(database, { userId, endedUntil: now() - retentionDays * DAY_MS, canContinue });
    }
    if (retentionJobs !== undefined) {
      const excessCount = (await countJobs(database, userId, terminalStates)) - retentionJobs;
      removedCount += await removeEndedJobs(database, { userId, endedUntil: now(), maxCount: excessCount, canContinue });
    }
  }
  return removedCount;
}
