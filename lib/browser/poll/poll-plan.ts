// When a page asks again, and how old what it shows is: pure functions, so that they can be tried without a clock.
// Guarantees: quick while something moves, slow while nothing does, ever slower while it fails, never faster than a service allows.
// Must never: call a page live when its last answer was a failure.

export const BUSY_MS = 1_500;
export const IDLE_MS = 8_000;
const COUNTING_MS = 3_000;
const BACKGROUND_MS = 10_000;
const SLOW_MS = 60_000;
export const LONGEST_WAIT_MS = 10_000;

/** For what is beside the page, such as a count in the navigation: `counting` while something moves, `background` while nothing does; `slow` for sums over many jobs. */
export type Motion = "moving" | "still" | "counting" | "background" | "slow" | "final";

const waits: Readonly<Record<Motion, number>> = {
  moving: BUSY_MS,
  still: IDLE_MS,
  counting: COUNTING_MS,
  background: BACKGROUND_MS,
  slow: SLOW_MS,
  final: 0,
};

/** After an answer. 0 means never again: what is shown cannot change any more. */
export function nextPollMs(motion: Motion): number {
  return waits[motion];
}

/**
 * After the n-th failure in a row (1 is the first), of whatever kind: an outage may look like any. A wait that the service named is kept to.
 * `tookMs`: what was waited for the failure itself, so that from one asking to the next it is never longer than that.
 */
export function retryPollMs(failures: number, { retryAfterMs = 0, tookMs = 0 }: { retryAfterMs?: number; tookMs?: number } = {}): number {
  const waitMs = Math.min(BUSY_MS * 2 ** Math.max(0, failures - 1), LONGEST_WAIT_MS - tookMs);
  return Math.max(retryAfterMs, BUSY_MS, waitMs);
}

export type Freshness = { kind: "live" } | { kind: "aged"; seconds: number } | { kind: "offline" };

/** An answer takes a moment itself. */
const LATE_MS = 2_500;

/** An answer is live until the one after it is late; a failure makes it offline at once. */
export function freshnessOf(at: { nowMs: number; answeredMs: number; everyMs: number; isFailing: boolean }): Freshness {
  if (at.isFailing) return { kind: "offline" };
  const ageMs = Math.max(0, at.nowMs - at.answeredMs);
  const allowedMs = at.everyMs === 0 ? Number.POSITIVE_INFINITY : at.everyMs + LATE_MS;
  return ageMs <= allowedMs ? { kind: "live" } : { kind: "aged", seconds: Math.round(ageMs / 1000) };
}
