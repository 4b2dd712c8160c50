// Authenticates a request: the only code that turns a credential into a viewer. The role always comes from the store.

import "server-only";
import { type Failure, refusal } from "@/lib/contract/failure";
import { hasRole, type Role } from "@/lib/contract/people/roles";
import { networkOf } from "@/lib/shared/ip-address";
import { failed, ok, type Result } from "@/lib/shared/result";
import { telemetry } from "@/lib/shared/telemetry";
import { type Composition } from "../composition-type";
import { VOUCHED_HEADER } from "../cookies";
import { isEmbeddedRequest } from "../embed/sessions";
import { ADDRESS_HEADER, rateLimited } from "../limits/attempt-limit";
import {
  type EmbedCredential,
  readSentToken,
  type TokenCredential,
  viewerByEmbedding,
  viewerByEmbeddingId,
  viewerByToken,
  viewerByTokenId,
} from "./credentials";
import { signInByProxy } from "./proxy-sign-in";
import { readReadOnly, refusedAsReadOnly } from "./read-only";
import { findSession, type LiveSession, noteUse, sessionIdIn } from "./session";

/** `method`: `password`, or the party that vouched for the member. `confirmedAt`: when the identity was last proved. */
type SessionCredential = { kind: "session"; id: string; method: string; confirmedAt: number };
/** Has its maker's rights, but only for what was shared. No request brings it; lib/server/shares makes it. */
type ShareCredential = { kind: "share"; id: string };
export type Credential = SessionCredential | TokenCredential | ShareCredential | EmbedCredential;
/** Narrows the role: ids of connections and names of operations; undefined means all that the role allows. */
type Scope = { connections?: readonly string[]; operations?: readonly string[] };
export type Viewer = { memberId: string; name: string; email: string; role: Role; credential: Credential; scope: Scope };
export type Context = { composition: Composition; viewer: Viewer };
export type SentHeaders = { get(name: string): string | null };

export const adminOnly = refusal("ROLE_TOO_LOW", "This needs the role admin.");
const sessionEnded = refusal("UNAUTHORIZED", "Your session has ended. Sign in again.");

export async function readViewer(composition: Composition, headers: SentHeaders): Promise<Viewer | undefined> {
  const viewer = await findViewer(composition, headers);
  if (viewer?.live) await noteUse(composition, viewer.live.session, headers);
  return viewer?.viewer;
}

/** Notes that an open stream is in use. A session that has ended stays ended, even if a proxy still vouches for the member. */
export async function noteViewerUse({ composition, viewer: { credential } }: Context, headers: SentHeaders): Promise<void> {
  if (credential.kind !== "session") return void (await readViewer(composition, headers));
  const live = await findSession(composition, credential.id);
  if (live) await noteUse(composition, live.session, headers);
}

export async function peekViewer(composition: Composition, headers: SentHeaders): Promise<Viewer | undefined> {
  return (await findViewer(composition, headers))?.viewer;
}

async function findViewer(
  composition: Composition,
  headers: SentHeaders,
): Promise<{ viewer: Viewer | undefined; live?: LiveSession } | undefined> {
  await composition.ready;
  // Below an embedded session's address only that session counts; other credentials are ignored.
  if (isEmbeddedRequest(headers)) return { viewer: await viewerByEmbedding(composition, headers) };
  const token = readSentToken(headers);
  // Cookies are ignored: a token must not gain rights from an accompanying cookie.
  if (token !== undefined) return token === "two" ? undefined : { viewer: await viewerByToken(composition, token.token) };
  const live = await liveBy(composition, headers);
  return live && { viewer: viewerOf(live), live };
}

/** The proxy's header takes precedence over a cookie, which may belong to the person who used this browser before. */
async function liveBy(composition: Composition, headers: SentHeaders): Promise<LiveSession | undefined> {
  const { proxySignIn } = composition.env;
  const vouched = headers.get(VOUCHED_HEADER);
  if (proxySignIn && vouched !== null) return signInByProxy(composition, vouched, proxySignIn, headers);
  const id = await sessionIdIn(composition, headers);
  return id === undefined ? undefined : findSession(composition, id);
}

function viewerOf({ session, member }: LiveSession): Viewer {
  const credential = { kind: "session", id: session.id, method: session.method, confirmedAt: session.confirmedAt } as const;
  return { memberId: member.id, name: member.name, email: member.email, role: member.role, credential, scope: {} };
}

/** False while the console is read-only. */
export async function canChange(composition: Composition): Promise<boolean> {
  return (await readReadOnly(composition)) === undefined;
}

/** The same as `checkViewer`, for a step that changes something. */
export async function checkChangeRights(context: Context): Promise<Failure | undefined> {
  return (await checkViewer(context)) ?? refusedAsReadOnly(context.composition);
}

/** Why a viewer may not continue: access has ended, or the role was lowered. Checked at each step of long work. */
export async function checkViewer({ composition, viewer: { memberId, role, credential } }: Context): Promise<Failure | undefined> {
  if (credential.kind === "embed") return (await viewerByEmbeddingId(composition, credential.id)) ? undefined : sessionEnded;
  const member = await composition.store.members.get(memberId);
  if (member && !member.disabled && !hasRole(member.role, role)) return refusal("ROLE_TOO_LOW", "Your role has changed.");
  return (await isLive(composition, credential)) ? undefined : endOf(credential);
}

async function isLive(composition: Composition, { kind, id }: Credential): Promise<boolean> {
  const { store, now } = composition;
  if (kind === "share") return store.shares.isOpen(id, now());
  return (await (kind === "token" ? viewerByTokenId(composition, id) : findSession(composition, id))) !== undefined;
}

export function endOf({ kind }: Credential): Failure {
  return kind === "token" ? refusal("UNAUTHORIZED", "The token is no longer valid.") : sessionEnded;
}

/** Where a proxy signs out the members it signed in; null if it does not say, undefined for all other members. */
export function signOutAt({ composition: { env }, viewer: { credential } }: Context): string | null | undefined {
  const isByProxy = credential.kind === "session" && credential.method === "proxy";
  return isByProxy ? (env.proxySignIn?.signOutUrl ?? null) : undefined;
}

export async function admit(composition: Composition, headers: SentHeaders): Promise<Result<Viewer, Failure>> {
  const viewer = await readViewer(composition, headers);
  if (viewer) return ok(viewer);
  const sentToken = readSentToken(headers);
  if (sentToken === undefined) return failed(refusal("UNAUTHORIZED", "Sign in first."));
  if (sentToken === "two") return failed(refusal("BAD_REQUEST", "The request has two different tokens. Send one."));
  const { wrongTokenLimit, log } = composition;
  const address = headers.get(ADDRESS_HEADER) ?? "unknown";
  const waitMs = await wrongTokenLimit.take(networkOf(address));
  telemetry().metrics?.count("lightdesk_sign_in_refusals_total", { way: "token", reason: waitMs > 0 ? "limited" : "wrong" });
  if (waitMs > 0) return failed(rateLimited(waitMs, "Too many wrong tokens. Try again later."));
  log.warn({ address }, "token refused");
  return failed(refusal("UNAUTHORIZED", "This token is not valid. Create a new one in the console, under Settings, Tokens."));
}

/** The name that requests are counted under: a program that sends too many does not lock its member out of the browser. */
export function countedAs({ memberId, credential }: Viewer): string {
  return credential.kind === "token" ? `token ${credential.id}` : memberId;
}
