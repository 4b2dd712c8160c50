// Fills the ledger in idle time: reads a service's list of jobs backwards, page by page, and the details of jobs whose inputs are not known.
// Guarantees: one reader a connection, while it is used; each step waits several times as long as the one before took; a failure
// makes it wait ever longer, and as long as the service says; it ends at the end of the list or where the ledger is full. Jobs that a page
// should hold and does not are forgotten. What it reads passes the same masking as everything else.
// Must never: call with rights that were lost: each read is made for whoever used the connection last.

import "server-only";
import { setMaxListeners } from "node:events";
import { type Failure } from "@/lib/contract/failure";
import { type JobsAnswer } from "@/lib/contract/schemas/job";
import { ok, type Result } from "@/lib/shared/result";
import { type Log } from "../log";
import { type Absent, type LedgerReach } from "../store/job-ledger";
import { type Store } from "../store/store";
import { knownSince, type ListPage, older, pageOf, timesOf } from "./list-page";
import { createSizeReader, type LedgerRead } from "./reads";

/** `job`: nothing is read of it here; what it tells is written down on its way. */
export type LedgerReader = ReturnType<typeof createLedgerReader>;

const PAGE = 200;
/** So that jobs that left the list between two pages are noticed. */
const OVERLAP = 10;
const DETAILS_A_PAGE = 4;
/** The page that is opened comes first. */
const FIRST_WAIT_MS = 2000;
const SHORTEST_WAIT_MS = 100;
const WAITS_FOR_WORK = 4;
const FIRST_BACK_OFF_MS = 2000;
const LONGEST_BACK_OFF_MS = 10 * 60_000;
const USED_FOR_MS = 5 * 60_000;
const LOOK_EVERY_MS = 15_000;
/** A list that was read is read again, for jobs that were removed meanwhile. */
const ROUND_EVERY_MS = 24 * 60 * 60_000;
const FRESH_FOR_MS = 1500;
const FRESH_WITHIN_MS = 1500;
const MOST_MISSING = 10_000;
const newestFirst = { sort_by: "create_time", sort_order: "desc" } as const;

type Used = {
  read: LedgerRead;
  usedMs: number;
  loop?: Promise<void>;
  wake?: () => void;
  /** Where the jobs that came since the last time are read; undefined once they are. */
  headOffset: number | undefined;
  headMs?: number;
  gap?: LedgerGap;
  /** Of the answers that were not taken up, those before the newest jobs were last read from their beginning. */
  headLosses: number;
  asked?: { atMs: number; answer: Promise<Failure | undefined> };
  answeredMs?: number;
  wanted: string[];
  /** The list is read anew, and so far back yet; what was known before stays known meanwhile. */
  round?: Round;
  /** Jobs without details. */
  missing: Set<string>;
  /** Counts how often everything was begun anew: what a step before it found says nothing of now. */
  beginnings: number;
};
type Round = { oldestMs?: number };
type Options = { store: Store; log: Log; now: () => number; most: number; settled: () => Promise<void>; lossesOf: (id: string) => number };
/** Of what is between these two nothing is known yet. */
export type LedgerGap = { afterMs: number; beforeMs: number };
type Kept = LedgerReach & { keep(reach: LedgerReach): Promise<void> };
/** `undefined`: there is nothing to do. */
type Step = Failure | "done" | undefined;
/** There was no room for the page, or on the disk: it is read again, later and later. */
const notTaken: Failure = { code: "INTERNAL", message: "", status: 500 };

export function createLedgerReader({ store, log, now, most, settled, lossesOf }: Options) {
  const connections = new Map<string, Used>();
  const ending = new AbortController();
  // One for each connection in use: no leak, however many there are.
  setMaxListeners(0, ending.signal);
  const flights = new Set<AbortController>();
  const { jobLedger } = store;
  const readSizes = createSizeReader(store.jobUsage);

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

  /** `isFull`: whatever comes up meanwhile can wait. */
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
    const { beginnings } = used;
    const known = await jobLedger.reach(id);
    const reach = {
      ...known,
      keep: async (found: LedgerReach) => void (used.beginnings === beginnings && (await jobLedger.setReach(id, found))),
    };
    if (used.headOffset !== undefined) return readHead(id, used, reach);
    const isListed = reach.nextOffset === undefined;
    const isDue = isListed && now() - (reach.sweptAt ?? 0) > ROUND_EVERY_MS;
    // Of a round that another process began it is not known how far it came.
    const isOrphan = !isListed && reach.sweptAt !== undefined && used.round === undefined;
    if (isDue || isOrphan) {
      if (used.beginnings === beginnings) used.round = {};
      await reach.keep({ ...reach, nextOffset: 0 });
      return "done";
    }
    if (!isListed) {
      const step = await readOlder(id, used, reach);
      if (step !== "done") return step;
    }
    const step = await readDetails(id, used);
    // Sizes come last: nobody waits for them.
    return step !== undefined || !isListed ? (step ?? "done") : underWay((signal) => readSizes(id, used.read.assets, signal));
  }

  /** What is newer than what is known: all of it the first time, and then the older ones from there. */
  async function readHead(id: string, used: Used, reach: Kept): Promise<Step> {
    if (used.headOffset === 0) used.headLosses = lossesOf(id);
    const page = await readPage(id, used, used.headOffset ?? 0);
    if (!page.ok) return page.failure;
    await settled();
    if (lossesOf(id) !== used.headLosses) {
      used.headOffset = 0;
      return notTaken;
    }
    const { oldestMs, newestMs, isLast, isCut, end } = page.value;
    used.headMs = Math.max(used.headMs ?? 0, newestMs ?? 0);
    if (reach.newestMs === undefined) {
      await goOn(id, { ...reach, newestMs: used.headMs }, page.value);
      used.headOffset = undefined;
    } else if (isLast || oldestMs === undefined || oldestMs <= reach.newestMs || (await isFullBefore(id, oldestMs))) {
      const isApart = isCut && oldestMs !== undefined && oldestMs > reach.newestMs;
      // Of what is between them nothing will be known.
      const from = isApart ? { cursorMs: oldestMs, nextOffset: undefined, isComplete: false, isBounded: true } : {};
      await reach.keep({ ...reach, ...from, newestMs: Math.max(used.headMs, reach.newestMs) });
      Object.assign(used, { headOffset: undefined, headMs: undefined, gap: undefined });
    } else used.headOffset = end;
    return "done";
  }

  async function readOlder(id: string, used: Used, reach: Kept): Promise<Step> {
    const offset = Math.max(0, (reach.nextOffset ?? 0) - OVERLAP);
    const losses = lossesOf(id);
    const { round } = used;
    const page = await readPage(id, used, offset);
    if (!page.ok) return page.failure;
    await settled();
    if (lossesOf(id) !== losses) return notTaken;
    const { newestMs, end } = page.value;
    const readMs = round ? round.oldestMs : reach.cursorMs;
    const isGap = offset > 0 && readMs !== undefined && (newestMs === undefined || newestMs < readMs);
    // Jobs before this page were removed, and others took their place: back to where the two meet.
    if (isGap) await reach.keep({ ...reach, nextOffset: Math.max(0, offset - PAGE) });
    // A service that says that there is more and has nothing more.
    else await goOn(id, reach, { ...page.value, isLast: page.value.isLast || end <= (reach.nextOffset ?? 0) }, round);
    return "done";
  }

  async function goOn(id: string, reach: Kept, { oldestMs, isLast, isCut, end }: ListPage, round?: Round): Promise<void> {
    await settled();
    const isFull = !isLast && (await isFullBefore(id, oldestMs));
    const readMs = older(oldestMs, round ? round.oldestMs : reach.cursorMs);
    if (round) round.oldestMs = readMs;
    const isWhole = isLast && !isCut;
    if (isWhole) await forgetAll(id, { afterMs: -1, beforeMs: readMs ?? Number.MAX_SAFE_INTEGER, present: [] });
    await reach.keep({
      ...reach,
      cursorMs: !round || isWhole || isFull ? readMs : knownSince(reach, readMs, isLast, await jobLedger.oldestOfFull(id, most)),
      nextOffset: isLast || isFull ? undefined : end,
      isComplete: isLast ? !isCut : reach.isComplete,
      isBounded: isFull || (isLast ? isCut : reach.isBounded),
      sweptAt: isLast || isFull ? now() : reach.sweptAt,
    });
  }

  async function isFullBefore(id: string, oldestMs: number | undefined): Promise<boolean> {
    await settled();
    const oldestKept = await jobLedger.oldestOfFull(id, most);
    return oldestKept !== undefined && oldestMs !== undefined && oldestMs <= oldestKept;
  }

  /** A signal of its own for each call: one that lives as long as the process would gather listeners. */
  async function underWay<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const flight = new AbortController();
    flights.add(flight);
    if (ending.signal.aborted) flight.abort();
    return call(flight.signal).finally(() => flights.delete(flight));
  }

  async function readPage(id: string, used: Used, offset: number): Promise<Result<ListPage, Failure>> {
    const query = { ...newestFirst, offset, limit: PAGE };
    const read = await underWay((signal) => used.read.jobs({ query, signal }));
    if (!read.ok) return read;
    used.answeredMs = now();
    await forgetAbsent(id, read.value);
    return ok(pageOf(read.value, offset));
  }

  /** The newest page goes on from what is known, or there is a gap before it, which is read next. */
  async function join(id: string, used: Used, { newestMs, oldestMs, isLast, isCut }: Omit<ListPage, "end">): Promise<void> {
    const { beginnings } = used;
    await settled();
    const known = await jobLedger.reach(id);
    const isFull = await isFullBefore(id, oldestMs);
    // It is of what was there before all was begun anew.
    if (used.beginnings !== beginnings) return;
    const isTaken = lossesOf(id) === used.headLosses;
    if (known.newestMs === undefined || newestMs === undefined || oldestMs === undefined) used.gap = undefined;
    else if (isTaken && ((isLast && !isCut) || oldestMs <= known.newestMs || isFull)) {
      used.gap = undefined;
      await jobLedger.advance(id, newestMs);
    } else {
      used.gap = { afterMs: known.newestMs, beforeMs: isTaken ? oldestMs : newestMs };
      used.headOffset ??= 0;
      used.wake?.();
    }
  }

  async function lookAgain(id: string, used: Used): Promise<Failure | undefined> {
    try {
      const page = await readPage(id, used, 0);
      if (page.ok) await join(id, used, page.value);
      return page.ok ? undefined : page.failure;
    } catch (err) {
      if (!ending.signal.aborted) log.error({ err, connectionId: id }, "the newest jobs could not be read for a search");
      return undefined;
    }
  }

  async function forgetAbsent(id: string, answer: JobsAnswer): Promise<void> {
    const times = timesOf(answer);
    const isWhole = answer.unreadable === undefined && times.length === answer.jobs.length && times.length > 1;
    const isInOrder = times.every((ms, at) => at === 0 || ms <= (times[at - 1] ?? ms));
    if (!isWhole || !isInOrder) return;
    const between = { afterMs: times.at(-1) ?? 0, beforeMs: times[0] ?? 0, present: answer.jobs.map((job) => job.id) };
    await forgetAll(id, between);
  }

  async function forgetAll(id: string, between: Absent): Promise<void> {
    while (await jobLedger.forgetAbsent(id, between)) ending.signal.throwIfAborted();
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
      // One that a list names again has no details, and is not asked for any more.
      if (status === 404 && !isKnown) await jobLedger.forget(id, [jobId]);
      else await jobLedger.note(id, [{ jobId, inputs: "", isAside: true }], most);
    }
    return ids.length > 0 ? "done" : undefined;
  }

  return {
    /** A person works with a connection; `read` is made with their rights. */
    used(id: string, read: LedgerRead): void {
      if (ending.signal.aborted) return;
      const used = connections.get(id) ?? {
        read,
        usedMs: 0,
        headOffset: 0,
        headLosses: lossesOf(id),
        wanted: [],
        missing: new Set(),
        beginnings: 0,
      };
      connections.set(id, used);
      used.read = read;
      used.usedMs = now();
      used.loop ??= loop(id, used).finally(() => {
        used.loop = undefined;
        used.headOffset = 0;
      });
    },

    /** There is something to read. */
    wake: (id: string) => connections.get(id)?.wake?.(),

    /** Nothing is known any more. */
    restart(id: string): void {
      const used = connections.get(id);
      if (!used) return;
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
    },

    /** The newest page of the list was read. */
    async sawNewest(id: string, answer: JobsAnswer): Promise<void> {
      const used = connections.get(id);
      if (used) await join(id, used, pageOf(answer, 0));
    },

    /** As the newest page said. */
    gapOf: (id: string): LedgerGap | undefined => connections.get(id)?.gap,

    /** Jobs that may have moved on. */
    want(id: string, jobIds: readonly string[]): void {
      const used = connections.get(id);
      if (!used) return;
      used.wanted = jobIds.slice(0, 2 * DETAILS_A_PAGE);
      used.wake?.();
    },

    /** The newest jobs, asked for at most every other second; not waited for longer than that. Since when the service has not answered, where it does not. */
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
