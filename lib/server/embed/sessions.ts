// Embedded sessions. They start with a ticket from the host page and are identified by a cookie or bearer token.

import "server-only";
import { randomBytes } from "node:crypto";
import { type JWTPayload } from "jose";
import { type EmbedAppearance, type EmbedRefusal } from "@/lib/contract/embed/embed-pages";
import {
  CLOCK_SLACK_SECONDS,
  EMBED_SESSION_MS,
  type EmbedRole,
  type Ticket,
  TICKET_SECONDS,
  ticketSchema,
} from "@/lib/contract/embed/embedding";
import { getWeakerRole, hasRole, type Role, roles } from "@/lib/contract/members/roles";
import { EMBED_PATH_HEADER, type EmbedAddress, parseEmbedPath } from "@/lib/shared/console-paths";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Composition, type Dependencies } from "../composition-type";
import { formatEmbedCookieAttributes, getEmbedCookieName, getProbeCookieName, readCookie } from "../cookies";
import { type Env, getConsolePath, getConsoleUrl, removeBasePath } from "../env";
import { type EmbedHost, type EmbedSession, type NewEmbedSession } from "../store/embed";
import { type Member } from "../store/people/members";

/** The UI shows the first audience. The others are this machine's loopback addresses. */
export function getAudiences(env: Env, hostId: string): string[] {
  const loopbackUrls = ["127.0.0.1", "localhost"].map((name) => getConsoleUrl(env, `http://${name}:${env.port}`));
  return [...new Set([getConsoleUrl(env), ...loopbackUrls])].map((url) => `${url}/embed/${hostId}`);
}

type TicketDependencies = Dependencies<"env" | "now" | "log" | "hostKeys">;
type TicketRequest = { ticket: string; origin: string };

async function checkTicket(
  composition: TicketDependencies,
  host: EmbedHost,
  { ticket, origin }: TicketRequest,
): Promise<Result<Ticket, EmbedRefusal>> {
  const now = composition.now();
  let payload: JWTPayload;
  try {
    payload = await composition.hostKeys.verify(host, ticket, {
      audience: getAudiences(composition.env, host.id),
      clockTolerance: CLOCK_SLACK_SECONDS,
      currentDate: new Date(now),
      requiredClaims: ["iss", "sub", "jti", "iat", "exp"],
    });
  } catch (error) {
    composition.log.warn({ hostId: host.id, err: error }, "embed ticket refused");
    return failed(toEmbedRefusal(error));
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

function toEmbedRefusal(error: unknown): EmbedRefusal {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const claim = error instanceof Error && "claim" in error ? String(error.claim) : "";
  if (code === "KEYS_UNAVAILABLE") return "keys";
  if (code === "ERR_JWT_EXPIRED") return "expired";
  if (code === "ERR_JOSE_ALG_NOT_ALLOWED" || code === "ERR_JOSE_NOT_SUPPORTED") return "algorithm";
  if (code === "ERR_JWS_SIGNATURE_VERIFICATION_FAILED" || code === "ERR_JWKS_NO_MATCHING_KEY") return "signature";
  if (code === "ERR_JWT_CLAIM_VALIDATION_FAILED") return claim === "aud" ? "audience" : claim === "nbf" ? "early" : "claims";
  return "unreadable";
}

type HeaderSource = { get(name: string): string | null };
export type EmbeddedViewer = { session: EmbedSession; hostName: string; member: Member; role: Role };

const BEARER_PATTERN = /^Bearer (lde_[\w-]{43})$/;

export function readEmbedAddress(requestHeaders: HeaderSource): EmbedAddress | undefined {
  return parseEmbedPath(requestHeaders.get(EMBED_PATH_HEADER) ?? "");
}

/** Under the path of an embedded session, no other credential is valid. */
export function isEmbeddedRequest(requestHeaders: HeaderSource): boolean {
  return readEmbedAddress(requestHeaders) !== undefined;
}

/** The start page gets a ticket from the host page, then opens `returnPath`. */
export function getStartPath({ path }: EmbedAddress, returnPath: string | undefined): `/${string}` {
  return `${path}/start${returnPath === undefined ? "" : `?from=${encodeURIComponent(returnPath)}`}`;
}

/**
 * Returns the start page if a browser opens a file of an embedded page in a new tab, where the session is missing. The page explains what
 * to do, and redirects members who are signed in to the console to the file.
 */
export function findStartPathForTab(env: Env, { headers, url }: Request): string | undefined {
  const embed = readEmbedAddress(headers);
  if (!embed || headers.get("sec-fetch-dest") !== "document") return undefined;
  const { pathname, search } = new URL(url);
  return getConsolePath(env, getStartPath(embed, removeBasePath(env, pathname) + search));
}

/** True if the browser has returned the cookie of the start page. */
export function hasProbeCookie(env: Env, requestHeaders: HeaderSource): boolean {
  const embed = readEmbedAddress(requestHeaders);
  return embed !== undefined && readCookie(requestHeaders.get("cookie"), getProbeCookieName(embed.slot, env)) !== undefined;
}

/** The headers that store the token in a cookie, or undefined if the browser does not store cookies. */
export function storeTokenInCookie(env: Env, requestHeaders: HeaderSource, { slot }: EmbedSession, token: string): Headers | undefined {
  const [sessionCookieName, probeCookieName] = [getEmbedCookieName(slot, env), getProbeCookieName(slot, env)];
  if ([sessionCookieName, probeCookieName].every((name) => readCookie(requestHeaders.get("cookie"), name) === undefined)) return undefined;
  const headers = new Headers();
  headers.append("set-cookie", `${sessionCookieName}=${token}; Max-Age=${EMBED_SESSION_MS / 1000}; ${formatEmbedCookieAttributes(env)}`);
  headers.append("set-cookie", `${probeCookieName}=; Max-Age=0; ${formatEmbedCookieAttributes(env)}`);
  return headers;
}

export async function readEmbeddedSession(composition: Composition, requestHeaders: HeaderSource): Promise<EmbeddedViewer | undefined> {
  const session = await findStoredSession(composition, requestHeaders);
  return session && validateSession(composition, session);
}

/** Returns a stored session even if it has expired or lost its rights. */
export async function findStoredSession(composition: Composition, requestHeaders: HeaderSource): Promise<EmbedSession | undefined> {
  const embed = readEmbedAddress(requestHeaders);
  const token = embed && readToken(composition, requestHeaders, embed);
  const session = token === undefined ? undefined : await composition.store.embedSessions.find(token);
  return session && embed && session.hostId === embed.host && session.slot === embed.slot ? session : undefined;
}

export async function findEmbeddedSession(composition: Composition, sessionId: string): Promise<EmbeddedViewer | undefined> {
  const session = await composition.store.embedSessions.get(sessionId);
  return session && validateSession(composition, session);
}

async function validateSession({ store, now }: Dependencies<"store" | "now">, session: EmbedSession): Promise<EmbeddedViewer | undefined> {
  if (session.expiresAt <= now()) return undefined;
  const [host, member] = await Promise.all([store.embedHosts.get(session.hostId), store.members.get(session.memberId)]);
  if (!host || host.version !== session.hostVersion) return undefined;
  if (!member || member.sessionVersion !== session.memberVersion || !canUseHost(member, host)) return undefined;
  return { session, hostName: host.name, member, role: getEffectiveRole(session, member, session.pages) };
}

/** Browsers that do not store cookies send a bearer token instead. */
function readToken({ env }: Dependencies<"env">, requestHeaders: HeaderSource, { slot }: EmbedAddress): string | undefined {
  return (
    BEARER_PATTERN.exec(requestHeaders.get("authorization") ?? "")?.[1] ??
    readCookie(requestHeaders.get("cookie"), getEmbedCookieName(slot, env))
  );
}

type StartedSession = { token: string; session: EmbedSession; member: Member; isSame: boolean };

/** The reason of a failure is only for the log and the host's admins. */
export async function startEmbeddedSession(
  composition: Composition,
  ticketRequest: { ticket: string; origin: string },
  requestHeaders: HeaderSource,
): Promise<Result<StartedSession, EmbedRefusal | "host">> {
  const { store, now } = composition;
  const embed = readEmbedAddress(requestHeaders);
  const host = embed && (await store.embedHosts.get(embed.host));
  if (!host) return failed("host");
  const rejectTicket = async (reason: EmbedRefusal) => {
    // The ticket is rejected even if recording this fails.
    await store.embedHosts.recordRefusal(host.id, { at: now(), why: reason }).catch((err: unknown) => {
      composition.log.error({ hostId: host.id, err }, "ticket refusal write failed");
    });
    return failed(reason);
  };
  const ticket = await checkTicket(composition, host, ticketRequest);
  if (!ticket.ok) return rejectTicket(ticket.failure);
  const { jti, exp, connection = host.connection ?? undefined, pages = host.pages, theme, language } = ticket.value;
  // Removes a few old guests at a time, so that a new one does not wait for all of them.
  if (ticket.value.guest) await store.members.removeGuests({ now: now() });
  const member = await findOrCreateMember(composition, ticket.value, host);
  if (!member) return rejectTicket("member");
  if (!canUseHost(member, host)) return rejectTicket("suspended");
  // Never a personal connection: the ticket's signer can name any member and would reach that member's connections.
  if (connection !== undefined && !(await store.connections.getFor("", connection))) return rejectTicket("connection");
  // A rate limit bucket with one token, refilled well after the ticket has expired.
  const ticketBucket = { name: `embed ticket ${host.id} ${jti}`, burst: 1, refillMs: exp * 1000 + EMBED_SESSION_MS - now() };
  if ((await store.attempts.consume(ticketBucket, now())) > 0) return rejectTicket("replayed");
  const previousViewer = await readEmbeddedSession(composition, requestHeaders);
  const token = `lde_${randomBytes(32).toString("base64url")}`;
  const newSession: NewEmbedSession = {
    hostId: host.id,
    hostVersion: host.version,
    slot: embed.slot,
    origin: ticketRequest.origin,
    memberId: member.id,
    memberVersion: member.sessionVersion,
    role: getWeakerEmbedRole(host.role, ticket.value.role ?? (member.guestOf ? "viewer" : host.role)),
    connectionId: connection,
    pages,
    theme,
    language,
    expiresAt: now() + EMBED_SESSION_MS,
  };
  const isSame = previousViewer !== undefined && isSameSession(previousViewer.session, newSession);
  // If renewed, the old session expires by itself, so that requests that use it can finish.
  if (previousViewer && !isSame) await store.embedSessions.endFrame(previousViewer.session);
  const session = await store.embedSessions.create(token, newSession, now());
  return ok({ token, session, member, isSame });
}

/** True if an open page continues with its next ticket: same member, role, connection and pages. */
function isSameSession(session: NewEmbedSession, otherSession: NewEmbedSession): boolean {
  const toKey = ({ memberId, role, connectionId, pages }: NewEmbedSession) => [memberId, role, connectionId, ...pages].join(" ");
  return toKey(session) === toKey(otherSession);
}

async function findOrCreateMember(
  { store, now }: Dependencies<"store" | "now">,
  { sub, guest, name }: Ticket,
  host: EmbedHost,
): Promise<Member | undefined> {
  return guest ? store.members.upsertGuest(host.id, { sub, name: name ?? sub.slice(0, 100) }, now()) : store.members.getByEmail(sub);
}

function canUseHost(member: Member, host: EmbedHost): boolean {
  return member.guestOf === undefined ? !member.disabled : member.guestOf === host.id && host.guests;
}

/** At most operator for a session without the settings page, because higher roles only add settings. */
function getEffectiveRole({ role }: EmbedSession, member: Member, pages: EmbedSession["pages"]): Role {
  const effectiveRole = member.guestOf === undefined ? getWeakerEmbedRole(member.role, role) : role;
  return pages.includes("settings") ? effectiveRole : getWeakerEmbedRole(effectiveRole, "operator");
}

function getWeakerEmbedRole<R extends Role>(firstRole: Role, secondRole: R): EmbedRole {
  const weakerRole = getWeakerRole(firstRole, secondRole);
  // An unknown role, such as one of a later version, gets the fewest rights.
  return roles.find((role): role is EmbedRole => role === weakerRole && role !== "owner") ?? (weakerRole === "owner" ? "admin" : "runner");
}

export async function setEmbedAppearance({ store }: Dependencies<"store">, sessionId: string, appearance: EmbedAppearance): Promise<void> {
  await store.embedSessions.setAppearance(sessionId, appearance);
}

/** Returns the header that clears the session's cookie. */
export async function endEmbeddedSession(
  { store, env }: Dependencies<"store" | "env">,
  sessionId: string,
  requestHeaders: HeaderSource,
): Promise<Headers> {
  const { embedSessions } = store;
  const session = await embedSessions.get(sessionId);
  if (session) await embedSessions.endFrame(session);
  const embed = readEmbedAddress(requestHeaders);
  return new Headers(embed && { "set-cookie": `${getEmbedCookieName(embed.slot, env)}=; Max-Age=0; ${formatEmbedCookieAttributes(env)}` });
}
