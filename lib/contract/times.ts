// Converts all times to milliseconds since 1970. Undefined if unreadable. Does not import zod, for the first page.

/** Smaller numbers are seconds (until the year 5138), all others milliseconds. */
const MIN_MILLISECONDS_VALUE = 1e11;

/** Strings are RFC 3339, in UTC by default. Numbers are seconds or milliseconds, depending on their size. */
export function toMilliseconds(value: unknown): number | undefined {
  const milliseconds = typeof value === "string" ? parseText(value) : typeof value === "number" ? scaleToMilliseconds(value) : Number.NaN;
  return Number.isFinite(milliseconds) && Math.abs(milliseconds) <= 8.64e15 ? milliseconds : undefined;
}

function parseText(text: string): number {
  if (!/^\d{4}-\d{2}-\d{2}/.test(text)) return Number.NaN;
  // Servers that omit the zone write UTC, not the reader's time.
  return Date.parse(/[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/.test(text) ? `${text}Z` : text);
}

function scaleToMilliseconds(value: number): number {
  return Math.round(Math.abs(value) < MIN_MILLISECONDS_VALUE ? value * 1000 : value);
}

const MAX_WARNING_MS = 3 * 24 * 60 * 60_000;

/** The last tenth of a lifetime, but at most three days. Without a start time, three days. */
export function expiresSoon({ createdAt, expiresAt }: { createdAt?: number; expiresAt?: number }, nowMs: number): boolean {
  if (expiresAt === undefined || expiresAt <= nowMs) return false;
  const warningMs = createdAt === undefined ? MAX_WARNING_MS : (expiresAt - createdAt) / 10;
  return expiresAt - nowMs <= Math.min(warningMs, MAX_WARNING_MS);
}
