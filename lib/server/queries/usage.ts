// Team usage, and runs per day.

import "server-only";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { type DayRuns, type RunsByDay } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { isTerminalStatus, type JobState, jobStates, toJobState } from "@/lib/contract/jobs/job-list";
import { hasRole } from "@/lib/contract/members/roles";
import {
  type Amount,
  amountNames,
  formatSubmitter,
  sumUsage,
  type UsageConnection,
  type UsageQuery,
  type UsageRow,
  type UsageView,
} from "@/lib/contract/members/usage";
import { operations } from "@/lib/contract/operations";
import { type JobsResponse } from "@/lib/contract/schemas/job";
import { toMilliseconds } from "@/lib/contract/times";
import { ok, type Result } from "@/lib/shared/result";
import { BYTE_ORDER_MARK, formatCsvLine } from "@/lib/shared/text";
import { type Context } from "../auth/viewer";
import { type Composition } from "../composition-type";
import { listVisibleConnections, openForJobs } from "../connections/access";
import { type IndexGap } from "../job-index/list-reader";
import { findReachIgnoringGap } from "../jobs/job-search";
import { requestRedacted } from "../responses/process-response";
import { type UsageRange, type UsageSum } from "../store/jobs/job-usage";

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;
const MAX_DAYS = 366;
const DAYS_PER_QUERY = 3;

type RunCounts = { runs: number; failed: number; runMs: number; untimed: number; outputs: number; uncounted: number } & {
  bytes: number;
  unsized: number;
  /** Runs whose end was never recorded. */
  lost: number;
};

type UsageGroup = Pick<UsageSum, "memberId" | "token" | "connectionId">;

export async function readUsage(context: Context, query: UsageQuery): Promise<UsageView> {
  const { now, jobIndex, store } = context.composition;
  await jobIndex.flush();
  const range = toRange(query, now());
  const isOfAll = hasRole(context.viewer.role, "admin");
  const countsByGroup = new Map<string, RunCounts & UsageGroup>();
  const getOrCreateCounts = ({ memberId, token, connectionId }: UsageGroup) => {
    const key = [memberId, connectionId, token ?? ""].join("\n");
    const zeroCounts = { runs: 0, failed: 0, runMs: 0, untimed: 0, outputs: 0, uncounted: 0, bytes: 0, unsized: 0, lost: 0 };
    const total = countsByGroup.get(key) ?? { memberId, token, connectionId, ...zeroCounts };
    countsByGroup.set(key, total);
    return total;
  };
  for (let fromMs = range.fromMs; fromMs < range.toMs; fromMs += DAYS_PER_QUERY * DAY_MS) {
    await yieldToEventLoop();
    const toMs = Math.min(range.toMs, fromMs + DAYS_PER_QUERY * DAY_MS);
    const queryRange: UsageRange = { fromMs, toMs, ...(!isOfAll && { memberId: context.viewer.memberId }) };
    const sums = await store.jobUsage.sum(queryRange);
    for (const sum of sums) addSum(getOrCreateCounts(sum), sum);
    const activeStates = [...new Set(sums.map(({ word }) => word).filter((word) => !isTerminalStatus(word)))];
    for (const lostGroup of await store.jobUsage.listLost(queryRange, activeStates)) getOrCreateCounts(lostGroup).lost += lostGroup.jobs;
  }
  const visibleGroups = [...countsByGroup.values()].filter(
    ({ connectionId }) => context.viewer.scope.connections?.includes(connectionId) !== false,
  );
  return { ...range, isOfAll, rows: await toNamedRows(context, visibleGroups) };
}

function addSum(total: RunCounts, { word, jobs, runMs, untimed, outputs, uncounted, bytes, unsized }: UsageSum): void {
  const state = toJobState(word);
  total.runs += jobs;
  total.runMs += runMs;
  total.outputs += outputs;
  total.bytes += bytes;
  if (state === "failed") total.failed += jobs;
  // Runs that failed or were cancelled before they started have no times or outputs to count.
  if (state === "completed") {
    total.untimed += untimed;
    total.uncounted += uncounted;
    total.unsized += unsized;
  }
}

function toRange({ within, from, to }: UsageQuery, nowMs: number): { fromMs: number; toMs: number } {
  const toMs = to ?? nowMs + 1;
  const fromMs = from ?? (to === undefined ? nowMs - within * HOUR_MS : toMs - MAX_DAYS * DAY_MS);
  return { fromMs: Math.max(fromMs, toMs - MAX_DAYS * DAY_MS), toMs };
}

async function toNamedRows(context: Context, groups: readonly (RunCounts & UsageGroup)[]): Promise<UsageRow[]> {
  const { store } = context.composition;
  const [names, connections, existingIds] = await Promise.all([
    store.jobUsage.findNames([...new Set(groups.map(({ memberId }) => memberId))]),
    listVisibleConnections(context),
    store.connections.listIds(),
  ]);
  const namesById = new Map(connections.map(({ id, name }) => [id, name]));
  const toConnection = (id: string): UsageConnection => {
    const name = namesById.get(id);
    if (name !== undefined) return { kind: "named", id, name };
    return existingIds.has(id) ? { kind: "personal" } : { kind: "removed" };
  };
  const rows = new Map<string, UsageRow>();
  for (const group of groups) {
    const { memberId, token } = group;
    const connection = toConnection(group.connectionId);
    // Connections without a name share a row, because they can't be distinguished.
    const key = [memberId, connection.kind, connection.id, token].join("\n");
    const earlierRow = rows.get(key);
    const figures = toFigures(group);
    const member = { id: memberId, name: names.get(memberId), ...(token !== undefined && { token }) };
    rows.set(key, { member, connection, ...(earlierRow ? sumUsage([earlierRow, figures]) : figures) });
  }
  return [...rows.values()].sort(
    (row, other) =>
      (row.member.name ?? "").localeCompare(other.member.name ?? "") ||
      row.member.id.localeCompare(other.member.id) ||
      (row.member.token ?? "").localeCompare(other.member.token ?? "") ||
      other.runs - row.runs,
  );
}

function toFigures({ runs, failed, runMs, untimed, outputs, uncounted, bytes, unsized, lost }: RunCounts) {
  const toAmount = (value: number, unknownCount: number): Amount => {
    if (unknownCount === 0) return { value };
    return value > 0 ? { value, isAtLeast: true } : {};
  };
  return {
    runs,
    // Doesn't use `toAmount`, because most rows have no failed runs and their 0 is exact.
    failed: lost === 0 ? { value: failed } : { value: failed, isAtLeast: true as const },
    seconds: toAmount(Math.round(runMs) / 1000, untimed + lost),
    outputs: toAmount(outputs, uncounted + lost),
    bytes: toAmount(bytes, unsized + lost),
  };
}

export async function* streamUsageCsv(context: Context, query: UsageQuery): AsyncGenerator<string, void> {
  yield (
    BYTE_ORDER_MARK +
    formatCsvLine([
      "from",
      "to",
      "member",
      "member_id",
      "connection",
      "connection_id",
      "runs",
      ...amountNames.flatMap((name) => [name, `${name}_is`]),
    ])
  );
  const { fromMs, toMs, rows } = await readUsage(context, query);
  const range = [new Date(fromMs).toISOString(), new Date(toMs).toISOString()];
  for (const { member, connection, runs, ...amounts } of rows) {
    const { kind, id, name = kind === "personal" ? "personal connection" : "removed connection" } = connection;
    const figures = amountNames.flatMap((column) => {
      const { value, isAtLeast } = amounts[column];
      return [value, value === undefined ? "unknown" : isAtLeast ? "at least" : "exact"];
    });
    yield formatCsvLine([...range, formatSubmitter(member), member.id, name, id, runs, ...figures]);
  }
}

const MAX_PAGE_JOBS = 200;
const CHART_DAYS = 14;

export async function listRunsByDay(context: Context, zone: string, connection?: string): Promise<Result<RunsByDay, Failure>> {
  const access = await openForJobs(context, connection);
  if (!access.ok) return access;
  const query = { sort_by: "create_time", sort_order: "desc", offset: 0, limit: MAX_PAGE_JOBS };
  const newestResult = await requestRedacted(operations.listJobs, access.value, { query });
  if (!newestResult.ok) return newestResult;
  const { store, jobIndex, now } = context.composition;
  const { id } = access.value.connection;
  await jobIndex.reader.recordNewest(id, newestResult.value.value);
  // Read before counting, because jobs indexed in the meantime are counted only for some days.
  const gap = jobIndex.reader.getGap(id);
  await jobIndex.flush();
  const runs: Runs[] = [];
  const nowMs = now();
  for (const state of [...jobStates, "unknown"] as const) {
    // Yields after each day, because up to 200,000 jobs may have the same state.
    for (let toMs = nowMs + DAY_MS; toMs > nowMs - (CHART_DAYS + 1) * DAY_MS; toMs -= DAY_MS) {
      await yieldToEventLoop();
      const counts = await store.jobIndexStore.countByTime(id, state, { fromMs: toMs - DAY_MS, toMs });
      for (const { ms, count } of counts) runs.push({ ms, state, count });
    }
  }
  return ok(countByDay(runs, { zone, nowMs, gap, sinceMs: await findOldestKnownMs(context.composition, id, newestResult.value.value) }));
}

async function findOldestKnownMs(
  composition: Composition,
  id: string,
  { jobs, pagination, is_cut: isOlderMissing = false }: JobsResponse,
): Promise<number | undefined> {
  const { extent, sinceMs } = await findReachIgnoringGap(composition, id);
  if (extent === "all") return undefined;
  if (extent === "newest" && sinceMs !== undefined) return sinceMs;
  const isTruncated = isOlderMissing || (pagination.has_more ?? (pagination.total ?? 0) > jobs.length);
  if (!isTruncated) return undefined;
  // Until the list has been read backwards, only the page's jobs are known.
  const times = jobs.flatMap((job) => toMilliseconds(job.create_time) ?? []);
  const oldestMs = Math.min(sinceMs ?? Number.POSITIVE_INFINITY, ...times);
  // Without a dated job, the oldest time is unknown, so all days show their counts.
  return Number.isFinite(oldestMs) ? oldestMs : undefined;
}

/** `ms` is the quarter of an hour in which the runs were submitted. */
type Runs = { ms: number; state: JobState; count: number };

type RunsByDayOptions = { zone: string; nowMs: number; sinceMs?: number; gap?: IndexGap };

export function countByDay(runs: readonly Runs[], { zone, nowMs, sinceMs, gap }: RunsByDayOptions): RunsByDay {
  const toDay = createDayFormatter(zone);
  const countsByDay = new Map<string, DayRuns>(
    listLastDays(nowMs, toDay).map((day) => [day, { day, completed: 0, failed: 0, cancelled: 0, other: 0 }]),
  );
  for (const { ms, state, count } of runs) {
    const day = toDay(ms);
    const dayCounts = countsByDay.get(day);
    const column = state === "completed" || state === "failed" || state === "cancelled" ? state : "other";
    if (dayCounts) countsByDay.set(day, { ...dayCounts, [column]: dayCounts[column] + count });
  }
  const [firstDay = ""] = countsByDay.keys();
  const isComplete = sinceMs === undefined || toDay(sinceMs) < firstDay;
  const isUnread = (day: string) => gap !== undefined && day >= toDay(gap.afterMs) && day <= toDay(gap.beforeMs);
  const days = [...countsByDay.values()]
    .filter(({ day }) => isComplete || day >= toDay(sinceMs))
    .map((dayCounts) => (isUnread(dayCounts.day) ? { ...dayCounts, isUnread: true } : dayCounts));
  const total = days.reduce((sum, { completed, failed, cancelled, other }) => sum + completed + failed + cancelled + other, 0);
  return { days, jobs: total, ...(isComplete ? {} : { sinceMs }) };
}

function createDayFormatter(zone: string): (ms: number) => string {
  const format = new Intl.DateTimeFormat("en-CA", { timeZone: zone, year: "numeric", month: "2-digit", day: "2-digit" });
  return (ms) => format.format(ms);
}

/** Uses times half a day apart, because a day may have 23 hours. */
function listLastDays(nowMs: number, toDay: (ms: number) => string): string[] {
  const times = Array.from({ length: 2 * CHART_DAYS }, (_, index) => nowMs - ((2 * CHART_DAYS - 1 - index) * DAY_MS) / 2);
  return [...new Set(times.map(toDay))].slice(-CHART_DAYS);
}
