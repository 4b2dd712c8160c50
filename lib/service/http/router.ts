// Routes requests by the contract's table. All paths except /api/health and /api/openapi.json require a key.

import { Hono } from "hono";
import { findEncodingFailure } from "@/lib/contract/failure";
import { createOpenApiDocument } from "@/lib/contract/openapi/document";
import { type Operation } from "@/lib/contract/operation";
import { parseBearer } from "@/lib/shared/headers";
import { type Readiness } from "@/lib/shared/readiness";
import { type ErrorBody, ServiceError } from "../service-error";
import { findUserByKey, type User } from "../users/keys";
import { createAssetRoutes } from "./asset-routes";
import { createFileRoutes } from "./file-routes";
import { createJobRoutes, createPromptRoutes, createQueueRoutes } from "./job-routes";
import { readJson, readQuery } from "./read-json";
import { jsonResponse, type Route, type RouteDependencies, toErrorResponse } from "./route";
import { createDownloadRoutes, createServiceRoutes, createUserdataRoutes } from "./service-routes";

const publicPaths = new Set(["/api/health", "/api/openapi.json"]);

type Bindings = { bytes?: AsyncIterable<Uint8Array> };

const notReadyError: ErrorBody = { code: "SERVICE_UNAVAILABLE", message: "The service is not ready. See /api/health/ready." };

export function createRouter(
  dependencies: RouteDependencies & { readiness: Readiness },
): (request: Request, bytes?: AsyncIterable<Uint8Array>) => Promise<Response> {
  const app = new Hono<{ Bindings: Bindings }>();
  const routes = createRoutes(dependencies);

  app.get("/api/health", async () => {
    const isReady = (await dependencies.readiness()).every(({ ready }) => ready);
    return isReady ? jsonResponse({ status: "ok" }) : jsonResponse(notReadyError, 503);
  });
  app.get("/api/openapi.json", (context) => jsonResponse(createOpenApiDocument(getBaseUrl(dependencies, context.req.raw))));
  // Fixed paths come before those with parameters, because the from-hash in /api/assets/from-hash is not an asset's id.
  for (const { operation, handle } of routes.sort((a, b) => countParameters(a.operation) - countParameters(b.operation))) {
    app.on(operation.method === "HEAD" ? "GET" : operation.method, toPattern(operation), async (context) => {
      const user = await requireUser(dependencies, context.req.raw);
      if (operation.method === "HEAD" && context.req.raw.method !== "HEAD") throw createMethodNotAllowedError();
      requirePlainBody(context.req.raw);
      const request = context.req.raw;
      const { query, body } = operation;
      return handle({
        operation,
        request,
        bytes: () => context.env.bytes ?? request.body ?? undefined,
        user,
        param: (name) => context.req.param(name) ?? "",
        query: () => query && readQuery(request, query, dependencies.settings),
        body: async () => (body?.kind === "json" ? readJson(request, body.schema, dependencies.settings) : undefined),
        baseUrl: getBaseUrl(dependencies, request),
      });
    });
  }
  app.all("*", async (context) => {
    await requireUser(dependencies, context.req.raw);
    const { path } = context.req;
    if (publicPaths.has(path) || routes.some(({ operation }) => matchesPath(operation, path))) throw createMethodNotAllowedError();
    throw new ServiceError("NOT_FOUND", "There is no such path.");
  });
  app.onError((error, context) => toErrorResponse(error, context.req, dependencies.log));
  return async (request, bytes) => {
    const response = await app.fetch(request, { bytes });
    if (response.status === 405) response.headers.set("allow", listMethods(routes, new URL(request.url).pathname).join(", "));
    // Closes the connection, because the rest of the body would be read as the next request.
    if (response.status >= 400 && canHaveUnreadBody(request, response.status)) response.headers.set("connection", "close");
    return response;
  };
}

function createRoutes(dependencies: RouteDependencies): Route[] {
  return [
    ...createPromptRoutes(dependencies),
    ...createJobRoutes(dependencies),
    ...createQueueRoutes(dependencies),
    ...createAssetRoutes(dependencies),
    ...createFileRoutes(dependencies),
    ...createUserdataRoutes(dependencies),
    ...createDownloadRoutes(dependencies),
    ...createServiceRoutes(dependencies),
  ];
}

/** Missing, unknown and revoked keys get the same response. */
async function requireUser(dependencies: RouteDependencies, request: Request): Promise<User> {
  const headerKey = request.headers.get("x-api-key")?.trim() || undefined;
  const bearerKey = parseBearer(request.headers.get("authorization"));
  if (headerKey !== undefined && bearerKey !== undefined && headerKey !== bearerKey)
    throw new ServiceError("BAD_REQUEST", "The request has two different keys. Send one.");
  const key = headerKey ?? bearerKey;
  const user = key ? await findUserByKey(dependencies.database, key) : undefined;
  if (!user) throw new ServiceError("UNAUTHORIZED", "A valid API key is required: X-API-Key: KEY, or Authorization: Bearer KEY.");
  return user;
}

function requirePlainBody(request: Request): void {
  const failure = findEncodingFailure(request.headers);
  if (failure) throw new ServiceError("UNSUPPORTED_MEDIA_TYPE", failure.message, failure.details);
}

function getBaseUrl(dependencies: RouteDependencies, request: Request): string {
  return dependencies.publicUrl ?? new URL(request.url).origin;
}

/** A path that accepts GET also accepts HEAD. */
function listMethods(routes: readonly Route[], path: string): string[] {
  if (publicPaths.has(path)) return ["GET", "HEAD"];
  const methods = routes.filter(({ operation }) => matchesPath(operation, path)).map(({ operation }) => operation.method);
  return [...new Set(methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])))];
}

/** A JSON body counts as read once reading has started, unless it was too slow or too long. */
function canHaveUnreadBody(request: Request, status: number): boolean {
  if ([408, 413, 503, 507].includes(status) || /^multipart\//i.test(request.headers.get("content-type") ?? "")) return true;
  const length = request.headers.get("content-length");
  return (request.headers.has("transfer-encoding") || (length !== null && length !== "0")) && !request.bodyUsed;
}

function createMethodNotAllowedError(): ServiceError {
  return new ServiceError("METHOD_NOT_ALLOWED", "This method is not allowed for this path.");
}

function toPattern({ path, tail }: Operation): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => `:${name}${name === tail ? "{[^]+}" : ""}`);
}

function countParameters(operation: Operation): number {
  return operation.path.split("{").length - 1;
}

function matchesPath(operation: Operation, path: string): boolean {
  const pattern = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => (name === operation.tail ? "[^]+" : "[^/]+"));
  return new RegExp(`^${pattern}$`).test(path);
}
