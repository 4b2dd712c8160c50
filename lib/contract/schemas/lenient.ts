// Building blocks for reading other people's JSON: unknown fields are kept, null means absent where a field is optional.
// And for reading query texts: bounded integers, booleans, comma lists.

import { z } from "zod";
import { isObject, parseJson } from "../json";

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

/** For the inside of free-form objects that custom nodes fill: what has another shape than ours counts as absent. Never for a request. */
export function loosely<T extends z.ZodType>(schema: T) {
  return maybe(schema).catch(undefined);
}

/** Node ids are texts; some nodes send them as numbers. */
export const nodeIdText = z.union([z.string(), z.number().transform(String)]);

export function integerText(bounds: { min?: number; max?: number } = {}) {
  const number = z
    .int()
    .min(bounds.min ?? Number.MIN_SAFE_INTEGER)
    .max(bounds.max ?? Number.MAX_SAFE_INTEGER);
  const digits = z
    .string()
    .regex(/^-?\d{1,16}$/)
    .transform((text) => Number(text) + 0);
  return z.union([z.number(), digits], { error: "must be a whole number" }).pipe(number);
}

const truth: Readonly<Record<string, boolean>> = { true: true, "1": true, false: false, "0": false };
const words = z
  .string()
  .toLowerCase()
  .refine((word) => Object.hasOwn(truth, word))
  .transform((word) => truth[word] === true);

export const booleanText = z.union([z.boolean(), words], { error: "must be true or false" });

/** JSON text of an object, kept as text: the service judges what it means. */
export const objectText = z
  .string()
  .max(10_000)
  .refine((text) => isObject(parseJson(text)), "must be the JSON text of an object");

/** A comma list; blanks are dropped, so an empty value means "no filter". */
export function commaList<T extends z.ZodType<string, string>>(item: T, most = 100) {
  return z
    .union([z.array(z.string()), z.string().transform((value) => value.split(","))])
    .transform((values) => values.map((value) => value.trim()).filter((value) => value !== ""))
    .pipe(z.array(item).max(most));
}
