// Commits all writes of one event loop turn together. A failing piece is undone alone. On a full disk, freeing work uses the reserve.

import { ensureReserve, releaseReserve } from "@/lib/shared/database/disk-reserve";
import { isFullDisk } from "@/lib/shared/error-codes";
import { type Transaction } from "./database";

type Work<T> = (tx: Transaction) => Promise<T>;
type PendingWork = { freesRoom: boolean; work: Work<unknown>; settle: (outcome: Outcome) => void };
type Outcome = { ok: true; value: unknown } | { ok: false; value: unknown };

export function createGroupCommit(transaction: <T>(work: Work<T>) => Promise<T>, isOpen: () => boolean, folder?: string) {
  let waiting: PendingWork[] = [];
  let runningCommit: Promise<void> | undefined;

  async function flush(): Promise<void> {
    while (runningCommit) await runningCommit;
    const batch = waiting;
    waiting = [];
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
    const together = await attempt(() => transaction((tx) => oneByOne(tx, batch)));
    if (together.ok) return together.value;
    // The shared commit itself failed (a full disk, a lost file): nothing of the batch is stored.
    const failure: Outcome = { ok: false, value: together.value };
    const freeing = batch.filter(({ freesRoom }) => freesRoom);
    if (folder === undefined || !isFullDisk(together.value) || freeing.length === 0) return batch.map(() => failure);
    const result = await attempt(async () => {
      releaseReserve(folder);
      try {
        return await transaction((tx) => oneByOne(tx, freeing));
      } finally {
        ensureReserve(folder);
      }
    });
    const outcomes = result.ok ? [...result.value] : [];
    return batch.map(({ freesRoom }) => (freesRoom && outcomes.shift()) || failure);
  }

  async function oneByOne(tx: Transaction, batch: readonly PendingWork[]): Promise<Outcome[]> {
    const outcomes: Outcome[] = [];
    for (const { work } of batch) {
      // A single piece needs no savepoint: what it has written is undone with the transaction.
      const outcome = await attempt(() => (batch.length === 1 ? work(tx) : tx.attempt(() => work(tx))));
      // If the disk fails, SQLite rolls everything back. The whole batch has failed then, and nothing after it may commit on its own.
      if (!outcome.ok && (batch.length === 1 || !isOpen())) throw outcome.value;
      outcomes.push(outcome);
    }
    return outcomes;
  }

  return {
    flush,
    /** Resolves when the commit under way has ended; another one may have begun by then. */
    underWay: () => runningCommit,
    commit<T>(work: Work<T>, freesRoom = false): Promise<T> {
      if (waiting.length === 0) setImmediate(() => void flush());
      return new Promise<T>((resolve, reject) => {
        let result: { value: T } | undefined;
        waiting.push({
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
