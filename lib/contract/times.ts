// Times of every view as milliseconds since 1970; undefined if unreadable. Free of zod: part of the first load.

/** Numbers below this are seconds (until the year 5138), at or above it milliseconds. */
const FIRST_MILLISECONDS = 1e11;

/** Text is read as RFC 3339, in UTC if it names no zone; a number by its magnitude. The largest date JavaScript can hold bounds both. */
export function toMilliseconds(value: unknown): number | undefined {
  const milliseconds = typeof value === "string" ? parseText(value) : typeof value === "number" ? byMagnitude(value) : Number.NaN;
  return Number.isFinite(milliseconds) && Math.abs(milliseconds) <= 8.64e15 ? milliseconds : undefined;
}

function parseText(text: string): number {
  if (!/^\d{4}-\d{2}-\d{2}/.test(text)) return Number.NaN;
  // Servers that leave out the zone write UTC, not the reader's time.
  return Date.parse(/[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/.test(text) ? `${text}Z` : text);
}

function byMagnitude(value: number): number {
  return Math.round(Math.abs(value) < FIRST_MILLISECONDS ? value * 1000 : value);
}

const MAX_SOON_MS = 3 * 24 * 60 * 60_000;

/** The last tenth of a lifetime, at most three days before its end. Without a start time, the last three days. */
export function expiresSoon({ createdAt, expiresAt }: { createdAt?: number; expiresAt?: number }, nowMs: number): boolean {
  if (expiresAt === undefined || expiresAt <= nowMs) return false;
  const tenthMs = createdAt === undefined ? MAX_SOON_MS : (expiresAt - createdAt) / 10;
  return expiresAt - nowMs <= Math.min(tenthMs, MAX_SOON_MS);
}
