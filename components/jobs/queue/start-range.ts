// When a waiting job may start, from how long past runs of the workflows ahead of it took: a range, never a moment.
// Guarantees: the earliest takes every run ahead as short as such runs were, the latest as long; a workflow without past runs leaves the
// earliest as it is and opens the latest; nothing is promised where nothing is known.
// Must never: read a clock, or make one number of the two.

/** The shortest and the longest of a workflow's past runs, the rare ones left out. */
export type RunTimes = { shortMs: number; longMs: number };
/** From now. Without `toMs` how late is not known. */
export type StartRange = { fromMs: number; toMs?: number };

type Ahead = { workflowId?: string };
type Running = Ahead & { startedMs?: number };

/** With few runs all of them count; with more, one in ten at either end may be an accident. */
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

/** One range for each waiting job; undefined where nothing can be estimated. Assumes that as many run at once as do now. */
export function startRanges({ running, pending, timesOf, nowMs }: Queue): (StartRange | undefined)[] {
  // Where nothing runs, what the first one waits for is not known.
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

/** A run that is longer already than any before it tells nothing of its end. */
function leftOf({ startedMs }: Running, wholeMs: number | undefined, nowMs: number): number | undefined {
  if (startedMs === undefined || wholeMs === undefined) return undefined;
  const leftMs = startedMs + wholeMs - nowMs;
  return leftMs < 0 ? undefined : leftMs;
}

/** The place that is free first is taken for so long; when that was. */
function take(places: number[], forMs: number): number {
  const at = places.indexOf(Math.min(...places));
  const freeMs = places[at] ?? Infinity;
  places[at] = freeMs + forMs;
  return freeMs;
}

/** How exactly a wait of so long can be said. */
export function roundingOf(ms: number): number {
  if (ms < 60_000) return 10_000;
  return ms < 7_200_000 ? 60_000 : 3_600_000;
}
