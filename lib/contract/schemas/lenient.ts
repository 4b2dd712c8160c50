// Building blocks for parsing external JSON and query strings. Unknown fields are preserved, and null counts as absent.

import { z } from "zod";
import { isObject, type JsonObject } from "../json/json";
import { parseJson } from "../json/parse-json";
import { recordSkipped } from "../json/readers";
import { findNearestOption } from "../nodes/input-spec";
import { type Param, type Params, parseBoolean, parseInteger, splitList, type ValueOf } from "../params";
import { toPlainLine } from "../plain-line";
import { count, getExactSchema, lenientOnly, withExactSchema } from "./exact";

/** The form of a value in a query, if its schema reads text. Used for documents that are generated from the contract. */
export type WireForm =
  | { kind: "integer"; min?: number; max?: number }
  | { kind: "boolean" }
  | { kind: "object" }
  | { kind: "object-text" }
  | { kind: "list"; item: z.ZodType; maxItems: number };
const wireForms = new WeakMap<object, WireForm>();
export const getWireForm = (schema: object): WireForm | undefined => wireForms.get(schema);
export function getParameterForm(query: z.ZodObject, name: string): WireForm | undefined {
  const schema = query.shape[name];
  const innerSchema = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault ? schema.unwrap() : schema;
  return innerSchema && getWireForm(innerSchema);
}
export function withWireForm<S extends z.ZodType>(schema: S, form: WireForm): S {
  wireForms.set(schema, form);
  return schema;
}

export function nullish<T extends z.ZodType>(schema: T) {
  return schema
    .nullish()
    .transform((value) => value ?? undefined)
    .optional();
}

/** Returns the parsed object itself, because a copy would lose the spelling of its numbers. */
export const freeForm = withWireForm(z.custom<JsonObject>(isObject, "must be an object"), { kind: "object" });

/** A size, a count or a time from a service. Numbers beyond the range of a double are rounded. */
export const anyNumber = withExactSchema(z.union([z.number(), z.bigint().transform(Number)]), count);

export const anyCount = withExactSchema(anyNumber.pipe(count), count);

/** A time in any format that services send: RFC 3339 text, seconds or milliseconds. `toMilliseconds` parses it. */
export const timestamp = withExactSchema(z.union([z.string(), anyNumber]), z.iso.datetime());

/** For responses with free-form objects, never for requests. A value of another type counts as absent. */
export function lenientOptional<T extends z.ZodType>(schema: T) {
  return nullish(schema).catch(undefined);
}

/** Rejecting an entry is slow, so after this many unreadable entries the rest of a list is skipped. */
const MAX_UNREADABLE_ENTRIES = 1000;

function createEntryParser<T extends z.ZodType>(item: T): (entry: unknown) => z.output<T>[] {
  let unreadable = 0;
  return (entry) => {
    if (unreadable >= MAX_UNREADABLE_ENTRIES) return [];
    const parsed = item.safeParse(entry);
    if (parsed.success) return [parsed.data];
    unreadable += 1;
    return [];
  };
}

/** A list in a response. Unreadable entries are skipped and counted (`countSkipped`). */
export function lenientArray<T extends z.ZodType>(item: T) {
  const arraySchema = z.array(z.unknown()).transform((values): z.output<T>[] => {
    const readableEntries = values.flatMap(createEntryParser(item));
    return recordSkipped(readableEntries, values.length - readableEntries.length);
  });
  return withExactSchema(arraySchema, z.array(getExactSchema(item)));
}

export function lenientMap<T extends z.ZodType>(item: T) {
  const lenientRecord = z.record(z.string(), z.unknown()).transform((valuesById): Record<string, z.output<T>> => {
    const entries = Object.entries(valuesById);
    const parseEntry = createEntryParser(item);
    const readableEntries = entries.flatMap(([id, value]) => parseEntry(value).map((entry) => [id, entry] as const));
    return recordSkipped(Object.fromEntries(readableEntries), entries.length - readableEntries.length);
  });
  return withExactSchema(lenientRecord, z.record(z.string(), getExactSchema(item)));
}

export const lenientStrings = withExactSchema(
  z
    .array(z.unknown())
    .transform((list) => list.filter((item) => typeof item === "string"))
    .catch([]),
  z.array(z.string()),
);

export const unreadableCount = lenientOnly(lenientOptional(count.max(100_000)));

export const nodeIdText = withExactSchema(z.union([z.string(), z.union([z.number(), z.bigint()]).transform(String)]), z.string());

export function createIntegerText(bounds: { min?: number; max?: number } = {}) {
  const number = z
    .int()
    .min(bounds.min ?? Number.MIN_SAFE_INTEGER)
    .max(bounds.max ?? Number.MAX_SAFE_INTEGER);
  const digits = z
    .string()
    .regex(/^-?\d{1,16}$/)
    .transform(parseInteger);
  return withWireForm(z.union([z.number(), digits], { error: "must be a whole number" }).pipe(number), { kind: "integer", ...bounds });
}

const booleanWords = z
  .string()
  .refine((word) => parseBoolean(word) !== undefined)
  .transform((word) => parseBoolean(word) === true);

export const booleanText = withWireForm(z.union([z.boolean(), booleanWords], { error: "must be true or false" }), { kind: "boolean" });

export const objectText = withWireForm(
  z
    .string()
    .max(10_000)
    .refine((text) => isObject(parseJson(text)), "must be the JSON text of an object"),
  { kind: "object-text" },
);

export function createListText<T extends z.ZodType<string, string>>(item: T, maxItems = 100) {
  const schema = z
    .union([z.array(z.string()).transform((values) => values.flatMap((value) => value.trim() || [])), z.string().transform(splitList)])
    .pipe(z.array(item).max(maxItems));
  return withWireForm(schema, { kind: "list", item, maxItems });
}

/** Query parameters that clients add to any URL: cache busters, client ids and credentials. They filter nothing. */
const ignoredParams = new Set(["_", "t", "ts", "rand", "timestamp", "nocache", "v", "clientId", "client_id", "token", "workspace_id"]);

/** Rejects unknown parameters of lists, because ignoring a filter would return more than requested. */
export function findUnknownFilter(query: z.ZodObject, names: Iterable<string>): { field: string; message: string } | undefined {
  const paramNames = Object.keys(query.shape);
  if (!["limit", "max_items", "dir"].some((name) => paramNames.includes(name))) return undefined;
  for (const name of names) {
    if (paramNames.includes(name) || ignoredParams.has(name)) continue;
    const nearest = findNearestOption(name, paramNames);
    return {
      field: name.slice(0, 100),
      message: `is not a parameter here${nearest === undefined ? "" : `; did you mean ${String(nearest)}?`}`,
    };
  }
  return undefined;
}

const tagFilters = new Set(["include_tags", "exclude_tags"]);

export function getQueryErrorCode(fields: readonly string[]): "INVALID_TAG_FILTER" | "INVALID_QUERY" {
  return fields.every((field) => tagFilters.has(field)) ? "INVALID_TAG_FILTER" : "INVALID_QUERY";
}

type QueryShape<P extends Params> = {
  [N in keyof P]: P[N] extends { default: string | number | boolean }
    ? z.ZodDefault<z.ZodType<ValueOf<P[N]>>>
    : z.ZodOptional<z.ZodType<ValueOf<P[N]>>>;
};

export function createQuerySchema<const P extends Params>(params: P): z.ZodObject<QueryShape<P>>;
export function createQuerySchema(params: Params): z.ZodObject {
  const fields = Object.entries(params).map(([name, param]) => {
    const schema = createParamSchema(param);
    return [name, param.default === undefined ? schema.optional() : schema.default(param.default)] as const;
  });
  return z.object(Object.fromEntries(fields));
}

function createParamSchema(param: Param): z.ZodType {
  if (param.kind === "integer") return createIntegerText({ min: param.min, max: param.max });
  if (param.kind === "boolean") return booleanText;
  if (param.kind === "word") return z.enum(param.values);
  if (param.kind === "words") return createListText(z.string().toLowerCase().pipe(z.enum(param.values)));
  return (param.isTrimmed ? z.string().trim() : z.string()).min(1).max(param.maxLength);
}

export const webAddressSchema = z
  .url({ protocol: /^https?$/, error: "must be an address that begins with http:// or https://" })
  .max(2000)
  .refine((text) => !/^[a-z]+:\/\/[^/]*@/i.test(text), "must not contain a user name or password");

/** One line of user text, without characters that change the text direction. */
export function createPlainLine(maxLength: number, minLength = 1) {
  return z.string().max(1000).transform(toPlainLine).pipe(z.string().trim().min(minLength).max(maxLength));
}
