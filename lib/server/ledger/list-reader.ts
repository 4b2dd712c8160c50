// How far a service's list of jobs has been read: from its newest jobs backwards, page by page, to its end or until the ledger is full.
// Guarantees: where a page was not taken up, or jobs left the list between two pages, that stretch is read again; a gap is told as one until
// it is read. Jobs that a page should hold and does not are forgotten.
// Must never: take what was read before a restart for what is true now.

import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { type JobsAnswer } from "@/lib/contract/schemas/job";
import { ok, type Result } from "@/lib/shared/result";
import { type Absent, type JobLedgerStore, type LedgerReach } from "../store/jobs/job-ledger";
import { knownSince, type ListPage, older, pageOf, timesOf } from "./list-page";
import { type LedgerRead } from "./reads";

const PAGE = 200;
/** So that jobs that left the list between two pages are noticed. */
const OVERLAP = 10;
/** A list that was read is read again, for jobs that were removed meanwhile. */
const ROUND_EVERY_MS = 24 * 60 * 60_000;
const newestFirst = { sort_by: "create_time", sort_order: "desc" } as const;

/** Of one connection. */
export type Listed = {
  read: LedgerRead;
  wake?: () => void;
  /** Where the jobs that came since the last time are read; undefined once they are. */
  headOffset: number | undefined;
  headMs?: number;
  gap?: LedgerGap;
  /** Of the answers that were not taken up, those before the newest jobs were last read from their beginning. */
  headLosses: number;
  answeredMs?: number;
  /** The list is being read again, so far back to here; what was known before stays known meanwhile. */
  round?: Round;
  /** Counts the restarts: what a step before one found is out of date. */
  beginnings: number;
};
type Round = { oldestMs?: number };
/** Of what is between these two nothing is known yet. */
export type LedgerGap = { afterMs: number; beforeMs: number };
type Kept = LedgerReach & { keep(reach: LedgerReach): Promise<void> };
/** `undefined`: there is nothing to do. */
export type Step = Failure | "done" | undefined;
/** There was no room for the page, or on the disk: it is read again, later and later. */
export const notTaken: Failure = { code: "INTERNAL", message: "", status: 500 };

type Options = {
  jobLedger: JobLedgerStore;
  now: () => number;
  most: number;
  settled: () => Promise<void>;
  lossesOf: (id: string) => number;
  underWay: <T>(call: (signal: AbortSignal) => Promise<T>) => Promise<T>;
  signal: AbortSignal;
};

export function createListReader({ jobLedger, now, most, settled, lossesOf, underWay, signal: ending }: Options) {
  /** "older": there are more jobs than those that were read. */
  async function next(id: string, used: Listed): Promise<Step | "older"> {
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
    if (isListed) return undefined;
    const step = await readOlder(id, used, reach);
    return step === "done" ? "older" : step;
  }

  /** What is newer than what is known: all of it the first time, and then the older ones from there. */
  async function readHead(id: string, used: Listed, reach: Kept): Promise<Step> {
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

  async function readOlder(id: string, used: Listed, reach: Kept): Promise<Step> {
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

  async function readPage(id: string, used: Listed, offset: number): Promise<Result<ListPage, Failure>> {
    const query = { ...newestFirst, offset, limit: PAGE };
    const read = await underWay((signal) => used.read.jobs({ query, signal }));
    if (!read.ok) return read;
    used.answeredMs = now();
    await forgetAbsent(id, read.value);
    return ok(pageOf(read.value, offset));
  }

  /** The newest page goes on from what is known, or there is a gap before it, which is read next. */
  async function join(id: string, used: Listed, { newestMs, oldestMs, isLast, isCut }: Omit<ListPage, "end">): Promise<void> {
    const { beginnings } = used;
    await settled();
    const known = await jobLedger.reach(id);
    const isFull = await isFullBefore(id, oldestMs);
    // It was read before a restart.
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

  async function forgetAbsent(id: string, answer: JobsAnswer): Promise<void> {
    const times = timesOf(answer);
    const isWhole = answer.unreadable === undefined && times.length === answer.jobs.length && times.length > 1;
    const isInOrder = times.every((ms, at) => at === 0 || ms <= (times[at - 1] ?? ms));
    if (!isWhole || !isInOrder) return;
    const between = { afterMs: times.at(-1) ?? 0, beforeMs: times[0] ?? 0, present: answer.jobs.map((job) => job.id) };
    await forgetAll(id, between);
  }

  async function forgetAll(id: string, between: Absent): Promise<void> {
    while (await jobLedger.forgetAbsent(id, between)) ending.throwIfAborted();
  }

  return { next, readPage, join };
}
