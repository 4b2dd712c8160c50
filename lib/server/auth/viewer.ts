// Authenticates a request: the only code that turns a credential into a viewer. The role always comes from the store.

import "server-only";
import { createFailure, type Failure } from "@/lib/contract/failure";
import { hasRole, type Role } from "@/lib/contract/members/roles";
import { getNetwork } from "@/lib/shared/ip-address";
import { failed, ok, type Result } from "@/lib/shared/result";
import { getTelemetry } from "@/lib/shared/telemetry";
import { type Composition } from "../composition-type";
import { PROXY_EMAIL_HEADER } from "../cookies";
import { isEmbeddedRequest } from "../embed/sessions";
import { ADDRESS_HEADER, createRateLimitFailure } from "../limits/attempt-limit";
import {
  type Credential,
  findEmbedViewer,
  findEmbedViewerById,
  findTokenViewer,
  findTokenViewerById,
  readSentToken,
  type Viewer,
} from "./credentials";
import { signInByProxy } from "./proxy-sign-in";
import { checkReadOnly, getReadOnlyState } from "./read-only";
import { findSession, type LiveSession, readSessionId, recordSessionUse } from "./session";

export type { Credential, Viewer };
export type Context = { composition: Composition; viewer: Viewer };
export type RequestHeaders = { get(name: string): string | null };

export const adminRequiredFailure = createFailure("ROLE_TOO_LOW", "This needs the role admin.");

export function createRoleTooLowFailure(currentRole: Role, requiredRole: Role): Failure {
  return createFailure("ROLE_TOO_LOW", `This needs the role ${requiredRole}. Your role is ${currentRole}.`);
}

const sessionEndedFailure = createFailure("UNAUTHORIZED", "Your session has ended. Sign in again.");

export async function readViewer(composition: Composition, headers: RequestHeaders): Promise<Viewer | undefined> {
  const result = await findViewer(composition, headers);
  if (result?.liveSession) await recordSessionUse(composition, result.liveSession.session, headers);
  return result?.viewer;
}

/** Records that an open stream is in use. An ended session stays ended, even if a proxy still authenticates the member. */
export async function recordViewerUse({ composition, viewer: { credential } }: Context, headers: RequestHeaders): Promise<void> {
  if (credential.kind !== "session") return void (await readViewer(composition, headers));
  const liveSession = await findSession(composition, credential.id);
  if (liveSession) await recordSessionUse(composition, liveSession.session, headers);
}

export async function peekViewer(composition: Composition, headers: RequestHeaders): Promise<Viewer | undefined> {
  return (await findViewer(composition, headers))?.viewer;
}

async function findViewer(
  composition: Composition,
  headers: RequestHeaders,
): Promise<{ viewer: Viewer | undefined; liveSession?: LiveSession } | undefined> {
  await composition.ready;
  // The URLs of an embedded session accept only that session. Other credentials are ignored.
  if (isEmbeddedRequest(headers)) return { viewer: await findEmbedViewer(composition, headers) };
  const sentToken = readSentToken(headers);
  // Cookies are ignored, because a token must not gain rights from a cookie.
  if (sentToken !== undefined) return sentToken === "two" ? undefined : { viewer: await findTokenViewer(composition, sentToken.token) };
  const liveSession = await findLiveSession(composition, headers);
  return liveSession && { viewer: toViewer(liveSession), liveSession };
}

/** The proxy's header takes precedence over a cookie, which may be from another user of this browser. */
async function findLiveSession(composition: Composition, headers: RequestHeaders): Promise<LiveSession | undefined> {
  const { proxySignIn } = composition.env;
  const proxyEmail = headers.get(PROXY_EMAIL_HEADER);
  if (proxySignIn && proxyEmail !== null) return signInByProxy(composition, proxyEmail, proxySignIn, headers);
  const id = await readSessionId(composition, headers);
  return id === undefined ? undefined : findSession(composition, id);
}

function toViewer({ session, member }: LiveSession): Viewer {
  const credential = { kind: "session", id: session.id, method: session.method, confirmedAt: session.confirmedAt } as const;
  return { memberId: member.id, name: member.name, email: member.email, role: member.role, credential, scope: {} };
}

/** False while the console is read-only. */
export async function canChange(composition: Composition): Promise<boolean> {
  return (await getReadOnlyState(composition)) === undefined;
}

/** Like `checkViewer`, for a step that changes something. */
export async function checkChangeRights(context: Context): Promise<Failure | undefined> {
  return (await checkViewer(context)) ?? checkReadOnly(context.composition);
}

/** Returns why a viewer may not continue: access has ended, or the role was lowered. Call it at each step of long-running work. */
export async function checkViewer({ composition, viewer: { memberId, role, credential } }: Context): Promise<Failure | undefined> {
  if (credential.kind === "embed") return (await findEmbedViewerById(composition, credential.id)) ? undefined : sessionEndedFailure;
  const member = await composition.store.members.get(memberId);
  if (member && !member.disabled && !hasRole(member.role, role)) return createFailure("ROLE_TOO_LOW", "Your role has changed.");
  return (await isLive(composition, credential)) ? undefined : toEndedFailure(credential);
}

async function isLive(composition: Composition, { kind, id }: Credential): Promise<boolean> {
  const { store, now } = composition;
  if (kind === "share") return store.shares.isOpen(id, now());
  return (await (kind === "token" ? findTokenViewerById(composition, id) : findSession(composition, id))) !== undefined;
}

export function toEndedFailure({ kind }: Credential): Failure {
  return kind === "token" ? createFailure("UNAUTHORIZED", "The token is no longer valid.") : sessionEndedFailure;
}

/** The proxy's sign-out URL for members it signed in, null if it has none. Undefined for all other members. */
export function getProxySignOutUrl({ composition: { env }, viewer: { credential } }: Context): string | null | undefined {
  const isProxySession = credential.kind === "session" && credential.method === "proxy";
  return isProxySession ? (env.proxySignIn?.signOutUrl ?? null) : undefined;
}

export async function authenticate(composition: Composition, headers: RequestHeaders): Promise<Result<Viewer, Failure>> {
  const viewer = await readViewer(composition, headers);
  if (viewer) return ok(viewer);
  const sentToken = readSentToken(headers);
  if (sentToken === undefined) return failed(createFailure("UNAUTHORIZED", "Sign in first."));
  if (sentToken === "two") return failed(createFailure("BAD_REQUEST", "The request has two different tokens. Send one."));
  const { wrongTokenLimit, log } = composition;
  const address = headers.get(ADDRESS_HEADER) ?? "unknown";
  const waitMs = await wrongTokenLimit.consume(getNetwork(address));
  getTelemetry().metrics?.count("lightdesk_sign_in_refusals_total", { way: "token", reason: waitMs > 0 ? "limited" : "wrong" });
  if (waitMs > 0) return failed(createRateLimitFailure(waitMs, "Too many wrong tokens. Try again later."));
  log.warn({ address }, "token refused");
  return failed(createFailure("UNAUTHORIZED", "This token is not valid. Create a new one in the console, under Settings, Tokens."));
}

/** Tokens are rate-limited separately, so that a client with a token can't lock its member out of the browser. */
export function getRateLimitKey({ memberId, credential }: Viewer): string {
  return credential.kind === "token" ? `token ${credential.id}` : memberId;
}
