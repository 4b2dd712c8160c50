// How long something took or how long ago it was, as the parts of a sentence.

export type Ago = { unit: "now" } | { unit: "seconds" | "minutes" | "hours" | "days"; count: number };

const justNow: Ago = { unit: "now" };
const known = new Map<string, Ago>();

/** Equal ages are the same object, so that a component renders again only when the age changes. */
export function agoOf(thenMs: number, nowMs: number): Ago {
  const seconds = Math.max(0, Math.floor((nowMs - thenMs) / 1000));
  if (seconds < 10) return justNow;
  if (seconds < 60) return one("seconds", Math.floor(seconds / 10) * 10);
  if (seconds < 3_600) return one("minutes", Math.floor(seconds / 60));
  if (seconds < 86_400) return one("hours", Math.floor(seconds / 3_600));
  return one("days", Math.floor(seconds / 86_400));
}

function one(unit: Exclude<Ago["unit"], "now">, count: number): Ago {
  const key = `${count} ${unit}`;
  const ago = known.get(key) ?? { unit, count };
  known.set(key, ago);
  return ago;
}

export type Duration =
  | { unit: "seconds"; seconds: string }
  | { unit: "minutes"; minutes: string; seconds: string }
  | { unit: "hours"; hours: string; minutes: string }
  | { unit: "days"; days: string; hours: string }
  | { unit: "manyDays"; days: string };

/**
 * The one format of durations: `46.4 s` under a minute, `1m 07s`, `2h 07m`, `3d 04h`, `324d`. A running duration has no tenths, which would
 * flicker.
 */
export function durationOf(spanMs: number, isCounting = false): Duration {
  const ms = Math.max(0, spanMs);
  // A duration that would round to 60.0 s is shown as a minute.
  if (ms < (isCounting ? 60_000 : 59_950)) {
    return { unit: "seconds", seconds: isCounting ? String(Math.floor(ms / 1000)) : (ms / 1000).toFixed(1) };
  }
  const seconds = isCounting ? Math.floor(ms / 1000) : Math.round(ms / 1000);
  if (seconds < 3_600) return { unit: "minutes", minutes: String(Math.floor(seconds / 60)), seconds: two(seconds % 60) };
  const hours = Math.floor(seconds / 3_600);
  // Up to two days people still count in hours.
  if (hours >= 240) return { unit: "manyDays", days: String(Math.floor(hours / 24)) };
  if (hours >= 48) return { unit: "days", days: String(Math.floor(hours / 24)), hours: two(hours % 24) };
  return { unit: "hours", hours: String(hours), minutes: two(Math.floor((seconds % 3_600) / 60)) };
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
