// Sessions behind the cookie, which contains only an id. A session without a row in the store is never valid.

import "server-only";
import { createHash, randomUUID } from "node:crypto";
import { userAgentFromString } from "next/server";
import { decode, type JWT, type JWTDecodeParams } from "next-auth/jwt";
import { createLru } from "@/lib/shared/lru";
import { type Composition, type Parts } from "../composition-type";
import { readCookie, sessionCookieName } from "../cookies";
import { ADDRESS_HEADER } from "../limits/attempt-limit";
import { type Member } from "../store/people/members";
import { isUseUnwritten, type Session } from "../store/people/sessions";

export type RequestHeaders = Pick<Headers, "get">;
export type LiveSession = { session: Session; member: Member };

const MAX_BROWSER = 60;

type SessionOptions = { memberId: string; version: number; method: string; confirmedAt?: number; id?: string };

/**
 * `method`: `password`, or the party that vouches for the member. `confirmedAt`: set if the identity was not proved just now.
 * Without an `id` the session gets a new one; with the id of an existing session that one continues, and is not new.
 */
export async function beginSession(
  composition: Composition,
  { id = randomUUID(), ...who }: SessionOptions,
  headers: RequestHeaders,
): Promise<{ id: string; isNew: boolean }> {
  const { store, env, now } = composition;
  const before = await sessionIdIn(composition, headers);
  if (before !== undefined) await store.sessions.end(before);
  const at = now();
  const from = { browser: browserOf(headers), address: headers.get(ADDRESS_HEADER) ?? "" };
  const isNew = await store.sessions.begin({ confirmedAt: at, ...who, id, ...from, createdAt: at, usedAt: at }, env.session);
  return { id, isNew };
}

export async function findSession(composition: Composition, id: string): Promise<LiveSession | undefined> {
  const session = await composition.store.sessions.find(id);
  return session && !session.member.disabled && isLive(composition, session.session) ? session : undefined;
}

export function isLive({ env, now }: Parts<"env" | "now">, { createdAt, usedAt }: Session): boolean {
  return now() - createdAt < env.session.longestMs && now() - usedAt < env.session.idleMs;
}

/** A full disk must not lock anyone out, so the last use is then not updated. */
export async function noteUse(
  { store, now, log }: Parts<"store" | "now" | "log">,
  session: Session,
  headers: RequestHeaders,
): Promise<void> {
  if (!isUseUnwritten(session, now())) return;
  try {
    await store.sessions.noteUse(session, { now: now(), address: headers.get(ADDRESS_HEADER) ?? undefined });
  } catch (err) {
    log.warn({ err }, "session use update failed");
  }
}

export async function confirmSession({ store, now }: Parts<"store" | "now">, id: string): Promise<void> {
  await store.sessions.confirm(id, now());
}

export async function endSession({ store }: Parts<"store">, token: JWT): Promise<void> {
  const id = sessionIdOf(token);
  if (id !== undefined) await store.sessions.end(id);
}

export function sessionIdOf(token: JWT): string | undefined {
  return typeof token.sid === "string" ? token.sid : undefined;
}

export async function sessionIdIn(composition: Composition, headers: RequestHeaders): Promise<string | undefined> {
  const token = await sessionTokenIn(composition, headers);
  return token ? sessionIdOf(token) : undefined;
}

/** The session that the cookie names, even if it has ended. */
export async function sessionTokenIn({ env, authSecret }: Parts<"env" | "authSecret">, headers: RequestHeaders): Promise<JWT | null> {
  const cookie = readCookie(headers.get("cookie"), sessionCookieName(env));
  return cookie === undefined ? null : decoded({ token: cookie, secret: authSecret });
}

/** For next-auth. Null for a token that was changed, has expired, was made with another secret, or whose session has ended. */
export async function readSession(composition: Composition, params: JWTDecodeParams): Promise<JWT | null> {
  const token = await decoded(params);
  const id = token ? sessionIdOf(token) : undefined;
  return token && id !== undefined && (await findSession(composition, id)) ? token : null;
}

export function browserOf(headers: RequestHeaders): string {
  const userAgent = headers.get("user-agent") ?? "";
  const { browser, os } = userAgentFromString(userAgent.slice(0, 300));
  const name = browser.name ?? /^[\w.-]+/.exec(userAgent)?.[0];
  return [name, os.name].filter(Boolean).join(" · ").slice(0, MAX_BROWSER);
}

/** Decrypted tokens by their hash: decrypting one takes longer than all store reads of a request together. */
const opened = createLru<string, JWT>({ max: 1000 });

/** A token's content never changes; whether its session is still valid is checked each time. */
async function decoded(params: JWTDecodeParams): Promise<JWT | null> {
  const { token = "", secret, salt = "" } = params;
  const name = createHash("sha256")
    .update(`${String(secret)} ${salt} ${token}`)
    .digest("base64");
  const cachedSession = opened.get(name);
  if (cachedSession && Number(cachedSession.exp) * 1000 > Date.now()) return { ...cachedSession };
  opened.delete(name);
  try {
    const fresh = await decode(params);
    if (fresh && typeof fresh.exp === "number") opened.set(name, { ...fresh });
    return fresh;
  } catch {
    return null;
  }
}
