// Reads a service's list of jobs from the newest backwards, page by page, to its end or until the ledger is full.
// Guarantees: if a page was dropped, or jobs left the list between two pages, that stretch is read again; a gap is reported until it is
// read. Jobs that a page should list but does not are forgotten.
// Must never: treat what was read before a restart as current.

import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { type JobsAnswer } from "@/lib/contract/schemas/job";
import { ok, type Result } from "@/lib/shared/result";
import { type Absent, type JobLedgerStore, type LedgerReach } from "../store/jobs/job-ledger";
import { knownSince, type ListPage, older, pageOf, timesOf } from "./list-page";
import { type LedgerRead } from "./reads";

const PAGE = 1000;
/** After a 429 without Retry-After. */
const DEFAULT_PAUSE_MS = 60_000;
/** Pages overlap, so that jobs that left the list between two pages are noticed. */
const OVERLAP = 10;
/** A fully read list is read again, to find jobs that were removed meanwhile. */
const ROUND_EVERY_MS = 24 * 60 * 60_000;
const newestFirst = { sort_by: "create_time", sort_order: "desc" } as const;

/** The state of one connection. */
export type Listed = {
  read: LedgerRead;
  wake?: () => void;
  /** The offset at which new jobs are being read; undefined once they are read. */
  headOffset: number | undefined;
  headMs?: number;
  gap?: LedgerGap;
  /** The number of dropped answers when reading the newest jobs last began. */
  headLosses: number;
  answeredMs?: number;
  /** When the last page was requested. */
  pageMs?: number;
  /** The service has requested a wait. */
  pausedUntilMs?: number;
  /** Set while the list is read again: how far back it has come. What was known before stays known meanwhile. */
  round?: Round;
  /** Counts restarts: the result of a step that began before one is out of date. */
  beginnings: number;
};
type Round = { oldestMs?: number };
/** Nothing is known yet about jobs between these two times. */
export type LedgerGap = { afterMs: number; beforeMs: number };
type Kept = LedgerReach & { keep(reach: LedgerReach): Promise<void> };
/** `undefined`: there is nothing to do. */
export type Step = Failure | "done" | undefined;
/** The page was dropped, or the disk is full: it is read again, each time after a longer wait. */
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
  /** "older": there are more jobs than those read so far. */
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
    // Another process began this round, and how far it came is unknown.
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

  /** Reads jobs newer than the known ones. The first time it reads one page, and the older ones follow from there. */
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
      // Nothing will be known about the jobs between them.
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
    // Jobs before this page were removed and others moved up: go back to where the two meet.
    if (isGap) await reach.keep({ ...reach, nextOffset: Math.max(0, offset - PAGE) });
    // A service may say that there is more and then return nothing.
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

  async function readPage(id: string, used: Listed, offset: number, limit = PAGE): Promise<Result<ListPage, Failure>> {
    used.pageMs = now();
    const query = { ...newestFirst, offset, limit };
    const read = await underWay((signal) => used.read.jobs({ query, signal, limits: { attempts: 1 } }));
    if (!read.ok) {
      const { status, retryAfterMs } = read.failure;
      if (status === 429 || retryAfterMs !== undefined) used.pausedUntilMs = now() + (retryAfterMs ?? DEFAULT_PAUSE_MS);
      return read;
    }
    used.answeredMs = now();
    await forgetAbsent(id, read.value);
    return ok(pageOf(read.value, offset));
  }

  /** If the newest page connects to the known jobs, nothing is missing; otherwise there is a gap before it, which is read next. */
  async function join(id: string, used: Listed, { newestMs, oldestMs, isLast, isCut }: Omit<ListPage, "end">): Promise<void> {
    const { beginnings } = used;
    await settled();
    const known = await jobLedger.reach(id);
    const isFull = await isFullBefore(id, oldestMs);
    // The page was read before a restart.
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
    const isWhole = !answer.unreadable && times.length === answer.jobs.length && times.length > 1;
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
