// The OpenAPI 3.1 document of one app. It names no node and contains no person's values.

import { type JsonObject } from "../json/json";
import { jsonAnswer, securitySchemes, toWireSchema } from "../openapi/document";
import { IDEMPOTENCY_HEADER } from "../workflow/submission";
import { type AppControl, type AppDefinition, type AppInput, appRunSchema } from "./app";
import { isFileKind, RANDOM } from "./fill";

type DescribedApp = Pick<AppDefinition, "title" | "text" | "inputs"> & { id: string; version: number };

export function appDocument(app: DescribedApp, baseUrl: string): JsonObject {
  const path = `/api/apps/${app.id}/runs`;
  const run = { $ref: "#/components/schemas/Run" };
  const oneRun = objectOf({ run });
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
              "application/json": { schema: objectOf({ inputs: appInputsSchema(app.inputs) }) },
              "multipart/form-data": { schema: multipartSchema(app.inputs) },
            },
          },
          responses: { "202": jsonAnswer("Begun.", oneRun), ...refusals },
        },
        get: {
          operationId: "listAppRuns",
          summary: "One's own runs, the newest first.",
          responses: {
            "200": jsonAnswer("Runs.", objectOf({ runs: { type: "array", items: run }, next: { type: "string" } }, ["runs"])),
            ...refusals,
          },
        },
      },
      [`${path}/{run}`]: {
        get: {
          operationId: "readAppRun",
          summary: "A run, with what it put out.",
          parameters: [runParameter],
          responses: { "200": jsonAnswer("The run.", oneRun), ...refusals },
        },
      },
      [`${path}/{run}/cancel`]: {
        post: {
          operationId: "cancelAppRun",
          summary: "Cancels a run.",
          parameters: [runParameter],
          responses: { "200": jsonAnswer("The run.", oneRun), ...refusals },
        },
      },
      [`${path}/{run}/outputs/{number}`]: {
        get: {
          operationId: "viewAppResult",
          summary: "The bytes of a result.",
          parameters: [runParameter, { name: "number", in: "path", required: true, schema: { type: "integer", minimum: 1 } }, edge],
          responses: { "200": { description: "The bytes.", content: { "*/*": {} } }, ...refusals },
        },
      },
      ...(app.inputs.some(({ control }) => isFileKind(control.kind)) && {
        [`/api/apps/${app.id}/files`]: { post: uploadOperation(app.inputs) },
      }),
    },
    components: { securitySchemes: appSecuritySchemes, schemas: { Run: toWireSchema(appRunSchema), Refusal: refusalSchema } },
  };
}

const appSecuritySchemes = {
  ...securitySchemes,
  Bearer: { ...securitySchemes.Bearer, description: "A personal access token of this console." },
};

function objectOf(properties: JsonObject, required = Object.keys(properties)): JsonObject {
  return { type: "object", properties, required };
}

function uploadOperation(inputs: readonly AppInput[]): JsonObject {
  const names = inputs.filter(({ control }) => isFileKind(control.kind)).map(({ name }) => name);
  const input = { enum: names, description: "The input that it is measured for; left out, the first that takes files." };
  const properties = { file: { type: "string", contentMediaType: "application/octet-stream" }, input };
  return {
    operationId: "addAppFile",
    summary: "Sends a file to the service.",
    requestBody: { required: true, content: { "multipart/form-data": { schema: objectOf(properties, ["file"]) } } },
    responses: { "201": jsonAnswer("The value for the input.", objectOf({ name: { type: "string" } })), ...refusals },
  };
}

function appInputsSchema(inputs: readonly AppInput[]): JsonObject {
  const required = inputs.filter((input) => input.isRequired && input.default === undefined).map(({ name }) => name);
  return {
    type: "object",
    properties: Object.fromEntries(inputs.map((input) => [input.name, inputSchema(input)])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

function multipartSchema(inputs: readonly AppInput[]): JsonObject {
  const inputsSchema = appInputsSchema(inputs);
  const files = inputs.filter(({ control }) => isFileKind(control.kind));
  const parts = files.map(({ name, label }) => [name, { type: "string", contentMediaType: "application/octet-stream", title: label }]);
  const { properties } = inputsSchema;
  return { ...inputsSchema, properties: { ...(typeof properties === "object" ? properties : {}), ...Object.fromEntries(parts) } };
}

function inputSchema({ label, help, control, default: defaultValue, example }: AppInput): JsonObject {
  return {
    title: label,
    ...(help && { description: help }),
    ...typeSchema(control),
    ...(defaultValue !== undefined && { default: defaultValue }),
    ...(example !== undefined && { examples: [example] }),
  };
}

function typeSchema(control: AppControl): JsonObject {
  switch (control.kind) {
    case "text":
      return { type: "string" };
    case "number":
      return { type: control.isWhole ? "integer" : "number", ...rangeOf(control) };
    case "seed":
      return { anyOf: [{ type: "integer", ...rangeOf(control) }, { const: RANDOM }] };
    case "switch":
      return { type: "boolean" };
    case "choice":
      return { enum: control.choices.map(({ value }) => value) };
    default:
      return { type: "string", description: "The name of a file at the service, as an upload to this app answers it." };
  }
}

function rangeOf({ min, max }: { min?: number | bigint; max?: number | bigint }): JsonObject {
  return { ...(min !== undefined && { minimum: min }), ...(max !== undefined && { maximum: max }) };
}

const text = { type: "string" };
const refusalSchema = objectOf({ code: text, message: text, details: {}, request_id: text }, ["code", "message"]);
const refused = (description: string) => jsonAnswer(description, { $ref: "#/components/schemas/Refusal" });
const refusals = {
  "400": refused("The request is invalid."),
  "401": refused("No valid token."),
  "403": refused("Not allowed."),
  "404": refused("There is no such app or run, or it is not for this member."),
  "409": refused("The key was used for another run."),
  "413": refused("A file is too large."),
  "422": refused("An input is missing or wrong; details lists them."),
  "429": refused("A limit of the app was reached. Retry-After is sent if known."),
};
