// Routes requests by the contract's table. All paths except /api/health and /api/openapi.json require a key.

import { Hono } from "hono";
import { createOpenApiDocument } from "@/lib/contract/openapi/document";
import { type Operation } from "@/lib/contract/operation";
import { parseBearer } from "@/lib/shared/headers";
import { ServiceError } from "../service-error";
import { findUserByKey, type User } from "../users/keys";
import { assetRoutes } from "./asset-routes";
import { fileRoutes } from "./file-routes";
import { jobRoutes, promptRoutes, queueRoutes } from "./job-routes";
import { readJson, readQuery } from "./read-json";
import { jsonResponse, type Route, type RouteDependencies, toErrorResponse } from "./route";
import { downloadRoutes, serviceRoutes, userdataRoutes } from "./service-routes";

const publicPaths = new Set(["/api/health", "/api/openapi.json"]);

type Bindings = { bytes?: AsyncIterable<Uint8Array> };

export function createRouter(parts: RouteDependencies): (request: Request, bytes?: AsyncIterable<Uint8Array>) => Promise<Response> {
  const app = new Hono<{ Bindings: Bindings }>();
  const routes = allRoutes(parts);

  app.get("/api/health", () => jsonResponse({ status: "ok" }));
  app.get("/api/openapi.json", (context) => jsonResponse(createOpenApiDocument(getBaseUrl(parts, context.req.raw))));
  // Fixed paths come before those with parameters, because the from-hash in /api/assets/from-hash is not an asset's id.
  for (const { operation, handle } of routes.sort((a, b) => countParameters(a.operation) - countParameters(b.operation))) {
    app.on(operation.method === "HEAD" ? "GET" : operation.method, toPattern(operation), async (context) => {
      const user = await requireUser(parts, context.req.raw);
      if (operation.method === "HEAD" && context.req.raw.method !== "HEAD") throw methodNotAllowed();
      requirePlainBody(context.req.raw);
      const request = context.req.raw;
      const { query, body } = operation;
      return handle({
        operation,
        request,
        bytes: () => context.env.bytes ?? request.body ?? undefined,
        user,
        param: (name) => context.req.param(name) ?? "",
        query: () => query && readQuery(request, query, parts.settings),
        body: async () => (body?.kind === "json" ? readJson(request, body.schema, parts.settings) : undefined),
        baseUrl: getBaseUrl(parts, request),
      });
    });
  }
  app.all("*", async (context) => {
    await requireUser(parts, context.req.raw);
    const { path } = context.req;
    if (publicPaths.has(path) || routes.some(({ operation }) => matchesPath(operation, path))) throw methodNotAllowed();
    throw new ServiceError("NOT_FOUND", "There is no such path.");
  });
  app.onError((error, context) => toErrorResponse(error, context.req, parts.log));
  return async (request, bytes) => {
    const response = await app.fetch(request, { bytes });
    if (response.status === 405) response.headers.set("allow", listMethods(routes, new URL(request.url).pathname).join(", "));
    // Closes the connection, because the rest of the body would be read as the next request.
    if (response.status >= 400 && mayHaveUnreadBody(request, response.status)) response.headers.set("connection", "close");
    return response;
  };
}

function allRoutes(parts: RouteDependencies): Route[] {
  return [
    ...promptRoutes(parts),
    ...jobRoutes(parts),
    ...queueRoutes(parts),
    ...assetRoutes(parts),
    ...fileRoutes(parts),
    ...userdataRoutes(parts),
    ...downloadRoutes(parts),
    ...serviceRoutes(parts),
  ];
}

/** Missing, unknown and revoked keys get the same response. */
async function requireUser(parts: RouteDependencies, request: Request): Promise<User> {
  const headerKey = request.headers.get("x-api-key")?.trim() || undefined;
  const bearer = parseBearer(request.headers.get("authorization"));
  if (headerKey !== undefined && bearer !== undefined && headerKey !== bearer)
    throw new ServiceError("BAD_REQUEST", "The request has two different keys. Send one.");
  const key = headerKey ?? bearer;
  const user = key ? await findUserByKey(parts.database, key) : undefined;
  if (!user) throw new ServiceError("UNAUTHORIZED", "A valid API key is required: X-API-Key: KEY, or Authorization: Bearer KEY.");
  return user;
}

/** The service doesn't decompress bodies. A compressed one would be stored or rejected as something else. */
function requirePlainBody(request: Request): void {
  const encoding = request.headers.get("content-encoding")?.trim();
  if (encoding && !/^identity$/i.test(encoding))
    throw new ServiceError("UNSUPPORTED_MEDIA_TYPE", "Content-Encoding must be identity: send the body uncompressed.", {
      field: "Content-Encoding",
    });
}

function getBaseUrl(parts: RouteDependencies, request: Request): string {
  return parts.publicUrl ?? new URL(request.url).origin;
}

/** A path that accepts GET also accepts HEAD. */
function listMethods(routes: readonly Route[], path: string): string[] {
  if (publicPaths.has(path)) return ["GET", "HEAD"];
  const methods = routes.filter(({ operation }) => matchesPath(operation, path)).map(({ operation }) => operation.method);
  return [...new Set(methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])))];
}

/** A JSON body counts as read once reading has begun, unless it was late or too long. */
function mayHaveUnreadBody(request: Request, status: number): boolean {
  if ([408, 413, 503, 507].includes(status) || /^multipart\//i.test(request.headers.get("content-type") ?? "")) return true;
  const length = request.headers.get("content-length");
  return (request.headers.has("transfer-encoding") || (length !== null && length !== "0")) && !request.bodyUsed;
}

function methodNotAllowed(): ServiceError {
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
