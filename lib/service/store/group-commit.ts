// Commits all writes of one event loop turn together. A failing part is undone alone. On a full disk, freeing work uses the reserve.

import { ensureReserve, releaseReserve } from "@/lib/shared/database/disk-reserve";
import { isFullDisk } from "@/lib/shared/error-codes";
import { type Transaction } from "./database";

type Work<T> = (tx: Transaction) => Promise<T>;
type PendingWork = { freesRoom: boolean; work: Work<unknown>; settle: (outcome: Outcome) => void };
type Outcome = { ok: true; value: unknown } | { ok: false; value: unknown };

export function createGroupCommit(transaction: <T>(work: Work<T>) => Promise<T>, isOpen: () => boolean, folder?: string) {
  let pendingWork: PendingWork[] = [];
  let runningCommit: Promise<void> | undefined;

  async function flush(): Promise<void> {
    while (runningCommit) await runningCommit;
    const batch = pendingWork;
    pendingWork = [];
    if (batch.length === 0) return;
    let end = (): void => undefined;
    runningCommit = new Promise((resolve) => (end = resolve));
    const outcomes = await commitAll(batch);
    runningCommit = undefined;
    end();
    batch.forEach((item, index) => {
      const outcome = outcomes[index];
      if (outcome) item.settle(outcome);
    });
  }

  async function commitAll(batch: readonly PendingWork[]): Promise<Outcome[]> {
    const sharedResult = await attempt(() => transaction((tx) => runInOrder(tx, batch)));
    if (sharedResult.ok) return sharedResult.value;
    // The shared commit itself failed (a full disk, a lost file), so nothing of the batch is stored.
    const failure: Outcome = { ok: false, value: sharedResult.value };
    const freeing = batch.filter(({ freesRoom }) => freesRoom);
    if (folder === undefined || !isFullDisk(sharedResult.value) || freeing.length === 0) return batch.map(() => failure);
    const result = await attempt(async () => {
      releaseReserve(folder);
      try {
        return await transaction((tx) => runInOrder(tx, freeing));
      } finally {
        ensureReserve(folder);
      }
    });
    const outcomes = result.ok ? [...result.value] : [];
    return batch.map(({ freesRoom }) => (freesRoom && outcomes.shift()) || failure);
  }

  async function runInOrder(tx: Transaction, batch: readonly PendingWork[]): Promise<Outcome[]> {
    const outcomes: Outcome[] = [];
    for (const { work } of batch) {
      // A single part needs no savepoint, because its writes are undone with the transaction.
      const outcome = await attempt(() => (batch.length === 1 ? work(tx) : tx.attempt(() => work(tx))));
      // After a disk error, SQLite rolls everything back. The whole batch has failed then, and no later part may commit on its own.
      if (!outcome.ok && (batch.length === 1 || !isOpen())) throw outcome.value;
      outcomes.push(outcome);
    }
    return outcomes;
  }

  return {
    flush,
    /** Resolves when the current commit has ended. Another one may have begun by then. */
    underWay: () => runningCommit,
    commit<T>(work: Work<T>, freesRoom = false): Promise<T> {
      if (pendingWork.length === 0) setImmediate(() => void flush());
      return new Promise<T>((resolve, reject) => {
        let result: { value: T } | undefined;
        pendingWork.push({
          freesRoom,
          work: async (tx) => (result = { value: await work(tx) }),
          settle: (outcome) => (outcome.ok && result ? resolve(result.value) : reject(outcome.value)),
        });
      });
    },
  };
}

async function attempt<T>(work: () => Promise<T>): Promise<{ ok: true; value: T } | { ok: false; value: unknown }> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    return { ok: false, value: error };
  }
}
