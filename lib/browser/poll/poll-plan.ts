// When a page asks again, and how old its data is: pure functions, so that tests need no clock.
// Guarantees: quick while something moves, slow while nothing does, slower with each failure, never faster than a service allows.
// Must never: call a page live if its last answer was a failure.

export const BUSY_MS = 1_500;
export const IDLE_MS = 8_000;
const COUNTING_MS = 3_000;
const BACKGROUND_MS = 10_000;
const SLOW_MS = 60_000;
export const MAX_WAIT_MS = 10_000;

/**
 * The last three are for parts beside the page, such as a count in the navigation: `counting` while something moves, `background` while
 * nothing does; `slow` for sums over many jobs.
 */
export type Motion = "moving" | "still" | "counting" | "background" | "slow" | "final";

const waits: Readonly<Record<Motion, number>> = {
  moving: BUSY_MS,
  still: IDLE_MS,
  counting: COUNTING_MS,
  background: BACKGROUND_MS,
  slow: SLOW_MS,
  final: 0,
};

/** The wait after an answer. 0 means never again: the shown value can no longer change. */
export function nextPollMs(motion: Motion): number {
  return waits[motion];
}

/**
 * The wait after the n-th failure in a row (1 is the first), of any kind, since an outage may look like any. A wait that the service named
 * is kept. `tookMs`: how long the failed request took; it is subtracted, so that requests begin no further apart.
 */
export function retryPollMs(failures: number, { retryAfterMs = 0, tookMs = 0 }: { retryAfterMs?: number; tookMs?: number } = {}): number {
  const waitMs = Math.min(BUSY_MS * 2 ** Math.max(0, failures - 1), MAX_WAIT_MS - tookMs);
  return Math.max(retryAfterMs, BUSY_MS, waitMs);
}

export type Freshness = { kind: "live" } | { kind: "aged"; seconds: number } | { kind: "offline" };

/** How late the next answer may be, since an answer takes a moment itself. */
const LATE_MS = 2_500;

/** An answer is live until the next one is late; a failure makes it offline at once. */
export function freshnessOf(at: { nowMs: number; answeredMs: number; everyMs: number; isFailing: boolean }): Freshness {
  if (at.isFailing) return { kind: "offline" };
  const ageMs = Math.max(0, at.nowMs - at.answeredMs);
  const allowedMs = at.everyMs === 0 ? Number.POSITIVE_INFINITY : at.everyMs + LATE_MS;
  return ageMs <= allowedMs ? { kind: "live" } : { kind: "aged", seconds: Math.round(ageMs / 1000) };
}
