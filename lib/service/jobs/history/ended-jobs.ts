import { type RawBuilder, sql } from "kysely";
import { isFirst, unhurried } from "@/lib/service/housekeeping";
import { type ServiceLog } from "@/lib/service/options";
import { type ServiceSettings } from "@/lib/service/settings";
import { type Database, query, type Transaction } from "@/lib/service/store/database";
import { type StoreDialect } from "@/lib/service/store/dialect/dialect";
import { type Processes } from "@/lib/service/store/processes";
import { countJobs } from "../list-jobs";
import { isBeingCleared, terminalStates, wasCleared } from "../transitions";

const AT_ONCE = 100;

type Removal = {
  userId: number;
  endedUntil: number;
  atMost?: number;
  goOn?: () => boolean;
};

async function removeEnded(database: Database, { userId, endedUntil, atMost = Infinity, goOn }: Removal): Promise<number> {
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
async function removeCleared(
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

export type HistoryClears = ReturnType<typeof createHistoryClears>;

const CHANNEL = "history cleared";

export function createHistoryClears(database: Database, processes: Processes, log: ServiceLog) {
  const underWay = new Map<number, Promise<void>>();
  let isStopping = false;

  function inBackground(userId: number): void {
    if (isStopping) return;
    // A removal that is under way may have looked for the last time, so one more runs after it.
    const before = underWay.get(userId) ?? Promise.resolve();
    const work = before
      .then(() => removeCleared(database, userId, { goOn: () => !isStopping, isOwn: () => isFirst(processes) }))
      .catch((error: unknown) => log.error({ err: error }, "a cleared history could not be removed: it is tried again"))
      .finally(() => underWay.get(userId) === work && underWay.delete(userId));
    underWay.set(userId, work);
  }

  /** Inside a commit. Returns how many entries will be removed. */
  async function mark(tx: Transaction, userId: number, at: number): Promise<number> {
    const entries = await countJobs(tx, userId, terminalStates);
    if (entries === 0) return 0;
    await tx.run(query.deleteFrom("ended_since_clear").where("user_id", "=", userId));
    await tx.run(query.updateTable("users").set({ history_cleared_until: at }).where("id", "=", userId));
    return entries;
  }

  async function round(): Promise<void> {
    if (!(await isFirst(processes))) return;
    const left = query.selectFrom("users").select("id").where("history_cleared_until", "is not", null);
    for (const { id } of await database.rows(left)) if (!underWay.has(id)) inBackground(id);
  }

  return {
    round,

    async start(): Promise<void> {
      const onNotice = () =>
        void round().catch((error: unknown) => log.warn({ err: error }, "a cleared history is removed a little later"));
      processes.listen(CHANNEL, onNotice, onNotice);
      await round();
    },

    async clear(userId: number, at: number): Promise<number> {
      const entries = await database.commitFreeing(async (tx) => {
        const marked = await mark(tx, userId, at);
        if (marked > 0) await processes.tell(CHANNEL, null, tx);
        return marked;
      });
      if (entries > 0 && (await isFirst(processes))) inBackground(userId);
      return entries;
    },

    async stop(): Promise<void> {
      isStopping = true;
      await Promise.all(underWay.values());
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
