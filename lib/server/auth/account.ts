// A member's own account and sessions.

import "server-only";
import { type z } from "zod";
import { type accountChangeSchema, type EndedSession, type MemberView, type SessionState, type SessionView } from "@/lib/contract/console";
import { type Failure, invalidField } from "@/lib/contract/failure";
import { roles } from "@/lib/contract/people/roles";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Composition, type Parts } from "../composition-type";
import { readCookie, sessionCookieName, VOUCHED_HEADER } from "../cookies";
import { findStoredSession, isEmbeddedRequest } from "../embed/sessions";
import { rateLimited } from "../limits/attempt-limit";
import { type Member } from "../store/people/members";
import { addressTaken, toMemberView } from "./members";
import { hashPassword, validatePassword, verifyPassword } from "./passwords";
import { confirmSession, isLive, sessionTokenIn } from "./session";
import { mayUsePassword } from "./sign-in";
import { canChange, type Context, peekViewer, type SentHeaders } from "./viewer";

/** `address`: the client's address, for the limit of attempts. */
export async function changeAccount(
  context: Context,
  { name, email, password, currentPassword }: z.infer<typeof accountChangeSchema>,
  address: string,
): Promise<Result<MemberView, Failure>> {
  const { store, now } = context.composition;
  const { memberId, email: currentEmail } = context.viewer;
  if (email !== undefined && email.trim().toLowerCase() !== currentEmail && signsInByAddress(context.composition))
    return failed(addressIsFixed);
  if (email !== undefined || password !== undefined) {
    const refused = await checkPassword(context, currentPassword ?? "", { field: "currentPassword", address });
    if (refused) return failed(refused);
  }
  const weak = password === undefined ? undefined : await validatePassword(context.composition, password, email ?? currentEmail);
  if (weak) return failed(weak);
  const passwordHash = password === undefined ? undefined : await hashPassword(password);
  if (passwordHash !== undefined) await store.sessions.recordEndReasons(memberId, "password", now());
  const changed = await store.members.changeAccount(memberId, { name, email, passwordHash });
  return changed ? ok(toMemberView(changed)) : failed(addressTaken);
}

/** Whether sign-ins find members by address. Taking a colleague's address would then catch the colleague's sign-ins. */
export function signsInByAddress({ env }: Parts<"env">): boolean {
  const { proxySignIn, oidc } = env;
  return proxySignIn !== undefined || oidc.some(({ linksByAddress }) => linksByAddress);
}

const fixed = "cannot be changed here, because people are signed in by their address. Ask an admin to invite the new address.";
const addressIsFixed = invalidField("email", fixed);

export async function listSessions({ composition, viewer: { memberId, credential } }: Context): Promise<SessionView[]> {
  const { store, env } = composition;
  const sessions = (await store.sessions.list(memberId)).filter((session) => isLive(composition, session));
  const currentFirst = ({ id }: { id: string }) => Number(id === credential.id);
  return sessions
    .sort((session, other) => currentFirst(other) - currentFirst(session))
    .map(({ id, browser, address, method: by, createdAt, usedAt }) => {
      const method = env.oidc.find((provider) => provider.id === by)?.label ?? by;
      return { id, browser, address, method, createdAt, usedAt, current: id === credential.id };
    });
}

export async function endOwnSession({ composition, viewer: { memberId } }: Context, id: string): Promise<string | undefined> {
  const own = (await composition.store.sessions.list(memberId)).find((session) => session.id === id);
  if (!own) return undefined;
  await endAll(composition, memberId, [id]);
  return [own.browser, own.address].filter(Boolean).join(", ");
}

export async function endOtherSessions({ composition, viewer: { memberId, credential } }: Context): Promise<number> {
  const others = (await composition.store.sessions.list(memberId)).map(({ id }) => id).filter((id) => id !== credential.id);
  await endAll(composition, memberId, others);
  return others.length;
}

async function endAll({ store, now }: Parts<"store" | "now">, memberId: string, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await store.sessions.recordEndReasons(memberId, "ended", now(), ids);
  for (const id of ids) await store.sessions.end(id);
}

/** Afterwards the session counts as newly signed in. */
export async function confirmWithPassword(context: Context, password: string, address: string): Promise<Result<undefined, Failure>> {
  const refused = await checkPassword(context, password, { field: "password", address });
  if (refused) return failed(refused);
  await confirmSession(context.composition, context.viewer.credential.id);
  return ok(undefined);
}

async function checkPassword(
  { composition, viewer: { memberId, email } }: Context,
  password: string,
  { field, address }: { field: string; address: string },
): Promise<Failure | undefined> {
  const { store, signInLimits } = composition;
  const attempt = { email, address, isKnown: true };
  const waitMs = await signInLimits.take(attempt);
  if (waitMs > 0) return rateLimited(waitMs);
  const member = await store.members.get(memberId);
  if ((await verifyPassword(member?.passwordHash, password)) && member && mayUsePassword(composition, member))
    return void (await signInLimits.succeeded(attempt));
  return invalidField(field, "is not your current password");
}

export async function readSessionState(composition: Composition, headers: SentHeaders): Promise<SessionState> {
  const viewer = await peekViewer(composition, headers);
  if (viewer) return { state: "live", memberId: viewer.memberId, role: viewer.role, canChange: await canChange(composition) };
  return { state: "ended", ...(await endedSessionReason(composition, headers)) };
}

async function endedSessionReason(composition: Composition, headers: SentHeaders): Promise<EndedSession> {
  const { env, store } = composition;
  if (isEmbeddedRequest(headers)) return endedEmbedReason(composition, headers);
  const vouched = env.proxySignIn ? headers.get(VOUCHED_HEADER) : null;
  if (vouched !== null) {
    const email = vouched.trim().toLowerCase();
    const member = await store.members.getByEmail(email);
    if (member) return { cause: member.disabled ? "suspended" : "expired" };
    return { cause: (await store.identities.isRemoved(email)) ? "removed" : "signed-out" };
  }
  const token = await sessionTokenIn(composition, headers);
  if (!token) return { cause: readCookie(headers.get("cookie"), sessionCookieName(env)) === undefined ? "signed-out" : "expired" };
  const member = token.sub === undefined ? undefined : await store.members.get(token.sub);
  const endCause = typeof token.sid === "string" ? await store.sessions.endCause(token.sid) : undefined;
  return causeOf(member, endCause);
}

/** The member's current state takes precedence: a suspended member cannot sign in again, however the session ended. */
function causeOf(member: Member | undefined, endCause: string | undefined): EndedSession {
  if (!member) return { cause: "removed" };
  if (member.disabled) return { cause: "suspended" };
  const [word, from] = endCause?.split(" ") ?? [];
  const before = roles.find((role) => role === from);
  if (word === "role" && before) return { cause: "role", from: before, to: member.role };
  return { cause: word === "password" || word === "ended" ? word : word === undefined ? "expired" : "ended" };
}

async function endedEmbedReason(composition: Composition, headers: SentHeaders): Promise<EndedSession> {
  const { store, now } = composition;
  const session = await findStoredSession(composition, headers);
  // The session ends with its host page and with its member.
  if (!session) return { cause: "ended" };
  if (session.expiresAt <= now()) return { cause: "expired" };
  const member = await store.members.get(session.memberId);
  if (member?.guestOf !== undefined) return { cause: "ended" };
  return causeOf(member, (await store.sessions.endCause(session.id)) ?? "ended");
}
