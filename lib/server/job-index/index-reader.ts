// Fills the job index from pages of a service's job list. One reader per connection in use, at most one page every 5 s.
// Reads with the current rights of the connection's last user.

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
  pageDropped,
  type Step,
  toPage,
} from "./list-reader";

export type IndexReader = ReturnType<typeof createIndexReader>;

const FIRST_WAIT_MS = 2000;
const PAGE_INTERVAL_MS = 5000;
const FIRST_BACK_OFF_MS = 2000;
const MAX_BACK_OFF_MS = 10 * 60_000;
const ACTIVE_MS = 5 * 60_000;
const CHECK_INTERVAL_MS = 15_000;
const STEP_WAIT_MS = 250;
const MAX_REFRESH_WAIT_MS = 1500;
const MAX_PAGE_JOBS = 200;

type UsedConnection = ListedJobs & {
  usedMs: number;
  loop?: Promise<void>;
  newest?: Promise<Failure | undefined>;
  /** True if the last page was for a search. If the loop waits for a page too, it gets the next one. */
  wasSearch?: boolean;
  isWaiting?: boolean;
};
type Options = {
  store: Store;
  log: Log;
  now: () => number;
  maxJobs: number;
  settled: () => Promise<void>;
  getLostCount: (id: string) => number;
};

export function createIndexReader({ store, log, now, maxJobs, settled, getLostCount }: Options) {
  const connections = new Map<string, UsedConnection>();
  const stopping = new AbortController();
  // Each connection in use adds one listener, so their number is bounded.
  setMaxListeners(0, stopping.signal);
  const activeReads = new Set<AbortController>();
  const { jobIndexStore } = store;
  const readSizes = createSizeReader(store.jobUsage);
  const list = createListReader({ jobIndexStore, now, maxJobs, settled, getLostCount, underWay: trackRead, signal: stopping.signal });

  async function loop(id: string, used: UsedConnection): Promise<void> {
    await pause(used, FIRST_WAIT_MS, true);
    for (let failures = 0; !stopping.signal.aborted && now() - used.usedMs < ACTIVE_MS;) {
      const waitMs = getPageWaitMs(used);
      used.isWaiting = waitMs > 0;
      if (!used.isWaiting) used.wasSearch = false;
      const step = await (waitMs > 0 ? readSizesOf(id, used) : readNext(id, used)).catch((err: unknown): Step => {
        if (!stopping.signal.aborted) log.error({ err, connectionId: id }, "job index read failed");
        return pageDropped;
      });
      failures = typeof step === "object" ? failures + 1 : 0;
      const backOff = Math.min(MAX_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** (failures - 1));
      if (typeof step === "object") await pause(used, backOff, true);
      else if (step === "done") await pause(used, STEP_WAIT_MS, true);
      else await pause(used, waitMs > 0 ? Math.min(waitMs, MAX_BACK_OFF_MS) : CHECK_INTERVAL_MS, waitMs > 0);
    }
  }

  /** All pages of a connection share one rate limit, and any wait that the service has requested. */
  function getPageWaitMs({ pageMs, pausedUntilMs = 0 }: UsedConnection): number {
    return Math.max(pageMs === undefined ? 0 : pageMs + PAGE_INTERVAL_MS, pausedUntilMs) - now();
  }

  /** With `isFull`, waits the whole time even if new work arrives. */
  async function pause(used: UsedConnection, ms: number, isFull = false): Promise<void> {
    const wakeController = new AbortController();
    if (!isFull) used.wake = () => wakeController.abort();
    await sleep(ms, { signal: AbortSignal.any([stopping.signal, wakeController.signal]), unref: true });
    used.wake = undefined;
  }

  async function readNext(id: string, used: UsedConnection): Promise<Step> {
    const page = await list.next(id, used);
    if (page === undefined) return readSizesOf(id, used);
    return page === "older" ? "done" : page;
  }

  /** Only for the service in this process, because elsewhere each job would be a request. */
  async function readSizesOf(id: string, { read: { assets } }: UsedConnection): Promise<Step> {
    return assets && trackRead((signal) => readSizes(id, assets, signal));
  }

  /** Each call has its own signal, because one for the whole process would accumulate listeners. */
  async function trackRead<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    activeReads.add(controller);
    if (stopping.signal.aborted) controller.abort();
    return call(controller.signal).finally(() => activeReads.delete(controller));
  }

  async function readNewest(id: string, used: UsedConnection): Promise<Failure | undefined> {
    try {
      const page = await list.readPage(id, used, 0, MAX_PAGE_JOBS);
      if (page.ok) await list.join(id, used, page.value);
      return page.ok ? undefined : page.failure;
    } catch (err) {
      if (!stopping.signal.aborted) log.error({ err, connectionId: id }, "newest jobs read failed");
      return undefined;
    }
  }

  return {
    /** Called when a member uses a connection. `read` has their rights. */
    markUsed(id: string, indexRead: IndexRead): void {
      if (stopping.signal.aborted) return;
      const used = connections.get(id) ?? { read: indexRead, usedMs: 0, headOffset: 0, headLosses: getLostCount(id), beginnings: 0 };
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
      if (used) await list.join(id, used, toPage(response, 0));
    },

    gapOf: (id: string): IndexGap | undefined => connections.get(id)?.gap,

    /**
     * Reads the newest jobs if a page is due, and waits briefly for them. If the last read failed or the service has requested a wait,
     * returns the time of the service's last response.
     */
    async refresh(id: string): Promise<{ sinceMs: number | undefined } | undefined> {
      const used = connections.get(id);
      if (!used) return undefined;
      if (getPageWaitMs(used) <= 0 && !(used.wasSearch && used.isWaiting)) {
        used.wasSearch = true;
        used.newest = readNewest(id, used);
      }
      const failure = await withTimeout(Promise.resolve(used.newest), MAX_REFRESH_WAIT_MS, () => undefined);
      await settled();
      return failure || (used.pausedUntilMs ?? 0) > now() ? { sinceMs: used.answeredMs } : undefined;
    },

    async stop(): Promise<void> {
      stopping.abort();
      for (const controller of activeReads) controller.abort();
      await Promise.all([...connections.values()].map(({ loop: running }) => running));
    },
  };
}
