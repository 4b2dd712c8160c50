// Clearing users' histories: every job that had ended when it was asked for. A million of them take minutes. Whoever asked does not wait
// so long: what is left after a while is stored, so that neither a stop nor a crash loses it, and goes in the background.
// What still waits or runs, or ends while this goes on, is left alone; assets stay.

import { type ServiceLog } from "../options";
import { type Database, query } from "../store/database";
import { removeEnded } from "./ended-jobs";

/** Shorter than a stop waits for requests. */
const ANSWER_MS = 20_000;

export type HistoryClears = ReturnType<typeof createHistoryClears>;

export function createHistoryClears(database: Database, log: ServiceLog, answerMs = ANSWER_MS) {
  const background = new Set<Promise<void>>();
  let isStopping = false;

  function keep(userId: number, endedUntil: number | null): Promise<number> {
    const user = query.updateTable("users").set({ history_cleared_until: endedUntil }).where("id", "=", userId);
    return database.commit(() => database.run(user));
  }

  async function clearRest(userId: number, endedUntil: number): Promise<void> {
    await removeEnded(database, { userId, endedUntil, goOn: () => !isStopping });
    if (!isStopping) await keep(userId, null);
  }

  function inBackground(userId: number, endedUntil: number): void {
    const work = clearRest(userId, endedUntil)
      .catch((error: unknown) => log.error({ err: error }, "a history could not be cleared to its end: the next start goes on with it"))
      .finally(() => background.delete(work));
    background.add(work);
  }

  return {
    /** Goes on with what an earlier process left. */
    start(): void {
      const left = query.selectFrom("users").select(["id", "history_cleared_until"]).where("history_cleared_until", "is not", null);
      for (const { id, history_cleared_until: until } of database.rows(left)) if (until !== null) inBackground(id, until);
    },

    /** `isDone` is false where the rest goes in the background. */
    async clear(userId: number, endedUntil: number): Promise<{ removed: number; isDone: boolean }> {
      const late = performance.now() + answerMs;
      let isDone = true;
      const goOn = () => (isDone = !isStopping && performance.now() < late);
      const removed = await removeEnded(database, { userId, endedUntil, goOn });
      if (!isDone) {
        await keep(userId, endedUntil);
        inBackground(userId, endedUntil);
      }
      return { removed, isDone };
    },

    /** What is under way ends after its present piece. */
    async stop(): Promise<void> {
      isStopping = true;
      while (background.size > 0) await Promise.all(background);
    },
  };
}
