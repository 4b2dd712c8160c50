// Many small writes, one fsync: what is asked for within one turn of the event loop is committed together.
// Guarantees: a promise resolves only after its commit; a piece of work that throws is undone alone and its neighbours are kept.

type Waiting = { work: () => unknown; settle: (outcome: { ok: boolean; value: unknown }) => void };

/** `isOpen`: whether a transaction is under way. */
export function createGroupCommit(transaction: <T>(work: () => T) => T, isOpen: () => boolean) {
  let waiting: Waiting[] = [];

  function flush(): void {
    const batch = waiting;
    waiting = [];
    if (batch.length === 0) return;
    let outcomes: { ok: boolean; value: unknown }[];
    try {
      outcomes = transaction(() => batch.map(({ work }) => tryOne(work)));
    } catch (error) {
      // The shared commit itself failed (a full disk, a lost file): nothing of the batch is there.
      outcomes = batch.map(() => ({ ok: false, value: error }));
    }
    batch.forEach((item, index) => {
      const outcome = outcomes[index];
      if (outcome) item.settle(outcome);
    });
  }

  function tryOne(work: () => unknown): { ok: boolean; value: unknown } {
    const outcome = attempt(() => transaction(work));
    // SQLite undoes everything by itself when the disk fails in the middle: then the whole batch has failed, with this cause,
    // and what comes after it must not be committed on its own.
    if (!outcome.ok && !isOpen()) throw outcome.value;
    return outcome;
  }

  return {
    flush,
    commit<T>(work: () => T): Promise<T> {
      if (waiting.length === 0) setImmediate(flush);
      return new Promise<T>((resolve, reject) => {
        let result: { value: T } | undefined;
        waiting.push({
          work: () => (result = { value: work() }),
          settle: (outcome) => (outcome.ok && result ? resolve(result.value) : reject(outcome.value)),
        });
      });
    },
  };
}

function attempt(work: () => unknown): { ok: boolean; value: unknown } {
  try {
    return { ok: true, value: work() };
  } catch (error) {
    return { ok: false, value: error };
  }
}
