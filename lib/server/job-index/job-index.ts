// Writes the job index in the background, from responses that were already sent. The queue is bounded; dropped responses are read again.

import "server-only";
import { setImmediate as yieldToOthers } from "node:timers/promises";
import { withTimeout } from "@/lib/shared/async";
import { getTelemetry } from "@/lib/shared/telemetry";
import { type Log } from "../log";
import { type JobNote } from "../store/jobs/index-entry";
import { type Store } from "../store/store";
import { createIndexReader, type IndexReader } from "./index-reader";

/** Batches a page's polls and details. */
const BATCH_DELAY_MS = 100;
const BATCH_SIZE = 50;
const MAX_PENDING = 50;
const STOP_TIMEOUT_MS = 5000;

/** `answers` is the number of responses that these notes are from. */
type SeenJobs = { connectionId: string; kind: "seen"; answers: number; notes: () => readonly JobNote[] };
type Change =
  SeenJobs | ({ connectionId: string } & ({ kind: "removed"; ids: readonly string[] } | { kind: "restarted" } | { kind: "swept" }));

export type JobIndex = {
  reader: IndexReader;
  see(connectionId: string, notes: () => readonly JobNote[]): void;
  removed(connectionId: string, ids: readonly string[]): void;
  /** Call if the connection's history was cleared or its jobs are different ones now. */
  restart(connectionId: string): void;
  sweep(): void;
  settled(): Promise<void>;
  stop(): Promise<void>;
};

type Options = { store: Store; log: Log; now: () => number; maxJobs: number };

export function createJobIndex({ store, log, now, maxJobs }: Options): JobIndex {
  const pending: Change[] = [];
  let writing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const droppedCounts = new Map<string, number>();
  const countLost = ({ connectionId, ...change }: Change) => {
    const responseCount = change.kind === "seen" ? change.answers : 1;
    droppedCounts.set(connectionId, (droppedCounts.get(connectionId) ?? 0) + responseCount);
    for (let count = 0; count < responseCount; count += 1) getTelemetry().metrics?.count("lightdesk_ledger_lost_total", {});
  };
  getTelemetry().metrics?.read("lightdesk_ledger_waiting", () => pending.length);
  const reader = createIndexReader({ store, log, now, maxJobs, settled, getDroppedCount: (id) => droppedCounts.get(id) ?? 0 });

  function add(change: Change): void {
    if (pending.length >= MAX_PENDING && change.kind === "seen") return countLost(change);
    pending.push(change);
    timer ??= setTimeout(() => void settled(), BATCH_DELAY_MS).unref();
  }

  function settled(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing ??= writeAll().finally(() => (writing = undefined));
    return writing;
  }

  async function writeAll(): Promise<void> {
    for (let first = pending.shift(); first !== undefined; first = pending.shift()) {
      const change = first.kind === "seen" ? mergePending(first) : first;
      try {
        await write(change);
      } catch (err) {
        countLost(change);
        log.error({ err, connectionId: change.connectionId }, "job index write failed");
      }
    }
  }

  /** Merges pending notes of the same connection, because each commit waits for the disk. */
  function mergePending(first: SeenJobs): SeenJobs {
    const merged = [first];
    for (let next = pending[0]; next?.kind === "seen" && next.connectionId === first.connectionId; next = pending[0]) {
      merged.push(next);
      pending.shift();
    }
    return { ...first, answers: merged.length, notes: () => merged.flatMap(({ notes }) => notes()) };
  }

  async function write(change: Change): Promise<void> {
    const { connectionId, kind } = change;
    const { jobIndexStore } = store;
    if (kind === "removed") return jobIndexStore.forget(connectionId, change.ids);
    if (kind === "restarted" || kind === "swept") {
      if (kind === "restarted") {
        await jobIndexStore.restart(connectionId);
        reader.restart(connectionId);
        await store.peers.notifyChange(connectionId);
      }
      // Continued after the next start.
      while (!isStopped && (await jobIndexStore.sweep())) await yieldToOthers();
      await store.jobUsage.sweep(now());
      return;
    }
    const notes = isStopped ? [] : change.notes();
    for (let at = 0; at < notes.length && !isStopped; at += BATCH_SIZE) {
      if (at > 0) await yieldToOthers();
      await jobIndexStore.note(connectionId, notes.slice(at, at + BATCH_SIZE), maxJobs);
    }
    if (isStopped) countLost(change);
  }

  return {
    reader,
    see: (connectionId, notes) => add({ kind: "seen", connectionId, answers: 1, notes }),
    removed: (connectionId, ids) => add({ kind: "removed", connectionId, ids }),
    restart: (connectionId) => add({ kind: "restarted", connectionId }),
    sweep: () => add({ kind: "swept", connectionId: "" }),
    settled,
    /** Responses not written within a few seconds are dropped, as in a crash. The reader reads them again after the next start. */
    async stop() {
      await withTimeout(reader.stop().then(settled), STOP_TIMEOUT_MS, () => undefined);
      isStopped = true;
      await settled();
    },
  };
}
