// Routes of next-auth: sign-in with a password or an OIDC provider, and sign-out.

import "server-only";
import { z } from "zod";
import { describeMember } from "@/lib/contract/audit/audit";
import { createFailure, type Failure } from "@/lib/contract/failure";
import { type OidcRefusal } from "@/lib/contract/members/sign-in";
import { toSafeReturnPath } from "@/lib/shared/console-paths";
import { isStoreUnavailable } from "@/lib/shared/error-codes";
import { getNetwork } from "@/lib/shared/ip-address";
import { failed, ok, type Result } from "@/lib/shared/result";
import { getTelemetry } from "@/lib/shared/telemetry";
import { type AuthStep, callNextAuth, createAuthOptions, type NextAuthResponse } from "../auth/next-auth";
import { type SignInRefusal } from "../auth/oidc/admit";
import { createOidcSignIn, getProviderLogoutUrl, type OidcSignIn, toErrorCause } from "../auth/oidc/oidc-sign-in";
import { discover, DISCOVERY_CACHE_MS, NO_DISCOVERY_CACHE } from "../auth/oidc/provider";
import { consumeState, createDeviceCookie, type Purpose, signInCookie, type SignInState } from "../auth/sealed-cookies";
import { findSession, readSessionId } from "../auth/session";
import { readViewer } from "../auth/viewer";
import { type Composition } from "../composition-type";
import { type RouteContext } from "../context";
import { getConsolePath, getConsoleUrl } from "../env";
import { consumeAttempt, getClientAddress } from "../limits/attempt-limit";
import { getSearchParams, MAX_VISITOR_BODY_BYTES, readBody, readJson } from "../requests/read-request";
import { createJsonResponse } from "../requests/responses";
import { type OidcProvider } from "../sign-in-settings";
import { type Member } from "../store/people/members";
import { type Handler, needsConfirmation, publicRoute, toActor } from "./guard";

type CallNextAuth = (oidcSignIn?: OidcSignIn) => Promise<NextAuthResponse>;

const MAX_RETURN_LENGTH = 500;

async function startOidcSignIn(
  composition: Composition,
  provider: OidcProvider,
  request: Request,
  fields: URLSearchParams,
  callAuth: CallNextAuth,
): Promise<Result<Response, Failure>> {
  const limitFailure = await consumeAttempt(composition.oidcLimit, getNetwork(getClientAddress(request)));
  if (limitFailure) return failed(limitFailure);
  const purpose = await readPurpose(composition, fields, request);
  if (!purpose.ok) return purpose;
  let oidcSignIn: OidcSignIn;
  try {
    oidcSignIn = createOidcSignIn(
      composition,
      provider,
      await discover(provider, NO_DISCOVERY_CACHE),
      undefined,
      purpose.value.kind === "confirm",
    );
  } catch (error) {
    composition.log.error({ provider: provider.id, cause: toErrorCause(error) }, "sign-in provider failed");
    return failed(createFailure("UPSTREAM_UNREACHABLE", `${provider.label} cannot be reached.`));
  }
  const { url, headers } = await callAuth(oidcSignIn);
  const state = url === undefined ? null : new URL(url, "http://localhost").searchParams.get("state");
  if (url === undefined || state === null) return failed(createFailure("BAD_REQUEST", "This sign-in was not started in this browser."));
  const signInState: SignInState = {
    provider: provider.id,
    state,
    at: composition.now(),
    returnTo: toSafeReturnPath((fields.get("callbackUrl") ?? "").slice(0, MAX_RETURN_LENGTH)),
    purpose: purpose.value,
  };
  const response = createJsonResponse({ url }, 200, headers);
  response.headers.append("set-cookie", await signInCookie.write(composition, signInState));
  return ok(response);
}

async function finishOidcSignIn(
  provider: OidcProvider,
  routeContext: RouteContext,
  callAuth: CallNextAuth,
): Promise<Result<Response, Failure>> {
  const { request, annotateAudit } = routeContext;
  const { log, oidcLimit } = routeContext.composition;
  const network = getNetwork(getClientAddress(request));
  const signInState = await signInCookie.read(routeContext.composition, request.headers);
  const search = getSearchParams(request);
  const rejectSignIn = (signInRefusal: SignInRefusal, headers?: Headers) => {
    getTelemetry().metrics?.count("lightdesk_sign_in_refusals_total", { way: "oidc", reason: "refused" });
    log.warn({ provider: provider.id, cause: signInRefusal.cause, address: getClientAddress(request) }, "provider sign-in refused");
    annotateAudit({
      action: "signIn",
      isAlwaysWritten: true,
      target: signInRefusal.person ?? getClientAddress(request),
      errorCode: "UNAUTHORIZED",
      outcome: toOutcome(provider, `${signInRefusal.cause}${signInRefusal.person ? `, from ${getClientAddress(request)}` : ""}`),
    });
    return ok(redirectToSignIn(routeContext.composition, provider, signInRefusal.publicReason, signInState?.returnTo, headers));
  };
  if ((await oidcLimit.consume(network)) > 0)
    return ok(redirectToSignIn(routeContext.composition, provider, "too-many", signInState?.returnTo));
  const isExpected = signInState?.provider === provider.id && signInState.state === search.get("state");
  if (!isExpected) return rejectSignIn({ publicReason: "lost", cause: "this browser did not start this sign-in" });
  if (!(await consumeState(routeContext.composition, signInState.state)))
    return rejectSignIn({ publicReason: "lost", cause: "the provider's response was already used" });
  const error = search.get("error");
  if (error !== null) return rejectSignIn({ publicReason: toOidcRefusal(error), cause: `the provider returned ${error.slice(0, 100)}` });
  let oidcSignIn: OidcSignIn;
  try {
    oidcSignIn = createOidcSignIn(routeContext.composition, provider, await discover(provider, DISCOVERY_CACHE_MS), signInState);
  } catch (cause) {
    return rejectSignIn({ publicReason: "away", cause: toErrorCause(cause) });
  }
  if (
    (signInState.purpose.kind === "link" || signInState.purpose.kind === "confirm") &&
    (await readViewer(routeContext.composition, request.headers))?.memberId !== signInState.purpose.memberId
  )
    return rejectSignIn({ publicReason: "lost", cause: "the session that started this sign-in has ended" });
  let authError: unknown;
  const { headers } = await callAuth(oidcSignIn).catch((cause: unknown) => {
    if (isStoreUnavailable(cause)) throw cause;
    authError = cause;
    return { headers: new Headers() };
  });
  const admittedMember = oidcSignIn.getAdmittedMember();
  if (!admittedMember)
    return authError === undefined
      ? rejectSignIn(oidcSignIn.getRefusal(), headers)
      : rejectSignIn({ publicReason: "away", cause: toErrorCause(authError) });
  // The start and the end of the sign-in have each consumed an attempt.
  for (const _attempt of [1, 2]) await oidcLimit.refund(network);
  const { member, kind, change } = admittedMember;
  const defaultAction = signInState.purpose.kind === "confirm" ? "confirmSession" : "signIn";
  const auditTarget = change ? describeMember(member, change) : { outcome: toOutcome(provider, kind) };
  annotateAudit({
    action: kind === "known" ? defaultAction : auditActions[kind],
    by: toActor(member),
    isAlwaysWritten: true,
    ...auditTarget,
  });
  // The member joined, but the session could not start.
  if (authError !== undefined) throw authError;
  headers.append("set-cookie", signInCookie.clear(routeContext.composition));
  headers.set("location", getConsolePath(routeContext.composition.env, signInState.returnTo));
  return ok(new Response(null, { status: 302, headers }));
}

/** Ends the session. Returns the provider's sign-out URL if the session was started there. */
async function signOutEverywhere(composition: Composition, request: Request, callAuth: CallNextAuth): Promise<Result<Response, Failure>> {
  const { env } = composition;
  const id = await readSessionId(composition, request.headers);
  const signInUrl = `${getConsoleUrl(env)}/sign-in`;
  const providerUrl = id === undefined ? undefined : await getProviderLogoutUrl(composition, id, signInUrl);
  const { url, headers } = await callAuth();
  if (url?.includes("csrf=true"))
    return failed(createFailure("BAD_REQUEST", "This sign-out was not started in this browser. Reload the page and try again."));
  const isEnded = id !== undefined && !(await findSession(composition, id));
  return ok(
    createJsonResponse(providerUrl !== undefined && isEnded ? { url: providerUrl, provider: true } : { url: signInUrl }, 200, headers),
  );
}

// eslint-disable-next-line id-denylist -- a value of the audit log
const auditActions = { linked: "linkProvider", joined: "acceptInvitation", made: "joinByProvider" } as const;

const toOutcome = ({ label }: OidcProvider, outcome: string) => `${label}: ${outcome}`;

async function readPurpose(composition: Composition, fields: URLSearchParams, request: Request): Promise<Result<Purpose, Failure>> {
  const kind = fields.get("purpose") ?? "signIn";
  if (kind === "signIn") return ok({ kind });
  if (kind === "join") return ok({ kind, token: (fields.get("token") ?? "").slice(0, 200) });
  if (kind !== "confirm" && kind !== "link") return failed(createFailure("INVALID_BODY", "purpose: unknown"));
  const viewer = await readViewer(composition, request.headers);
  if (viewer?.credential.kind !== "session") return failed(createFailure("UNAUTHORIZED", "Sign in first."));
  if (kind === "link" && needsConfirmation(viewer.credential, composition.now()))
    return failed(createFailure("SIGN_IN_AGAIN", "Confirm your identity, then try again."));
  return ok({ kind, memberId: viewer.memberId });
}

function toOidcRefusal(error: string): OidcRefusal {
  if (["access_denied", "consent_required", "interaction_required", "login_required"].includes(error)) return "cancelled";
  return ["temporarily_unavailable", "server_error"].includes(error) ? "away" : "untrusted";
}

function redirectToSignIn(
  composition: Composition,
  provider: OidcProvider,
  publicReason: OidcRefusal,
  returnTo: string | undefined,
  headers = new Headers(),
): Response {
  const query = new URLSearchParams({
    refused: publicReason,
    provider: provider.id,
    ...(returnTo !== undefined && { callbackUrl: returnTo }),
  });
  headers.append("set-cookie", signInCookie.clear(composition));
  headers.set("location", getConsolePath(composition.env, `/sign-in?${query.toString()}`));
  return new Response(null, { status: 302, headers });
}

type Step = { step: AuthStep; method: "GET" | "POST"; provider?: OidcProvider };

export function authRoute(): Handler {
  return publicRoute("auth", async (routeContext) => {
    const { request, params } = routeContext;
    const step = parseStep(Array.isArray(params.nextauth) ? params.nextauth : [], routeContext.composition.env.oidc);
    if (!step) return failed(createFailure("NOT_FOUND", "There is nothing at this address."));
    if (step.method !== (request.method === "HEAD" ? "GET" : request.method))
      return failed(createFailure("METHOD_NOT_ALLOWED", `This URL only accepts ${step.method}.`));
    const form = step.method === "POST" ? await readForm(routeContext) : undefined;
    if (form && !form.ok) return form;
    return handleStep(step, routeContext, form?.value);
  });
}

function parseStep([action, id, ...extraSegments]: readonly string[], providers: readonly OidcProvider[]): Step | undefined {
  if (extraSegments.length > 0) return undefined;
  if (id === undefined) {
    if (action === "csrf" || action === "session" || action === "providers") return { step: action, method: "GET" };
    return action === "signout" ? { step: action, method: "POST" } : undefined;
  }
  if (action === "callback" && id === "credentials") return { step: action, method: "POST" };
  const provider = providers.find((provider) => provider.id === id);
  if (!provider || (action !== "signin" && action !== "callback")) return undefined;
  return { step: action, method: action === "signin" ? "POST" : "GET", provider };
}

async function handleStep(
  { step, provider }: Step,
  routeContext: RouteContext,
  form: URLSearchParams | undefined,
): Promise<Result<Response, Failure>> {
  const { request, annotateAudit } = routeContext;
  const { headers: requestHeaders } = request;
  const errors: unknown[] = [];
  let signedInMember: Member | undefined;
  let signInFailure: Failure | undefined;
  const events = {
    onSuccess(action: "signIn" | "signOut", member: Member) {
      annotateAudit({ action, by: toActor(member) });
      if (action === "signIn") signedInMember = member;
    },
    onRejection(failure: Failure, address: string, member: Member | undefined) {
      signInFailure = failure;
      // The entered email is not logged, because it may be a password typed into the wrong field. Rate-limited attempts are not audited.
      if (failure.code === "RATE_LIMITED") return;
      const outcome = `code=${failure.code}`;
      annotateAudit({ action: "signIn", by: member && toActor(member), isAlwaysWritten: true, target: address, outcome });
    },
    onError: (error: unknown) => void errors.push(error),
  };
  const id = provider?.id ?? (step === "callback" ? "credentials" : undefined);
  const callAuth: CallNextAuth = async (oidcSignIn?: OidcSignIn) => {
    const search = provider ? getSearchParams(request) : undefined;
    const authResponse = await callNextAuth(
      routeContext.composition,
      { step, provider: id, headers: requestHeaders, form, search },
      createAuthOptions(routeContext.composition, events, requestHeaders, oidcSignIn),
    );
    if (errors.length > 0) throw errors[0];
    return authResponse;
  };
  if (provider)
    return form
      ? startOidcSignIn(routeContext.composition, provider, request, form, callAuth)
      : finishOidcSignIn(provider, routeContext, callAuth);
  if (step === "signout") return signOutEverywhere(routeContext.composition, request, callAuth);
  const { headers, body } = await callAuth();
  if (!form) return ok(createJsonResponse(body, 200, headers));
  if (signedInMember) {
    routeContext.composition.log.info({ memberId: signedInMember.id }, "signed in");
    headers.append("set-cookie", await createDeviceCookie(routeContext.composition, signedInMember));
    return ok(createJsonResponse({ url: getConsoleUrl(routeContext.composition.env) }, 200, headers));
  }
  return failed(signInFailure ?? csrfFailure);
}

/** The CSRF token is missing or belongs to another browser. */
const csrfFailure = createFailure("BAD_REQUEST", "This sign-in was not started in this browser. Reload the page and try again.");

/** Reads a form or a JSON object of strings. If a field is repeated, the first one wins. */
async function readForm(routeContext: RouteContext): Promise<Result<URLSearchParams, Failure>> {
  if (routeContext.request.headers.get("content-type")?.includes("json")) {
    const jsonResult = await readJson(routeContext, z.record(z.string(), z.union([z.string(), z.boolean()])), MAX_VISITOR_BODY_BYTES);
    return jsonResult.ok
      ? ok(new URLSearchParams(Object.entries(jsonResult.value).map(([name, value]) => [name, String(value)])))
      : jsonResult;
  }
  const result = await readBody(routeContext, MAX_VISITOR_BODY_BYTES);
  return result.ok ? ok(new URLSearchParams(new TextDecoder().decode(result.value))) : result;
}
