// The OpenAPI 3.1 document of one app. It contains no node ids and no member's values.

import { type JsonObject } from "../json/json";
import { createJsonResponse, securitySchemes, toWireSchema } from "../openapi/document";
import { IDEMPOTENCY_HEADER } from "../workflow/submission";
import { type AppControl, type AppDefinition, type AppInput, appRunSchema } from "./app";
import { isFileKind, RANDOM } from "./fill";

type DescribedApp = Pick<AppDefinition, "title" | "text" | "inputs"> & { id: string; version: number };

export function createAppDocument(app: DescribedApp, baseUrl: string): JsonObject {
  const path = `/api/apps/${app.id}/runs`;
  const runSchema = { $ref: "#/components/schemas/Run" };
  const runResponseSchema = createObjectSchema({ run: runSchema });
  const runParameter = { name: "run", in: "path", required: true, schema: { type: "string", format: "uuid" } };
  const idempotencyKeyParameter = {
    name: IDEMPOTENCY_HEADER,
    in: "header",
    schema: { type: "string", pattern: "^[A-Za-z0-9-]{16,64}$" },
    description: "A repeated key returns the same run and doesn't start another one.",
  };
  const edgeParameter = {
    name: "edge",
    in: "query",
    schema: { enum: ["128", "256", "512", "1024"] },
    description: "Returns an image as a WebP whose longer edge has at most this many pixels.",
  };
  return {
    openapi: "3.1.0",
    info: { title: app.title, version: String(app.version), ...(app.text && { description: app.text }) },
    servers: [{ url: baseUrl }],
    security: [{ ApiKey: [] }, { Bearer: [] }],
    paths: {
      [path]: {
        post: {
          operationId: "runApp",
          summary: `Runs ${app.title}.`,
          parameters: [idempotencyKeyParameter],
          requestBody: {
            required: true,
            content: {
              "application/json": { schema: createObjectSchema({ inputs: createInputsSchema(app.inputs) }) },
              "multipart/form-data": { schema: createMultipartSchema(app.inputs) },
            },
          },
          responses: { "202": createJsonResponse("Accepted.", runResponseSchema), ...errorResponses },
        },
        get: {
          operationId: "listAppRuns",
          summary: "Lists your runs, newest first.",
          responses: {
            "200": createJsonResponse(
              "The runs.",
              createObjectSchema({ runs: { type: "array", items: runSchema }, next: { type: "string" } }, ["runs"]),
            ),
            ...errorResponses,
          },
        },
      },
      [`${path}/{run}`]: {
        get: {
          operationId: "readAppRun",
          summary: "Returns a run with its results.",
          parameters: [runParameter],
          responses: { "200": createJsonResponse("The run.", runResponseSchema), ...errorResponses },
        },
      },
      [`${path}/{run}/cancel`]: {
        post: {
          operationId: "cancelAppRun",
          summary: "Cancels a run.",
          parameters: [runParameter],
          responses: { "200": createJsonResponse("The run.", runResponseSchema), ...errorResponses },
        },
      },
      [`${path}/{run}/outputs/{number}`]: {
        get: {
          operationId: "viewAppResult",
          summary: "Returns the bytes of a result.",
          parameters: [
            runParameter,
            { name: "number", in: "path", required: true, schema: { type: "integer", minimum: 1 } },
            edgeParameter,
          ],
          responses: { "200": { description: "The bytes.", content: { "*/*": {} } }, ...errorResponses },
        },
      },
      ...(app.inputs.some(({ control }) => isFileKind(control.kind)) && {
        [`/api/apps/${app.id}/files`]: { post: createUploadOperation(app.inputs) },
      }),
    },
    components: { securitySchemes: appSecuritySchemes, schemas: { Run: toWireSchema(appRunSchema), Refusal: errorSchema } },
  };
}

const appSecuritySchemes = {
  ...securitySchemes,
  Bearer: { ...securitySchemes.Bearer, description: "A personal access token of this console." },
};

function createObjectSchema(properties: JsonObject, required = Object.keys(properties)): JsonObject {
  return { type: "object", properties, required };
}

function createUploadOperation(inputs: readonly AppInput[]): JsonObject {
  const names = inputs.filter(({ control }) => isFileKind(control.kind)).map(({ name }) => name);
  const input = { enum: names, description: "The input that the file is for. By default, the first input that accepts files." };
  const properties = { file: { type: "string", contentMediaType: "application/octet-stream" }, input };
  return {
    operationId: "addAppFile",
    summary: "Uploads a file to the service.",
    requestBody: { required: true, content: { "multipart/form-data": { schema: createObjectSchema(properties, ["file"]) } } },
    responses: {
      "201": createJsonResponse("The value for the input.", createObjectSchema({ name: { type: "string" } })),
      ...errorResponses,
    },
  };
}

function createInputsSchema(inputs: readonly AppInput[]): JsonObject {
  const required = inputs.filter((input) => input.isRequired && input.default === undefined).map(({ name }) => name);
  return {
    type: "object",
    properties: Object.fromEntries(inputs.map((input) => [input.name, createInputSchema(input)])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

function createMultipartSchema(inputs: readonly AppInput[]): JsonObject {
  const inputsSchema = createInputsSchema(inputs);
  const files = inputs.filter(({ control }) => isFileKind(control.kind));
  const parts = files.map(({ name, label }) => [name, { type: "string", contentMediaType: "application/octet-stream", title: label }]);
  const { properties } = inputsSchema;
  return { ...inputsSchema, properties: { ...(typeof properties === "object" ? properties : {}), ...Object.fromEntries(parts) } };
}

function createInputSchema({ label, help, control, default: defaultValue, example }: AppInput): JsonObject {
  return {
    title: label,
    ...(help && { description: help }),
    ...createTypeSchema(control),
    ...(defaultValue !== undefined && { default: defaultValue }),
    ...(example !== undefined && { examples: [example] }),
  };
}

function createTypeSchema(control: AppControl): JsonObject {
  switch (control.kind) {
    case "text":
      return { type: "string" };
    case "number":
      return { type: control.isWhole ? "integer" : "number", ...createRange(control) };
    case "seed":
      return { anyOf: [{ type: "integer", ...createRange(control) }, { const: RANDOM }] };
    case "switch":
      return { type: "boolean" };
    case "choice":
      return { enum: control.choices.map(({ value }) => value) };
    default:
      return { type: "string", description: "The name of a file on the service, as returned by an upload to this app." };
  }
}

function createRange({ min, max }: { min?: number | bigint; max?: number | bigint }): JsonObject {
  return { ...(min !== undefined && { minimum: min }), ...(max !== undefined && { maximum: max }) };
}

const textSchema = { type: "string" };
const errorSchema = createObjectSchema({ code: textSchema, message: textSchema, details: {}, request_id: textSchema }, ["code", "message"]);
const createErrorResponse = (description: string) => createJsonResponse(description, { $ref: "#/components/schemas/Refusal" });
const errorResponses = {
  "400": createErrorResponse("The request is invalid."),
  "401": createErrorResponse("The token is missing or invalid."),
  "403": createErrorResponse("The member may not do this."),
  "404": createErrorResponse("The app or run does not exist, or this member may not see it."),
  "409": createErrorResponse("The idempotency key was used with different inputs."),
  "413": createErrorResponse("A file is too large."),
  "422": createErrorResponse("An input is missing or invalid. `details` lists the problems."),
  "429": createErrorResponse("A limit of the app was reached. Retry-After is sent if known."),
};
