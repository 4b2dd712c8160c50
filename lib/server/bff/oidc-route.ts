// The way to a provider and back, around next-auth: what was asked is kept in a cookie, the result goes into the audit log, and a refusal
// to the sign-in page, which explains it in one sentence.
// Guarantees: no parameter of the caller reaches the provider; only a person whom the provider has verified gets the reason of a refusal.

import "server-only";
import { aboutMember } from "@/lib/contract/audit/member-change";
import { type Failure } from "@/lib/contract/failure";
import { type OidcRefusal } from "@/lib/contract/people/sign-in";
import { safeReturn } from "@/lib/shared/console-paths";
import { networkOf } from "@/lib/shared/ip-address";
import { failed, ok, type Result } from "@/lib/shared/result";
import { telemetry } from "@/lib/shared/telemetry";
import { type AuthAnswer } from "../auth/next-auth";
import { type Refused } from "../auth/oidc/admit";
import { type Asked, askedCookie, type Purpose, takeState } from "../auth/oidc/asked";
import { discover, FRESH_MS, KEPT_MS } from "../auth/oidc/discovery";
import { endSessionUrl } from "../auth/oidc/provider-session";
import { causeOf, createTurn, type OidcTurn } from "../auth/oidc/turn";
import { findSession, sessionIdIn } from "../auth/session";
import { readViewer } from "../auth/viewer";
import { composition } from "../composition";
import { consoleUrl } from "../env";
import { clientAddress } from "../limits/client-address";
import { type OidcProvider } from "../oidc-settings";
import { jsonAnswer } from "./answers";
import { isLongAgo, type Opened, refusal, toActor } from "./guard";
import { searchOf } from "./read-request";

export type AskNextAuth = (turn?: OidcTurn) => Promise<AuthAnswer>;

const LONGEST_RETURN = 500;

/** POST: answers the provider's address for the browser to go to. */
export async function beginOidc(
  provider: OidcProvider,
  request: Request,
  fields: URLSearchParams,
  ask: AskNextAuth,
): Promise<Result<Response, Failure>> {
  const waitMs = await composition().oidcLimit.take(networkOf(clientAddress(request)));
  if (waitMs > 0) return failed({ ...refusal("RATE_LIMITED", "Too many attempts. Try again later."), retryAfterMs: waitMs });
  const purpose = await readPurpose(fields, request);
  if (!purpose.ok) return purpose;
  let turn: OidcTurn;
  try {
    turn = createTurn(provider, await discover(provider, FRESH_MS), undefined, purpose.value.kind === "confirm");
  } catch (error) {
    composition().log.error({ provider: provider.id, cause: causeOf(error) }, "a provider of sign-in cannot be used");
    return failed(refusal("UPSTREAM_UNREACHABLE", `${provider.label} cannot be reached.`));
  }
  const { url, headers } = await ask(turn);
  const state = url === undefined ? null : new URL(url, "http://localhost").searchParams.get("state");
  if (url === undefined || state === null) return failed(refusal("BAD_REQUEST", "The sign-in was not begun here."));
  const asked: Asked = {
    provider: provider.id,
    state,
    at: composition().now(),
    returnTo: safeReturn((fields.get("callbackUrl") ?? "").slice(0, LONGEST_RETURN)),
    purpose: purpose.value,
  };
  const sent = jsonAnswer({ url }, 200, headers);
  sent.headers.append("set-cookie", await askedCookie.write(asked));
  return ok(sent);
}

/** GET: a browser comes back from the provider. */
export async function finishOidc(provider: OidcProvider, opened: Opened, ask: AskNextAuth): Promise<Result<Response, Failure>> {
  const { request, note } = opened;
  const { log, oidcLimit } = composition();
  const network = networkOf(clientAddress(request));
  const asked = await askedCookie.read(request.headers);
  const search = searchOf(request);
  const refuse = (refused: Refused, headers?: Headers) => {
    telemetry().metrics?.count("lightdesk_sign_in_refusals_total", { way: "oidc", reason: "refused" });
    log.warn({ provider: provider.id, cause: refused.cause, address: clientAddress(request) }, "sign-in at a provider refused");
    note({
      action: "signIn",
      isWritten: true,
      target: refused.person ?? clientAddress(request),
      refused: "UNAUTHORIZED",
      outcome: outcomeOf(provider, `${refused.cause}${refused.person ? `, from ${clientAddress(request)}` : ""}`),
    });
    return ok(toSignIn(provider, refused.shown, asked?.returnTo, headers));
  };
  if ((await oidcLimit.take(network)) > 0) return ok(toSignIn(provider, "too-many", asked?.returnTo));
  const isAsked = asked?.provider === provider.id && asked.state === search.get("state");
  if (!isAsked) return refuse({ shown: "lost", cause: "no sign-in was begun in this browser, or another one" });
  if (!(await takeState(asked.state))) return refuse({ shown: "lost", cause: "the provider's answer was used before" });
  const error = search.get("error");
  if (error !== null) return refuse({ shown: refusalOf(error), cause: `the provider answered ${error.slice(0, 100)}` });
  let turn: OidcTurn;
  try {
    turn = createTurn(provider, await discover(provider, KEPT_MS), asked);
  } catch (cause) {
    return refuse({ shown: "away", cause: causeOf(cause) });
  }
  if (
    (asked.purpose.kind === "link" || asked.purpose.kind === "confirm") &&
    (await readViewer(request.headers))?.memberId !== asked.purpose.memberId
  )
    return refuse({ shown: "lost", cause: "the session that asked for it has ended" });
  const { headers } = await ask(turn);
  const admitted = turn.admitted();
  if (!admitted) return refuse(turn.refused(), headers);
  // One for the way there, one for the way back.
  for (const _way of [1, 2]) await oidcLimit.giveBack(network);
  const { member, how, change } = admitted;
  const usual = asked.purpose.kind === "confirm" ? "confirmSession" : "signIn";
  const about = change ? aboutMember(member, change) : { outcome: outcomeOf(provider, how) };
  note({ action: how === "known" ? usual : actions[how], by: toActor(member), isWritten: true, ...about });
  headers.append("set-cookie", askedCookie.forget());
  headers.set("location", `${composition().env.basePath}${asked.returnTo}`);
  return ok(new Response(null, { status: 302, headers }));
}

/** Signs out here, and if the session began at a provider, answers the provider's sign-out address. */
export async function signOutEverywhere(request: Request, ask: AskNextAuth): Promise<Result<Response, Failure>> {
  const { env } = composition();
  const id = await sessionIdIn(request.headers);
  const signIn = `${consoleUrl(env)}/sign-in`;
  const atProvider = id === undefined ? undefined : await endSessionUrl(id, signIn);
  const { url, headers } = await ask();
  if (url?.includes("csrf=true")) return failed(refusal("BAD_REQUEST", "The sign-out was not begun here. Reload the page and try again."));
  const isEnded = id !== undefined && !(await findSession(id));
  return ok(jsonAnswer(atProvider !== undefined && isEnded ? { url: atProvider, provider: true } : { url: signIn }, 200, headers));
}

const actions = { linked: "linkProvider", joined: "acceptInvitation", made: "joinByProvider" } as const;

const outcomeOf = ({ label }: OidcProvider, what: string) => `${label}: ${what}`;

async function readPurpose(fields: URLSearchParams, request: Request): Promise<Result<Purpose, Failure>> {
  const kind = fields.get("purpose") ?? "signIn";
  if (kind === "signIn") return ok({ kind });
  if (kind === "join") return ok({ kind, token: (fields.get("token") ?? "").slice(0, 200) });
  if (kind !== "confirm" && kind !== "link") return failed(refusal("INVALID_BODY", "purpose: unknown"));
  const viewer = await readViewer(request.headers);
  if (viewer?.credential.kind !== "session") return failed(refusal("UNAUTHORIZED", "Sign in first."));
  if (kind === "link" && isLongAgo(viewer.credential, composition().now()))
    return failed(refusal("SIGN_IN_AGAIN", "Confirm that it is you, then try again."));
  return ok({ kind, memberId: viewer.memberId });
}

function refusalOf(error: string): OidcRefusal {
  if (["access_denied", "consent_required", "interaction_required", "login_required"].includes(error)) return "cancelled";
  return ["temporarily_unavailable", "server_error"].includes(error) ? "away" : "untrusted";
}

function toSignIn(provider: OidcProvider, shown: OidcRefusal, returnTo: string | undefined, headers = new Headers()): Response {
  const query = new URLSearchParams({ refused: shown, provider: provider.id, ...(returnTo !== undefined && { callbackUrl: returnTo }) });
  headers.append("set-cookie", askedCookie.forget());
  headers.set("location", `${composition().env.basePath}/sign-in?${query.toString()}`);
  return new Response(null, { status: 302, headers });
}
