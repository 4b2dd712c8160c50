// Schemas as functions, for browsers. Values that do not match are undefined. Does not import zod (docs/decisions/0035).

import { getOwn, getSharedWeakMap, isObject } from "./json";

export { asNumber as number, asText as text } from "./json";

export type Reader<T> = (value: unknown) => T | undefined;
export type ReaderOutput<R> = R extends Reader<infer T> ? T : never;

export const anything: Reader<unknown> = (value) => value;
export const anyText: Reader<string> = (value) => (typeof value === "string" ? value : undefined);
export const isTrue: Reader<boolean> = (value) => value === true || undefined;

export const withFallback =
  <T>(reader: Reader<T>, fallback: T) =>
  (value: unknown): T =>
    reader(value) ?? fallback;

export const filter =
  <T>(reader: Reader<T>, isAccepted: (value: T) => boolean): Reader<T> =>
  (value) => {
    const parsed = reader(value);
    return parsed !== undefined && isAccepted(parsed) ? parsed : undefined;
  };

export const oneOf =
  <const T>(values: readonly T[]): Reader<T> =>
  (value) =>
    values.find((item) => item === value);

export const list =
  <T>(item: Reader<T>, maxItems = Infinity): Reader<readonly T[]> =>
  (value) =>
    Array.isArray(value) ? value.slice(0, maxItems).flatMap((entry: unknown) => toEntries(item(entry))) : undefined;

export const map =
  <T>(item: Reader<T>): Reader<Record<string, T>> =>
  (value) =>
    isObject(value)
      ? Object.fromEntries(Object.entries(value).flatMap(([key, entry]) => toEntries(item(entry)).map((parsed) => [key, parsed])))
      : undefined;

const skippedCounts = getSharedWeakMap<object, number>("skipped-entries");

export function recordSkipped<T extends object>(list: T, count: number): T {
  if (count > 0) skippedCounts.set(list, count);
  return list;
}

export function countSkipped(value: unknown): number {
  return typeof value === "object" && value !== null ? (skippedCounts.get(value) ?? 0) : 0;
}

const toEntries = <T>(parsed: T | undefined): T[] => (parsed === undefined ? [] : [parsed]);

type Shape = Readonly<Record<string, Reader<unknown>>>;
type Fields<S> = { [N in keyof S]: ReaderOutput<S[N]> };

/** Undefined if a required field does not match. Optional fields that do not match are omitted. */
export function object<R extends Shape, O extends Shape = Record<never, never>>(
  required: R,
  optional?: O,
): Reader<Fields<R> & Partial<Fields<O>>>;
export function object(required: Shape, optional: Shape = {}): Reader<unknown> {
  return (value) => {
    if (!isObject(value)) return undefined;
    const entries: [string, unknown][] = [];
    for (const [name, reader] of Object.entries({ ...optional, ...required })) {
      const field = reader(getOwn(value, name));
      if (field !== undefined) entries.push([name, field]);
      else if (Object.hasOwn(required, name)) return undefined;
    }
    return Object.fromEntries(entries);
  };
}
