// Fills the job index from pages of a service's job list. One reader per connection in use, at most one page every 5 s.
// Reads with the current rights of the connection's last user.

import "server-only";
import { setMaxListeners } from "node:events";
import { type Failure } from "@/lib/contract/failure";
import { type JobsResponse } from "@/lib/contract/schemas/job";
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

const INITIAL_DELAY_MS = 2000;
const PAGE_INTERVAL_MS = 5000;
const MIN_BACKOFF_MS = 2000;
const MAX_BACKOFF_MS = 10 * 60_000;
const ACTIVE_MS = 5 * 60_000;
const CHECK_INTERVAL_MS = 15_000;
const STEP_DELAY_MS = 250;
const MAX_REFRESH_WAIT_MS = 1500;
const MAX_PAGE_JOBS = 200;

type UsedConnection = ListedJobs & {
  usedMs: number;
  loop?: Promise<void>;
  newestRead?: Promise<Failure | undefined>;
  /** True if the last page was for a search. If the loop waits for a page too, it gets the next one. */
  wasSearch?: boolean;
  isWaiting?: boolean;
};
type Options = {
  store: Store;
  log: Log;
  now: () => number;
  maxJobs: number;
  flush: () => Promise<void>;
  getDroppedCount: (id: string) => number;
};

export function createIndexReader({ store, log, now, maxJobs, flush, getDroppedCount }: Options) {
  const connections = new Map<string, UsedConnection>();
  const stopController = new AbortController();
  // Each connection in use adds one listener, so their number is bounded.
  setMaxListeners(0, stopController.signal);
  const activeReads = new Set<AbortController>();
  const { jobIndexStore } = store;
  const readSizes = createSizeReader(store.jobUsage);
  const listReader = createListReader({ jobIndexStore, now, maxJobs, flush, getDroppedCount, trackRead, signal: stopController.signal });

  async function loop(id: string, readState: UsedConnection): Promise<void> {
    await pause(readState, INITIAL_DELAY_MS, true);
    for (let failures = 0; !stopController.signal.aborted && now() - readState.usedMs < ACTIVE_MS;) {
      const waitMs = getPageWaitMs(readState);
      readState.isWaiting = waitMs > 0;
      if (!readState.isWaiting) readState.wasSearch = false;
      const step = await (waitMs > 0 ? readConnectionSizes(id, readState) : readNext(id, readState)).catch((err: unknown): Step => {
        if (!stopController.signal.aborted) log.error({ err, connectionId: id }, "job index read failed");
        return pageDropped;
      });
      failures = typeof step === "object" ? failures + 1 : 0;
      const backoffMs = Math.min(MAX_BACKOFF_MS, MIN_BACKOFF_MS * 2 ** (failures - 1));
      if (typeof step === "object") await pause(readState, backoffMs, true);
      else if (step === "done") await pause(readState, STEP_DELAY_MS, true);
      else await pause(readState, waitMs > 0 ? Math.min(waitMs, MAX_BACKOFF_MS) : CHECK_INTERVAL_MS, waitMs > 0);
    }
  }

  /** All pages of a connection share one rate limit, and any wait that the service has requested. */
  function getPageWaitMs({ pageMs, pausedUntilMs = 0 }: UsedConnection): number {
    return Math.max(pageMs === undefined ? 0 : pageMs + PAGE_INTERVAL_MS, pausedUntilMs) - now();
  }

  /** With `isFull`, waits the full time even if new work arrives. */
  async function pause(readState: UsedConnection, delayMs: number, isFull = false): Promise<void> {
    const wakeController = new AbortController();
    if (!isFull) readState.wake = () => wakeController.abort();
    await sleep(delayMs, { signal: AbortSignal.any([stopController.signal, wakeController.signal]), unref: true });
    readState.wake = undefined;
  }

  async function readNext(id: string, readState: UsedConnection): Promise<Step> {
    const page = await listReader.next(id, readState);
    if (page === undefined) return readConnectionSizes(id, readState);
    return page === "older" ? "done" : page;
  }

  /** Only for the service in this process, because a remote service would need a request for each job. */
  async function readConnectionSizes(id: string, { read: { assets } }: UsedConnection): Promise<Step> {
    return assets && trackRead((signal) => readSizes(id, assets, signal));
  }

  /** Each call has its own signal, because one for the entire process would accumulate listeners. */
  async function trackRead<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    activeReads.add(controller);
    if (stopController.signal.aborted) controller.abort();
    return call(controller.signal).finally(() => activeReads.delete(controller));
  }

  async function readNewest(id: string, readState: UsedConnection): Promise<Failure | undefined> {
    try {
      const page = await listReader.readPage(id, readState, 0, MAX_PAGE_JOBS);
      if (page.ok) await listReader.mergeNewest(id, readState, page.value);
      return page.ok ? undefined : page.failure;
    } catch (err) {
      if (!stopController.signal.aborted) log.error({ err, connectionId: id }, "newest jobs read failed");
      return undefined;
    }
  }

  return {
    /** Call when a member uses a connection. `indexRead` reads with the member's rights. */
    markUsed(id: string, indexRead: IndexRead): void {
      if (stopController.signal.aborted) return;
      const readState = connections.get(id) ?? {
        read: indexRead,
        usedMs: 0,
        headOffset: 0,
        headDroppedCount: getDroppedCount(id),
        restartCount: 0,
      };
      connections.set(id, readState);
      readState.read = indexRead;
      readState.usedMs = now();
      readState.loop ??= loop(id, readState).finally(() => {
        readState.loop = undefined;
        readState.headOffset = 0;
      });
    },

    restart(id: string | undefined): void {
      for (const readState of id === undefined ? connections.values() : [connections.get(id)]) {
        if (!readState) continue;
        readState.headOffset = 0;
        readState.headMs = undefined;
        readState.gap = undefined;
        readState.round = undefined;
        readState.restartCount += 1;
        readState.wake?.();
      }
    },

    async recordNewest(id: string, response: JobsResponse): Promise<void> {
      const readState = connections.get(id);
      if (readState) await listReader.mergeNewest(id, readState, toPage(response, 0));
    },

    getGap: (id: string): IndexGap | undefined => connections.get(id)?.gap,

    /**
     * Reads the newest jobs if a page is due, and waits briefly for them. If the last read failed or the service has requested a wait,
     * returns the time of the service's last response.
     */
    async refresh(id: string): Promise<{ sinceMs: number | undefined } | undefined> {
      const readState = connections.get(id);
      if (!readState) return undefined;
      if (getPageWaitMs(readState) <= 0 && !(readState.wasSearch && readState.isWaiting)) {
        readState.wasSearch = true;
        readState.newestRead = readNewest(id, readState);
      }
      const failure = await withTimeout(Promise.resolve(readState.newestRead), MAX_REFRESH_WAIT_MS, () => undefined);
      await flush();
      return failure || (readState.pausedUntilMs ?? 0) > now() ? { sinceMs: readState.lastResponseMs } : undefined;
    },

    async stop(): Promise<void> {
      stopController.abort();
      for (const controller of activeReads) controller.abort();
      await Promise.all([...connections.values()].map((readState) => readState.loop));
    },
  };
}
