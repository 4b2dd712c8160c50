import { useMemo } from "react";
import useSWR from "swr";
import { callApi } from "@/lib/browser/api";
import { isSessionOver } from "@/lib/browser/poll/use-poll";
import { withQuery } from "@/lib/browser/urls";
import { type JobsAnswer } from "@/lib/contract/schemas/job";
import { toJobView } from "@/lib/contract/views/job-view";
import { type QueueList } from "../job-row";

/** More workflows than a queue that people read row by row has. */
const MAX_WORKFLOWS = 12;
const RUNS = 20;
const AT_ONCE = 3;
const FRESH_MS = 60_000;

const known = new Map<string, { atMs: number; times: RunTimes | undefined }>();

async function readRunTimes(connection: string, workflowIds: readonly string[]): Promise<ReadonlyMap<string, RunTimes>> {
  const ids = workflowIds.slice(0, MAX_WORKFLOWS);
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    await Promise.all(ids.slice(at, at + AT_ONCE).map((id) => keepFresh(connection, id)));
  }
  return new Map(
    ids.flatMap((id) => {
      const times = known.get(`${connection} ${id}`)?.times;
      return times ? [[id, times] as const] : [];
    }),
  );
}

async function keepFresh(connection: string, id: string): Promise<void> {
  const key = `${connection} ${id}`;
  const last = known.get(key);
  if (last && Date.now() - last.atMs < FRESH_MS) return;
  const path = withQuery("/api/jobs", { workflow_id: id, status: "completed", limit: RUNS, connection });
  const result = await callApi<JobsAnswer>(path);
  // The earlier times are kept.
  if (!result.ok) return;
  const times = runTimesOf(result.value.jobs.flatMap((item) => toJobView(item).runMs ?? []));
  known.set(key, { atMs: Date.now(), times });
}

const EVERY_MS = 60_000;

/** When each waiting job may start, as of `atMs`; computed once for the whole list. */
export function useStarts(
  connection: string | undefined,
  { running, pending }: Pick<QueueList, "running" | "pending">,
  atMs: number | undefined,
): (id: string) => StartRange | undefined {
  const seen = new Set([...running, ...pending].flatMap(({ workflowId }) => workflowId ?? []));
  const ids = pending.length > 0 ? [...seen].slice(0, MAX_WORKFLOWS) : [];
  const { data: times } = useSWR(
    connection && ids.length > 0 ? ["run-times", connection, ...ids] : null,
    () => readRunTimes(connection ?? "", ids),
    { refreshInterval: EVERY_MS, keepPreviousData: true, revalidateOnFocus: false, isPaused: isSessionOver },
  );
  const starts = useMemo(() => {
    const ranges = startRanges({ running, pending, timesOf: (id) => times?.get(id ?? ""), nowMs: atMs ?? 0 });
    return new Map(pending.map(({ id }, index) => [id, ranges[index]]));
  }, [running, pending, times, atMs]);
  return (id) => starts.get(id);
}

// Estimates the range of a waiting job's start from past runs of the workflows ahead of it. A workflow without past runs adds nothing to the
// earliest start and removes the latest.

/** The shortest and the longest of a workflow's past runs, without outliers. */
export type RunTimes = { shortMs: number; longMs: number };
/** Counted from now. Without `toMs` the latest start is unknown. */
export type StartRange = { fromMs: number; toMs?: number };

type Ahead = { workflowId?: string };
type Running = Ahead & { startedMs?: number };

/** Few runs all count; of more runs, a tenth at either end is left out as outliers. */
export function runTimesOf(runsMs: readonly number[]): RunTimes | undefined {
  const sorted = [...runsMs].sort((a, b) => a - b);
  const last = sorted.length - 1;
  const shortMs = sorted[Math.floor(last * 0.1)];
  const longMs = sorted[Math.ceil(last * 0.9)];
  return shortMs === undefined || longMs === undefined ? undefined : { shortMs, longMs };
}

type Queue = {
  running: readonly Running[];
  /** In the order in which they start. */
  pending: readonly Ahead[];
  timesOf: (workflowId: string | undefined) => RunTimes | undefined;
  nowMs: number;
};

/** One range per waiting job; undefined where nothing can be estimated. Assumes that as many jobs run at once as do now. */
export function startRanges({ running, pending, timesOf, nowMs }: Queue): (StartRange | undefined)[] {
  // If nothing runs, it is unknown what the first job waits for.
  if (running.length === 0) return pending.map(() => undefined);
  const early = running.map((job) => leftOf(job, timesOf(job.workflowId)?.shortMs, nowMs) ?? 0);
  const late = running.map((job) => leftOf(job, timesOf(job.workflowId)?.longMs, nowMs) ?? Infinity);
  return pending.map(({ workflowId }) => {
    const times = timesOf(workflowId);
    const fromMs = take(early, times?.shortMs ?? 0);
    const toMs = take(late, times?.longMs ?? Infinity);
    if (Number.isFinite(toMs)) return { fromMs, toMs };
    return fromMs > 0 ? { fromMs } : undefined;
  });
}

/** Undefined also for a run that already took longer than every past one: its end cannot be estimated. */
function leftOf({ startedMs }: Running, wholeMs: number | undefined, nowMs: number): number | undefined {
  if (startedMs === undefined || wholeMs === undefined) return undefined;
  const leftMs = startedMs + wholeMs - nowMs;
  return leftMs < 0 ? undefined : leftMs;
}

/** Occupies the place that is free first for `forMs`; returns when it became free. */
function take(places: number[], forMs: number): number {
  const at = places.indexOf(Math.min(...places));
  const freeMs = places[at] ?? Infinity;
  places[at] = freeMs + forMs;
  return freeMs;
}

/** To what precision a wait of this length is shown. */
export function roundingOf(ms: number): number {
  if (ms < 60_000) return 10_000;
  return ms < 7_200_000 ? 60_000 : 3_600_000;
}
