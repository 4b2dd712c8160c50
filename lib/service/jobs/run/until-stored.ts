// Writes that must not be lost because the disk is full or the database away: a job that has ended, or goes on elsewhere, would stay marked
// as running.

import { setTimeout as sleep } from "node:timers/promises";
import { asStorageFailure } from "@/lib/service/storage-failure";
import { type Database, type Transaction } from "@/lib/service/store/database";
import { whileAway } from "@/lib/service/store/while-away";

const PAUSE_MS = 1000;

export type Patience = ReturnType<typeof createPatience>;

/** `mayWait`: once it is false, the first failure is thrown. */
export function createPatience(database: Database, mayWait: () => boolean) {
  return {
    /** Commits until the disk and the database accept it. `undo`: reverts what was noted in a commit that failed. */
    async untilStored<T>(write: (tx: Transaction) => Promise<T>, undo: () => unknown = () => undefined): Promise<T> {
      for (;;) {
        try {
          return await database.commitFreeing(write);
        } catch (error) {
          undo();
          if (!mayWait() || !asStorageFailure(error)) throw error;
          await sleep(PAUSE_MS);
        }
      }
    },

    /** Tries again while the database does not answer. */
    untilThere: <T>(work: () => Promise<T>): Promise<T> =>
      whileAway(work, async (error) => {
        if (!mayWait()) throw error;
        await sleep(PAUSE_MS);
      }),
  };
}
