// One definition reads responses of any service leniently, and describes the exact responses of the embedded service.

import { z } from "zod";

type Schema = z.core.$ZodType;
const exactSchemas = new WeakMap<Schema, Schema>();
const lenientOnlySchemas = new WeakSet<Schema>();
const components = new Map<string, Schema>();
const schemaNames = new WeakMap<Schema, string>();

/** `exact`: the embedded service's response. Other services may send anything that `lenient` accepts. */
export function withExactSchema<S extends z.ZodType>(lenient: S, exact: Schema): S {
  const schema = lenient.clone();
  exactSchemas.set(schema, exact);
  return schema;
}

/** The embedded service omits this field if it has no value. */
export function omittable<S extends z.ZodType>(lenient: S): S {
  return withExactSchema(lenient, z.optional(getExactSchema(lenient)));
}

/** Not a field of the embedded service. Other services send it, or the console adds it. */
export function lenientOnly<S extends z.ZodType>(lenient: S): S {
  const schema = lenient.clone();
  lenientOnlySchemas.add(schema);
  return schema;
}

export function namedSchema<S extends z.ZodType>(name: string, schema: S): S {
  components.set(name, schema);
  schemaNames.set(schema, name);
  return schema;
}

export function component<S extends z.ZodRawShape>(name: string, shape: S) {
  return namedSchema(name, z.looseObject(shape));
}

export const getSchemaName = (schema: Schema): string | undefined => schemaNames.get(schema);
export const getExactComponents = (): Record<string, Schema> =>
  Object.fromEntries([...components].map(([name, schema]) => [name, getExactSchema(schema)]));

export function getExactSchema(schema: Schema): Schema {
  const exact = exactSchemas.get(schema) ?? deriveExact(schema);
  exactSchemas.set(schema, exact);
  return exact;
}

function deriveExact(schema: Schema): Schema {
  if (schema instanceof z.ZodObject) return exactFields(schema);
  if (schema instanceof z.ZodArray) return z.array(getExactSchema(schema.element));
  if (schema instanceof z.ZodRecord) return z.record(z.string(), getExactSchema(schema.valueType));
  if (schema instanceof z.ZodTuple) {
    const [firstItem, ...otherItems] = schema.def.items.map(getExactSchema);
    return firstItem ? z.tuple([firstItem, ...otherItems]) : schema;
  }
  if (schema instanceof z.ZodPipe) return getExactSchema(schema.in);
  const isWrapper = schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodCatch;
  return isWrapper || schema instanceof z.ZodDefault ? getExactSchema(schema.def.innerType) : schema;
}

export function exactFields(schema: z.ZodObject): z.ZodObject {
  const fields = Object.entries(schema.shape).filter(([, field]) => !lenientOnlySchemas.has(field));
  return z.object(Object.fromEntries(fields.map(([name, field]) => [name, getExactSchema(field)])));
}

export const count = z.int().min(0);
export const milliseconds = z.number().min(0);
