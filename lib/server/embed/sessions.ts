// Embedded sessions: started with a host's ticket, identified by cookie, styled by the host.

import "server-only";
import { randomBytes } from "node:crypto";
import { type JWTPayload } from "jose";
import { type EmbedLook, type EmbedRefusal } from "@/lib/contract/embed/embed-pages";
import {
  CLOCK_SLACK_SECONDS,
  EMBED_SESSION_MS,
  type EmbedRole,
  type Ticket,
  TICKET_SECONDS,
  ticketSchema,
} from "@/lib/contract/embed/embedding";
import { hasRole, type Role, roles, weaker } from "@/lib/contract/people/roles";
import { EMBED_PATH_HEADER, type EmbedAddress, embedAddressOf } from "@/lib/shared/console-paths";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Composition, type Parts } from "../composition-type";
import { embedCookie, embedCookieRules, probeCookie, readCookie } from "../cookies";
import { consolePath, consoleUrl, type Env, pathInConsole } from "../env";
import { type EmbedHost } from "../store/embed-hosts";
import { type EmbedSession, type NewEmbedSession } from "../store/people/embed-sessions";
import { type Member } from "../store/people/members";

/** The first one is shown to people; without a public address this machine also has two more names. */
export function audiencesOf(env: Env, hostId: string): string[] {
  const own = ["127.0.0.1", "localhost"].map((name) => consoleUrl(env, `http://${name}:${env.port}`));
  return [...new Set([consoleUrl(env), ...own])].map((address) => `${address}/embed/${hostId}`);
}

type Console = Parts<"env" | "now" | "log" | "hostKeys">;
type TicketRequest = { ticket: string; origin: string };

async function checkTicket(
  composition: Console,
  host: EmbedHost,
  { ticket, origin }: TicketRequest,
): Promise<Result<Ticket, EmbedRefusal>> {
  const now = composition.now();
  let payload: JWTPayload;
  try {
    payload = await composition.hostKeys.verify(host, ticket, {
      audience: audiencesOf(composition.env, host.id),
      clockTolerance: CLOCK_SLACK_SECONDS,
      currentDate: new Date(now),
      requiredClaims: ["iss", "sub", "jti", "iat", "exp"],
    });
  } catch (error) {
    composition.log.warn({ hostId: host.id, err: error }, "a ticket was not taken");
    return failed(refusalOf(error));
  }
  const parsed = ticketSchema.safeParse(payload);
  if (!parsed.success) return failed("claims");
  const { iss, iat, exp, role, pages, connection } = parsed.data;
  if (exp - iat > TICKET_SECONDS) return failed("lifetime");
  if (iat * 1000 > now + CLOCK_SLACK_SECONDS * 1000) return failed("early");
  if (iss !== origin || !host.origins.includes(origin)) return failed("origin");
  if (role !== undefined && !hasRole(host.role, role)) return failed("role");
  if (pages?.some((page) => !host.pages.includes(page))) return failed("pages");
  if (connection !== undefined && host.connection !== null && connection !== host.connection) return failed("connection");
  if (parsed.data.guest && !host.guests) return failed("guests");
  return ok(parsed.data);
}

function refusalOf(error: unknown): EmbedRefusal {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const claim = error instanceof Error && "claim" in error ? String(error.claim) : "";
  if (code === "KEYS_AWAY") return "keys";
  if (code === "ERR_JWT_EXPIRED") return "expired";
  if (code === "ERR_JOSE_ALG_NOT_ALLOWED" || code === "ERR_JOSE_NOT_SUPPORTED") return "algorithm";
  if (code === "ERR_JWS_SIGNATURE_VERIFICATION_FAILED" || code === "ERR_JWKS_NO_MATCHING_KEY") return "signature";
  if (code === "ERR_JWT_CLAIM_VALIDATION_FAILED") return claim === "aud" ? "audience" : claim === "nbf" ? "early" : "claims";
  return "unreadable";
}

type Sent = { get(name: string): string | null };
export type Embedded = { session: EmbedSession; hostName: string; member: Member; role: Role };

const BEARER = /^Bearer (lde_[\w-]{43})$/;

export function readEmbedAddress(sent: Sent): EmbedAddress | undefined {
  return embedAddressOf(sent.get(EMBED_PATH_HEADER) ?? "");
}

/** Below the address of an embedded session, only that session counts. */
export function isInEmbed(sent: Sent): boolean {
  return readEmbedAddress(sent) !== undefined;
}

/** The page that gets a ticket from the host page, then opens `from`. */
export function startPath({ path }: EmbedAddress, from: string | undefined): `/${string}` {
  return `${path}/start${from === undefined ? "" : `?from=${encodeURIComponent(from)}`}`;
}

/**
 * The start page for a file of an embedded page that a browser opens in its own tab, where the page's session is missing. It says what to do
 * there, and redirects members who are signed in to the console itself to the file.
 */
export function startAddressOfTab(env: Env, { headers, url }: Request): string | undefined {
  const embed = readEmbedAddress(headers);
  if (!embed || headers.get("sec-fetch-dest") !== "document") return undefined;
  const { pathname, search } = new URL(url);
  return consolePath(env, startPath(embed, pathInConsole(env, pathname) + search));
}

/** True if the browser has returned the cookie of the start page. */
export function hasProbeCookie(env: Env, sent: Sent): boolean {
  const embed = readEmbedAddress(sent);
  return embed !== undefined && readCookie(sent.get("cookie"), probeCookie(embed.slot, env)) !== undefined;
}

/** The headers that store the token in a cookie; undefined for a browser that keeps none. */
export function storeTokenInCookie(env: Env, sent: Sent, { slot }: EmbedSession, token: string): Headers | undefined {
  const [own, probe] = [embedCookie(slot, env), probeCookie(slot, env)];
  if ([own, probe].every((name) => readCookie(sent.get("cookie"), name) === undefined)) return undefined;
  const headers = new Headers();
  headers.append("set-cookie", `${own}=${token}; Max-Age=${EMBED_SESSION_MS / 1000}; ${embedCookieRules(env)}`);
  headers.append("set-cookie", `${probe}=; Max-Age=0; ${embedCookieRules(env)}`);
  return headers;
}

export async function readEmbedded(composition: Composition, sent: Sent): Promise<Embedded | undefined> {
  const session = await findSessionOf(composition, sent);
  return session && whileValid(composition, session);
}

/** Returns a stored session even if it has expired or lost its rights. */
export async function findSessionOf(composition: Composition, sent: Sent): Promise<EmbedSession | undefined> {
  const embed = readEmbedAddress(sent);
  const token = embed && tokenOf(composition, sent, embed);
  const session = token === undefined ? undefined : await composition.store.embedSessions.find(token);
  return session && embed && session.hostId === embed.host && session.slot === embed.slot ? session : undefined;
}

export async function findEmbedded(composition: Composition, sessionId: string): Promise<Embedded | undefined> {
  const session = await composition.store.embedSessions.get(sessionId);
  return session && whileValid(composition, session);
}

async function whileValid({ store, now }: Parts<"store" | "now">, session: EmbedSession): Promise<Embedded | undefined> {
  if (session.expiresAt <= now()) return undefined;
  const [host, member] = await Promise.all([store.embedHosts.get(session.hostId), store.members.get(session.memberId)]);
  if (!host || host.version !== session.hostVersion) return undefined;
  if (!member || member.sessionVersion !== session.memberVersion || !mayEnter(member, host)) return undefined;
  return { session, hostName: host.name, member, role: roleOf(session, member, session.pages) };
}

/** Bearers are for browsers that keep no cookies; both are equivalent. */
function tokenOf({ env }: Parts<"env">, sent: Sent, { slot }: EmbedAddress): string | undefined {
  return BEARER.exec(sent.get("authorization") ?? "")?.[1] ?? readCookie(sent.get("cookie"), embedCookie(slot, env));
}

type Begun = { token: string; session: EmbedSession; member: Member; isSame: boolean };

/** The reason of a refusal is for the log and for the admins of the host. */
export async function beginEmbedded(
  composition: Composition,
  given: { ticket: string; origin: string },
  sent: Sent,
): Promise<Result<Begun, EmbedRefusal | "host">> {
  const { store, now } = composition;
  const embed = readEmbedAddress(sent);
  const host = embed && (await store.embedHosts.get(embed.host));
  if (!host) return failed("host");
  const refuse = async (why: EmbedRefusal) => {
    // Refused even if this cannot be stored.
    await store.embedHosts.noteRefusal(host.id, { at: now(), why }).catch((err: unknown) => {
      composition.log.error({ hostId: host.id, err }, "the refusal of a ticket could not be noted");
    });
    return failed(why);
  };
  const ticket = await checkTicket(composition, host, given);
  if (!ticket.ok) return refuse(ticket.failure);
  const { jti, exp, connection = host.connection ?? undefined, pages = host.pages, theme, language } = ticket.value;
  // A few at a time, so that a new visitor does not wait for the removal of many old guests.
  if (ticket.value.guest) await store.members.removeGuests({ now: now() });
  const member = await personOf(composition, ticket.value, host);
  if (!member) return refuse("member");
  if (!mayEnter(member, host)) return refuse("suspended");
  // Not a member's own: the signer of tickets could name any member, and would reach that member's connections.
  if (connection !== undefined && !(await store.connections.getFor("", connection))) return refuse("connection");
  if (!(await store.embedHosts.takeTicket(host.id, jti, { now: now(), expiresAt: exp * 1000 + EMBED_SESSION_MS })))
    return refuse("replayed");
  const before = await readEmbedded(composition, sent);
  const token = `lde_${randomBytes(32).toString("base64url")}`;
  const asked: NewEmbedSession = {
    hostId: host.id,
    hostVersion: host.version,
    slot: embed.slot,
    origin: given.origin,
    memberId: member.id,
    memberVersion: member.sessionVersion,
    role: least(host.role, ticket.value.role ?? (member.guestOf ? "viewer" : host.role)),
    connectionId: connection,
    pages,
    theme,
    language,
    expiresAt: now() + EMBED_SESSION_MS,
  };
  const isSame = before !== undefined && isSameSession(before.session, asked);
  // A renewed session is left to expire: requests that use the old one can finish.
  if (before && !isSame) await store.embedSessions.endFrame(before.session);
  const session = await store.embedSessions.begin(token, asked, now());
  return ok({ token, session, member, isSame });
}

/** For an open page: the next ticket of the same person for the same things continues the session. */
function isSameSession(one: NewEmbedSession, other: NewEmbedSession): boolean {
  const keyOf = ({ memberId, role, connectionId, pages }: NewEmbedSession) => [memberId, role, connectionId, ...pages].join(" ");
  return keyOf(one) === keyOf(other);
}

async function personOf(
  { store, now }: Parts<"store" | "now">,
  { sub, guest, name }: Ticket,
  host: EmbedHost,
): Promise<Member | undefined> {
  return guest ? store.members.guest(host.id, { sub, name: name ?? sub.slice(0, 100) }, now()) : store.members.getByEmail(sub);
}

function mayEnter(member: Member, host: EmbedHost): boolean {
  return member.guestOf === undefined ? !member.disabled : member.guestOf === host.id && host.guests;
}

/** A session without the settings page gets at most operator: what higher roles can do is only in the settings. */
function roleOf({ role }: EmbedSession, member: Member, pages: EmbedSession["pages"]): Role {
  const given = member.guestOf === undefined ? least(member.role, role) : role;
  return pages.includes("settings") ? given : least(given, "operator");
}

function least<R extends Role>(one: Role, other: R): EmbedRole {
  const lower = weaker(one, other);
  // An unknown role, for example of a later version, gives the least rights.
  return roles.find((role): role is EmbedRole => role === lower && role !== "owner") ?? (lower === "owner" ? "admin" : "runner");
}

export async function setEmbedLook({ store }: Parts<"store">, sessionId: string, look: EmbedLook): Promise<void> {
  await store.embedSessions.setLook(sessionId, look);
}

/** Answers the header that removes its cookie. */
export async function endEmbedded({ store, env }: Parts<"store" | "env">, sessionId: string, sent: Sent): Promise<Headers> {
  const { embedSessions } = store;
  const session = await embedSessions.get(sessionId);
  if (session) await embedSessions.endFrame(session);
  const embed = readEmbedAddress(sent);
  return new Headers(embed && { "set-cookie": `${embedCookie(embed.slot, env)}=; Max-Age=0; ${embedCookieRules(env)}` });
}
