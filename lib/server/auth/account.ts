// A member's own account: name, address, password, sessions, and the check that it is really the member who asks.
// Guarantees: changing address or password needs the current password, and attempts count against the sign-in limit; a new password ends
// every session, including this one. If members are found by their address alone, they cannot change it.
// Must never: touch another member than the one who asks.

import "server-only";
import { type z } from "zod";
import { type accountChangeSchema, type MemberView, type SessionView } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { failed, ok, type Result } from "@/lib/shared/result";
import { composition } from "../composition";
import { taken } from "./invitations";
import { toMemberView } from "./members";
import { hashPassword, judgePassword, verifyPassword } from "./passwords";
import { confirmSession, isLive } from "./session";
import { mayUsePassword } from "./sign-in";
import { type Viewer } from "./viewer";

/** `address`: the client's address, for the limit of attempts. */
export async function changeAccount(
  viewer: Viewer,
  { name, email, password, currentPassword }: z.infer<typeof accountChangeSchema>,
  address: string,
): Promise<Result<MemberView, Failure>> {
  const { store, now } = composition();
  const { memberId, email: known } = viewer;
  if (email !== undefined && email.trim().toLowerCase() !== known && leadsByAddress()) return failed(addressIsFixed);
  if (email !== undefined || password !== undefined) {
    const refused = await checkPassword(viewer, currentPassword ?? "", { field: "currentPassword", address });
    if (refused) return failed(refused);
  }
  const weak = password === undefined ? undefined : await judgePassword(password, email ?? known);
  if (weak) return failed(weak);
  const passwordHash = password === undefined ? undefined : await hashPassword(password);
  if (passwordHash !== undefined) await store.sessions.recordEndReasons(memberId, "password", now());
  const changed = await store.members.changeAccount(memberId, { name, email, passwordHash });
  return changed ? ok(toMemberView(changed)) : failed(taken);
}

/** Whether sign-ins find members by address. Taking a colleague's address would then catch the colleague's sign-ins. */
export function leadsByAddress(): boolean {
  const { proxySignIn, oidc } = composition().env;
  return proxySignIn !== undefined || oidc.some(({ linksByAddress }) => linksByAddress);
}

const fixed = "cannot be changed here, because people are signed in by their address. Ask an admin to invite the new address.";
const addressIsFixed: Failure = {
  code: "INVALID_BODY",
  message: `email: ${fixed}`,
  status: 400,
  details: [{ path: "email", message: fixed }],
};

/** Sessions that are still valid: the one that asks first, then the last used. */
export async function listSessions({ memberId, credential }: Viewer): Promise<SessionView[]> {
  const { store, env } = composition();
  const sessions = (await store.sessions.list(memberId)).filter(isLive);
  const here = ({ id }: { id: string }) => Number(id === credential.id);
  return sessions
    .sort((one, other) => here(other) - here(one))
    .map(({ id, browser, address, method: by, createdAt, usedAt }) => {
      const method = env.oidc.find((provider) => provider.id === by)?.label ?? by;
      return { id, browser, address, method, createdAt, usedAt, current: id === credential.id };
    });
}

/** Ends one of the member's sessions and returns its browser. Undefined if they have no such session. */
export async function endOwnSession({ memberId }: Viewer, id: string): Promise<string | undefined> {
  const own = (await composition().store.sessions.list(memberId)).find((session) => session.id === id);
  if (!own) return undefined;
  await endAll(memberId, [id]);
  return [own.browser, own.address].filter(Boolean).join(", ");
}

/** Returns how many sessions were ended. */
export async function endOtherSessions({ memberId, credential }: Viewer): Promise<number> {
  const others = (await composition().store.sessions.list(memberId)).map(({ id }) => id).filter((id) => id !== credential.id);
  await endAll(memberId, others);
  return others.length;
}

async function endAll(memberId: string, ids: readonly string[]): Promise<void> {
  const { store, now } = composition();
  if (ids.length > 0) await store.sessions.recordEndReasons(memberId, "ended", now(), ids);
  for (const id of ids) await store.sessions.end(id);
}

/** Afterwards the session counts as newly signed in. */
export async function confirmWithPassword(viewer: Viewer, password: string, address: string): Promise<Result<undefined, Failure>> {
  const refused = await checkPassword(viewer, password, { field: "password", address });
  if (refused) return failed(refused);
  await confirmSession(viewer.credential.id);
  return ok(undefined);
}

/** `field`: the field of the body that the error names. */
async function checkPassword(
  { memberId, email }: Viewer,
  password: string,
  { field, address }: { field: string; address: string },
): Promise<Failure | undefined> {
  const { store, signInLimits } = composition();
  const attempt = { email, address, isKnown: true };
  const waitMs = await signInLimits.take(attempt);
  if (waitMs > 0) return { code: "RATE_LIMITED", message: "Too many attempts. Try again later.", status: 429, retryAfterMs: waitMs };
  const member = await store.members.get(memberId);
  if ((await verifyPassword(member?.passwordHash, password)) && member && mayUsePassword(member))
    return void (await signInLimits.succeeded(attempt));
  const message = "is not your current password";
  return { code: "INVALID_BODY", message: `${field}: ${message}`, status: 400, details: [{ path: field, message }] };
}
