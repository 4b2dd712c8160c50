// The OpenAPI 3.1 document of one app. It names no node and contains no person's values.

import { type JsonObject } from "../json/json";
import { createJsonResponse, securitySchemes, toWireSchema } from "../openapi/document";
import { IDEMPOTENCY_HEADER } from "../workflow/submission";
import { type AppControl, type AppDefinition, type AppInput, appRunSchema } from "./app";
import { isFileKind, RANDOM } from "./fill";

type DescribedApp = Pick<AppDefinition, "title" | "text" | "inputs"> & { id: string; version: number };

export function createAppDocument(app: DescribedApp, baseUrl: string): JsonObject {
  const path = `/api/apps/${app.id}/runs`;
  const run = { $ref: "#/components/schemas/Run" };
  const runObject = createObjectSchema({ run });
  const runParameter = { name: "run", in: "path", required: true, schema: { type: "string", format: "uuid" } };
  const idempotencyKey = {
    name: IDEMPOTENCY_HEADER,
    in: "header",
    schema: { type: "string", pattern: "^[A-Za-z0-9-]{16,64}$" },
    description: "The same key again answers the same run, and starts no second one.",
  };
  const edge = {
    name: "edge",
    in: "query",
    schema: { enum: ["128", "256", "512", "1024"] },
    description: "A WebP of a picture whose longer edge has so many pixels at most.",
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
          parameters: [idempotencyKey],
          requestBody: {
            required: true,
            content: {
              "application/json": { schema: createObjectSchema({ inputs: createInputsSchema(app.inputs) }) },
              "multipart/form-data": { schema: createMultipartSchema(app.inputs) },
            },
          },
          responses: { "202": createJsonResponse("Begun.", runObject), ...rejections },
        },
        get: {
          operationId: "listAppRuns",
          summary: "One's own runs, the newest first.",
          responses: {
            "200": createJsonResponse(
              "Runs.",
              createObjectSchema({ runs: { type: "array", items: run }, next: { type: "string" } }, ["runs"]),
            ),
            ...rejections,
          },
        },
      },
      [`${path}/{run}`]: {
        get: {
          operationId: "readAppRun",
          summary: "A run, with what it put out.",
          parameters: [runParameter],
          responses: { "200": createJsonResponse("The run.", runObject), ...rejections },
        },
      },
      [`${path}/{run}/cancel`]: {
        post: {
          operationId: "cancelAppRun",
          summary: "Cancels a run.",
          parameters: [runParameter],
          responses: { "200": createJsonResponse("The run.", runObject), ...rejections },
        },
      },
      [`${path}/{run}/outputs/{number}`]: {
        get: {
          operationId: "viewAppResult",
          summary: "The bytes of a result.",
          parameters: [runParameter, { name: "number", in: "path", required: true, schema: { type: "integer", minimum: 1 } }, edge],
          responses: { "200": { description: "The bytes.", content: { "*/*": {} } }, ...rejections },
        },
      },
      ...(app.inputs.some(({ control }) => isFileKind(control.kind)) && {
        [`/api/apps/${app.id}/files`]: { post: createUploadOperation(app.inputs) },
      }),
    },
    components: { securitySchemes: appSecuritySchemes, schemas: { Run: toWireSchema(appRunSchema), Refusal: refusalSchema } },
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
  const input = { enum: names, description: "The input that it is measured for; left out, the first that takes files." };
  const properties = { file: { type: "string", contentMediaType: "application/octet-stream" }, input };
  return {
    operationId: "addAppFile",
    summary: "Sends a file to the service.",
    requestBody: { required: true, content: { "multipart/form-data": { schema: createObjectSchema(properties, ["file"]) } } },
    responses: { "201": createJsonResponse("The value for the input.", createObjectSchema({ name: { type: "string" } })), ...rejections },
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
      return { type: "string", description: "The name of a file at the service, as an upload to this app answers it." };
  }
}

function createRange({ min, max }: { min?: number | bigint; max?: number | bigint }): JsonObject {
  return { ...(min !== undefined && { minimum: min }), ...(max !== undefined && { maximum: max }) };
}

const textSchema = { type: "string" };
const refusalSchema = createObjectSchema({ code: textSchema, message: textSchema, details: {}, request_id: textSchema }, [
  "code",
  "message",
]);
const createRejection = (description: string) => createJsonResponse(description, { $ref: "#/components/schemas/Refusal" });
const rejections = {
  "400": createRejection("The request is invalid."),
  "401": createRejection("No valid token."),
  "403": createRejection("Not allowed."),
  "404": createRejection("There is no such app or run, or it is not for this member."),
  "409": createRejection("The key was used for another run."),
  "413": createRejection("A file is too large."),
  "422": createRejection("An input is missing or wrong; details lists them."),
  "429": createRejection("A limit of the app was reached. Retry-After is sent if known."),
};
