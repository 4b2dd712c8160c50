// How many jobs were submitted on each of the last days, and how they ended.
// Guarantees: one bounded read, of the newest jobs; days that it does not reach are left out and never shown as empty ones.

import "server-only";
import { type RunsByDay, type RunsOfDay } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { type JobListItem } from "@/lib/contract/schemas/job";
import { toJobState } from "@/lib/contract/states";
import { toMilliseconds } from "@/lib/contract/times";
import { ok, type Result } from "@/lib/shared/result";
import { type Viewer } from "../auth/viewer";
import { composition } from "../composition";
import { readThrough } from "../connections/access";

const MOST_JOBS = 1000;
const DAYS = 14;
const DAY_MS = 24 * 60 * 60_000;

export async function listRunsByDay(viewer: Viewer, zone: string, connection?: string): Promise<Result<RunsByDay, Failure>> {
  const query = { sort_by: "create_time", sort_order: "desc", offset: 0, limit: MOST_JOBS };
  const answer = await readThrough(viewer, connection, operations.listJobs, { query });
  if (!answer.ok) return answer;
  const { jobs, pagination } = answer.value;
  const isCut = pagination.has_more ?? (pagination.total ?? 0) > jobs.length;
  return ok(countByDay(jobs, { zone, nowMs: composition().now(), isCut }));
}

type Counting = { zone: string; nowMs: number; isCut: boolean };

export function countByDay(jobs: readonly Pick<JobListItem, "status" | "create_time">[], { zone, nowMs, isCut }: Counting): RunsByDay {
  const dayOf = dayIn(zone);
  const counted = new Map<string, RunsOfDay>(
    lastDays(nowMs, dayOf).map((day) => [day, { day, completed: 0, failed: 0, cancelled: 0, other: 0 }]),
  );
  let oldestMs = Number.POSITIVE_INFINITY;
  for (const { status, create_time } of jobs) {
    const ms = toMilliseconds(create_time);
    if (ms === undefined) continue;
    oldestMs = Math.min(oldestMs, ms);
    const runs = counted.get(dayOf(ms));
    if (!runs) continue;
    const state = toJobState(status);
    runs[state === "completed" || state === "failed" || state === "cancelled" ? state : "other"] += 1;
  }
  const [firstDay = ""] = counted.keys();
  const isWhole = !isCut || !Number.isFinite(oldestMs) || dayOf(oldestMs) < firstDay;
  const reached = isWhole ? firstDay : dayOf(oldestMs);
  const days = [...counted.values()].filter(({ day }) => day >= reached);
  const total = days.reduce((sum, { completed, failed, cancelled, other }) => sum + completed + failed + cancelled + other, 0);
  return { days, jobs: total, ...(isWhole ? {} : { sinceMs: oldestMs }) };
}

/** Dates compare as texts. */
function dayIn(zone: string): (ms: number) => string {
  const format = new Intl.DateTimeFormat("en-CA", { timeZone: zone, year: "numeric", month: "2-digit", day: "2-digit" });
  return (ms) => format.format(ms);
}

/** Half a day apart, as a day may have 23 hours. */
function lastDays(nowMs: number, dayOf: (ms: number) => string): string[] {
  const moments = Array.from({ length: 2 * DAYS }, (_, index) => nowMs - ((2 * DAYS - 1 - index) * DAY_MS) / 2);
  return [...new Set(moments.map(dayOf))].slice(-DAYS);
}
