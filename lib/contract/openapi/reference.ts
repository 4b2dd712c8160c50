// The OpenAPI document as rows for a page: parameters, fields, responses and schemas.

import { writeExactJson } from "../json/exact-json";
import { type Operation } from "../operation";
import { allOperations } from "../operations";
import { assetOperations } from "../operations/assets";
import { fileOperations } from "../operations/files";
import { jobOperations } from "../operations/jobs";
import { type DescribedOperation, type JsonSchema, openApiDocument } from "./document";

/** `schema`: the name of a schema on the same page. `limits`: such as "1 to 1000". */
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

const groups = ["jobs", "assets", "files", "service"] as const;

function groupOf({ name }: Operation): ReferenceGroup {
  if (name in jobOperations) return "jobs";
  if (name in assetOperations) return "assets";
  return name in fileOperations ? "files" : "service";
}

let cachedReference: ApiReference | undefined;

/** Built once: the document depends on the address of the console only in parts that the page doesn't show. */
export function apiReference(): ApiReference {
  cachedReference ??= buildReference();
  return cachedReference;
}

function buildReference(): ApiReference {
  const { paths, components } = openApiDocument("");
  const schemas = new Map(Object.entries(components.schemas));
  const rows = allOperations.flatMap((operation) => {
    const described = paths[operation.path]?.[operation.method.toLowerCase()];
    return described ? [toRow(operation, described, schemas)] : [];
  });
  return {
    groups: groups.map((group) => ({ group, operations: rows.filter(({ operation }) => groupOf(operation) === group) })),
    schemas: [...schemas].map(([name, schema]) => ({ name, type: typeOf(schema), fields: fieldsOf(schema) })),
  };
}

function toRow(
  operation: Operation,
  { summary, parameters = [], requestBody, responses }: DescribedOperation,
  schemas: ReadonlyMap<string, JsonSchema>,
): ReferenceOperation {
  const [mediaType, body] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const bodySchema = body?.schema.$ref ? schemas.get(nameOfRef(body.schema.$ref)) : body?.schema;
  return {
    operation,
    summary,
    parameters: parameters.map(({ name, in: location, required, schema }) => ({ ...fieldOf(name, schema, required), in: location })),
    ...(mediaType && bodySchema && { body: { mediaType, fields: fieldsOf(bodySchema) } }),
    responses: Object.entries(responses).map(([status, { description, content }]) => {
      const schema = Object.values(content ?? {})[0]?.schema;
      const isError = Number(status) >= 400;
      return { status, description, ...(schema && !isError && { type: typeOf(schema) }) };
    }),
  };
}

function fieldsOf({ properties = {}, required = [] }: JsonSchema): FieldRow[] {
  return Object.entries(properties).map(([name, schema]) => fieldOf(name, schema, required.includes(name)));
}

function fieldOf(name: string, described: JsonSchema | boolean, isRequired: boolean): FieldRow {
  const schema = schemaOf(described);
  const limits = limitsOf(schema);
  return {
    name,
    type: typeOf(schema),
    isRequired,
    ...(schema.default !== undefined && { default: writeExactJson(schema.default) }),
    ...(limits && { limits }),
  };
}

function limitsOf({ minimum, maximum, maxLength, maxItems, anyOf = [] }: JsonSchema): string | undefined {
  if (minimum !== undefined && maximum !== undefined) return `${minimum}–${maximum}`;
  if (minimum !== undefined) return `≥ ${minimum}`;
  if (maximum !== undefined) return `≤ ${maximum}`;
  const size = maxLength ?? maxItems;
  if (size !== undefined) return `≤ ${size}`;
  const [only, ...others] = anyOf.flatMap((part) => limitsOf(part) ?? []);
  return others.length === 0 ? only : undefined;
}

/** JSON Schema also allows a boolean, and a list for the items of a tuple. */
const schemaOf = (schema: JsonSchema["items"] = {}): JsonSchema => (typeof schema === "boolean" || Array.isArray(schema) ? {} : schema);
const nameOfRef = (ref: string) => ref.slice(ref.lastIndexOf("/") + 1);

function typeOf(schema: JsonSchema): TypeText {
  const { type, $ref, format, items, anyOf, allOf } = schema;
  if ($ref) return { text: nameOfRef($ref), schema: nameOfRef($ref) };
  if (schema.enum) return { text: schema.enum.map((value) => writeExactJson(value)).join(" | ") };
  if (schema.const !== undefined) return { text: writeExactJson(schema.const) };
  const parts = anyOf ?? allOf;
  if (parts && type === undefined) {
    const types = parts.map(typeOf);
    const schemaName = types.find(({ schema: name }) => name !== undefined)?.schema;
    return { text: [...new Set(types.map(({ text }) => text))].join(anyOf ? " | " : " & "), ...(schemaName && { schema: schemaName }) };
  }
  if (typeof items === "object" && !Array.isArray(items)) {
    const { text, schema: name } = typeOf(items);
    return { text: `${text.includes(" ") ? `(${text})` : text}[]`, ...(name && { schema: name }) };
  }
  if (schema.contentMediaType === "application/octet-stream") return { text: "file" };
  const word = Array.isArray(type) ? type.join(" | ") : (type ?? "any");
  return { text: format ? `${word} (${format})` : word };
}
