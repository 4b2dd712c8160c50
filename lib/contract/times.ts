// Converts all times to milliseconds since 1970. Returns undefined for invalid times. Doesn't import zod, to keep it out of the first
// page's scripts.

/** The latest time that a `Date` can represent. */
export const MAX_DATE_MS = 8.64e15;
/** Smaller numbers are seconds (until the year 5138), all others milliseconds. */
const MIN_MILLISECONDS_VALUE = 1e11;

/** Strings are RFC 3339, in UTC by default. Numbers are seconds or milliseconds, depending on their size. */
export function toMilliseconds(value: unknown): number | undefined {
  const milliseconds = typeof value === "string" ? parseDate(value) : typeof value === "number" ? scaleToMilliseconds(value) : Number.NaN;
  return Number.isFinite(milliseconds) && Math.abs(milliseconds) <= MAX_DATE_MS ? milliseconds : undefined;
}

function parseDate(text: string): number {
  if (!/^\d{4}-\d{2}-\d{2}/.test(text)) return Number.NaN;
  // Servers that omit the time zone use UTC, not local time.
  return Date.parse(/[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/.test(text) ? `${text}Z` : text);
}

function scaleToMilliseconds(value: number): number {
  return Math.round(Math.abs(value) < MIN_MILLISECONDS_VALUE ? value * 1000 : value);
}

const MAX_WARNING_MS = 3 * 24 * 60 * 60_000;

/** Returns true in the last 10% of the lifetime (at most three days), or in the last three days if `createdAt` is unknown. */
export function expiresSoon({ createdAt, expiresAt }: { createdAt?: number; expiresAt?: number }, nowMs: number): boolean {
  if (expiresAt === undefined || expiresAt <= nowMs) return false;
  const warningMs = createdAt === undefined ? MAX_WARNING_MS : (expiresAt - createdAt) / 10;
  return expiresAt - nowMs <= Math.min(warningMs, MAX_WARNING_MS);
}
