// Building blocks for reading other people's JSON: unknown fields are kept, null means absent where a field is optional.
// And for reading query texts: bounded integers, booleans, comma lists.

import { z } from "zod";

/** An optional field that may also come as null; absent and null both read as undefined. */
export function maybe<T extends z.ZodType>(schema: T) {
  return schema
    .nullish()
    .transform((value) => value ?? undefined)
    .optional();
}

export const freeForm = z.record(z.string(), z.unknown());

/** A moment as deployments send it: RFC 3339 text, seconds or milliseconds. `toMilliseconds` reads it. */
export const moment = z.union([z.string(), z.number()]);

export function integerText(bounds: { min?: number; max?: number } = {}) {
  const number = z
    .int()
    .min(bounds.min ?? Number.MIN_SAFE_INTEGER)
    .max(bounds.max ?? Number.MAX_SAFE_INTEGER);
  return z
    .union([
      z.number(),
      z
        .string()
        .regex(/^-?\d{1,16}$/, "must be a whole number")
        .transform(Number),
    ])
    .pipe(number);
}

export const booleanText = z.union([
  z.boolean(),
  z
    .string()
    .toLowerCase()
    .pipe(z.enum(["true", "false", "1", "0"]))
    .transform((word) => word === "true" || word === "1"),
]);

/** A comma list; blanks are dropped, so an empty value means "no filter". */
export function commaList<T extends z.ZodType<string, string>>(item: T, most = 100) {
  return z
    .union([z.array(z.string()), z.string().transform((value) => value.split(","))])
    .transform((values) => values.map((value) => value.trim()).filter((value) => value !== ""))
    .pipe(z.array(item).max(most));
}
