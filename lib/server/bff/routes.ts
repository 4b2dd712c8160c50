// Route handlers for the console's own resources and for the service API.

import "server-only";
import { type z } from "zod";
import { type embedSessionSchema, type EmbedSessionStarted } from "@/lib/contract/embed/embedding";
import { createFailure, type Failure, isMissingOperation } from "@/lib/contract/failure";
import { type Role } from "@/lib/contract/members/roles";
import { type Operation } from "@/lib/contract/operation";
import { decodePercent } from "@/lib/contract/plain-line";
import { getNetwork } from "@/lib/shared/ip-address";
import { failed, ok, type Result } from "@/lib/shared/result";
import { findConnection } from "../connections/access";
import { type AuthedContext, type RouteContext } from "../context";
import { startEmbeddedSession, storeTokenInCookie } from "../embed/sessions";
import { consumeAttempt, getClientAddress } from "../limits/attempt-limit";
import { runOperation } from "../operations/run-operation";
import { getConnectionParam, MAX_VISITOR_BODY_BYTES, readJson } from "../requests/read-request";
import { createJsonResponse } from "../requests/responses";
import { registerRead } from "./direct-reads";
import { type Guard, guardedRoute, type Handler, publicRoute, toActor } from "./guard";

type Run<A, B> = (context: A, body: B) => Promise<Result<Response, Failure>>;
type Requirements = Role | (Omit<Guard, "action" | "needsConnection" | "role"> & { role: Role });

export function consoleRoute(
  action: string,
  requirements: Requirements,
  run: (context: AuthedContext) => Promise<Result<Response, Failure>>,
): Handler {
  return guardedRoute(
    { action, needsConnection: false, ...(typeof requirements === "string" ? { role: requirements } : requirements) },
    run,
  );
}

export function consoleBodyRoute<T>(action: string, requirements: Requirements, schema: z.ZodType<T>, run: Run<AuthedContext, T>): Handler {
  return consoleRoute(action, requirements, async (context) => {
    const body = await readJson(context, schema);
    return body.ok ? run(context, body.value) : body;
  });
}

type OpenResource<T> = (context: AuthedContext) => Promise<Result<T, Failure>>;

/** For requests about one resource, which `open` finds or rejects. */
export function resourceRoute<T>(action: string, requirements: Requirements, open: OpenResource<T>, run: Run<AuthedContext, T>): Handler {
  return consoleRoute(action, requirements, async (context) => {
    const result = await open(context);
    return result.ok ? run(context, result.value) : result;
  });
}

type RunWithResource<T, B> = (context: AuthedContext, resource: T, body: B) => Promise<Result<Response, Failure>>;

export function resourceBodyRoute<T, B>(
  action: string,
  requirements: Requirements,
  schema: z.ZodType<B>,
  open: OpenResource<T>,
  run: RunWithResource<T, B>,
): Handler {
  return consoleBodyRoute(action, requirements, schema, async (context, body) => {
    const result = await open(context);
    return result.ok ? run(context, result.value, body) : result;
  });
}

/** Needs no session, because the token in the body is the credential. Attempts are limited by IP address. */
export function tokenRoute<T>(action: string, schema: z.ZodType<T>, run: Run<RouteContext, T>): Handler {
  return publicRoute(action, async (routeContext) => {
    const { tokenLimit } = routeContext.composition;
    const network = getNetwork(getClientAddress(routeContext.request));
    const limitFailure = await consumeAttempt(tokenLimit, network);
    if (limitFailure) return failed(limitFailure);
    const body = await readJson(routeContext, schema, MAX_VISITOR_BODY_BYTES);
    if (!body.ok) return body;
    const result = await run(routeContext, body.value);
    // Colleagues may share an IP address.
    if (result.ok) await tokenLimit.refund(network);
    return result;
  });
}

const SETTINGS_HINT = "An admin can see the reason under Settings, Embedding.";

export function ticketRoute(schema: typeof embedSessionSchema): Handler {
  return publicRoute("embedSession", async ({ request, composition, annotateAudit }) => {
    const limitFailure = await consumeAttempt(composition.ticketLimit, getNetwork(getClientAddress(request)));
    if (limitFailure) return failed(limitFailure);
    const body = await readJson<z.output<typeof schema>>({ composition, request }, schema, MAX_VISITOR_BODY_BYTES);
    if (!body.ok) return body;
    const { headers } = request;
    const sessionResult = await startEmbeddedSession(composition, body.value, headers);
    if (!sessionResult.ok && sessionResult.failure === "host")
      return failed(createFailure("NOT_FOUND", "This page is not allowed to embed Lightdesk."));
    if (!sessionResult.ok && sessionResult.failure === "keys")
      return failed(createFailure("UPSTREAM_UNREACHABLE", `The ticket of this page could not be verified. ${SETTINGS_HINT}`));
    if (!sessionResult.ok)
      return failed(createFailure("UNAUTHORIZED", `The ticket of this page was not accepted. ${SETTINGS_HINT}`, { embed: "ticket" }));
    const { token, session, member, isSame } = sessionResult.value;
    // The session is renewed every few minutes. Only its start is recorded.
    if (!isSame) annotateAudit({ by: toActor(member), target: session.origin });
    const cookies = storeTokenInCookie(composition.env, headers, session, token);
    const response: EmbedSessionStarted = { leftMs: session.expiresAt - composition.now(), isSame, ...(!cookies && { bearer: token }) };
    return ok(createJsonResponse(response, 201, cookies));
  });
}

// No value may escape its segment of the upstream path. "." and ".." would do so even when encoded.
const MAX_PARAM_LENGTH = 1000;

function readPathParams(
  operation: Operation,
  params: Readonly<Record<string, string | string[] | undefined>>,
): Result<Record<string, string>, Failure> {
  const values: [string, string][] = [];
  for (const [, name = ""] of operation.path.matchAll(/\{(\w+)\}/g)) {
    const param = params[name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())];
    const value = typeof param === "string" ? decodePercent(param) : undefined;
    if (value === undefined || !isSafeSegment(value)) return failed(createFailure("NOT_FOUND", "There is nothing at this address."));
    values.push([name, value]);
  }
  return ok(Object.fromEntries(values));
}

function isSafeSegment(value: string): boolean {
  // Ids contain no control characters, and some file systems end a path at NUL.
  return value !== "" && value !== "." && value !== ".." && value.length <= MAX_PARAM_LENGTH && !/[\u0000-\u001f\u007f/\\]/.test(value);
}

type PathParams = Record<string, string>;
type Options = { readParams?: (context: AuthedContext) => Result<PathParams, Failure> };

export function bffRoute(operation: Operation, options: Options = {}): Handler {
  const guard = { action: operation.name, role: operation.role, needsConnection: true };
  const handle = guardedRoute(guard, (context) =>
    runOperation(operation, context, options.readParams?.(context) ?? readPathParams(operation, context.params)),
  );
  registerRead(operation, handle);
  return handle;
}

export function optionalRoute(operation: Operation): Handler {
  return guardedRoute({ action: operation.name, role: operation.role, needsConnection: true }, async (context) => {
    const connectionResult = await findConnection(context, getConnectionParam(context.request));
    if (!connectionResult.ok) return connectionResult;
    const result = await runOperation(operation, context, ok({}));
    return !result.ok && isMissingOperation(result.failure) ? ok(createJsonResponse(null)) : result;
  });
}
