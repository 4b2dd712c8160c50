// What an operation takes, in the form of an OpenAPI document: parameters of path and query, and its body.

import { type z } from "zod";
import { type Operation, type OperationBody } from "../operation";
import { formOfParameter } from "../schemas/lenient";
import { type JsonSchema, toWireSchema } from "./wire-schema";

const uuids = new Set(["id", "job_id", "task_id"]);

export function parametersOf({ path, query }: Operation): JsonSchema[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string", ...(uuids.has(name) && { format: "uuid" }) },
  }));
  return [...inPath, ...(query ? inQuery(query) : [])];
}

function inQuery(query: z.ZodObject): JsonSchema[] {
  const { properties, required } = propertiesOf(query);
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.includes(name),
    ...(formOfParameter(query, name)?.kind === "list" && { style: "form", explode: false }),
    schema,
  }));
}

/** `ref`: the component that describes a JSON body. */
export function bodyOf(body: OperationBody, ref: string): JsonSchema {
  if (body.kind === "octets") return { required: true, content: { "application/octet-stream": { schema: {} } } };
  if (body.kind === "json")
    return { required: !body.schema.safeParse(undefined).success, content: { "application/json": { schema: { $ref: ref } } } };
  const file = { [body.file]: { type: "string", contentMediaType: "application/octet-stream" } };
  const { properties, required } = propertiesOf(body.fields);
  const fields = Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, asText(schema)]));
  const schema = { type: "object", properties: { ...file, ...fields }, required: [body.file, ...required] };
  return { required: true, content: { "multipart/form-data": { schema } } };
}

/** A part is text; other values travel as JSON. */
function asText(schema: unknown): unknown {
  if (typeof schema === "object" && schema !== null && "type" in schema && schema.type !== "string")
    return { type: "string", contentMediaType: "application/json", contentSchema: schema };
  return schema;
}

function propertiesOf(schema: z.ZodType): { properties: Record<string, unknown>; required: readonly unknown[] } {
  const { properties, required } = toWireSchema(schema);
  return {
    properties: typeof properties === "object" && properties !== null ? { ...properties } : {},
    required: Array.isArray(required) ? required : [],
  };
}
