// The session's token: read, and ended before its time.
// Guarantees: a session that was signed out is none, whichever of its cookies comes back; renewing a cookie keeps the session's id.

import "server-only";
import { createHash } from "node:crypto";
import { decode, type JWT, type JWTDecodeParams } from "next-auth/jwt";
import { composition } from "../composition";
import { SESSION_SECONDS } from "./session-cookie";

/** Clocks of two processes may differ a little. */
const SLACK_MS = 5 * 60_000;

/** A token's own id changes whenever the cookie is renewed; the session's is carried along. */
export function sessionIdOf(token: JWT): string | undefined {
  if (typeof token.sid === "string") return token.sid;
  return typeof token.jti === "string" ? token.jti : undefined;
}

/** Null for a token that was changed, has expired, was made with another secret, or whose session has ended. */
export async function readSession(params: JWTDecodeParams): Promise<JWT | null> {
  const token = await decoded(params);
  const id = token ? sessionIdOf(token) : undefined;
  if (!token || id === undefined) return null;
  return (await composition().store.endedSessions.has(id)) ? null : token;
}

export async function endSession(token: JWT): Promise<void> {
  const { store, now } = composition();
  const id = sessionIdOf(token);
  if (id !== undefined) await store.endedSessions.end(id, { now: now(), expiresAt: now() + SESSION_SECONDS * 1000 + SLACK_MS });
}

/** Tokens that were opened before, by their hash: to open one takes longer than all that is asked of the store for a request. */
const opened = new Map<string, JWT>();
const MOST_OPENED = 1000;

/** What a token says never changes; whether its session is still valid is asked each time. */
async function decoded(params: JWTDecodeParams): Promise<JWT | null> {
  const { token = "", secret, salt = "" } = params;
  const name = createHash("sha256")
    .update(`${String(secret)} ${salt} ${token}`)
    .digest("base64");
  const known = opened.get(name);
  if (known && Number(known.exp) * 1000 > Date.now()) return { ...known };
  opened.delete(name);
  try {
    const fresh = await decode(params);
    if (fresh && opened.size >= MOST_OPENED) opened.clear();
    if (fresh && typeof fresh.exp === "number") opened.set(name, { ...fresh });
    return fresh;
  } catch {
    return null;
  }
}
