// Numbers for people: short ids, sizes, durations, distances in time.
// Guarantees: pure, never throws, the same text on server and browser for the same arguments (locale and clock are passed in).
// Must never: read the clock or the machine's locale.

export function shortId(id: string, length = 8): string {
  return id.slice(0, length);
}

const byteUnits = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte", "petabyte"] as const;

/** Decimal units with at most one decimal place: "4.2 MB", "812 kB", "17 byte". */
export function formatBytes(bytes: number, locale = "en"): string {
  if (!Number.isFinite(bytes) || bytes < 0) return "–";
  let value = bytes;
  let unit = 0;
  // 999.9 kB would be written "1,000 kB": step up where rounding reaches the next unit.
  while (unit < byteUnits.length - 1 && Math.round(value) >= 1000) {
    value /= 1000;
    unit++;
  }
  const maximumFractionDigits = unit === 0 || value >= 100 ? 0 : 1;
  return new Intl.NumberFormat(locale, { style: "unit", unit: byteUnits[unit], unitDisplay: "short", maximumFractionDigits }).format(value);
}

/** "0.4 s", "41.2 s", "1m 07s", "2h 05m", "3d 04h". */
export function formatDuration(ms: number, locale = "en"): string {
  if (!Number.isFinite(ms) || ms < 0) return "–";
  const tenths = Math.round(ms / 100) / 10;
  if (tenths < 60) {
    return `${new Intl.NumberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 }).format(tenths)} s`;
  }
  const seconds = Math.round(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${twoDigits(seconds % 60)}s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours}h ${twoDigits(minutes % 60)}m`;
  return `${Math.floor(hours / 24)}d ${twoDigits(hours % 24)}h`;
}

export type RelativeUnit = "second" | "minute" | "hour" | "day" | "month" | "year";

const unitsFromLongest: readonly (readonly [RelativeUnit, number])[] = [
  ["year", 365 * 86_400_000],
  ["month", 30 * 86_400_000],
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
];

/** What Intl.RelativeTimeFormat takes; negative in the past. Below a minute, whole seconds. */
export function relativeParts(atMs: number, nowMs: number): { value: number; unit: RelativeUnit } {
  const distanceMs = atMs - nowMs;
  for (const [unit, lengthMs] of unitsFromLongest) {
    if (Math.abs(distanceMs) >= lengthMs) return { value: Math.trunc(distanceMs / lengthMs), unit };
  }
  const value = Math.trunc(distanceMs / 1000);
  return { value: value === 0 ? 0 : value, unit: "second" };
}

/** "3 minutes ago", "in 2 hours", "now". */
export function formatRelative(atMs: number, nowMs: number, locale = "en"): string {
  const { value, unit } = relativeParts(atMs, nowMs);
  return new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "short" }).format(value, unit);
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}
