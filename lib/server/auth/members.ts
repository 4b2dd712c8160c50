// The team: inviting, joining, changing a role, leaving.
// Guarantees: nobody makes somebody stronger than themselves, changes themselves or the owner; a link works once, until its end.

import "server-only";
import { randomBytes } from "node:crypto";
import { type MemberView } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { hasRole, type Role } from "@/lib/contract/roles";
import { failed, ok, type Result } from "@/lib/shared/result";
import { composition } from "../composition";
import { localUrl } from "../env";
import { type Member } from "../store/members";
import { hashPassword } from "./passwords";
import { type Viewer } from "./viewer";

const INVITATION_MS = 7 * 24 * 60 * 60_000;

export async function invite(
  viewer: Viewer,
  given: { email: string; role: Role },
): Promise<Result<{ url: string; expiresAt: number }, Failure>> {
  const { store, env, now } = composition();
  if (!hasRole(viewer.role, given.role)) return failed(tooStrong);
  if (await store.members.getByEmail(given.email))
    return failed({ code: "CONFLICT", message: "This address belongs to a member already.", status: 409 });
  const token = randomBytes(32).toString("base64url");
  const expiresAt = now() + INVITATION_MS;
  await store.invitations.create({ token, ...given, invitedBy: viewer.memberId, expiresAt });
  return ok({ url: `${env.publicUrl ?? localUrl(env)}/invitation?token=${token}`, expiresAt });
}

export async function join(given: { token: string; name: string; password: string }): Promise<Result<Member, Failure>> {
  const { store, now } = composition();
  // Hashed before the link is taken: a process that dies in between must not use up the invitation.
  const passwordHash = await hashPassword(given.password);
  const invitation = await store.invitations.accept(given.token, now());
  if (!invitation) return failed({ code: "UNAUTHORIZED", message: "This link has been used or has expired.", status: 401 });
  const member = await store.members.create({ ...invitation, name: given.name, passwordHash, createdAt: now() });
  return member ? ok(member) : failed({ code: "CONFLICT", message: "This address belongs to a member already.", status: 409 });
}

export async function changeMember(
  viewer: Viewer,
  id: string,
  change: { role?: Role; disabled?: boolean },
): Promise<Result<MemberView, Failure>> {
  const { store } = composition();
  const mayChange = await requireWeaker(viewer, id);
  if (!mayChange.ok) return mayChange;
  if (change.role !== undefined && !hasRole(viewer.role, change.role)) return failed(tooStrong);
  const changed = await store.members.change(id, change);
  return changed ? ok(toMemberView(changed)) : failed(nobody);
}

export async function removeMember(viewer: Viewer, id: string): Promise<Result<undefined, Failure>> {
  const mayChange = await requireWeaker(viewer, id);
  if (!mayChange.ok) return mayChange;
  return (await composition().store.members.remove(id)) ? ok(undefined) : failed(nobody);
}

export function toMemberView({ id, name, email, role, disabled, createdAt }: Member): MemberView {
  return { id, name, email, role, disabled, createdAt };
}

async function requireWeaker(viewer: Viewer, id: string): Promise<Result<Member, Failure>> {
  const member = await composition().store.members.get(id);
  if (!member) return failed(nobody);
  if (member.id === viewer.memberId || member.role === "owner" || !hasRole(viewer.role, member.role)) return failed(tooStrong);
  return ok(member);
}

const nobody: Failure = { code: "NOT_FOUND", message: "There is no such member.", status: 404 };
const tooStrong: Failure = { code: "ROLE_TOO_LOW", message: "Your role does not reach that far.", status: 403 };
