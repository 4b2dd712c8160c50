// How often topics are polled.

import "server-only";
import { isTerminalWord, toJobState } from "@/lib/contract/jobs/job-list";
import { isObject, numberOf, objectOf, textOf } from "@/lib/contract/json/json";
import { rowFields, type TopicName } from "@/lib/contract/live";

/** For topics whose source reports changes, because it may have missed some. */
export const RECHECK_MS = 30_000;

const defaultInterval = [1500, 8000] as const;
const settingsInterval = [3000, 10_000] as const;
const intervals: Readonly<Partial<Record<TopicName, readonly [movingMs: number, stillMs: number]>>> = {
  // An ended job changes only if it is removed.
  job: [1500, 30_000],
  status: [1500, 30_000],
  counts: settingsInterval,
  runners: settingsInterval,
  session: [3000, 3000],
  audit: [10_000, 10_000],
  apps: [10_000, 10_000],
  app: [10_000, 10_000],
  usage: [60_000, 60_000],
  "runs-by-day": [3000, 60_000],
};

export function pollIntervals(name: TopicName): readonly [movingMs: number, stillMs: number] {
  return intervals[name] ?? defaultInterval;
}

/** Expensive sums over many jobs, which are not read after every change. */
export function isSlow(name: TopicName): boolean {
  return name === "usage" || name === "runs-by-day";
}

/** Topics that change with the events of a service. */
export function isJobTopic(name: TopicName): boolean {
  return ["jobs", "search", "history", "job", "status", "queue", "counts"].includes(name);
}

export const isActiveRow = (row: unknown) => {
  const status = textOf(objectOf(row)?.status ?? objectOf(row)?.state);
  return status === "sending" || (status !== undefined && !isTerminalWord(status) && toJobState(status) !== "unknown");
};

export function hasActiveJobs(name: TopicName, value: unknown): boolean {
  if (!isObject(value)) return Array.isArray(value) && value.some(isActiveRow);
  if (name === "counts") return (numberOf(value.running) ?? 0) + (numberOf(value.pending) ?? 0) > 0;
  if (name === "runs-by-day") return Array.isArray(value.days) && value.days.some((day) => objectOf(day)?.isUnread === true);
  if (name === "tasks") return (numberOf(value.underWay) ?? 0) > 0;
  const lists = name === "batches" ? ["runs"] : (rowFields[name] ?? []);
  return lists.length === 0 ? isActiveRow(value) : lists.some((list) => Array.isArray(value[list]) && value[list].some(isActiveRow));
}
