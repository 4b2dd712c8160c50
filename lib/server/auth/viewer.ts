// Who is asking, with which role and scope: read from the request and checked against the store at each request.
// Guarantees: the one place that turns a credential into a viewer; a suspended or removed member, a session older than the last role
// change, and a session that was signed out are rejected at once.
// Must never: trust a role inside a credential; credentials contain none.

import "server-only";
import { type IncomingMessage } from "node:http";
import { headers } from "next/headers";
import { notFound, redirect } from "next/navigation";
import { type ReadOnlyView } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { hasRole, type Role } from "@/lib/contract/people/roles";
import { embedAddressOf } from "@/lib/shared/console-paths";
import { networkOf } from "@/lib/shared/ip-address";
import { failed, ok, type Result } from "@/lib/shared/result";
import { telemetry } from "@/lib/shared/telemetry";
import { composition } from "../composition";
import { PAGE_HEADER, VOUCHED_HEADER } from "../cookies";
import { readEmbedAddress } from "../embed/sessions";
import { ADDRESS_HEADER } from "../limits/attempt-limit";
import {
  type EmbedCredential,
  givenToken,
  mayShow,
  type TokenCredential,
  viewerByEmbedding,
  viewerByEmbeddingId,
  viewerByToken,
  viewerByTokenId,
} from "./credentials";
import { readReadOnly } from "./read-only";
import { findSession, type Live, noteUse, sessionIdIn } from "./session";
import { liveByProxy } from "./vouched";

/** `method`: `password`, or the party that vouched for the member. `confirmedAt`: when the identity was last proved. */
type SessionCredential = { kind: "session"; id: string; method: string; confirmedAt: number };
/** Has its maker's rights, but only for what was shared. No request brings it; lib/server/shares makes it. */
type ShareCredential = { kind: "share"; id: string };
/** How they were let in: enough to look it up again. */
export type Credential = SessionCredential | TokenCredential | ShareCredential | EmbedCredential;
/** Narrows the role: ids of connections and names of operations; undefined means all that the role allows. */
type Scope = { connections?: readonly string[]; operations?: readonly string[] };
export type Viewer = { memberId: string; name: string; email: string; role: Role; credential: Credential; scope: Scope };
/** `can`: whether to offer an act that needs a role, to the viewer's role or the given one; never while the console is read-only. */
type PageViewer = Viewer & { readOnly: ReadOnlyView | undefined; can: (needed: Role, role?: Role) => boolean };
/** Headers of a request: `Headers`, or an object like them. */
export type SentHeaders = { get(name: string): string | null };

const sessionEnded: Failure = { code: "UNAUTHORIZED", message: "Your session has ended. Sign in again.", status: 401 };

export async function readViewer(sent: SentHeaders): Promise<Viewer | undefined> {
  const found = await findViewer(sent);
  if (found?.live) await noteUse(found.live.session, sent);
  return found?.viewer;
}

/** Does not count as a use of the session. */
export async function peekViewer(sent: SentHeaders): Promise<Viewer | undefined> {
  return (await findViewer(sent))?.viewer;
}

async function findViewer(sent: SentHeaders): Promise<{ viewer: Viewer | undefined; live?: Live } | undefined> {
  await composition().ready;
  // Below an embedded session's address only that session counts, whatever else the browser sends.
  if (readEmbedAddress(sent)) return { viewer: await viewerByEmbedding(sent) };
  const given = givenToken(sent);
  // Cookies are ignored: a token must not gain rights because a cookie comes along.
  if (given !== undefined) return given === "two" ? undefined : { viewer: await viewerByToken(given.token) };
  const live = await liveBy(sent);
  return live && { viewer: viewerOf(live), live };
}

/** The proxy's header takes precedence over a cookie, which may belong to the person who used this browser before. */
async function liveBy(sent: SentHeaders): Promise<Live | undefined> {
  const { proxySignIn } = composition().env;
  const vouched = sent.get(VOUCHED_HEADER);
  if (proxySignIn && vouched !== null) return liveByProxy(vouched, proxySignIn, sent);
  const id = await sessionIdIn(sent);
  return id === undefined ? undefined : findSession(id);
}

function viewerOf({ session, member }: Live): Viewer {
  const credential = { kind: "session", id: session.id, method: session.method, confirmedAt: session.confirmedAt } as const;
  return { memberId: member.id, name: member.name, email: member.email, role: member.role, credential, scope: {} };
}

/** Why a viewer may not continue: access has ended, or the role was lowered. Checked at each step of long work. */
export async function lostRights({ memberId, role, credential }: Viewer): Promise<Failure | undefined> {
  if (credential.kind === "embed") return (await viewerByEmbeddingId(credential.id)) ? undefined : sessionEnded;
  const member = await composition().store.members.get(memberId);
  if (member && !member.disabled && !hasRole(member.role, role))
    return { code: "ROLE_TOO_LOW", message: "Your role has changed.", status: 403 };
  return (await isLive(credential)) ? undefined : endOf(credential);
}

async function isLive({ kind, id }: Credential): Promise<boolean> {
  const { store, now } = composition();
  if (kind === "share") return store.shares.isOpen(id, now());
  return (await (kind === "token" ? viewerByTokenId(id) : findSession(id))) !== undefined;
}

export function endOf({ kind }: Credential): Failure {
  return kind === "token" ? { code: "UNAUTHORIZED", message: "The token is no longer valid.", status: 401 } : sessionEnded;
}

/** Where a proxy signs out the members it signed in; null if it does not say, undefined for all other members. */
export function signOutAt({ credential }: Viewer): string | null | undefined {
  const isByProxy = credential.kind === "session" && credential.method === "proxy";
  return isByProxy ? (composition().env.proxySignIn?.signOutUrl ?? null) : undefined;
}

/** Pages open to members who only run apps; every other page redirects them to the apps. */
const runnerPages = /^\/(apps|settings\/(account|tokens))([/?#]|$)/;

/**
 * For pages and, with `isFrame`, for the frame around them; `isOwn`: never inside a host page. For people, not tokens. Without a viewer it redirects: to /set-up while there
 * is no owner, otherwise to /sign-in, which leads back to the page.
 */
export async function requireViewer({ isFrame = false, isOwn = false } = {}): Promise<PageViewer> {
  const sent = await headers();
  const viewer = await readViewer(sent);
  const page = sent.get(PAGE_HEADER) ?? "";
  const embed = readEmbedAddress(sent);
  // That page asks the host page for a ticket, and then leads back.
  if (embed && !viewer) return redirect(`${embed.path}/start?from=${encodeURIComponent(embedAddressOf(page)?.rest ?? "")}`);
  if (viewer && viewer.credential.kind !== "token") {
    if (!isFrame && !hasRole(viewer.role, "viewer") && !runnerPages.test(embedAddressOf(page)?.rest ?? page))
      return redirect(`${embed?.path ?? ""}/apps`);
    if (!isFrame && viewer.credential.kind === "embed" && (isOwn || !mayShow(viewer.credential, page))) return notFound();
    const readOnly = await readReadOnly();
    return { ...viewer, readOnly, can: (needed, role = viewer.role) => !readOnly && hasRole(role, needed) };
  }
  // A token never opens a page: with it, the sign-in would lead back here.
  if (viewer) return notFound();
  if (!(await composition().store.members.hasOwner())) return redirect("/set-up");
  return redirect(page ? `/sign-in?callbackUrl=${encodeURIComponent(page)}` : "/sign-in");
}

export async function maySeeReasons({ headers }: IncomingMessage): Promise<boolean> {
  // Without a cookie, answer at once: reading a viewer waits for the start, and a load balancer needs its answer earlier.
  if (headers.cookie === undefined) return false;
  const viewer = await readViewer({ get: (name) => (name === "cookie" ? (headers.cookie ?? null) : null) });
  return viewer !== undefined && hasRole(viewer.role, "admin");
}

export async function admit(sent: SentHeaders): Promise<Result<Viewer, Failure>> {
  const viewer = await readViewer(sent);
  if (viewer) return ok(viewer);
  const sentToken = givenToken(sent);
  if (sentToken === undefined) return failed({ code: "UNAUTHORIZED", message: "Sign in first.", status: 401 });
  if (sentToken === "two") return failed({ code: "BAD_REQUEST", message: "The request has two different tokens. Send one.", status: 400 });
  const { wrongTokenLimit, log } = composition();
  const address = sent.get(ADDRESS_HEADER) ?? "unknown";
  const waitMs = await wrongTokenLimit.take(networkOf(address));
  telemetry().metrics?.count("lightdesk_sign_in_refusals_total", { way: "token", reason: waitMs > 0 ? "limited" : "wrong" });
  if (waitMs > 0)
    return failed({ code: "RATE_LIMITED", message: "Too many wrong tokens. Try again later.", status: 429, retryAfterMs: waitMs });
  log.warn({ address }, "a token was refused");
  return failed({
    code: "UNAUTHORIZED",
    message: "This token is not valid here. Make a new one in the console, under Settings, Tokens.",
    status: 401,
  });
}

/** The name that requests are counted under: a program that sends too many does not lock its member out of the browser. */
export function countedAs({ memberId, credential }: Viewer): string {
  return credential.kind === "token" ? `token ${credential.id}` : memberId;
}
