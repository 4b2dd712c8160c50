// Fills the ledger in idle time: reads a service's list of jobs, the details of jobs with unknown inputs, and their output sizes.
// Guarantees: one reader per connection, while it is used; each step waits several times as long as the one before took; failures make it
// wait longer and longer, and at least as long as the service says. What it reads is masked like everything else.
// Must never: call with rights that were lost: each read uses the rights of the member who used the connection last.

import "server-only";
import { setMaxListeners } from "node:events";
import { type Failure } from "@/lib/contract/failure";
import { type JobsAnswer } from "@/lib/contract/schemas/job";
import { type Log } from "../log";
import { type Store } from "../store/store";
import { pageOf } from "./list-page";
import { createListReader, type LedgerGap, type Listed, notTaken, type Step } from "./list-reader";
import { createSizeReader, type LedgerRead } from "./reads";

export type LedgerReader = ReturnType<typeof createLedgerReader>;

const DETAILS_A_PAGE = 4;
/** The page that is being opened comes first. */
const FIRST_WAIT_MS = 2000;
const SHORTEST_WAIT_MS = 100;
const WAITS_FOR_WORK = 4;
const FIRST_BACK_OFF_MS = 2000;
const LONGEST_BACK_OFF_MS = 10 * 60_000;
const USED_FOR_MS = 5 * 60_000;
const LOOK_EVERY_MS = 15_000;
const FRESH_FOR_MS = 1500;
const FRESH_WITHIN_MS = 1500;
const MOST_MISSING = 10_000;

type Used = Listed & {
  usedMs: number;
  loop?: Promise<void>;
  asked?: { atMs: number; answer: Promise<Failure | undefined> };
  wanted: string[];
  /** Jobs without details. */
  missing: Set<string>;
};
type Options = { store: Store; log: Log; now: () => number; most: number; settled: () => Promise<void>; lossesOf: (id: string) => number };

export function createLedgerReader({ store, log, now, most, settled, lossesOf }: Options) {
  const connections = new Map<string, Used>();
  const ending = new AbortController();
  // One for each connection in use, so their number is bounded.
  setMaxListeners(0, ending.signal);
  const flights = new Set<AbortController>();
  const { jobLedger } = store;
  const readSizes = createSizeReader(store.jobUsage);
  const list = createListReader({ jobLedger, now, most, settled, lossesOf, underWay, signal: ending.signal });

  async function loop(id: string, used: Used): Promise<void> {
    await pause(used, FIRST_WAIT_MS, true);
    for (let failures = 0; !ending.signal.aborted && now() - used.usedMs < USED_FOR_MS;) {
      const began = performance.now();
      const step = await next(id, used).catch((err: unknown): Step => {
        if (!ending.signal.aborted) log.error({ err, connectionId: id }, "the ledger of jobs could not be read on");
        return notTaken;
      });
      failures = typeof step === "object" ? failures + 1 : 0;
      const backOff = Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** (failures - 1));
      if (typeof step === "object") await pause(used, Math.max(step.retryAfterMs ?? 0, backOff), true);
      else if (step === undefined) await pause(used, LOOK_EVERY_MS);
      else await pause(used, Math.max(SHORTEST_WAIT_MS, WAITS_FOR_WORK * (performance.now() - began)), true);
    }
  }

  /** `isFull`: wait the whole time, even if new work comes up. */
  function pause(used: Used, ms: number, isFull = false): Promise<void> {
    return new Promise((resolve) => {
      const over = () => {
        clearTimeout(timer);
        ending.signal.removeEventListener("abort", over);
        used.wake = undefined;
        resolve();
      };
      const timer = setTimeout(over, ms).unref();
      if (ending.signal.aborted) over();
      else ending.signal.addEventListener("abort", over, { once: true });
      if (!isFull) used.wake = over;
    });
  }

  async function next(id: string, used: Used): Promise<Step> {
    const listed = await list.next(id, used);
    if (listed !== undefined && listed !== "older") return listed;
    const step = await readDetails(id, used);
    // Sizes come last: no page waits for them.
    if (step !== undefined || listed === "older") return step ?? "done";
    return underWay((signal) => readSizes(id, used.read.assets, signal));
  }

  /** Each call has its own signal: one that lives as long as the process would collect listeners. */
  async function underWay<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const flight = new AbortController();
    flights.add(flight);
    if (ending.signal.aborted) flight.abort();
    return call(flight.signal).finally(() => flights.delete(flight));
  }

  async function lookAgain(id: string, used: Used): Promise<Failure | undefined> {
    try {
      const page = await list.readPage(id, used, 0);
      if (page.ok) await list.join(id, used, page.value);
      return page.ok ? undefined : page.failure;
    } catch (err) {
      if (!ending.signal.aborted) log.error({ err, connectionId: id }, "the newest jobs could not be read for a search");
      return undefined;
    }
  }

  async function readDetails(id: string, used: Used): Promise<Step> {
    await settled();
    const ids = [...used.wanted.splice(0), ...(await jobLedger.unread(id, DETAILS_A_PAGE))].slice(0, DETAILS_A_PAGE);
    for (const jobId of ids) {
      if (ending.signal.aborted) return undefined;
      const read = await underWay((signal) => used.read.job({ params: { job_id: jobId }, signal }));
      if (read.ok) continue;
      const { status, code } = read.failure;
      const isKnown = used.missing.has(jobId);
      const isOwnFault = [400, 404, 410, 422].includes(status) || (isKnown && (status === 500 || code === "UPSTREAM_UNREADABLE"));
      if (used.missing.size < MOST_MISSING) used.missing.add(jobId);
      if (!isOwnFault) return read.failure;
      // A listed job without details is not asked for again.
      if (status === 404 && !isKnown) await jobLedger.forget(id, [jobId]);
      else await jobLedger.note(id, [{ jobId, inputs: "", isAside: true }], most);
    }
    return ids.length > 0 ? "done" : undefined;
  }

  return {
    /** A person works with a connection; `read` uses their rights. */
    used(id: string, read: LedgerRead): void {
      if (ending.signal.aborted) return;
      const used = connections.get(id) ?? {
        ...{ read, usedMs: 0, wanted: [], missing: new Set() },
        ...{ headOffset: 0, headLosses: lossesOf(id), beginnings: 0 },
      };
      connections.set(id, used);
      used.read = read;
      used.usedMs = now();
      used.loop ??= loop(id, used).finally(() => {
        used.loop = undefined;
        used.headOffset = 0;
      });
    },

    /** Tells the reader that there is something to read. */
    wake: (id: string) => connections.get(id)?.wake?.(),

    /** Forgets what was read; of all connections if undefined. */
    restart(id: string | undefined): void {
      for (const used of id === undefined ? connections.values() : [connections.get(id)]) {
        if (!used) continue;
        Object.assign(used, {
          headOffset: 0,
          headMs: undefined,
          gap: undefined,
          wanted: [],
          missing: new Set(),
          round: undefined,
          beginnings: used.beginnings + 1,
        });
        used.wake?.();
      }
    },

    /** The newest page of the list was read. */
    async sawNewest(id: string, answer: JobsAnswer): Promise<void> {
      const used = connections.get(id);
      if (used) await list.join(id, used, pageOf(answer, 0));
    },

    /** From the newest page. */
    gapOf: (id: string): LedgerGap | undefined => connections.get(id)?.gap,

    /** Jobs whose state may have changed. */
    want(id: string, jobIds: readonly string[]): void {
      const used = connections.get(id);
      if (!used) return;
      used.wanted = jobIds.slice(0, 2 * DETAILS_A_PAGE);
      used.wake?.();
    },

    /** Reads the newest jobs, at most every other second, waiting no longer than that. If it failed: when the service last answered. */
    async refresh(id: string): Promise<{ sinceMs: number | undefined } | undefined> {
      const used = connections.get(id);
      if (!used) return undefined;
      if (!used.asked || now() - used.asked.atMs > FRESH_FOR_MS) {
        used.asked = { atMs: now(), answer: lookAgain(id, used) };
      }
      const late = new Promise<undefined>((resolve) => void setTimeout(() => resolve(undefined), FRESH_WITHIN_MS).unref());
      const failure = await Promise.race([used.asked.answer, late]);
      await settled();
      return failure && { sinceMs: used.answeredMs };
    },

    async stop(): Promise<void> {
      ending.abort();
      for (const flight of flights) flight.abort();
      await Promise.all([...connections.values()].map(({ loop: running }) => running));
    },
  };
}
