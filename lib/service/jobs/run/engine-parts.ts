import { setTimeout as sleep } from "node:timers/promises";
import { type BlobStore } from "@/lib/service/assets/blob-store";
import { type Folders } from "@/lib/service/assets/folders";
import { type JobEvents } from "@/lib/service/events/job-events";
import { type Runner } from "@/lib/service/nodes/runner";
import { type ServiceLog } from "@/lib/service/options";
import { type Pool } from "@/lib/service/runners/pool";
import { type RemoteLimits } from "@/lib/service/runners/remote-job";
import { asStorageFailure } from "@/lib/service/service-error";
import { type Database, type Transaction, whileAway } from "@/lib/service/store/database";
import { type Processes } from "@/lib/service/store/processes";
import { withTimeout } from "@/lib/shared/async";

const PAUSE_MS = 1000;

export type Retries = ReturnType<typeof createRetries>;

/** `mayWait`: once it is false, the first failure is thrown. */
export function createRetries(database: Database, mayWait: () => boolean) {
  return {
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

    untilReachable: <T>(work: () => Promise<T>): Promise<T> =>
      whileAway(work, async (error) => {
        if (!mayWait()) throw error;
        await sleep(PAUSE_MS);
      }),
  };
}

export type Background = ReturnType<typeof createBackground>;

export function createBackground(log: ServiceLog) {
  const underWay = new Set<Promise<void>>();
  return {
    add(work: Promise<void>): void {
      const counted = work
        .catch((error: unknown) => log.error({ err: error }, "how a job ended could not be stored: the next start finds it running"))
        .finally(() => underWay.delete(counted));
      underWay.add(counted);
    },

    async doneWithin(ms: number): Promise<void> {
      await withTimeout(Promise.all(underWay), ms, () => undefined);
    },

    async done(): Promise<void> {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

export type EngineParts = {
  database: Database;
  processes: Pick<Processes, "id" | "isHolderGone" | "isNotRunHere" | "giveUpSilent" | "tell">;
  blobs: BlobStore;
  folders: Folders;
  runner: Runner;
  events: JobEvents;
  pool: Pool;
  remoteLimits: RemoteLimits;
  concurrency: number;
  maxJobPixels: number;
  collect(hash: string): Promise<void>;
  now: () => number;
  log: ServiceLog;
};
