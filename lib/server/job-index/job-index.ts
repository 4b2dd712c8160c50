// Writes the job index in the background, from responses that were already sent. If the queue is full, responses are dropped and read again.

import "server-only";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { withTimeout } from "@/lib/shared/async";
import { getTelemetry } from "@/lib/shared/telemetry";
import { type Log } from "../log";
import { type JobUpdate } from "../store/jobs/index-entry";
import { type Store } from "../store/store";
import { createIndexReader, type IndexReader } from "./index-reader";

/** Batches a page's polls and details. */
const BATCH_DELAY_MS = 100;
const BATCH_SIZE = 50;
const MAX_PENDING_CHANGES = 50;
const STOP_TIMEOUT_MS = 5000;

/** `responseCount` is the number of responses that these updates are from. */
type UpdatedJobs = { connectionId: string; kind: "updated"; responseCount: number; getUpdates: () => readonly JobUpdate[] };
type Change =
  UpdatedJobs | ({ connectionId: string } & ({ kind: "removed"; ids: readonly string[] } | { kind: "restarted" } | { kind: "swept" }));

export type JobIndex = {
  reader: IndexReader;
  record(connectionId: string, getUpdates: () => readonly JobUpdate[]): void;
  remove(connectionId: string, ids: readonly string[]): void;
  /** Call if the connection's history was cleared or its jobs were replaced. */
  restart(connectionId: string): void;
  sweep(): void;
  flush(): Promise<void>;
  stop(): Promise<void>;
};

type Options = { store: Store; log: Log; now: () => number; maxJobs: number };

export function createJobIndex({ store, log, now, maxJobs }: Options): JobIndex {
  const pendingChanges: Change[] = [];
  let writePromise: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const droppedCounts = new Map<string, number>();
  const countDropped = ({ connectionId, ...change }: Change) => {
    const responseCount = change.kind === "updated" ? change.responseCount : 1;
    droppedCounts.set(connectionId, (droppedCounts.get(connectionId) ?? 0) + responseCount);
    for (let count = 0; count < responseCount; count += 1) getTelemetry().metrics?.count("lightdesk_ledger_lost_total", {});
  };
  getTelemetry().metrics?.registerGauge("lightdesk_ledger_waiting", () => pendingChanges.length);
  const reader = createIndexReader({ store, log, now, maxJobs, flush, getDroppedCount: (id) => droppedCounts.get(id) ?? 0 });

  function add(change: Change): void {
    if (pendingChanges.length >= MAX_PENDING_CHANGES && change.kind === "updated") return countDropped(change);
    pendingChanges.push(change);
    timer ??= setTimeout(() => void flush(), BATCH_DELAY_MS).unref();
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writePromise ??= writeAll().finally(() => (writePromise = undefined));
    return writePromise;
  }

  async function writeAll(): Promise<void> {
    for (let next = pendingChanges.shift(); next !== undefined; next = pendingChanges.shift()) {
      const change = next.kind === "updated" ? mergePending(next) : next;
      try {
        await write(change);
      } catch (err) {
        countDropped(change);
        log.error({ err, connectionId: change.connectionId }, "job index write failed");
      }
    }
  }

  /** Merges pending updates of the same connection, because each commit waits for the disk. */
  function mergePending(change: UpdatedJobs): UpdatedJobs {
    const mergedChanges = [change];
    for (let next = pendingChanges[0]; next?.kind === "updated" && next.connectionId === change.connectionId; next = pendingChanges[0]) {
      mergedChanges.push(next);
      pendingChanges.shift();
    }
    const getUpdates = () => mergedChanges.flatMap((mergedChange) => mergedChange.getUpdates());
    return { ...change, responseCount: mergedChanges.length, getUpdates };
  }

  async function write(change: Change): Promise<void> {
    const { connectionId, kind } = change;
    const { jobIndexStore } = store;
    if (kind === "removed") return jobIndexStore.remove(connectionId, change.ids);
    if (kind === "restarted" || kind === "swept") {
      if (kind === "restarted") {
        await jobIndexStore.reset(connectionId);
        reader.restart(connectionId);
        await store.peers.notifyChange(connectionId);
      }
      // An interrupted sweep continues after the next start.
      while (!isStopped && (await jobIndexStore.sweep())) await yieldToEventLoop();
      await store.jobUsage.sweep(now());
      return;
    }
    const updates = isStopped ? [] : change.getUpdates();
    for (let start = 0; start < updates.length && !isStopped; start += BATCH_SIZE) {
      if (start > 0) await yieldToEventLoop();
      await jobIndexStore.recordJobs(connectionId, updates.slice(start, start + BATCH_SIZE), maxJobs);
    }
    if (isStopped) countDropped(change);
  }

  return {
    reader,
    record: (connectionId, getUpdates) => add({ kind: "updated", connectionId, responseCount: 1, getUpdates }),
    remove: (connectionId, ids) => add({ kind: "removed", connectionId, ids }),
    restart: (connectionId) => add({ kind: "restarted", connectionId }),
    sweep: () => add({ kind: "swept", connectionId: "" }),
    flush,
    /** Responses not written within a few seconds are dropped, as in a crash. The reader reads them again after the next start. */
    async stop() {
      await withTimeout(reader.stop().then(flush), STOP_TIMEOUT_MS, () => undefined);
      isStopped = true;
      await flush();
    },
  };
}
