// Whether the session of an open page is still valid, and otherwise why it ended.
// Guarantees: only a browser with the session's cookie gets the reason. A check is not a use: it never extends a session.

import "server-only";
import { type EndedSession, type SessionState } from "@/lib/contract/console";
import { roles } from "@/lib/contract/people/roles";
import { composition } from "../composition";
import { findSessionOf, readEmbedAddress } from "../embed/sessions";
import { readCookie } from "../read-cookie";
import { type Member } from "../store/people/members";
import { VOUCHED_HEADER } from "./page-header";
import { isRemoved } from "./removed";
import { sessionTokenIn } from "./session";
import { sessionCookieName } from "./session-cookie";
import { peekViewer, type SentHeaders } from "./viewer";

export async function readSessionState(sent: SentHeaders): Promise<SessionState> {
  const viewer = await peekViewer(sent);
  if (viewer) return { state: "live", memberId: viewer.memberId, role: viewer.role };
  return { state: "ended", ...(await whyEnded(sent)) };
}

async function whyEnded(sent: SentHeaders): Promise<EndedSession> {
  const { env, store } = composition();
  if (readEmbedAddress(sent)) return whyEmbeddedEnded(sent);
  const vouched = env.proxySignIn ? sent.get(VOUCHED_HEADER) : null;
  if (vouched !== null) {
    const email = vouched.trim().toLowerCase();
    const member = await store.members.getByEmail(email);
    if (member) return { cause: member.disabled ? "suspended" : "expired" };
    return { cause: (await isRemoved(email)) ? "removed" : "signed-out" };
  }
  const token = await sessionTokenIn(sent);
  if (!token) return { cause: readCookie(sent.get("cookie"), sessionCookieName(env)) === undefined ? "signed-out" : "expired" };
  const member = token.sub === undefined ? undefined : await store.members.get(token.sub);
  const noted = typeof token.sid === "string" ? await store.sessions.endCause(token.sid) : undefined;
  return causeOf(member, noted);
}

/** The member's current state comes first: a suspended member cannot sign in again, whatever ended the session. */
function causeOf(member: Member | undefined, noted: string | undefined): EndedSession {
  if (!member) return { cause: "removed" };
  if (member.disabled) return { cause: "suspended" };
  const [word, from] = noted?.split(" ") ?? [];
  const before = roles.find((role) => role === from);
  if (word === "role" && before) return { cause: "role", from: before, to: member.role };
  return { cause: word === "password" || word === "ended" ? word : word === undefined ? "expired" : "ended" };
}

async function whyEmbeddedEnded(sent: SentHeaders): Promise<EndedSession> {
  const { store, now } = composition();
  const session = await findSessionOf(sent);
  // The session ends with its host page and with its member.
  if (!session) return { cause: "ended" };
  if (session.expiresAt <= now()) return { cause: "expired" };
  const member = await store.members.get(session.memberId);
  if (member?.guestOf !== undefined) return { cause: "ended" };
  return causeOf(member, (await store.sessions.endCause(session.id)) ?? "ended");
}
