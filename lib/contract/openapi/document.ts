import { z } from "zod";
import { type ErrorCode, errorStatus } from "../failure";
import { hasRanges, type Operation, type OperationBody, type OperationResponse } from "../operation";
import { allOperations } from "../operations";
import { component, getExactComponents, getSchemaName, omittable } from "../schemas/exact";
import { getParameterForm, getWireForm } from "../schemas/lenient";

const isBodyStatus = (status: number) => [400, 408, 413].includes(status);
const commonCodes: readonly ErrorCode[] = ["UNAUTHORIZED", "INTERNAL", "SERVICE_UNAVAILABLE"];
const jsonCodes: readonly ErrorCode[] = ["INVALID_BODY", "INVALID_JSON", "TRUNCATED_UPLOAD", "REQUEST_TIMEOUT", "FILE_TOO_LARGE"];
const fileCodes: readonly ErrorCode[] = [
  "TRUNCATED_UPLOAD",
  "REQUEST_TIMEOUT",
  "FILE_TOO_LARGE",
  "STORAGE_QUOTA_EXCEEDED",
  "INSUFFICIENT_STORAGE",
];

const envelope = component("Refusal", { code: z.string(), message: z.string(), details: omittable(z.unknown()) });
const createErrorRef = (schema: z.ZodType) => ({ $ref: `#/components/schemas/${getSchemaName(schema)}` });

function describeErrors(operation: Operation): Record<string, Response> {
  const { refusals = [], bodyRefusal } = operation;
  const codes = new Set<ErrorCode>([...commonCodes, ...refusals]);
  const addCodes = (addedCodes: readonly ErrorCode[]) => addedCodes.forEach((code) => codes.add(code));
  const isUserdata = operation.path.startsWith("/api/userdata");
  if (hasRanges(operation)) addCodes(["RANGE_NOT_SATISFIABLE", "PRECONDITION_FAILED"]);
  if (operation.query) codes.add("INVALID_QUERY");
  if (operation.body?.kind === "json") addCodes(jsonCodes);
  if (operation.body?.kind === "multipart") addCodes([...fileCodes, "INVALID_BODY", "MISSING_FILE", "UNSUPPORTED_MEDIA_TYPE"]);
  if (operation.body?.kind === "octets") addCodes(fileCodes);
  if (operation.path.includes("{")) codes.add(operation.body?.kind === "octets" ? "BAD_REQUEST" : "NOT_FOUND");
  if (isUserdata) codes.add("BAD_REQUEST");

  const statuses = [...new Set([...codes].map((code) => errorStatus[code]))].sort((a, b) => a - b);
  const getCodes = (status: number) => [...codes].filter((code) => errorStatus[code] === status).sort();
  return Object.fromEntries(
    statuses.map((status) => [
      String(status),
      describeError(operation, getCodes(status), isUserdata ? "text" : isBodyStatus(status) ? bodyRefusal : undefined),
    ]),
  );
}

function describeError(operation: Operation, codes: readonly ErrorCode[], customSchema?: z.ZodType | "text"): Response {
  const description = `${codes.join(", ")}.`;
  if (operation.method === "HEAD") return { description };
  if (customSchema === "text") return { description, content: { "text/plain": { schema: { type: "string" } } } };
  const schema: JsonSchema = customSchema
    ? createErrorRef(customSchema)
    : { allOf: [createErrorRef(envelope), { type: "object", properties: { code: { enum: [...codes] } } }] };
  return { description, content: { "application/json": { schema } } };
}

const uuidParams = new Set(["id", "job_id", "task_id"]);

function describeParameters({ path, query }: Operation): Parameter[] {
  const pathParameters: Parameter[] = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string", ...(uuidParams.has(name) && { format: "uuid" }) },
  }));
  return [...pathParameters, ...(query ? describeQuery(query) : [])];
}

function describeQuery(query: z.ZodObject): Parameter[] {
  const { properties = {}, required = [] } = toWireSchema(query);
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.includes(name),
    ...(getParameterForm(query, name)?.kind === "list" && { style: "form", explode: false }),
    schema,
  }));
}

function describeBody(body: OperationBody, ref: string): RequestBody {
  if (body.kind === "octets") return { required: true, content: { "application/octet-stream": { schema: {} } } };
  if (body.kind === "json")
    return { required: !body.schema.safeParse(undefined).success, content: { "application/json": { schema: { $ref: ref } } } };
  const file: Record<string, JsonSchema> = { [body.file]: { type: "string", contentMediaType: "application/octet-stream" } };
  const { properties = {}, required = [] } = toWireSchema(body.fields);
  const fields = Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, toTextSchema(schema)]));
  const schema: JsonSchema = { type: "object", properties: { ...file, ...fields }, required: [body.file, ...required] };
  return { required: true, content: { "multipart/form-data": { schema } } };
}

function toTextSchema(schema: JsonSchema | boolean): JsonSchema | boolean {
  if (typeof schema === "boolean" || schema.type === undefined || schema.type === "string") return schema;
  return { type: "string", contentMediaType: "application/json", contentSchema: schema };
}

const toRef = (name: string) => `#/components/schemas/${name}`;
const getBodyName = (operation: Operation) => `${operation.name.charAt(0).toUpperCase()}${operation.name.slice(1)}Body`;

let cachedDocument: ReturnType<typeof buildDocument> | undefined;

export function createOpenApiDocument(baseUrl: string) {
  cachedDocument ??= buildDocument();
  return {
    ...cachedDocument.document,
    servers: [{ url: baseUrl }],
    security: Object.keys(securitySchemes).map((name) => ({ [name]: [] })),
    components: { securitySchemes, schemas: cachedDocument.schemas },
  };
}

export const securitySchemes = { ApiKey: { type: "apiKey", in: "header", name: "X-API-Key" }, Bearer: { type: "http", scheme: "bearer" } };

function buildDocument() {
  const documentedOperations = allOperations.filter(({ summary }) => summary !== undefined);
  const bodies = documentedOperations.flatMap((operation) =>
    operation.body?.kind === "json" ? [[getBodyName(operation), operation.body.schema] as const] : [],
  );
  const schemas: Record<string, z.core.$ZodType> = { ...getExactComponents(), ...Object.fromEntries(bodies) };
  const paths = new Map<string, Record<string, DescribedOperation>>(Object.entries(publicPaths));
  for (const operation of documentedOperations)
    paths.set(operation.path, { ...paths.get(operation.path), [operation.method.toLowerCase()]: describeOperation(operation) });
  const document = {
    openapi: "3.1.0",
    info: {
      title: "Workflow execution service",
      version: "1.0.0",
      description:
        "Runs workflow graphs as jobs and stores files as assets. Every service implements the core operations. Each extension names its capability.",
      license: { name: "MIT", identifier: "MIT" },
    },
    tags: [{ name: "core" }, { name: "extension" }],
    paths: Object.fromEntries(paths),
  };
  return { document, schemas: toComponents(schemas) };
}

/** These paths need no key, because they contain no user data. */
const publicPaths: Record<string, Record<string, DescribedOperation>> = {
  "/api/health": {
    get: {
      operationId: "getHealth",
      summary: "Checks whether the service is ready.",
      security: [],
      responses: {
        "200": createJsonResponse<JsonSchema>("Ready.", { type: "object", properties: { status: { const: "ok" } }, required: ["status"] }),
        "503": createJsonResponse<JsonSchema>("Not ready.", createErrorRef(envelope)),
      },
    },
  },
  "/api/openapi.json": {
    get: {
      operationId: "getOpenApi",
      summary: "Returns this document.",
      security: [],
      responses: { "200": createJsonResponse<JsonSchema>("OpenAPI 3.1.", { type: "object" }) },
    },
  },
};

function describeOperation(operation: Operation): DescribedOperation {
  const parameters = describeParameters(operation);
  return {
    operationId: operation.name,
    summary: operation.summary ?? "",
    tags: [operation.tier],
    ...(operation.capability && { "x-capability": operation.capability }),
    ...(parameters.length > 0 && { parameters }),
    ...(operation.body && { requestBody: describeBody(operation.body, toRef(getBodyName(operation))) }),
    responses: { ...describeResponses(operation), ...describeErrors(operation) },
  };
}

function describeResponses(operation: Operation): Record<string, Response> {
  const responses = Object.entries(operation.responses).map(
    ([status, response]) => [status, describeResponse(response, Number(status))] as const,
  );
  const notModified = hasRanges(operation) && { "304": { description: "The content has not changed." } };
  return { ...Object.fromEntries(responses), ...notModified };
}

const REDIRECT_DESCRIPTION = "The content is at `Location` for a short time. Follow it without the key.";

function describeResponse(operationResponse: OperationResponse, status: number): Response {
  if (operationResponse.kind === "redirect")
    return { description: REDIRECT_DESCRIPTION, headers: { Location: { schema: { type: "string", format: "uri" } } } };
  if (operationResponse.kind === "empty") return { description: "Success, without a body." };
  if (operationResponse.kind !== "json")
    return { description: status === 206 ? "A range of the content." : "The content.", content: { "*/*": { schema: {} } } };
  const name = getSchemaName(operationResponse.schema);
  if (name === undefined) throw new Error(`The schema of response ${status} must be a named component.`);
  return createJsonResponse(status === 201 ? "Created." : status === 202 ? "Accepted." : "Success.", { $ref: toRef(name) });
}

export function createJsonResponse<S>(description: string, schema: S) {
  return { description, content: { "application/json": { schema } } };
}

export type JsonSchema = z.core.JSONSchema.JSONSchema;
type Content = Readonly<Record<string, { schema: JsonSchema }>>;
type Parameter = { name: string; in: "path" | "query"; required: boolean; schema: JsonSchema | boolean; style?: string; explode?: boolean };
type RequestBody = { required: boolean; content: Content };
type Response = { description: string; headers?: Readonly<Record<string, { schema: JsonSchema }>>; content?: Content };
export type DescribedOperation = {
  operationId: string;
  summary: string;
  tags?: string[];
  "x-capability"?: string;
  security?: [];
  parameters?: Parameter[];
  requestBody?: RequestBody;
  responses: Readonly<Record<string, Response>>;
};

const schemaOptions = { target: "draft-2020-12", io: "input", unrepresentable: "any", override: overrideSchema } as const;

export function toWireSchema(schema: z.ZodType): JsonSchema {
  return removeZodKeys(z.toJSONSchema(schema, schemaOptions));
}

function toComponents(schemas: Readonly<Record<string, z.core.$ZodType>>): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id });
  const document = z.toJSONSchema(registry, { ...schemaOptions, uri: (id) => `#/components/schemas/${id}` });
  return Object.fromEntries(Object.entries(document.schemas).map(([id, schema]) => [id, removeZodKeys(schema)]));
}

type Context = Parameters<NonNullable<NonNullable<Parameters<typeof z.toJSONSchema>[1]>["override"]>>[0];

function overrideSchema({ zodSchema, jsonSchema }: Context): void {
  const form = getWireForm(zodSchema);
  if (form) {
    for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
    if (form.kind === "integer") Object.assign(jsonSchema, { type: "integer", ...toBounds(form) });
    if (form.kind === "boolean") Object.assign(jsonSchema, { type: "boolean" });
    if (form.kind === "object") Object.assign(jsonSchema, { type: "object", additionalProperties: {} });
    if (form.kind === "object-text") Object.assign(jsonSchema, { type: "string", contentMediaType: "application/json" });
    if (form.kind === "list") Object.assign(jsonSchema, { type: "array", items: toWireSchema(form.item), maxItems: form.maxItems });
  }
  // Otherwise, the default would be lost if the type on the wire differs from the parsed type.
  if (zodSchema instanceof z.ZodDefault) jsonSchema.default = zodSchema.def.defaultValue;
  if (jsonSchema.type === "integer") removeUnboundedLimits(jsonSchema);
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
  if (Object.keys(jsonSchema.propertyNames ?? {}).join() === "type") delete jsonSchema.propertyNames;
}

function toBounds({ min, max }: { min?: number; max?: number }) {
  return { ...(min !== undefined && { minimum: min }), ...(max !== undefined && { maximum: max }) };
}

function removeUnboundedLimits(schema: { minimum?: unknown; maximum?: unknown }): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
}

function removeZodKeys(schema: object): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== "$schema" && key !== "$id" && key !== "~standard"));
}
