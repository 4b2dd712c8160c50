// The Retry-After header in both of its notations (RFC 9110, 10.2.3): whole seconds, or a date.
// Guarantees: never throws, never negative, never NaN; what cannot be read is undefined. How long to wait at most is the caller's choice.

export function parseRetryAfter(value: string | null, nowMs: number): number | undefined {
  const text = value?.trim() ?? "";
  const waitMs = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : isDate(text) ? Date.parse(text) - nowMs : Number.NaN;
  return Number.isFinite(waitMs) ? Math.max(0, Math.round(waitMs)) : undefined;
}

/** Date.parse also makes years of bare numbers ("-5"): only what begins like a date is handed to it. */
function isDate(text: string): boolean {
  return /^([A-Za-z]{3,9},|\d{4}-\d{2}-\d{2})/.test(text);
}
