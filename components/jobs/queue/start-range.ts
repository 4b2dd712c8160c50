// Estimates when a waiting job may start, from how long past runs of the workflows ahead of it took: a range, never a moment.
// Guarantees: the earliest start assumes that every run ahead is short, the latest that every run is long; a workflow without past runs
// adds nothing to the earliest start and removes the latest; where nothing is known, nothing is returned.
// Must never: read a clock, or combine the two into one number.

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
