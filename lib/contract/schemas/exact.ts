// One definition reads any service's answers leniently and describes the embedded service's exact ones.

import { z } from "zod";

type Schema = z.core.$ZodType;
const exacts = new WeakMap<Schema, Schema>();
const foreigns = new WeakSet<Schema>();
const components = new Map<string, Schema>();
const names = new WeakMap<Schema, string>();

/** `exact`: what the embedded service answers; other services may answer anything that `lenient` reads. */
export function reads<S extends z.ZodType>(lenient: S, exact: Schema): S {
  const own = lenient.clone();
  exacts.set(own, exact);
  return own;
}

/** The embedded service omits this field if there is nothing to report. */
export function rare<S extends z.ZodType>(lenient: S): S {
  return reads(lenient, z.optional(exactOf(lenient)));
}

/** Not a field of the embedded service: other services send it, or the console adds it. */
export function exactForeign<S extends z.ZodType>(lenient: S): S {
  const own = lenient.clone();
  foreigns.add(own);
  return own;
}

export function namedSchema<S extends z.ZodType>(name: string, schema: S): S {
  components.set(name, schema);
  names.set(schema, name);
  return schema;
}

export function component<S extends z.ZodRawShape>(name: string, shape: S) {
  return namedSchema(name, z.looseObject(shape));
}

export const nameOf = (schema: Schema): string | undefined => names.get(schema);
export const exactComponents = (): Record<string, Schema> =>
  Object.fromEntries([...components].map(([name, schema]) => [name, exactOf(schema)]));

export function exactOf(schema: Schema): Schema {
  const exact = exacts.get(schema) ?? derived(schema);
  exacts.set(schema, exact);
  return exact;
}

function derived(schema: Schema): Schema {
  if (schema instanceof z.ZodObject) return exactFields(schema);
  if (schema instanceof z.ZodArray) return z.array(exactOf(schema.element));
  if (schema instanceof z.ZodRecord) return z.record(z.string(), exactOf(schema.valueType));
  if (schema instanceof z.ZodTuple) {
    const [first, ...others] = schema.def.items.map(exactOf);
    return first ? z.tuple([first, ...others]) : schema;
  }
  if (schema instanceof z.ZodPipe) return exactOf(schema.in);
  const isWrapper = schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodCatch;
  return isWrapper || schema instanceof z.ZodDefault ? exactOf(schema.def.innerType) : schema;
}

export function exactFields(schema: z.ZodObject): z.ZodObject {
  const fields = Object.entries(schema.shape).filter(([, field]) => !foreigns.has(field));
  return z.object(Object.fromEntries(fields.map(([name, field]) => [name, exactOf(field)])));
}

export const count = z.int().min(0);
export const milliseconds = z.number().min(0);
