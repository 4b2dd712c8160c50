// Wraps every handler: checks origin, session, rate, recent sign-in and role, handles errors, and writes the audit entry of a change.
// Never logs a header, a cookie, a query or a body.

import "server-only";
import { randomUUID } from "node:crypto";
import { errorStatus, type Failure, refusal } from "@/lib/contract/failure";
import { hasRole, type Role } from "@/lib/contract/people/roles";
import { isFullDisk, isStoreAway, isUniqueViolation } from "@/lib/shared/error-codes";
import { ACT_HEADER, readActId } from "@/lib/shared/headers";
import { failed, ok, type Result } from "@/lib/shared/result";
import { toByteStream } from "@/lib/shared/web-stream";
import { hasTokenInUrl, readSentToken } from "../auth/credentials";
import { checkReadOnly } from "../auth/read-only";
import { authenticate, getRateLimitKey, type Credential, toEndedFailure, readViewer, type Viewer } from "../auth/viewer";
import { composition } from "../composition";
import { type Parts } from "../composition-type";
import { type Actor, type AuditNote, type AuthedContext, type RouteContext } from "../context";
import { isEmbeddedRequest, startPathForTab } from "../embed/sessions";
import { rateLimited } from "../limits/attempt-limit";
import { failureAnswer, finish, statusOf } from "../requests/responses";
import { type Member } from "../store/people/members";

const RECENT_MS = 15 * 60_000;

export type NextRouteContext = { params: Promise<Record<string, string | string[] | undefined>> };
/**
 * `connection`: needs a connection and its key. `recent`: the member must have proved their identity within a quarter of an hour, with the
 * password or by a sign-in. `session`: not allowed for tokens and embedded pages; `recent` implies it.
 */
export type Guard = {
  action: string;
  role: Role | "public";
  connection: boolean;
  recent?: true;
  session?: true;
  about?: (context: AuthedContext) => Promise<Pick<AuditNote, "target" | "outcome">>;
};
type Run = (context: AuthedContext) => Promise<Result<Response, Failure>>;
/** `read`: the answer without the checks of `guard`, for live updates, which check each viewer themselves. */
export type Handler = ((request: Request, context: NextRouteContext) => Promise<Response>) & { guard: Guard; read: Run };

export function guarded(guard: Guard & { role: Role }, run: Run): Handler {
  return handler(guard, run, async (routeContext) => {
    const { headers } = routeContext.request;
    if (hasTokenInUrl(routeContext.request.url))
      return failed(refusal("BAD_REQUEST", "Don't put a token in a URL, which is logged. Send it in X-API-Key, and revoke this one."));
    const admitted = await authenticate(routeContext.composition, headers);
    if (!admitted.ok) return toStartPage(routeContext) ?? admitted;
    const viewer = admitted.value;
    // Counted before anything is noted about the caller: requests over the limit fill no log either.
    const waitMs = await routeContext.composition.memberLimit.take(getRateLimitKey(viewer));
    if (waitMs > 0) return failed(rateLimited(waitMs, "Too many requests. Try again in a moment."));
    const refusedGuard = refusalOf(viewer, guard);
    const isRoleTooLow = refusedGuard?.code === "ROLE_TOO_LOW";
    const refuseChange = () => (isChange(routeContext.request) ? checkReadOnly(routeContext.composition, guard.action) : undefined);
    const frozen = await refuseChange();
    // The same request is repeated after the confirmation: the log records that one.
    if (guard.recent && !isRoleTooLow && !frozen && isLongAgo(viewer.credential, routeContext.composition.now()))
      return failed(refusal("SIGN_IN_AGAIN", "Confirm your password, then try again."));
    routeContext.annotateAudit({ by: viewer, ...((isRoleTooLow || frozen) && (await guard.about?.({ ...routeContext, viewer }))) });
    const failure = isRoleTooLow ? refusedGuard : (frozen ?? refusedGuard);
    if (failure) return failed(failure);
    // A body may arrive slowly: its sender is checked again once it is complete. A changed role has ended the session too.
    const checked = checkedBody(routeContext.request, async () => {
      const now = await readViewer(routeContext.composition, headers);
      if (!now) return toEndedFailure(viewer.credential);
      return hasRole(now.role, guard.role) ? refuseChange() : refusal("ROLE_TOO_LOW", `Your role has changed to ${now.role}.`);
    });
    const result = await run({ ...routeContext, request: checked.request, viewer });
    const refused = checked.refused();
    return refused ? failed(refused) : result;
  });
}

/** Returns why the guard rejects this viewer; undefined if access is allowed. */
export function refusalOf({ role, credential, scope }: Viewer, guard: Guard): Failure | undefined {
  if (guard.role !== "public" && !hasRole(role, guard.role))
    return refusal("ROLE_TOO_LOW", `This needs the role ${guard.role}. Your role is ${role}.`);
  if ((guard.recent || guard.session) && credential.kind !== "session")
    return refusal("FORBIDDEN", "Only a member who is signed in with a browser can do this.");
  return guard.role !== "public" && scope.operations?.includes(guard.action) === false
    ? refusal("FORBIDDEN", "This token or page is not allowed to do this.")
    : undefined;
}

function toStartPage({ request, composition: { env } }: RouteContext): Result<Response, Failure> | undefined {
  const location = isChange(request) ? undefined : startPathForTab(env, request);
  return location === undefined ? undefined : ok(new Response(null, { status: 302, headers: { location } }));
}

function isChange({ method }: Pick<Request, "method">): boolean {
  return method !== "GET" && method !== "HEAD";
}

export function isLongAgo(credential: Credential, now: number): boolean {
  return credential.kind === "session" && now - credential.confirmedAt > RECENT_MS;
}

export function unguarded(action: string, run: (routeContext: RouteContext) => Promise<Result<Response, Failure>>): Handler {
  return handler({ action, role: "public", connection: false }, run, run);
}

function handler(guard: Guard, read: Run, run: (routeContext: RouteContext) => Promise<Result<Response, Failure>>): Handler {
  async function handle(request: Request, context: NextRouteContext): Promise<Response> {
    const current = composition();
    const requestId = randomUUID();
    const changes = isChange(request);
    let auditNote: AuditNote = {};
    const result = await attempt(
      current,
      async () => {
        await current.ready;
        // A token is not stored by browsers, so another site cannot send it.
        const isByToken = guard.role !== "public" && readSentToken(request.headers) !== undefined && !isEmbeddedRequest(request.headers);
        if (changes && !isByToken && !isSameOrigin(request, current.env.publicUrl))
          return failed(refusal("FOREIGN_ORIGIN", "The request comes from another site."));
        const annotateAudit = (facts: AuditNote) => void (auditNote = { ...auditNote, ...facts });
        return run({ request, requestId, composition: current, params: await context.params, annotateAudit });
      },
      { requestId, action: guard.action },
    );
    const response = finish(result.ok ? result.value : failureAnswer(result.failure, requestId), requestId);
    if (auditNote.isWritten || (changes && auditNote.by))
      await audit(
        current,
        { action: auditNote.action ?? guard.action, requestId, act: readActId(request.headers.get(ACT_HEADER)) },
        auditNote,
        result,
      );
    if (changes && auditNote.by) current.noteChange({ connectionId: auditNote.connectionId });
    if (request.method !== "HEAD") return response;
    // The unread body may hold a file or a connection to a service open; how its cancelling ends does not matter.
    await response.body?.cancel().catch(() => undefined);
    return new Response(null, response);
  }
  const about = (requestId: string) => ({ requestId, action: guard.action });
  return Object.assign(handle, {
    guard,
    read: (context: AuthedContext) => attempt(context.composition, () => read(context), about(context.requestId)),
  });
}

async function attempt(
  { log }: Parts<"log">,
  run: () => Promise<Result<Response, Failure>>,
  about: { requestId: string; action: string },
): Promise<Result<Response, Failure>> {
  try {
    return await run();
  } catch (error) {
    if (isFullDisk(error)) {
      log.error({ ...about, err: error }, "console disk full");
      return failed(refusal("INSUFFICIENT_STORAGE", "The disk of the console's data folder is full. The operator must free some space."));
    }
    if (isStoreAway(error)) {
      log.error({ ...about, err: error }, "console database unavailable");
      return failed(refusal("SERVICE_UNAVAILABLE", "The console's database is unreachable. Try again in a moment: you stay signed in."));
    }
    if (isUniqueViolation(error)) return failed(refusal("CONFLICT", "This exists already. Reload, then try again."));
    log.error({ ...about, err: error }, "request failed");
    return failed(refusal("INTERNAL", "Something went wrong in the console."));
  }
}

type AuditedRequest = { action: string; requestId: string; act: string | undefined };

async function audit(
  { store, now, log }: Parts<"store" | "now" | "log">,
  { action, requestId, act }: AuditedRequest,
  auditNote: AuditNote,
  result: Result<Response, Failure>,
): Promise<void> {
  const { by, target, connectionId, outcome, refused } = auditNote;
  const summary = result.ok
    ? { status: refused ? errorStatus[refused] : result.value.status, code: refused, outcome }
    : { status: statusOf(result.failure), code: result.failure.code, outcome };
  try {
    await store.audit.add({
      at: now(),
      requestId,
      memberId: by?.memberId,
      memberName: by?.name,
      memberEmail: by?.email || undefined,
      via: viaOf(by),
      action,
      target,
      connectionId,
      act,
      ...summary,
    });
  } catch (error) {
    // The change has happened: refusing the answer now would make the person do it twice.
    log.error({ requestId, action, err: error }, "audit log write failed");
  }
}

function viaOf(by: Actor | undefined): string | undefined {
  const credential = by?.credential;
  if (credential?.kind === "token") return `token ${credential.name}`;
  return credential?.kind === "embed" ? `embed ${credential.host}` : undefined;
}

export function toActor({ id, name, email, guestOf }: Member): Actor {
  return { memberId: id, name, email: guestOf === undefined ? email : "" };
}

const CHECK_INTERVAL_MS = 1000;

type CheckedBody = { request: Request; refused(): Failure | undefined };

/** `check`: returns why the sender may not continue. */
function checkedBody(request: Request, check: () => Promise<Failure | undefined>): CheckedBody {
  if (request.body === null) return { request, refused: () => undefined };
  const reader = request.body.getReader();
  const length = Number(request.headers.get("content-length") ?? Number.NaN);
  let refused: Failure | undefined;
  let checkedMs = Date.now();
  let counted = 0;
  // Reads only on demand: the sender may wait for a response before it sends anything.
  const body = toByteStream(
    async () => {
      const next = await reader.read();
      counted += next.value?.byteLength ?? 0;
      // A service may treat an upload as complete after its last byte, before the stream ends.
      if (next.done || counted >= length || Date.now() - checkedMs >= CHECK_INTERVAL_MS) {
        refused = await check();
        checkedMs = Date.now();
      }
      if (!refused) return next;
      void reader.cancel().catch(() => undefined);
      throw new Error(refused.message);
    },
    (reason) => reader.cancel(reason),
  );
  const init = { method: request.method, headers: request.headers, signal: request.signal, body, duplex: "half" } as const;
  return { request: new Request(request.url, init), refused: () => refused };
}

export function isSameOrigin(request: Pick<Request, "headers">, publicUrl: string | undefined): boolean {
  const site = request.headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin" && site !== "none") return false;
  const origin = request.headers.get("origin");
  if (origin === null) return true;
  if (!URL.canParse(origin)) return false;
  const from = new URL(origin);
  if (publicUrl !== undefined && from.origin === new URL(publicUrl).origin) return true;
  // If the public URL is https, a page opened over http has another origin.
  return from.host === request.headers.get("host") && (publicUrl === undefined || from.protocol === new URL(publicUrl).protocol);
}
