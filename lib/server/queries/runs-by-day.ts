// How many jobs were submitted on each of the last days, and how they ended: counted in the ledger of jobs.
// Guarantees: the newest page of the service's list is read first, so an outage is a failure and jobs that just ended are counted; days
// before the ledger's reach are left out and partly known days are marked, so none looks empty. Must never:
// block other requests while it counts.

import "server-only";
import { setImmediate as othersTurn } from "node:timers/promises";
import { type RunsByDay, type RunsOfDay } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { type JobState, jobStates } from "@/lib/contract/jobs/job-list";
import { operations } from "@/lib/contract/operations";
import { type JobsAnswer } from "@/lib/contract/schemas/job";
import { toMilliseconds } from "@/lib/contract/times";
import { failed, ok, type Result } from "@/lib/shared/result";
import { passOn } from "../answers/pass-on";
import { toBrowser } from "../answers/to-browser";
import { type Viewer } from "../auth/viewer";
import { composition } from "../composition";
import { openForJobs } from "../connections/access";
import { oldestReachOf } from "../jobs/job-search";
import { type LedgerGap } from "../ledger/list-reader";

const NEWEST = 200;
const DAYS = 14;
const DAY_MS = 24 * 60 * 60_000;

export async function listRunsByDay(viewer: Viewer, zone: string, connection?: string): Promise<Result<RunsByDay, Failure>> {
  const access = await openForJobs(viewer, connection);
  if (!access.ok) return access;
  const query = { sort_by: "create_time", sort_order: "desc", offset: 0, limit: NEWEST };
  const newest = await access.value.upstream.call(operations.listJobs, { query });
  if (!newest.ok) return failed(toBrowser(newest.failure, access.value));
  await passOn(operations.listJobs, access.value, newest.value);
  const { store, ledger, now } = composition();
  const { id } = access.value.connection;
  await ledger.reader.sawNewest(id, newest.value);
  // Taken before counting: jobs read meanwhile are counted only for some days.
  const gap = ledger.reader.gapOf(id);
  await ledger.settled();
  const runs: Runs[] = [];
  const nowMs = now();
  for (const state of [...jobStates, "unknown"] as const) {
    // One day per turn: all of two hundred thousand jobs may have the same state.
    for (let toMs = nowMs + DAY_MS; toMs > nowMs - (DAYS + 1) * DAY_MS; toMs -= DAY_MS) {
      await othersTurn();
      const counted = await store.jobLedger.countByTime(id, state, { fromMs: toMs - DAY_MS, toMs });
      for (const { ms, count } of counted) runs.push({ ms, state, count });
    }
  }
  return ok(countByDay(runs, { zone, nowMs, gap, sinceMs: await reachedMs(id, newest.value) }));
}

/** Undefined if everything is known. */
async function reachedMs(id: string, { jobs, pagination, is_cut: lacksOlder = false }: JobsAnswer): Promise<number | undefined> {
  const { extent, sinceMs } = await oldestReachOf(id);
  if (extent === "all") return undefined;
  if (extent === "newest" && sinceMs !== undefined) return sinceMs;
  const isCut = lacksOlder || (pagination.has_more ?? (pagination.total ?? 0) > jobs.length);
  if (!isCut) return undefined;
  // Until the list has been read backwards, only the page's jobs are known.
  const times = jobs.flatMap((job) => toMilliseconds(job.create_time) ?? []);
  const oldestMs = Math.min(sinceMs ?? Number.POSITIVE_INFINITY, ...times);
  // Without a dated job the reach is unknown: the days show what was counted.
  return Number.isFinite(oldestMs) ? oldestMs : undefined;
}

/** `ms`: the quarter of an hour in which they were submitted. */
type Runs = { ms: number; state: JobState; count: number };

type Counting = { zone: string; nowMs: number; sinceMs?: number; gap?: LedgerGap };

/** `sinceMs`: older jobs are not known. */
export function countByDay(runs: readonly Runs[], { zone, nowMs, sinceMs, gap }: Counting): RunsByDay {
  const dayOf = dayIn(zone);
  const counted = new Map<string, RunsOfDay>(
    lastDays(nowMs, dayOf).map((day) => [day, { day, completed: 0, failed: 0, cancelled: 0, other: 0 }]),
  );
  for (const { ms, state, count } of runs) {
    const day = dayOf(ms);
    const ofDay = counted.get(day);
    const column = state === "completed" || state === "failed" || state === "cancelled" ? state : "other";
    if (ofDay) counted.set(day, { ...ofDay, [column]: ofDay[column] + count });
  }
  const [firstDay = ""] = counted.keys();
  const isWhole = sinceMs === undefined || dayOf(sinceMs) < firstDay;
  const isUnread = (day: string) => gap !== undefined && day >= dayOf(gap.afterMs) && day <= dayOf(gap.beforeMs);
  const days = [...counted.values()]
    .filter(({ day }) => isWhole || day >= dayOf(sinceMs))
    .map((ofDay) => (isUnread(ofDay.day) ? { ...ofDay, isUnread: true } : ofDay));
  const total = days.reduce((sum, { completed, failed: lost, cancelled, other }) => sum + completed + lost + cancelled + other, 0);
  return { days, jobs: total, ...(isWhole ? {} : { sinceMs }) };
}

/** Formats dates so that they compare as texts. */
function dayIn(zone: string): (ms: number) => string {
  const format = new Intl.DateTimeFormat("en-CA", { timeZone: zone, year: "numeric", month: "2-digit", day: "2-digit" });
  return (ms) => format.format(ms);
}

/** Moments half a day apart, because a day may have 23 hours. */
function lastDays(nowMs: number, dayOf: (ms: number) => string): string[] {
  const moments = Array.from({ length: 2 * DAYS }, (_, index) => nowMs - ((2 * DAYS - 1 - index) * DAY_MS) / 2);
  return [...new Set(moments.map(dayOf))].slice(-DAYS);
}
