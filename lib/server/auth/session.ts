// Sessions behind the cookie, which contains only an id. A session is valid only with a row in the store.

import "server-only";
import { createHash, randomUUID } from "node:crypto";
import { userAgentFromString } from "next/server";
import { decode, type JWT, type JWTDecodeParams } from "next-auth/jwt";
import { createLru } from "@/lib/shared/lru";
import { type Composition, type Dependencies } from "../composition-type";
import { getSessionCookieName, readCookie } from "../cookies";
import { ADDRESS_HEADER } from "../limits/attempt-limit";
import { type Member } from "../store/people/members";
import { isUseOutdated, type Session } from "../store/people/sessions";

export type RequestHeaders = Pick<Headers, "get">;
export type LiveSession = { session: Session; member: Member };

const MAX_BROWSER_LENGTH = 60;

type SessionOptions = { memberId: string; version: number; method: string; confirmedAt?: number; id?: string };

/**
 * `method` is `password`, or the party that authenticated the member. `confirmedAt` is set if the identity was not proved just now.
 * With the id of an existing session, that session continues and is not new.
 */
export async function startSession(
  composition: Composition,
  { id = randomUUID(), ...fields }: SessionOptions,
  headers: RequestHeaders,
): Promise<{ id: string; isNew: boolean }> {
  const { store, env, now } = composition;
  const previousId = await readSessionId(composition, headers);
  if (previousId !== undefined) await store.sessions.end(previousId);
  const nowMs = now();
  const client = { browser: describeBrowser(headers), address: headers.get(ADDRESS_HEADER) ?? "" };
  const isNew = await store.sessions.create({ confirmedAt: nowMs, ...fields, id, ...client, createdAt: nowMs, usedAt: nowMs }, env.session);
  return { id, isNew };
}

export async function findSession(composition: Composition, id: string): Promise<LiveSession | undefined> {
  const liveSession = await composition.store.sessions.find(id);
  return liveSession && !liveSession.member.disabled && isLive(composition, liveSession.session) ? liveSession : undefined;
}

export function isLive({ env, now }: Dependencies<"env" | "now">, { createdAt, usedAt }: Session): boolean {
  return now() - createdAt < env.session.maxMs && now() - usedAt < env.session.idleMs;
}

/** A full disk must not lock anyone out: the last use is then not updated. */
export async function recordSessionUse(
  { store, now, log }: Dependencies<"store" | "now" | "log">,
  session: Session,
  headers: RequestHeaders,
): Promise<void> {
  if (!isUseOutdated(session, now())) return;
  try {
    await store.sessions.recordUse(session, { now: now(), address: headers.get(ADDRESS_HEADER) ?? undefined });
  } catch (err) {
    log.warn({ err }, "session use update failed");
  }
}

export async function confirmSession({ store, now }: Dependencies<"store" | "now">, id: string): Promise<void> {
  await store.sessions.confirm(id, now());
}

export async function endSession({ store }: Dependencies<"store">, token: JWT): Promise<void> {
  const id = getSessionId(token);
  if (id !== undefined) await store.sessions.end(id);
}

export function getSessionId(token: JWT): string | undefined {
  return typeof token.sid === "string" ? token.sid : undefined;
}

export async function readSessionId(composition: Composition, headers: RequestHeaders): Promise<string | undefined> {
  const token = await readSessionToken(composition, headers);
  return token ? getSessionId(token) : undefined;
}

/** Reads the session token from the cookie, even if the session has ended. */
export async function readSessionToken(
  { env, authSecret }: Dependencies<"env" | "authSecret">,
  headers: RequestHeaders,
): Promise<JWT | null> {
  const cookie = readCookie(headers.get("cookie"), getSessionCookieName(env));
  return cookie === undefined ? null : decodeWithCache({ token: cookie, secret: authSecret });
}

/** For next-auth. Null if the token is invalid or expired, or its session has ended. */
export async function readSession(composition: Composition, params: JWTDecodeParams): Promise<JWT | null> {
  const token = await decodeWithCache(params);
  const id = token ? getSessionId(token) : undefined;
  return token && id !== undefined && (await findSession(composition, id)) ? token : null;
}

export function describeBrowser(headers: RequestHeaders): string {
  const userAgent = headers.get("user-agent") ?? "";
  const { browser, os } = userAgentFromString(userAgent.slice(0, 300));
  const name = browser.name ?? /^[\w.-]+/.exec(userAgent)?.[0];
  return [name, os.name].filter(Boolean).join(" · ").slice(0, MAX_BROWSER_LENGTH);
}

/** Decrypted tokens by hash. Decrypting one takes longer than all store reads of a request. */
const decodedTokens = createLru<string, JWT>({ max: 1000 });

/** A token's content never changes. Callers check whether its session is still valid. */
async function decodeWithCache(params: JWTDecodeParams): Promise<JWT | null> {
  const { token = "", secret, salt = "" } = params;
  const cacheKey = createHash("sha256")
    .update(`${String(secret)} ${salt} ${token}`)
    .digest("base64");
  const cachedToken = decodedTokens.get(cacheKey);
  if (cachedToken && Number(cachedToken.exp) * 1000 > Date.now()) return { ...cachedToken };
  decodedTokens.delete(cacheKey);
  try {
    const decodedToken = await decode(params);
    if (decodedToken && typeof decodedToken.exp === "number") decodedTokens.set(cacheKey, { ...decodedToken });
    return decodedToken;
  } catch {
    return null;
  }
}
