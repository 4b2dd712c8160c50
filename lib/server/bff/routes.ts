// Route handlers for the console's own resources and for the service API.

import "server-only";
import { type z } from "zod";
import { type embedSessionSchema, type EmbedSessionStarted } from "@/lib/contract/embed/embedding";
import { createFailure, type Failure, isMissingOperation } from "@/lib/contract/failure";
import { type Operation } from "@/lib/contract/operation";
import { type Role } from "@/lib/contract/people/roles";
import { decodePercent } from "@/lib/contract/plain-line";
import { getNetwork } from "@/lib/shared/ip-address";
import { failed, ok, type Result } from "@/lib/shared/result";
import { findConnection } from "../connections/access";
import { type AuthedContext, type RouteContext } from "../context";
import { startEmbeddedSession, storeTokenInCookie } from "../embed/sessions";
import { clientAddress, takeAttempt } from "../limits/attempt-limit";
import { runOperation } from "../operations/run-operation";
import { getConnectionParam, MAX_VISITOR_BODY_BYTES, readJson } from "../requests/read-request";
import { jsonResponse } from "../requests/responses";
import { registerRead } from "./direct-reads";
import { type Guard, guarded, type Handler, toActor, unguarded } from "./guard";

type Run<A, B> = (context: A, body: B) => Promise<Result<Response, Failure>>;
type Requirements = Role | (Omit<Guard, "action" | "connection" | "role"> & { role: Role });

export function consoleRoute(
  action: string,
  needs: Requirements,
  run: (context: AuthedContext) => Promise<Result<Response, Failure>>,
): Handler {
  return guarded({ action, connection: false, ...(typeof needs === "string" ? { role: needs } : needs) }, run);
}

export function consoleBodyRoute<T>(action: string, needs: Requirements, schema: z.ZodType<T>, run: Run<AuthedContext, T>): Handler {
  return consoleRoute(action, needs, async (context) => {
    const body = await readJson(context, schema);
    return body.ok ? run(context, body.value) : body;
  });
}

type OpenResource<T> = (context: AuthedContext) => Promise<Result<T, Failure>>;

/** For requests about one resource, which `open` finds or rejects. */
export function resourceRoute<T>(action: string, needs: Requirements, open: OpenResource<T>, run: Run<AuthedContext, T>): Handler {
  return consoleRoute(action, needs, async (context) => {
    const result = await open(context);
    return result.ok ? run(context, result.value) : result;
  });
}

type RunWithResource<T, B> = (context: AuthedContext, resource: T, body: B) => Promise<Result<Response, Failure>>;

export function resourceBodyRoute<T, B>(
  action: string,
  needs: Requirements,
  schema: z.ZodType<B>,
  open: OpenResource<T>,
  run: RunWithResource<T, B>,
): Handler {
  return consoleBodyRoute(action, needs, schema, async (context, body) => {
    const result = await open(context);
    return result.ok ? run(context, result.value, body) : result;
  });
}

/** Needs no session: the token in the body is the credential. Attempts are limited by address. */
export function tokenRoute<T>(action: string, schema: z.ZodType<T>, run: Run<RouteContext, T>): Handler {
  return unguarded(action, async (routeContext) => {
    const { tokenLimit } = routeContext.composition;
    const network = getNetwork(clientAddress(routeContext.request));
    const rateLimit = await takeAttempt(tokenLimit, network);
    if (rateLimit) return failed(rateLimit);
    const body = await readJson(routeContext, schema, MAX_VISITOR_BODY_BYTES);
    if (!body.ok) return body;
    const result = await run(routeContext, body.value);
    // Colleagues may share an IP address.
    if (result.ok) await tokenLimit.refund(network);
    return result;
  });
}

const SETTINGS_HINT = "The person who runs Lightdesk can see why in Settings, Embedding.";

export function ticketRoute(schema: typeof embedSessionSchema): Handler {
  return unguarded("embedSession", async ({ request, composition, annotateAudit }) => {
    const rateLimit = await takeAttempt(composition.ticketLimit, getNetwork(clientAddress(request)));
    if (rateLimit) return failed(rateLimit);
    const body = await readJson<z.output<typeof schema>>({ composition, request }, schema, MAX_VISITOR_BODY_BYTES);
    if (!body.ok) return body;
    const { headers } = request;
    const sessionResult = await startEmbeddedSession(composition, body.value, headers);
    if (!sessionResult.ok && sessionResult.failure === "host")
      return failed(createFailure("NOT_FOUND", "This page is not set up to show Lightdesk."));
    if (!sessionResult.ok && sessionResult.failure === "keys")
      return failed(createFailure("UPSTREAM_UNREACHABLE", `The ticket of this page could not be checked now. ${SETTINGS_HINT}`));
    if (!sessionResult.ok)
      return failed(createFailure("UNAUTHORIZED", `The ticket of this page was not accepted. ${SETTINGS_HINT}`, { embed: "ticket" }));
    const { token, session, member, isSame } = sessionResult.value;
    // The session is renewed every few minutes. Only its start is recorded.
    if (!isSame) annotateAudit({ by: toActor(member), target: session.origin });
    const cookies = storeTokenInCookie(composition.env, headers, session, token);
    const response: EmbedSessionStarted = { leftMs: session.expiresAt - composition.now(), isSame, ...(!cookies && { bearer: token }) };
    return ok(jsonResponse(response, 201, cookies));
  });
}

// No value may escape its segment of the upstream path. "." and ".." would even when encoded.
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
  const guard = { action: operation.name, role: operation.role, connection: true };
  const handle = guarded(guard, (context) =>
    runOperation(operation, context, options.readParams?.(context) ?? readPathParams(operation, context.params)),
  );
  registerRead(operation, handle);
  return handle;
}

export function optionalRoute(operation: Operation): Handler {
  return guarded({ action: operation.name, role: operation.role, connection: true }, async (context) => {
    const lookup = await findConnection(context, getConnectionParam(context.request));
    if (!lookup.ok) return lookup;
    const result = await runOperation(operation, context, ok({}));
    return !result.ok && isMissingOperation(result.failure) ? ok(jsonResponse(null)) : result;
  });
}
