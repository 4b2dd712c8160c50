import { type BlobStore } from "@/lib/service/assets/blob-store";
import { type Folders } from "@/lib/service/assets/folders";
import { type JobEvents } from "@/lib/service/events/job-events";
import { type Runner } from "@/lib/service/nodes/runner";
import { type ServiceLog } from "@/lib/service/options";
import { type Pool } from "@/lib/service/runners/pool";
import { type RemoteLimits } from "@/lib/service/runners/remote-job";
import { toStorageFailure } from "@/lib/service/service-error";
import { type Database, retry, type Transaction } from "@/lib/service/store/database";
import { type Processes } from "@/lib/service/store/processes";
import { withTimeout } from "@/lib/shared/async";
import { isStoreUnavailable } from "@/lib/shared/error-codes";

export type Retries = ReturnType<typeof createRetries>;

/** Once `canWait` returns false, the next failure is thrown. */
export function createRetries(database: Database, canWait: () => boolean) {
  return {
    retryUntilStored: <T>(write: (tx: Transaction) => Promise<T>, undo: () => unknown = () => undefined): Promise<T> =>
      retry(
        () => database.commitWithReserve(write),
        (error) => {
          undo();
          return canWait() && toStorageFailure(error) !== undefined;
        },
      ),

    retryUntilReachable: <T>(task: () => Promise<T>): Promise<T> => retry(task, (error) => canWait() && isStoreUnavailable(error)),
  };
}

export type Background = ReturnType<typeof createBackground>;

export function createBackground(log: ServiceLog) {
  const pendingPromises = new Set<Promise<void>>();
  return {
    add(promise: Promise<void>): void {
      const trackedPromise = promise
        .catch((error: unknown) => log.error({ err: error }, "job end write failed"))
        .finally(() => pendingPromises.delete(trackedPromise));
      pendingPromises.add(trackedPromise);
    },

    async waitAtMost(ms: number): Promise<void> {
      await withTimeout(Promise.all(pendingPromises), ms, () => undefined);
    },

    async drain(): Promise<void> {
      while (pendingPromises.size > 0) await Promise.all(pendingPromises);
    },
  };
}

export type EngineDependencies = {
  database: Database;
  processes: Pick<Processes, "id" | "isHolderMissing" | "isRunElsewhere" | "removeUnresponsive" | "notify">;
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
