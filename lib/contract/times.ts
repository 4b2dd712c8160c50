// Times at the edge: the notation of every view becomes milliseconds since 1970.
// Guarantees: never throws and never returns NaN; undefined if it cannot be read.
// Free of zod: it is part of the browser's first load.

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
