import { sql } from "kysely";
import { unhurried } from "@/lib/service/housekeeping";
import { type ServiceLog } from "@/lib/service/options";
import { type ServiceSettings } from "@/lib/service/settings";
import { type Database, query } from "@/lib/service/store/database";
import { type StoreDialect } from "@/lib/service/store/dialect";
import { withTimeout } from "@/lib/shared/async";
import { countJobs } from "../list-jobs";
import { terminalStates } from "../transitions";

const AT_ONCE = 100;

type Removal = {
  userId: number;
  endedUntil: number;
  atMost?: number;
  goOn: () => boolean;
};

/** Returns how many jobs were removed. */
async function removeEnded(database: Database, { userId, endedUntil, atMost = Infinity, goOn }: Removal): Promise<number> {
  let removed = 0;
  const mayGoOn = () => removed < atMost && goOn();
  await unhurried(mayGoOn, async () => {
    const oldest = oldestEnded(userId, endedUntil, Math.min(AT_ONCE, atMost - removed));
    const gone = await database.commitFreeing(async (tx) => {
      const seqs = (await tx.rows(oldest)).map((job) => job.seq);
      return seqs.length === 0 ? 0 : tx.run(query.deleteFrom("jobs").where("seq", "in", seqs));
    });
    removed += gone;
    return gone > 0;
  });
  return removed;
}

export async function removeEndedByIds(database: Database, userId: number, ids: readonly string[]): Promise<number> {
  const unique = [...new Set(ids)];
  let removed = 0;
  for (let start = 0; start < unique.length; start += AT_ONCE) {
    const some = unique.slice(start, start + AT_ONCE);
    // Row by row, which keeps the planner from walking the whole history instead of looking up a few ids.
    const isOwn = ({ rowByRow }: StoreDialect) =>
      sql<boolean>`${rowByRow("user_id")} = ${userId} and ${rowByRow("state")} in (${sql.join(terminalStates)})`;
    removed += await database.commitFreeing((tx) => tx.run(query.deleteFrom("jobs").where("id", "in", some).where(isOwn(tx.dialect))));
  }
  return removed;
}

/** Each state is read from its own index, so that no more rows are read than are removed. */
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

/** A longer removal continues in the background. */
const CLEAR_ANSWER_MS = 5000;

export type HistoryClears = ReturnType<typeof createHistoryClears>;

/** Clears histories. A mark on the user lets the next start continue. */
export function createHistoryClears(database: Database, log: ServiceLog) {
  const removals = new Map<number, Promise<void>>();
  let isStopping = false;

  async function removeCleared(userId: number): Promise<void> {
    const user = await database.row(query.selectFrom("users").select("history_cleared_until").where("id", "=", userId));
    const endedUntil = user?.history_cleared_until ?? undefined;
    if (endedUntil === undefined) return;
    await removeEnded(database, { userId, endedUntil, goOn: () => !isStopping });
    if (isStopping) return;
    // Another clear may have set a later mark meanwhile.
    const unmark = query.updateTable("users").set({ history_cleared_until: null }).where("id", "=", userId);
    await database.commitFreeing((tx) => tx.run(unmark.where("history_cleared_until", "=", endedUntil)));
  }

  function startRemoval(userId: number): Promise<void> {
    const previous = removals.get(userId) ?? Promise.resolve();
    const removal = previous
      .then(() => removeCleared(userId))
      .catch((error: unknown) => log.error({ err: error }, "history removal failed"))
      .finally(() => removals.get(userId) === removal && removals.delete(userId));
    removals.set(userId, removal);
    return removal;
  }

  return {
    /** Continues unfinished removals of any process. */
    async round(): Promise<void> {
      const marked = query.selectFrom("users").select("id").where("history_cleared_until", "is not", null);
      for (const { id } of await database.rows(marked)) if (!isStopping && !removals.has(id)) void startRemoval(id);
    },

    /** Returns how many entries were cleared. */
    async clear(userId: number, at: number): Promise<number> {
      const entries = await countJobs(database, userId, terminalStates);
      if (entries === 0) return 0;
      const mark = query.updateTable("users").set({ history_cleared_until: at }).where("id", "=", userId);
      await database.commitFreeing((tx) => tx.run(mark));
      await withTimeout(startRemoval(userId), CLEAR_ANSWER_MS, () => undefined);
      return entries;
    },

    async stop(): Promise<void> {
      isStopping = true;
      await Promise.all(removals.values());
    },
  };
}

const DAY_MS = 86_400_000;

export type RetentionParts = { database: Database; settings: Pick<ServiceSettings, "retentionDays" | "retentionJobs">; now: () => number };

export function hasRetention({ retentionDays, retentionJobs }: RetentionParts["settings"]): boolean {
  return retentionDays !== undefined || retentionJobs !== undefined;
}

export async function applyRetention({ database, settings, now }: RetentionParts, goOn: () => boolean): Promise<number> {
  const { retentionDays, retentionJobs } = settings;
  let removed = 0;
  for (const { id: userId } of await database.rows(query.selectFrom("users").select("id"))) {
    if (retentionDays !== undefined) {
      removed += await removeEnded(database, { userId, endedUntil: now() - retentionDays * DAY_MS, goOn });
    }
    if (retentionJobs !== undefined) {
      const atMost = (await countJobs(database, userId, terminalStates)) - retentionJobs;
      removed += await removeEnded(database, { userId, endedUntil: now(), atMost, goOn });
    }
  }
  return removed;
}
