// Wraps every handler: checks origin, session, rate, recent sign-in and role, handles errors, and audits changes.
// Never logs a header, a cookie, a query or a body.

import "server-only";
import { randomUUID } from "node:crypto";
import { createFailure, errorStatus, type Failure, findEncodingFailure } from "@/lib/contract/failure";
import { hasRole, type Role } from "@/lib/contract/members/roles";
import { ACTION_HEADER, parseActionId } from "@/lib/shared/headers";
import { failed, ok, type Result } from "@/lib/shared/result";
import { toByteStream } from "@/lib/shared/web-stream";
import { hasTokenInUrl, readSentToken } from "../auth/credentials";
import { checkReadOnly } from "../auth/read-only";
import {
  authenticate,
  createRoleTooLowFailure,
  type Credential,
  getRateLimitKey,
  readViewer,
  toEndedFailure,
  type Viewer,
} from "../auth/viewer";
import { getComposition } from "../composition";
import { type Dependencies } from "../composition-type";
import { type Actor, type AuditDetails, type AuthedContext, type RouteContext } from "../context";
import { findStartPathForTab, isEmbeddedRequest } from "../embed/sessions";
import { createRateLimitFailure } from "../limits/attempt-limit";
import { toFailure } from "../log";
import { addCommonHeaders, createFailureResponse, getFailureStatus } from "../requests/responses";
import { type Member } from "../store/people/members";

const MAX_CONFIRMATION_AGE_MS = 15 * 60_000;

export type NextRouteContext = { params: Promise<Record<string, string | string[] | undefined>> };
/**
 * `needsConnection`: needs a connection and its key. `needsRecentSignIn`: the member must have signed in within the last 15 minutes.
 * `needsSession`: not allowed for tokens and embedded pages. `needsRecentSignIn` implies it.
 */
export type Guard = {
  action: string;
  role: Role | "public";
  needsConnection: boolean;
  needsRecentSignIn?: true;
  needsSession?: true;
  describeTarget?: (context: AuthedContext) => Promise<Pick<AuditDetails, "target" | "outcome">>;
};
type Run = (context: AuthedContext) => Promise<Result<Response, Failure>>;
/** `read` skips the checks of `guard`. Live updates use it, because they check each viewer themselves. */
export type Handler = ((request: Request, context: NextRouteContext) => Promise<Response>) & { guard: Guard; read: Run };

export function guardedRoute(guard: Guard & { role: Role }, run: Run): Handler {
  return createHandler(guard, run, async (routeContext) => {
    const { headers } = routeContext.request;
    if (hasTokenInUrl(routeContext.request.url))
      return failed(
        createFailure(
          "BAD_REQUEST",
          "Don't put tokens in URLs, because URLs are logged. Revoke this token and send a new one in X-API-Key.",
        ),
      );
    const viewerResult = await authenticate(routeContext.composition, headers);
    if (!viewerResult.ok) return redirectToStartPage(routeContext) ?? viewerResult;
    const viewer = viewerResult.value;
    // Counted first, so that requests over the limit can't fill a log.
    const waitMs = await routeContext.composition.memberLimit.consume(getRateLimitKey(viewer));
    if (waitMs > 0) return failed(createRateLimitFailure(waitMs, "Too many requests. Try again in a moment."));
    const guardFailure = checkGuard(viewer, guard);
    const isRoleTooLow = guardFailure?.code === "ROLE_TOO_LOW";
    const findReadOnlyFailure = () => (isChange(routeContext.request) ? checkReadOnly(routeContext.composition, guard.action) : undefined);
    const readOnlyFailure = await findReadOnlyFailure();
    // Not audited: the same request is repeated after the confirmation.
    if (
      guard.needsRecentSignIn &&
      !isRoleTooLow &&
      !readOnlyFailure &&
      needsConfirmation(viewer.credential, routeContext.composition.now())
    )
      return failed(createFailure("SIGN_IN_AGAIN", "Confirm your password, then try again."));
    routeContext.annotateAudit({
      by: viewer,
      ...((isRoleTooLow || readOnlyFailure) && (await guard.describeTarget?.({ ...routeContext, viewer }))),
    });
    const failure = isRoleTooLow ? guardFailure : (readOnlyFailure ?? guardFailure ?? findEncodingFailure(headers));
    if (failure) return failed(failure);
    // A body may arrive slowly, so its sender is checked again once it is complete. A changed role has also ended the session.
    const body = createCheckedBody(routeContext.request, async () => {
      const currentViewer = await readViewer(routeContext.composition, headers);
      if (!currentViewer) return toEndedFailure(viewer.credential);
      return hasRole(currentViewer.role, guard.role)
        ? findReadOnlyFailure()
        : createFailure("ROLE_TOO_LOW", `Your role has changed to ${currentViewer.role}.`);
    });
    const result = await run({ ...routeContext, request: body.request, viewer });
    const bodyFailure = body.getFailure();
    return bodyFailure ? failed(bodyFailure) : result;
  });
}

/** Returns why the guard rejects this viewer, or undefined if access is allowed. */
export function checkGuard({ role, credential, scope }: Viewer, guard: Guard): Failure | undefined {
  if (guard.role !== "public" && !hasRole(role, guard.role)) return createRoleTooLowFailure(role, guard.role);
  if ((guard.needsRecentSignIn || guard.needsSession) && credential.kind !== "session")
    return createFailure("FORBIDDEN", "Only a member who is signed in with a browser can do this.");
  return guard.role !== "public" && scope.operations?.includes(guard.action) === false
    ? createFailure("FORBIDDEN", "This token or page is not allowed to do this.")
    : undefined;
}

function redirectToStartPage({ request, composition: { env } }: RouteContext): Result<Response, Failure> | undefined {
  const location = isChange(request) ? undefined : findStartPathForTab(env, request);
  return location === undefined ? undefined : ok(new Response(null, { status: 302, headers: { location } }));
}

function isChange({ method }: Pick<Request, "method">): boolean {
  return method !== "GET" && method !== "HEAD";
}

export function needsConfirmation(credential: Credential, now: number): boolean {
  return credential.kind === "session" && now - credential.confirmedAt > MAX_CONFIRMATION_AGE_MS;
}

export function publicRoute(action: string, run: (routeContext: RouteContext) => Promise<Result<Response, Failure>>): Handler {
  return createHandler({ action, role: "public", needsConnection: false }, run, run);
}

function createHandler(guard: Guard, read: Run, run: (routeContext: RouteContext) => Promise<Result<Response, Failure>>): Handler {
  async function handle(request: Request, context: NextRouteContext): Promise<Response> {
    const composition = getComposition();
    const requestId = randomUUID();
    const isChangeRequest = isChange(request);
    let auditDetails: AuditDetails = {};
    const result = await runSafely(
      composition,
      async () => {
        await composition.ready;
        // Browsers don't store tokens, so another site cannot send one.
        const hasToken = guard.role !== "public" && readSentToken(request.headers) !== undefined && !isEmbeddedRequest(request.headers);
        if (isChangeRequest && !hasToken && !isSameOrigin(request, composition.env.publicUrl))
          return failed(createFailure("FOREIGN_ORIGIN", "The request comes from another site."));
        const annotateAudit = (details: AuditDetails) => void (auditDetails = { ...auditDetails, ...details });
        return run({ request, requestId, composition, params: await context.params, annotateAudit });
      },
      { requestId, action: guard.action },
    );
    const response = addCommonHeaders(result.ok ? result.value : createFailureResponse(result.failure, requestId), requestId);
    if (auditDetails.isAlwaysWritten || (isChangeRequest && auditDetails.by))
      await writeAuditEntry(
        composition,
        { action: auditDetails.action ?? guard.action, requestId, actionId: parseActionId(request.headers.get(ACTION_HEADER)) },
        auditDetails,
        result,
      );
    if (isChangeRequest && auditDetails.by) composition.publishChange({ connectionId: auditDetails.connectionId });
    if (request.method !== "HEAD") return response;
    // The unread body may keep a file or a connection to a service open.
    await response.body?.cancel().catch(() => undefined);
    return new Response(null, response);
  }
  const toLogFields = (requestId: string) => ({ requestId, action: guard.action });
  return Object.assign(handle, {
    guard,
    read: (context: AuthedContext) => runSafely(context.composition, () => read(context), toLogFields(context.requestId)),
  });
}

async function runSafely(
  composition: Dependencies<"log">,
  run: () => Promise<Result<Response, Failure>>,
  logFields: { requestId: string; action: string },
): Promise<Result<Response, Failure>> {
  try {
    return await run();
  } catch (error) {
    return failed(toFailure(composition, error, logFields, "request failed"));
  }
}

type AuditedRequest = { action: string; requestId: string; actionId: string | undefined };

async function writeAuditEntry(
  { store, now, log }: Dependencies<"store" | "now" | "log">,
  { action, requestId, actionId }: AuditedRequest,
  auditDetails: AuditDetails,
  result: Result<Response, Failure>,
): Promise<void> {
  const { by, target, connectionId, outcome, errorCode } = auditDetails;
  const summary = result.ok
    ? { status: errorCode ? errorStatus[errorCode] : result.value.status, code: errorCode, outcome }
    : { status: getFailureStatus(result.failure), code: result.failure.code, outcome };
  try {
    await store.audit.add({
      at: now(),
      requestId,
      memberId: by?.memberId,
      memberName: by?.name,
      memberEmail: by?.email || undefined,
      via: describeCredential(by),
      action,
      target,
      connectionId,
      act: actionId,
      ...summary,
    });
  } catch (error) {
    // The change has happened. Failing now would make the user repeat it.
    log.error({ requestId, action, err: error }, "audit log write failed");
  }
}

function describeCredential(by: Actor | undefined): string | undefined {
  const credential = by?.credential;
  if (credential?.kind === "token") return `token ${credential.name}`;
  return credential?.kind === "embed" ? `embed ${credential.host}` : undefined;
}

export function toActor({ id, name, email, guestOf }: Member): Actor {
  return { memberId: id, name, email: guestOf === undefined ? email : "" };
}

const CHECK_INTERVAL_MS = 1000;

type CheckedBody = { request: Request; getFailure(): Failure | undefined };

/** `check` returns why the sender may not continue. */
function createCheckedBody(request: Request, check: () => Promise<Failure | undefined>): CheckedBody {
  if (request.body === null) return { request, getFailure: () => undefined };
  const reader = request.body.getReader();
  const length = Number(request.headers.get("content-length") ?? Number.NaN);
  let failure: Failure | undefined;
  let lastCheckMs = Date.now();
  let receivedBytes = 0;
  // Reads only on demand, because the sender may wait for a response before sending anything.
  const body = toByteStream(
    async () => {
      const readResult = await reader.read();
      receivedBytes += readResult.value?.byteLength ?? 0;
      // A service may treat an upload as complete after its last byte, before the stream ends.
      if (readResult.done || receivedBytes >= length || Date.now() - lastCheckMs >= CHECK_INTERVAL_MS) {
        failure = await check();
        lastCheckMs = Date.now();
      }
      if (!failure) return readResult;
      void reader.cancel().catch(() => undefined);
      throw new Error(failure.message);
    },
    (reason) => reader.cancel(reason),
  );
  const init = { method: request.method, headers: request.headers, signal: request.signal, body, duplex: "half" } as const;
  return { request: new Request(request.url, init), getFailure: () => failure };
}

export function isSameOrigin(request: Pick<Request, "headers">, publicUrl: string | undefined): boolean {
  const site = request.headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin" && site !== "none") return false;
  const origin = request.headers.get("origin");
  if (origin === null) return true;
  if (!URL.canParse(origin)) return false;
  const originUrl = new URL(origin);
  if (publicUrl !== undefined && originUrl.origin === new URL(publicUrl).origin) return true;
  // If the public URL is https, a page opened over http has a different origin.
  return originUrl.host === request.headers.get("host") && (publicUrl === undefined || originUrl.protocol === new URL(publicUrl).protocol);
}
