// Converts the OpenAPI document to the rows of a page: parameters, fields, responses and schemas.

import { writeExactJson } from "../json/exact-json";
import { type Operation } from "../operation";
import { allOperations } from "../operations";
import { assetOperations } from "../operations/assets";
import { fileOperations } from "../operations/files";
import { jobOperations } from "../operations/jobs";
import { createOpenApiDocument, type DescribedOperation, type JsonSchema } from "./document";

/** `schema`: the name of a schema on the same page. */
export type TypeText = { text: string; schema?: string };
export type FieldRow = { name: string; type: TypeText; isRequired: boolean; default?: string; limits?: string };
export type ResponseRow = { status: string; description: string; type?: TypeText };
export type ReferenceOperation = {
  operation: Operation;
  summary: string;
  parameters: (FieldRow & { in: "path" | "query" })[];
  body?: { mediaType: string; fields: FieldRow[] };
  responses: ResponseRow[];
};
export type ReferenceGroup = "jobs" | "assets" | "files" | "service";
export type ApiReference = {
  groups: { group: ReferenceGroup; operations: ReferenceOperation[] }[];
  schemas: { name: string; type: TypeText; fields: FieldRow[] }[];
};

const referenceGroups = ["jobs", "assets", "files", "service"] as const;

function getGroup({ name }: Operation): ReferenceGroup {
  if (name in jobOperations) return "jobs";
  if (name in assetOperations) return "assets";
  return name in fileOperations ? "files" : "service";
}

let cachedReference: ApiReference | undefined;

/** Built once, because the page doesn't show the parts that depend on the console's address. */
export function getApiReference(): ApiReference {
  cachedReference ??= buildReference();
  return cachedReference;
}

function buildReference(): ApiReference {
  const { paths, components } = createOpenApiDocument("");
  const schemas = new Map(Object.entries(components.schemas));
  const rows = allOperations.flatMap((operation) => {
    const describedOperation = paths[operation.path]?.[operation.method.toLowerCase()];
    return describedOperation ? [toRow(operation, describedOperation, schemas)] : [];
  });
  return {
    groups: referenceGroups.map((group) => ({ group, operations: rows.filter(({ operation }) => getGroup(operation) === group) })),
    schemas: [...schemas].map(([name, schema]) => ({ name, type: toType(schema), fields: toFields(schema) })),
  };
}

function toRow(
  operation: Operation,
  { summary, parameters = [], requestBody, responses }: DescribedOperation,
  schemas: ReadonlyMap<string, JsonSchema>,
): ReferenceOperation {
  const [mediaType, body] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const bodySchema = body?.schema.$ref ? schemas.get(getRefName(body.schema.$ref)) : body?.schema;
  return {
    operation,
    summary,
    parameters: parameters.map(({ name, in: location, required, schema }) => ({ ...toField(name, schema, required), in: location })),
    ...(mediaType && bodySchema && { body: { mediaType, fields: toFields(bodySchema) } }),
    responses: Object.entries(responses).map(([status, { description, content }]) => {
      const schema = Object.values(content ?? {})[0]?.schema;
      const isError = Number(status) >= 400;
      return { status, description, ...(schema && !isError && { type: toType(schema) }) };
    }),
  };
}

function toFields({ properties = {}, required = [] }: JsonSchema): FieldRow[] {
  return Object.entries(properties).map(([name, schema]) => toField(name, schema, required.includes(name)));
}

function toField(name: string, fieldSchema: JsonSchema | boolean, isRequired: boolean): FieldRow {
  const schema = toSchema(fieldSchema);
  const limits = formatLimits(schema);
  return {
    name,
    type: toType(schema),
    isRequired,
    ...(schema.default !== undefined && { default: writeExactJson(schema.default) }),
    ...(limits && { limits }),
  };
}

function formatLimits({ minimum, maximum, maxLength, maxItems, anyOf = [] }: JsonSchema): string | undefined {
  if (minimum !== undefined && maximum !== undefined) return `${minimum}–${maximum}`;
  if (minimum !== undefined) return `≥ ${minimum}`;
  if (maximum !== undefined) return `≤ ${maximum}`;
  const size = maxLength ?? maxItems;
  if (size !== undefined) return `≤ ${size}`;
  const [limit, ...otherLimits] = anyOf.flatMap((part) => formatLimits(part) ?? []);
  return otherLimits.length === 0 ? limit : undefined;
}

/** JSON Schema also allows booleans, and lists for the items of a tuple. */
const toSchema = (schema: JsonSchema["items"] = {}): JsonSchema => (typeof schema === "boolean" || Array.isArray(schema) ? {} : schema);
const getRefName = (ref: string) => ref.slice(ref.lastIndexOf("/") + 1);

function toType(schema: JsonSchema): TypeText {
  const { type, $ref, format, items, anyOf, allOf } = schema;
  if ($ref) return { text: getRefName($ref), schema: getRefName($ref) };
  if (schema.enum) return { text: schema.enum.map((value) => writeExactJson(value)).join(" | ") };
  if (schema.const !== undefined) return { text: writeExactJson(schema.const) };
  const parts = anyOf ?? allOf;
  if (parts && type === undefined) {
    const types = parts.map(toType);
    const schemaName = types.find(({ schema: name }) => name !== undefined)?.schema;
    return { text: [...new Set(types.map(({ text }) => text))].join(anyOf ? " | " : " & "), ...(schemaName && { schema: schemaName }) };
  }
  if (typeof items === "object" && !Array.isArray(items)) {
    const { text, schema: name } = toType(items);
    return { text: `${text.includes(" ") ? `(${text})` : text}[]`, ...(name && { schema: name }) };
  }
  if (schema.contentMediaType === "application/octet-stream") return { text: "file" };
  const typeName = Array.isArray(type) ? type.join(" | ") : (type ?? "any");
  return { text: format ? `${typeName} (${format})` : typeName };
}
