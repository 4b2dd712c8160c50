// Many small writes, one fsync: what is asked for within one turn of the event loop is committed together.
// Guarantees: on a full disk what makes room is committed all the same, from the reserve; a promise resolves only after its commit; a piece of work that throws is undone alone and its neighbours are kept.

import { type DiskReserve, isFullDisk } from "@/lib/shared/disk-reserve";

type Waiting = { freesRoom: boolean; work: () => unknown; settle: (outcome: Outcome) => void };
type Outcome = { ok: boolean; value: unknown };

/** `isOpen`: whether a transaction is under way. */
export function createGroupCommit(transaction: <T>(work: () => T) => T, isOpen: () => boolean, reserve: DiskReserve | undefined) {
  let waiting: Waiting[] = [];

  function flush(): void {
    const batch = waiting;
    waiting = [];
    if (batch.length === 0) return;
    const together = attempt(() => transaction(() => settleable(batch)));
    if (together.ok) return settle(batch, together.value);
    // The shared commit itself failed (a full disk, a lost file): nothing of the batch is there.
    const freeing = reserve && isFullDisk(together.value) ? batch.filter(({ freesRoom }) => freesRoom) : [];
    const left = freeing.length === 0 ? undefined : attempt(() => reserve?.spendOn(() => transaction(() => settleable(freeing))));
    if (left?.ok && left.value) settle(freeing, left.value);
    for (const item of batch) if (!left?.ok || !item.freesRoom) item.settle({ ok: false, value: together.value });
  }

  const settleable = (batch: readonly Waiting[]) => batch.map(({ work }) => tryOne(work));

  function settle(batch: readonly Waiting[], outcomes: readonly Outcome[]): void {
    batch.forEach((item, index) => {
      const outcome = outcomes[index];
      if (outcome) item.settle(outcome);
    });
  }

  function tryOne(work: () => unknown): Outcome {
    const outcome = attempt(() => transaction(work));
    // SQLite undoes everything by itself when the disk fails in the middle: then the whole batch has failed, with this cause,
    // and what comes after it must not be committed on its own.
    if (!outcome.ok && !isOpen()) throw outcome.value;
    return outcome;
  }

  return {
    flush,
    commit<T>(work: () => T, freesRoom = false): Promise<T> {
      if (waiting.length === 0) setImmediate(flush);
      return new Promise<T>((resolve, reject) => {
        let result: { value: T } | undefined;
        waiting.push({
          freesRoom,
          work: () => (result = { value: work() }),
          settle: (outcome) => (outcome.ok && result ? resolve(result.value) : reject(outcome.value)),
        });
      });
    },
  };
}

function attempt<T>(work: () => T): { ok: true; value: T } | { ok: false; value: unknown } {
  try {
    return { ok: true, value: work() };
  } catch (error) {
    return { ok: false, value: error };
  }
}
