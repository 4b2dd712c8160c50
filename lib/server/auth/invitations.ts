// Inviting and joining: a one-time link that makes a member with the role it names.
// Guarantees: nobody invites somebody stronger than themselves; a link works once, until its end, and only while whoever made it
// could still make it: a member who was removed or lowered leaves no open door behind.
// Must never: tell anything of an invitation without its token.

import "server-only";
import { randomBytes } from "node:crypto";
import { type InvitationState, type InvitationView } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { hasRole, type Role } from "@/lib/contract/roles";
import { failed, ok, type Result } from "@/lib/shared/result";
import { composition } from "../composition";
import { localUrl } from "../env";
import { type Member } from "../store/members";
import { tooStrong } from "./members";
import { hashPassword } from "./passwords";
import { type Viewer } from "./viewer";

const INVITATION_MS = 7 * 24 * 60 * 60_000;

/** `openedAt`: the origin at which whoever invites has the console open; a public address that was set goes before it. */
export async function invite(
  viewer: Viewer,
  given: { email: string; role: Role },
  openedAt: string | null,
): Promise<Result<{ url: string; expiresAt: number }, Failure>> {
  const { store, env, now } = composition();
  if (!hasRole(viewer.role, given.role)) return failed(tooStrong);
  if (await store.members.getByEmail(given.email)) return failed(taken);
  const token = randomBytes(32).toString("base64url");
  const expiresAt = now() + INVITATION_MS;
  await store.invitations.create({ token, ...given, invitedBy: viewer.memberId, expiresAt });
  return ok({ url: `${env.publicUrl ?? openedAt ?? localUrl(env)}/invitation?token=${token}`, expiresAt });
}

/** For whoever holds the link: what it is worth now. */
export async function readInvitation(token: string): Promise<InvitationView> {
  const { store, now } = composition();
  const invitation = await store.invitations.find(token);
  if (!invitation) return { state: "unknown" };
  const { email, role, invitedBy } = invitation;
  if (invitation.accepted) return { state: "used" };
  if (invitation.expiresAt <= now()) return { state: "expired" };
  const inviter = await store.members.get(invitedBy);
  if (!inviter || inviter.disabled || !hasRole(inviter.role, "admin") || !hasRole(inviter.role, role)) return { state: "withdrawn" };
  return { state: "open", email, role };
}

export async function join(given: { token: string; name: string; password: string }): Promise<Result<Member, Failure>> {
  const { store, now } = composition();
  const { state } = await readInvitation(given.token);
  if (state !== "open") return failed(worthless(state));
  // Hashed before the link is taken: a process that dies in between must not use up the invitation.
  const passwordHash = await hashPassword(given.password);
  const invitation = await store.invitations.accept(given.token, now());
  if (!invitation) return failed(worthless("used"));
  const member = await store.members.create({ ...invitation, name: given.name, passwordHash, createdAt: now() });
  return member ? ok(member) : failed(taken);
}

type Worthless = Exclude<InvitationState, "open">;
const whyWorthless: Readonly<Record<Worthless, string>> = {
  used: "This link has been used.",
  expired: "This link has expired.",
  withdrawn: "Whoever sent this link may not invite any more.",
  unknown: "There is no such invitation.",
};

function worthless(invitation: Worthless): Failure {
  return { code: "UNAUTHORIZED", message: whyWorthless[invitation], status: 401, details: { invitation } };
}

const taken: Failure = { code: "CONFLICT", message: "This address belongs to a member already.", status: 409 };
