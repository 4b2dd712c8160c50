// Writes the job index in the background from responses that were already sent. The queue is bounded; dropped responses are read again.

import "server-only";
import { setImmediate as yieldToOthers } from "node:timers/promises";
import { withTimeout } from "@/lib/shared/async";
import { telemetry } from "@/lib/shared/telemetry";
import { type Log } from "../log";
import { type JobNote } from "../store/jobs/index-entry";
import { type Store } from "../store/store";
import { createIndexReader, type IndexReader } from "./index-reader";

/** So that a page's polls and its details are written together. */
const WAIT_MS = 100;
const BATCH_SIZE = 50;
const MAX_WAITING = 50;
const STOPS_WITHIN_MS = 5000;

/** `answers`: how many answers these notes are from. */
type SeenJobs = { connectionId: string; kind: "seen"; answers: number; notes: () => readonly JobNote[] };
type Change =
  SeenJobs | ({ connectionId: string } & ({ kind: "removed"; ids: readonly string[] } | { kind: "restarted" } | { kind: "swept" }));

export type JobIndex = {
  reader: IndexReader;
  see(connectionId: string, notes: () => readonly JobNote[]): void;
  removed(connectionId: string, ids: readonly string[]): void;
  /** The connection's history was cleared, or it now leads to other jobs. */
  restart(connectionId: string): void;
  sweep(): void;
  settled(): Promise<void>;
  stop(): Promise<void>;
};

type Options = { store: Store; log: Log; now: () => number; maxJobs: number };

export function createJobIndex({ store, log, now, maxJobs }: Options): JobIndex {
  const waiting: Change[] = [];
  let writing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isLate = false;
  const losses = new Map<string, number>();
  const lost = ({ connectionId, ...change }: Change) => {
    const answers = change.kind === "seen" ? change.answers : 1;
    losses.set(connectionId, (losses.get(connectionId) ?? 0) + answers);
    for (let count = 0; count < answers; count += 1) telemetry().metrics?.count("lightdesk_ledger_lost_total", {});
  };
  telemetry().metrics?.read("lightdesk_ledger_waiting", () => waiting.length);
  const reader = createIndexReader({ store, log, now, maxJobs, settled, lossesOf: (id) => losses.get(id) ?? 0 });

  function add(change: Change): void {
    if (waiting.length >= MAX_WAITING && change.kind === "seen") return lost(change);
    waiting.push(change);
    timer ??= setTimeout(() => void settled(), WAIT_MS).unref();
  }

  function settled(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing ??= writeAll().finally(() => (writing = undefined));
    return writing;
  }

  async function writeAll(): Promise<void> {
    for (let first = waiting.shift(); first !== undefined; first = waiting.shift()) {
      const change = first.kind === "seen" ? withWaiting(first) : first;
      try {
        await write(change);
      } catch (err) {
        lost(change);
        log.error({ err, connectionId: change.connectionId }, "job index write failed");
      }
    }
  }

  /** With what else waits for the same connection: each commit waits for the disk. */
  function withWaiting(first: SeenJobs): SeenJobs {
    const together = [first];
    for (let next = waiting[0]; next?.kind === "seen" && next.connectionId === first.connectionId; next = waiting[0]) {
      together.push(next);
      waiting.shift();
    }
    return { ...first, answers: together.length, notes: () => together.flatMap(({ notes }) => notes()) };
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
      // The next start continues it.
      while (!isLate && (await jobIndexStore.sweep())) await yieldToOthers();
      await store.jobUsage.sweep(now());
      return;
    }
    const notes = isLate ? [] : change.notes();
    for (let at = 0; at < notes.length && !isLate; at += BATCH_SIZE) {
      if (at > 0) await yieldToOthers();
      await jobIndexStore.note(connectionId, notes.slice(at, at + BATCH_SIZE), maxJobs);
    }
    if (isLate) lost(change);
  }

  return {
    reader,
    see: (connectionId, notes) => add({ kind: "seen", connectionId, answers: 1, notes }),
    removed: (connectionId, ids) => add({ kind: "removed", connectionId, ids }),
    restart: (connectionId) => add({ kind: "restarted", connectionId }),
    sweep: () => add({ kind: "swept", connectionId: "" }),
    settled,
    /** Answers not written within a few seconds are dropped, as in a crash: the reader reads them again after the next start. */
    async stop() {
      await withTimeout(reader.stop().then(settled), STOPS_WITHIN_MS, () => undefined);
      isLate = true;
      await settled();
    },
  };
}
