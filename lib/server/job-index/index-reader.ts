// Fills the job index from pages of a service's job list: one reader per connection in use, at most one page every 5 s.
// Reads use the current rights of the member who used the connection last.

import "server-only";
import { setMaxListeners } from "node:events";
import { type Failure } from "@/lib/contract/failure";
import { type JobsAnswer } from "@/lib/contract/schemas/job";
import { sleep, withTimeout } from "@/lib/shared/async";
import { type Log } from "../log";
import { type Store } from "../store/store";
import {
  createListReader,
  createSizeReader,
  type IndexGap,
  type IndexRead,
  type ListedJobs,
  notTaken,
  pageOf,
  type Step,
} from "./list-reader";

export type IndexReader = ReturnType<typeof createIndexReader>;

const FIRST_WAIT_MS = 2000;
const PAGE_EVERY_MS = 5000;
const FIRST_BACK_OFF_MS = 2000;
const MAX_BACK_OFF_MS = 10 * 60_000;
const USED_FOR_MS = 5 * 60_000;
const LOOK_EVERY_MS = 15_000;
const STEP_WAIT_MS = 250;
const FRESH_WITHIN_MS = 1500;
const MAX_PAGE_JOBS = 200;

type Used = ListedJobs & {
  usedMs: number;
  loop?: Promise<void>;
  newest?: Promise<Failure | undefined>;
  /** Whether the last page was for a search. If the loop waits for a page too, the next one is the loop's. */
  wasSearch?: boolean;
  isWaiting?: boolean;
};
type Options = {
  store: Store;
  log: Log;
  now: () => number;
  maxJobs: number;
  settled: () => Promise<void>;
  lossesOf: (id: string) => number;
};

export function createIndexReader({ store, log, now, maxJobs, settled, lossesOf }: Options) {
  const connections = new Map<string, Used>();
  const ending = new AbortController();
  // One for each connection in use, so their number is bounded.
  setMaxListeners(0, ending.signal);
  const flights = new Set<AbortController>();
  const { jobIndexStore } = store;
  const readSizes = createSizeReader(store.jobUsage);
  const list = createListReader({ jobIndexStore, now, maxJobs, settled, lossesOf, underWay: trackRead, signal: ending.signal });

  async function loop(id: string, used: Used): Promise<void> {
    await pause(used, FIRST_WAIT_MS, true);
    for (let failures = 0; !ending.signal.aborted && now() - used.usedMs < USED_FOR_MS;) {
      const waitMs = waitBeforePage(used);
      used.isWaiting = waitMs > 0;
      if (!used.isWaiting) used.wasSearch = false;
      const step = await (waitMs > 0 ? readSizesOf(id, used) : next(id, used)).catch((err: unknown): Step => {
        if (!ending.signal.aborted) log.error({ err, connectionId: id }, "job index read failed");
        return notTaken;
      });
      failures = typeof step === "object" ? failures + 1 : 0;
      const backOff = Math.min(MAX_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** (failures - 1));
      if (typeof step === "object") await pause(used, backOff, true);
      else if (step === "done") await pause(used, STEP_WAIT_MS, true);
      else await pause(used, waitMs > 0 ? Math.min(waitMs, MAX_BACK_OFF_MS) : LOOK_EVERY_MS, waitMs > 0);
    }
  }

  /** All pages of a connection share one rate limit, and any wait that the service requested. */
  function waitBeforePage({ pageMs, pausedUntilMs = 0 }: Used): number {
    return Math.max(pageMs === undefined ? 0 : pageMs + PAGE_EVERY_MS, pausedUntilMs) - now();
  }

  /** `isFull`: wait the whole time, even if new work arrives. */
  async function pause(used: Used, ms: number, isFull = false): Promise<void> {
    const woken = new AbortController();
    if (!isFull) used.wake = () => woken.abort();
    await sleep(ms, { signal: AbortSignal.any([ending.signal, woken.signal]), unref: true });
    used.wake = undefined;
  }

  async function next(id: string, used: Used): Promise<Step> {
    const listed = await list.next(id, used);
    if (listed === undefined) return readSizesOf(id, used);
    return listed === "older" ? "done" : listed;
  }

  /** Only for the service in this process: elsewhere each job would be a request. */
  async function readSizesOf(id: string, { read: { assets } }: Used): Promise<Step> {
    return assets && trackRead((signal) => readSizes(id, assets, signal));
  }

  /** Each call has its own signal: one that lives as long as the process would collect listeners. */
  async function trackRead<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const flight = new AbortController();
    flights.add(flight);
    if (ending.signal.aborted) flight.abort();
    return call(flight.signal).finally(() => flights.delete(flight));
  }

  async function readAgain(id: string, used: Used): Promise<Failure | undefined> {
    try {
      const page = await list.readPage(id, used, 0, MAX_PAGE_JOBS);
      if (page.ok) await list.join(id, used, page.value);
      return page.ok ? undefined : page.failure;
    } catch (err) {
      if (!ending.signal.aborted) log.error({ err, connectionId: id }, "newest jobs read failed");
      return undefined;
    }
  }

  return {
    /** A person works with a connection; `read` uses their rights. */
    markUsed(id: string, indexRead: IndexRead): void {
      if (ending.signal.aborted) return;
      const used = connections.get(id) ?? { read: indexRead, usedMs: 0, headOffset: 0, headLosses: lossesOf(id), beginnings: 0 };
      connections.set(id, used);
      used.read = indexRead;
      used.usedMs = now();
      used.loop ??= loop(id, used).finally(() => {
        used.loop = undefined;
        used.headOffset = 0;
      });
    },

    restart(id: string | undefined): void {
      for (const used of id === undefined ? connections.values() : [connections.get(id)]) {
        if (!used) continue;
        Object.assign(used, {
          headOffset: 0,
          headMs: undefined,
          gap: undefined,
          round: undefined,
          beginnings: used.beginnings + 1,
        });
        used.wake?.();
      }
    },

    async noteNewest(id: string, response: JobsAnswer): Promise<void> {
      const used = connections.get(id);
      if (used) await list.join(id, used, pageOf(response, 0));
    },

    gapOf: (id: string): IndexGap | undefined => connections.get(id)?.gap,

    /**
     * Reads the newest jobs if a page is due, and waits briefly for them. If the last read failed or the service has requested a wait,
     * returns when the service last responded.
     */
    async refresh(id: string): Promise<{ sinceMs: number | undefined } | undefined> {
      const used = connections.get(id);
      if (!used) return undefined;
      if (waitBeforePage(used) <= 0 && !(used.wasSearch && used.isWaiting)) {
        used.wasSearch = true;
        used.newest = readAgain(id, used);
      }
      const failure = await withTimeout(Promise.resolve(used.newest), FRESH_WITHIN_MS, () => undefined);
      await settled();
      return failure || (used.pausedUntilMs ?? 0) > now() ? { sinceMs: used.answeredMs } : undefined;
    },

    async stop(): Promise<void> {
      ending.abort();
      for (const flight of flights) flight.abort();
      await Promise.all([...connections.values()].map(({ loop: running }) => running));
    },
  };
}
