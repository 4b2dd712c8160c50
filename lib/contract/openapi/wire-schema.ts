// A schema of the contract as JSON Schema 2020-12: the form on the wire, before the contract reads it.
// Guarantees: defaults and bounds come from the schema itself; nothing is written twice.

import { z } from "zod";
import { wireFormOf } from "../schemas/lenient";

export type JsonSchema = Readonly<Record<string, unknown>>;

const options = { target: "draft-2020-12", io: "input", unrepresentable: "any", override } as const;

export function toWireSchema(schema: z.ZodType): JsonSchema {
  return withoutMarks(z.toJSONSchema(schema, options));
}

/** Schemas by name; a schema that holds another one refers to it. */
export function toComponents(schemas: Readonly<Record<string, z.core.$ZodType>>): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id });
  const made = z.toJSONSchema(registry, { ...options, uri: (id) => `#/components/schemas/${id}` });
  return Object.fromEntries(Object.entries(made.schemas).map(([id, schema]) => [id, withoutMarks(schema)]));
}

type Context = Parameters<NonNullable<NonNullable<Parameters<typeof z.toJSONSchema>[1]>["override"]>>[0];

function override({ zodSchema, jsonSchema }: Context): void {
  const form = wireFormOf(zodSchema);
  if (form) {
    for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
    if (form.kind === "integer") Object.assign(jsonSchema, { type: "integer", ...bounds(form) });
    if (form.kind === "boolean") Object.assign(jsonSchema, { type: "boolean" });
    if (form.kind === "object") Object.assign(jsonSchema, { type: "object", additionalProperties: {} });
    if (form.kind === "object-text") Object.assign(jsonSchema, { type: "string", contentMediaType: "application/json" });
    if (form.kind === "list") Object.assign(jsonSchema, { type: "array", items: toWireSchema(form.item), maxItems: form.most });
  }
  // Otherwise the default would be lost where the type on the wire differs from the type that is read.
  if (zodSchema instanceof z.ZodDefault) jsonSchema.default = zodSchema.def.defaultValue;
  if (jsonSchema.type === "integer") dropUnboundedEnds(jsonSchema);
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
  if (Object.keys(jsonSchema.propertyNames ?? {}).join() === "type") delete jsonSchema.propertyNames;
}

function bounds({ min, max }: { min?: number; max?: number }) {
  return { ...(min !== undefined && { minimum: min }), ...(max !== undefined && { maximum: max }) };
}

function dropUnboundedEnds(schema: { minimum?: unknown; maximum?: unknown }): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
}

function withoutMarks(schema: object): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== "$schema" && key !== "$id" && key !== "~standard"));
}
