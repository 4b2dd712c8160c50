// Clears users' histories: once the request is answered, no view shows a job that had ended when it came. Removing the rows of a million
// jobs takes minutes and goes on in the background, at the first of the processes; the mark is stored, so a stop or a crash loses nothing.
// Jobs that still wait or run, or that end meanwhile, are left alone; assets stay.

import { isFirst } from "@/lib/service/housekeeping";
import { type ServiceLog } from "@/lib/service/options";
import { type Database, query, type Transaction } from "@/lib/service/store/database";
import { type Processes } from "@/lib/service/store/processes";
import { countJobs } from "../list-jobs";
import { terminalStates } from "../transitions";
import { removeCleared } from "./ended-jobs";

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

  /** Continues every removal that is unfinished, whichever process began it. */
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

    /** Returns how many entries were cleared. */
    async clear(userId: number, at: number): Promise<number> {
      const entries = await database.commitFreeing(async (tx) => {
        const marked = await mark(tx, userId, at);
        if (marked > 0) await processes.tell(CHANNEL, null, tx);
        return marked;
      });
      if (entries > 0 && (await isFirst(processes))) inBackground(userId);
      return entries;
    },

    /** A removal that is under way ends after its current piece. */
    async stop(): Promise<void> {
      isStopping = true;
      await Promise.all(underWay.values());
    },
  };
}
