// The OpenAPI 3.1 document of the embedded service, made from the contract's table: paths, parameters, bodies, answers and refusals.
// Guarantees: it describes what this service answers, and leaves out operations that only other services have.

import { type z } from "zod";
import { hasRanges, type Operation, type OperationAnswer } from "../operation";
import { allOperations } from "../operations";
import { exactComponents, nameOf } from "../schemas/exact";
import { refusalsOf } from "./refusals";
import { bodyOf, parametersOf } from "./requests";
import { type JsonSchema, toComponents } from "./wire-schema";

const refOf = (name: string) => `#/components/schemas/${name}`;
const bodyName = (operation: Operation) => `${operation.name.charAt(0).toUpperCase()}${operation.name.slice(1)}Body`;

let made: { document: JsonSchema; schemas: JsonSchema } | undefined;

/** `baseUrl`: the service's URL, without /api. */
export function openApiDocument(baseUrl: string): JsonSchema {
  made ??= makeDocument();
  return {
    ...made.document,
    servers: [{ url: baseUrl }],
    security: Object.keys(securitySchemes).map((name) => ({ [name]: [] })),
    components: { securitySchemes, schemas: made.schemas },
  };
}

const securitySchemes = { ApiKey: { type: "apiKey", in: "header", name: "X-API-Key" }, Bearer: { type: "http", scheme: "bearer" } };

function makeDocument(): { document: JsonSchema; schemas: JsonSchema } {
  const offered = allOperations.filter(({ summary }) => summary !== undefined);
  const bodies = offered.flatMap((operation) =>
    operation.body?.kind === "json" ? [[bodyName(operation), operation.body.schema] as const] : [],
  );
  const schemas: Record<string, z.core.$ZodType> = { ...exactComponents(), ...Object.fromEntries(bodies) };
  const paths = new Map<string, Record<string, JsonSchema>>(Object.entries(openPaths));
  for (const operation of offered)
    paths.set(operation.path, { ...paths.get(operation.path), [operation.method.toLowerCase()]: describe(operation) });
  const document = {
    openapi: "3.1.0",
    info: {
      title: "Workflow execution service",
      version: "1.0.0",
      description:
        "Runs workflow graphs as jobs and stores files as assets. Core operations are those of every service of this interface; extensions name their capability.",
      license: { name: "MIT", identifier: "MIT" },
    },
    tags: [{ name: "core" }, { name: "extension" }],
    paths: Object.fromEntries(paths),
  };
  return { document, schemas: toComponents(schemas) };
}

/** These need no key: they hold no user's data. */
const openPaths = {
  "/api/health": {
    get: {
      operationId: "getHealth",
      summary: "Whether the service is ready.",
      security: [],
      responses: { "200": jsonAnswer("Ready.", { type: "object", properties: { status: { const: "ok" } }, required: ["status"] }) },
    },
  },
  "/api/openapi.json": {
    get: {
      operationId: "getOpenApi",
      summary: "This document.",
      security: [],
      responses: { "200": jsonAnswer("OpenAPI 3.1.", { type: "object" }) },
    },
  },
};

function describe(operation: Operation): JsonSchema {
  const parameters = parametersOf(operation);
  return {
    operationId: operation.name,
    summary: operation.summary,
    tags: [operation.tier],
    ...(operation.capability && { "x-capability": operation.capability }),
    ...(parameters.length > 0 && { parameters }),
    ...(operation.body && { requestBody: bodyOf(operation.body, refOf(bodyName(operation))) }),
    responses: { ...answersOf(operation), ...refusalsOf(operation) },
  };
}

function answersOf(operation: Operation): Record<string, JsonSchema> {
  const answers = Object.entries(operation.answers).map(([status, answer]) => [status, answerOf(answer, Number(status))] as const);
  const ranges = hasRanges(operation) && { "304": { description: "What the ETag names is still true." } };
  return { ...Object.fromEntries(answers), ...ranges };
}

const REDIRECT = "All of the bytes are at `Location`, for a short while and for whoever asks: follow it without the key.";

function answerOf(answer: OperationAnswer, status: number): JsonSchema {
  if (answer.kind === "redirect") return { description: REDIRECT, headers: { Location: { schema: { type: "string", format: "uri" } } } };
  if (answer.kind === "empty") return { description: "Done; no body." };
  if (answer.kind !== "json")
    return { description: status === 206 ? "A range of the bytes." : "The bytes.", content: { "*/*": { schema: {} } } };
  const name = nameOf(answer.schema);
  if (name === undefined) throw new Error(`an answer ${status} is no component`);
  return jsonAnswer(status === 201 ? "Created." : status === 202 ? "Begun." : "Done.", { $ref: refOf(name) });
}

function jsonAnswer(description: string, schema: JsonSchema): JsonSchema {
  return { description, content: { "application/json": { schema } } };
}
