// Jobs submitted through the console, by member and connection. Unknown amounts are never shown as zero. Does not import zod.

import { type Params, type ValuesOf } from "../params";
import { MAX_DATE_MS } from "../times";

const DAY_HOURS = 24;

/** `within` is hours before now. `from` (inclusive) and `to` (exclusive) are milliseconds since 1970 and have precedence. */
export const usageParams = {
  within: { kind: "integer", min: 1, max: DAY_HOURS * 366, default: DAY_HOURS * 30 },
  from: { kind: "integer", min: 0, max: MAX_DATE_MS },
  to: { kind: "integer", min: 0, max: MAX_DATE_MS },
} as const satisfies Params;
export type UsageQuery = ValuesOf<typeof usageParams>;

export type Amount = { value?: number; isAtLeast?: true };
export type UsageFigures = { runs: number; failed: Amount; seconds: Amount; outputs: Amount; bytes: Amount };
/** `personal` connections are named only to their owner and to members who see their jobs. `removed` ones have no name. */
export type UsageConnection = { kind: "named" | "personal" | "removed"; id?: string; name?: string };
export type UsageRow = UsageFigures & { member: { id: string; name?: string; token?: string }; connection: UsageConnection };
export type UsageView = { fromMs: number; toMs: number; rows: UsageRow[]; isOfAll: boolean };

export function formatSubmitter({ name, token }: { name?: string; token?: string }): string | undefined {
  if (token === undefined) return name;
  return name === undefined ? `token ${token}` : `token ${token} (${name})`;
}

export const amountNames = ["failed", "seconds", "outputs", "bytes"] as const;

export function sumUsage(rows: readonly UsageFigures[]): UsageFigures {
  const sumAmounts = (name: (typeof amountNames)[number]) => addAmounts(rows.map((row) => row[name]));
  const runs = rows.reduce((total, row) => total + row.runs, 0);
  return { runs, failed: sumAmounts("failed"), seconds: sumAmounts("seconds"), outputs: sumAmounts("outputs"), bytes: sumAmounts("bytes") };
}

function addAmounts(amounts: readonly Amount[]): Amount {
  const values = amounts.flatMap(({ value }) => value ?? []);
  const value = values.reduce((total, value) => total + value, 0);
  const isAtLeast = values.length < amounts.length || amounts.some((amount) => amount.isAtLeast);
  if (!isAtLeast) return { value };
  return value === 0 && !amounts.some((amount) => amount.isAtLeast) ? {} : { value, isAtLeast: true };
}
