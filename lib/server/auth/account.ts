// A member's own account and sessions.

import "server-only";
import { type z } from "zod";
import { type accountChangeSchema, type EndedSession, type MemberView, type SessionState, type SessionView } from "@/lib/contract/console";
import { createFailure, createFieldFailure, type Failure } from "@/lib/contract/failure";
import { roles } from "@/lib/contract/members/roles";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Composition, type Dependencies } from "../composition-type";
import { getSessionCookieName, PROXY_EMAIL_HEADER, readCookie } from "../cookies";
import { findStoredSession, isEmbeddedRequest } from "../embed/sessions";
import { createRateLimitFailure } from "../limits/attempt-limit";
import { type Member } from "../store/people/members";
import { emailTakenFailure, toMemberView } from "./members";
import { hashPassword, validatePassword, verifyPassword } from "./passwords";
import { confirmSession, isLive, readSessionToken } from "./session";
import { canUsePassword } from "./sign-in";
import { canChange, type Context, peekViewer, type RequestHeaders } from "./viewer";

/** `address` is the client's address, for rate limiting. */
export async function changeAccount(
  context: Context,
  { name, email, password, currentPassword }: z.infer<typeof accountChangeSchema>,
  address: string,
): Promise<Result<MemberView, Failure>> {
  const { store, now } = context.composition;
  const { memberId, email: currentEmail } = context.viewer;
  if (email !== undefined && email.trim().toLowerCase() !== currentEmail && (await usesEmailForSignIn(context.composition)))
    return failed(fixedAddressFailure);
  const isEmailTaken = async () => {
    const addressOwner = email === undefined ? undefined : await store.members.getByEmail(email);
    return addressOwner !== undefined && addressOwner.id !== memberId;
  };
  let verifiedHash: string | undefined;
  if (email !== undefined || password !== undefined) {
    const result = await checkPassword(context, currentPassword ?? "", { field: "currentPassword", address });
    if (!result.ok) return result;
    verifiedHash = result.value;
  }
  // Checked first: a rejected change must not store a session end reason.
  if (await isEmailTaken()) return failed(emailTakenFailure);
  const passwordFailure = password === undefined ? undefined : await validatePassword(context.composition, password, email ?? currentEmail);
  if (passwordFailure) return failed(passwordFailure);
  const passwordHash = password === undefined ? undefined : await hashPassword(password);
  if (passwordHash !== undefined) await store.sessions.recordEndReasons(memberId, "password", now());
  const updatedMember = await store.members.changeAccount(memberId, { name, email, passwordHash, verifiedHash });
  if (updatedMember) return ok(toMemberView(updatedMember));
  return failed((await isEmailTaken()) ? emailTakenFailure : passwordReplacedFailure);
}

const passwordReplacedFailure = createFailure("PRECONDITION_FAILED", "Your password was changed in the meantime. Sign in again.");

/** True if sign-ins find members by email address. Changing to a colleague's address would then hijack the colleague's sign-ins. */
export async function usesEmailForSignIn({ env, store }: Dependencies<"env" | "store">): Promise<boolean> {
  const { proxySignIn, oidc } = env;
  if (proxySignIn !== undefined || oidc.some(({ linksByAddress }) => linksByAddress)) return true;
  // Host pages identify members by email address in their tickets.
  return (await store.embedHosts.list()).length > 0;
}

const fixedAddressMessage =
  "can't be changed here, because members are signed in by email address. Ask an admin to invite the new address.";
const fixedAddressFailure = createFieldFailure("email", fixedAddressMessage);

export async function listSessions({ composition, viewer: { memberId, credential } }: Context): Promise<SessionView[]> {
  const { store, env } = composition;
  const sessions = (await store.sessions.list(memberId)).filter((session) => isLive(composition, session));
  const getSortRank = ({ id }: { id: string }) => Number(id === credential.id);
  return sessions
    .sort((session, other) => getSortRank(other) - getSortRank(session))
    .map(({ id, browser, address, method: methodId, createdAt, usedAt }) => {
      const method = env.oidc.find((provider) => provider.id === methodId)?.label ?? methodId;
      return { id, browser, address, method, createdAt, usedAt, current: id === credential.id };
    });
}

export async function endOwnSession({ composition, viewer: { memberId } }: Context, id: string): Promise<string | undefined> {
  const endedSession = (await composition.store.sessions.list(memberId)).find((session) => session.id === id);
  if (!endedSession) return undefined;
  await endSessions(composition, memberId, [id]);
  return [endedSession.browser, endedSession.address].filter(Boolean).join(", ");
}

export async function endOtherSessions({ composition, viewer: { memberId, credential } }: Context): Promise<number> {
  const otherIds = (await composition.store.sessions.list(memberId)).map(({ id }) => id).filter((id) => id !== credential.id);
  await endSessions(composition, memberId, otherIds);
  return otherIds.length;
}

async function endSessions({ store, now }: Dependencies<"store" | "now">, memberId: string, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await store.sessions.recordEndReasons(memberId, "ended", now(), ids);
  for (const id of ids) await store.sessions.end(id);
}

/** Afterwards, the session counts as recently signed in. */
export async function confirmWithPassword(context: Context, password: string, address: string): Promise<Result<undefined, Failure>> {
  const result = await checkPassword(context, password, { field: "password", address });
  if (!result.ok) return result;
  await confirmSession(context.composition, context.viewer.credential.id);
  return ok(undefined);
}

/** Returns the hash of the member's password. */
async function checkPassword(
  { composition, viewer: { memberId, email } }: Context,
  password: string,
  { field, address }: { field: string; address: string },
): Promise<Result<string, Failure>> {
  const { store, signInLimits } = composition;
  const attempt = { email, address, isKnownDevice: true };
  const waitMs = await signInLimits.consume(attempt);
  if (waitMs > 0) return failed(createRateLimitFailure(waitMs));
  const member = await store.members.get(memberId);
  const isVerified = await verifyPassword(member?.passwordHash, password);
  if (!isVerified || member?.passwordHash === undefined || !canUsePassword(composition, member))
    return failed(createFieldFailure(field, "is not your current password"));
  await signInLimits.recordSuccess(attempt);
  return ok(member.passwordHash);
}

export async function readSessionState(composition: Composition, headers: RequestHeaders): Promise<SessionState> {
  const viewer = await peekViewer(composition, headers);
  if (viewer) return { state: "live", memberId: viewer.memberId, role: viewer.role, canChange: await canChange(composition) };
  return { state: "ended", ...(await readEndedSession(composition, headers)) };
}

async function readEndedSession(composition: Composition, headers: RequestHeaders): Promise<EndedSession> {
  const { env, store } = composition;
  if (isEmbeddedRequest(headers)) return readEndedEmbedSession(composition, headers);
  const proxyEmail = env.proxySignIn ? headers.get(PROXY_EMAIL_HEADER) : null;
  if (proxyEmail !== null) {
    const email = proxyEmail.trim().toLowerCase();
    const member = await store.members.getByEmail(email);
    if (member) return { cause: member.disabled ? "suspended" : "expired" };
    return { cause: (await store.identities.isRemoved(email)) ? "removed" : "signed-out" };
  }
  const token = await readSessionToken(composition, headers);
  if (!token) return { cause: readCookie(headers.get("cookie"), getSessionCookieName(env)) === undefined ? "signed-out" : "expired" };
  const member = token.sub === undefined ? undefined : await store.members.get(token.sub);
  const endCause = typeof token.sid === "string" ? await store.sessions.getEndCause(token.sid) : undefined;
  return toEndedSession(member, endCause);
}

/** The member's current state takes precedence: a suspended member cannot sign in again, however the session ended. */
function toEndedSession(member: Member | undefined, endCause: string | undefined): EndedSession {
  if (!member) return { cause: "removed" };
  if (member.disabled) return { cause: "suspended" };
  const [cause, roleText] = endCause?.split(" ") ?? [];
  const previousRole = roles.find((role) => role === roleText);
  if (cause === "role" && previousRole) return { cause: "role", from: previousRole, to: member.role };
  return { cause: cause === "password" || cause === "ended" ? cause : cause === undefined ? "expired" : "ended" };
}

async function readEndedEmbedSession(composition: Composition, headers: RequestHeaders): Promise<EndedSession> {
  const { store, now } = composition;
  const session = await findStoredSession(composition, headers);
  // An embedded session ends together with its host page or its member.
  if (!session) return { cause: "ended" };
  if (session.expiresAt <= now()) return { cause: "expired" };
  const member = await store.members.get(session.memberId);
  if (member?.guestOf !== undefined) return { cause: "ended" };
  return toEndedSession(member, (await store.sessions.getEndCause(session.id)) ?? "ended");
}
