// Lists assets from memory, for users who have many: a filter is an intersection of sets of bits, a page a walk along an order.
// Guarantees: the same answers as the database. While it does not know enough it answers undefined, and the database is asked.
// It is filled in the background after the first question, in turns of a few milliseconds; nothing of it is ever stored.

import { type ReadFilter } from "@/lib/service/assets/asset-filter";
import { type ServiceLog } from "@/lib/service/options";
import { type SqliteDatabase } from "@/lib/service/store/sqlite";
import { createLimiter } from "@/lib/shared/async";
import { type AssetPage, type AssetSort, countOwned } from "../asset-search";
import { countBits } from "./bits";
import { followChanges } from "./changes";
import { matching } from "./matching";
import { type Order, readPage } from "./order";
import { catchUp as catchUpOrder, readOrder } from "./read-order";
import { createSets } from "./sets";
import { catchUp as catchUpTable, readTable, type Table } from "./table";

/** With fewer assets the database is as fast. */
const FEWEST = 2000;
const KEEP_UP_MS = 250;
const MOST_ORDER_BYTES = 128 * 1024 * 1024;
/**
 * A turn of filling takes as long as others had before it, within these limits, so that constant requests cannot keep it from finishing.
 */
const SHORTEST_TURN_MS = 2;
const LONGEST_TURN_MS = 15;

export type AssetMemory = ReturnType<typeof createAssetMemory>;

export function createAssetMemory(database: SqliteDatabase, log: ServiceLog) {
  const changes = followChanges(database);
  const sets = createSets(changes);
  const orders = new Map<string, Order>();
  let table: Table | undefined;
  /** The database's mark of other processes' commits, as last seen; undefined before the first question. */
  let foreign: number | undefined;
  let isStopping = false;
  let isGivenUp = false;
  const reading = new Map<string, Promise<void>>();
  let turn: Promise<void> = Promise.resolve();
  const inTurn = createLimiter(1);
  const keepingUp = setInterval(() => keepUp(), KEEP_UP_MS).unref();

  function forget(): void {
    table = undefined;
    orders.clear();
    sets.clear();
  }

  /** Runs background work one after the other; between two turns, waiting requests run. */
  function inBackground<T>(name: string, pieces: () => AsyncGenerator<void, T>, done: (result: T) => void): void {
    if (isStopping || isGivenUp || reading.has(name)) return;
    const work = async () => {
      const begun = foreign;
      const steps = pieces();
      for (let rested = performance.now(); !isStopping; rested = performance.now()) {
        await new Promise((resolve) => setImmediate(resolve));
        const result = await oneTurn(steps, performance.now() - rested);
        if (!result) continue;
        // If another process wrote meanwhile, the result lacks that and is dropped.
        const now = await database.foreignCommits();
        if (begun === now && foreign === now) done(result.value);
        return;
      }
    };
    turn = turn
      .then(work)
      .catch((error: unknown) => {
        isGivenUp = true;
        forget();
        log.warn({ err: error }, "lists of assets are read from the database alone until the next start");
      })
      .finally(() => reading.delete(name));
    reading.set(name, turn);
  }

  function readTableAgain(): void {
    const keep = (read: Table | undefined) => {
      table = read;
      isGivenUp = read === undefined;
    };
    inBackground("table", () => readTable(database, changes), keep);
  }

  async function currentTable(): Promise<Table | undefined> {
    const now = await database.foreignCommits();
    if (now !== foreign) forget();
    foreign = now;
    if (table && !(await catchUpTable(table, database, changes))) table = undefined;
    if (!table) readTableAgain();
    return table;
  }

  async function currentOrder(userId: number, sort: AssetSort): Promise<Order | undefined> {
    const name = `${userId} ${sort}`;
    const kept = orders.get(name);
    const state = kept ? await catchUpOrder(database, changes, kept) : "lost";
    orders.delete(name);
    if (kept && state !== "lost") orders.set(name, kept);
    if (state === "current") return kept;
    if (state === "lost")
      inBackground(
        name,
        () => readOrder(database, changes, userId, sort),
        (order) => keepOrder(name, order),
      );
    return undefined;
  }

  /** Those unused for longest make room. */
  function keepOrder(name: string, order: Order): void {
    orders.set(name, order);
    const size = () => [...orders.values()].reduce((sum, { seqs }) => sum + seqs.byteLength, 0);
    for (const [oldest] of orders) if (oldest !== name && size() > MOST_ORDER_BYTES) orders.delete(oldest);
  }

  /** Keeps up with changes, so that the next question finds little left to do. */
  function keepUp(): void {
    void inOneMoment(async () => {
      if (!table || !(await currentTable())) return undefined;
      for (const [name, order] of orders) if ((await catchUpOrder(database, changes, order)) === "lost") orders.delete(name);
      return undefined;
    });
  }

  const isWorthIt = async (userId: number) => !isGivenUp && (await countOwned(database, userId)) >= FEWEST;

  /**
   * `prepare` reads and returns the function that answers. That is called only if nothing was committed in between, so that all that was
   * read is of one moment. One at a time. If memory contradicts the database, it is thrown away and the database answers.
   */
  function inOneMoment<T>(prepare: () => Promise<(() => T) | undefined>): Promise<T | undefined> {
    return inTurn(async () => {
      try {
        const begun = changes.end();
        const answer = await prepare();
        if (!answer || foreign !== (await database.foreignCommits())) return undefined;
        return begun === changes.end() ? answer() : undefined;
      } catch (error) {
        log.error({ err: error }, "what is kept of the assets in memory was wrong and is read anew");
        forget();
        return undefined;
      }
    });
  }

  return {
    async list(
      userId: number,
      filter: ReadFilter,
      includePublic: boolean,
      page: AssetPage,
    ): Promise<{ seqs: number[]; total: number } | undefined> {
      if (!(await isWorthIt(userId))) return undefined;
      return inOneMoment(async () => {
        const current = await currentTable();
        // Asked first: while the order is still being read, searching would be in vain.
        const order = await currentOrder(userId, page.sort);
        const bits = current && order && (await matching({ reader: database, sets, table: current }, userId, filter, includePublic));
        return (
          bits &&
          (() => {
            const total = countBits(bits);
            const length = Math.max(0, Math.min(page.limit, total - page.offset));
            if (length === 0) return { seqs: [], total };
            return { seqs: readPage(order, bits, total, { descending: page.order === "desc", offset: page.offset, length }), total };
          })
        );
      });
    },

    /** How many of the matching assets carry each tag, by the tags' numbers. */
    async tally(userId: number, filter: ReadFilter, includePublic: boolean): Promise<Map<number, number> | undefined> {
      if (!(await isWorthIt(userId))) return undefined;
      return inOneMoment(async () => {
        const current = await currentTable();
        const bits = current && (await matching({ reader: database, sets, table: current }, userId, filter, includePublic));
        return bits && (() => current.codes.tally(bits));
      });
    },

    async stop(): Promise<void> {
      isStopping = true;
      clearInterval(keepingUp);
      await turn;
      await inTurn(() => Promise.resolve());
    },
  };
}

/** Does as much of the work as fits into a turn; returns the result once the work is done. */
async function oneTurn<T>(steps: AsyncGenerator<void, T>, othersHadMs: number): Promise<{ value: T } | undefined> {
  const end = performance.now() + Math.min(LONGEST_TURN_MS, Math.max(SHORTEST_TURN_MS, othersHadMs));
  for (;;) {
    const step = await steps.next();
    if (step.done) return { value: step.value };
    if (performance.now() >= end) return undefined;
  }
}
