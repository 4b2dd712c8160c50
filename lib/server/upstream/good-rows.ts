// A list in which single entries have another shape: the others are read, and how many were left out is said.
// Guarantees: what is passed on was parsed; `unreadable` is there only where entries were left out; an answer that
// is at fault elsewhere too is refused whole.
// Must never: leave an entry out without a word.

import "server-only";
import { type z } from "zod";
import { isObject } from "@/lib/contract/json";
import { coreListIn, type Operation } from "@/lib/contract/operation";

export function parseRows(operation: Operation, schema: z.ZodType, value: unknown): z.ZodSafeParseResult<unknown> {
  const whole = schema.safeParse(value);
  const name = coreListIn(operation);
  const rows: unknown = name !== undefined && isObject(value) ? value[name] : undefined;
  if (whole.success || name === undefined || !isObject(value) || !Array.isArray(rows)) return whole;
  const bad = new Set<number>();
  for (const { path } of whole.error.issues) {
    const [list, at] = path;
    if (list !== name || typeof at !== "number") return whole;
    bad.add(at);
  }
  const good = rows.filter((_, index) => !bad.has(index));
  return schema.safeParse({ ...value, [name]: good, unreadable: bad.size });
}
