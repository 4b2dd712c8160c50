// Commits all writes of one event loop turn together. Failed work is rolled back alone. On a full disk, work that frees space uses the reserve.

import { ensureReserve, releaseReserve } from "@/lib/shared/database/disk-reserve";
import { isFullDisk } from "@/lib/shared/error-codes";
import { type Transaction } from "./database";

type Work<T> = (tx: Transaction) => Promise<T>;
type PendingWork = { usesReserve: boolean; work: Work<unknown>; settle: (outcome: Outcome) => void };
type Outcome = { ok: true; value: unknown } | { ok: false; value: unknown };

export function createGroupCommit(runTransaction: <T>(work: Work<T>) => Promise<T>, isOpen: () => boolean, folder?: string) {
  let pendingWork: PendingWork[] = [];
  let runningCommit: Promise<void> | undefined;

  async function flush(): Promise<void> {
    while (runningCommit) await runningCommit;
    const batch = pendingWork;
    pendingWork = [];
    if (batch.length === 0) return;
    let resolveCommit = (): void => undefined;
    runningCommit = new Promise((resolve) => (resolveCommit = resolve));
    const outcomes = await commitAll(batch);
    runningCommit = undefined;
    resolveCommit();
    batch.forEach((item, index) => {
      const outcome = outcomes[index];
      if (outcome) item.settle(outcome);
    });
  }

  async function commitAll(batch: readonly PendingWork[]): Promise<Outcome[]> {
    const sharedResult = await captureOutcome(() => runTransaction((tx) => runInOrder(tx, batch)));
    if (sharedResult.ok) return sharedResult.value;
    // The shared commit itself failed (a full disk, a lost file), so nothing of the batch is stored.
    const failure: Outcome = { ok: false, value: sharedResult.value };
    const freeingWork = batch.filter(({ usesReserve }) => usesReserve);
    if (folder === undefined || !isFullDisk(sharedResult.value) || freeingWork.length === 0) return batch.map(() => failure);
    const result = await captureOutcome(async () => {
      releaseReserve(folder);
      try {
        return await runTransaction((tx) => runInOrder(tx, freeingWork));
      } finally {
        ensureReserve(folder);
      }
    });
    const outcomes = result.ok ? [...result.value] : [];
    return batch.map(({ usesReserve }) => (usesReserve && outcomes.shift()) || failure);
  }

  async function runInOrder(tx: Transaction, batch: readonly PendingWork[]): Promise<Outcome[]> {
    const outcomes: Outcome[] = [];
    for (const { work } of batch) {
      // Single work needs no savepoint, because its writes are rolled back with the transaction.
      const outcome = await captureOutcome(() => (batch.length === 1 ? work(tx) : tx.runInSavepoint(() => work(tx))));
      // After a disk error, SQLite rolls everything back. Fail the whole batch then, so that no later work commits on its own.
      if (!outcome.ok && (batch.length === 1 || !isOpen())) throw outcome.value;
      outcomes.push(outcome);
    }
    return outcomes;
  }

  return {
    flush,
    /** The promise resolves when the current commit has ended. Another one may have started by then. */
    getRunningCommit: () => runningCommit,
    commit<T>(work: Work<T>, usesReserve = false): Promise<T> {
      if (pendingWork.length === 0) setImmediate(() => void flush());
      return new Promise<T>((resolve, reject) => {
        let result: { value: T } | undefined;
        pendingWork.push({
          usesReserve,
          work: async (tx) => (result = { value: await work(tx) }),
          settle: (outcome) => (outcome.ok && result ? resolve(result.value) : reject(outcome.value)),
        });
      });
    },
  };
}

async function captureOutcome<T>(work: () => Promise<T>): Promise<{ ok: true; value: T } | { ok: false; value: unknown }> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    return { ok: false, value: error };
  }
}
