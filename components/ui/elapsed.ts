// How long something took or how long ago it was, as the parts a sentence is made of.

export type Ago = { unit: "now" } | { unit: "seconds" | "minutes" | "hours" | "days"; count: number };

const justNow: Ago = { unit: "now" };
const known = new Map<string, Ago>();

/** One age is one object: whoever shows it sees by that whether it is another. */
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
  | { unit: "hours"; hours: string; minutes: string };

/** Up to here whole seconds say too little: many jobs take less than one. */
const SHORT_MS = 9_950;

/** Where tenths are wanted `0.4 s` under a minute, or only for what is short; else `0m 46s`, else `2h 07m`. */
export function durationOf(spanMs: number, withTenths: boolean | "short" = false): Duration {
  const ms = Math.max(0, spanMs);
  // What rounds to 60.0 s is a minute.
  const tenthsUntil = { short: SHORT_MS, true: 59_950, false: 0 }[`${withTenths}`];
  if (ms < tenthsUntil) return { unit: "seconds", seconds: (ms / 1000).toFixed(1) };
  const seconds = withTenths ? Math.round(ms / 1000) : Math.floor(ms / 1000);
  if (seconds < 3_600) return { unit: "minutes", minutes: String(Math.floor(seconds / 60)), seconds: two(seconds % 60) };
  return { unit: "hours", hours: String(Math.floor(seconds / 3_600)), minutes: two(Math.floor((seconds % 3_600) / 60)) };
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
