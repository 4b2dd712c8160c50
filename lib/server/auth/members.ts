// The team: changing a role, suspending, removing.
// Guarantees: a member makes no one stronger than themselves, and changes neither themselves nor the owner, so there is always an owner; a
// changed or removed member has no session any more.

import "server-only";
import { type MemberView } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { hasRole, type Role } from "@/lib/contract/people/roles";
import { failed, ok, type Result } from "@/lib/shared/result";
import { composition } from "../composition";
import { type Member } from "../store/people/members";
import { keepRemoved } from "./removed";
import { type Viewer } from "./viewer";

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
  return changed ? ok(toMemberView(changed)) : failed(noSuchMember);
}

export async function removeMember(viewer: Viewer, id: string): Promise<Result<undefined, Failure>> {
  const mayChange = await requireWeaker(viewer, id);
  if (!mayChange.ok) return mayChange;
  await keepRemoved(mayChange.value.email);
  return (await composition().store.members.remove(id)) ? ok(undefined) : failed(noSuchMember);
}

export function toMemberView({ id, name, email, role, disabled, createdAt }: Member): MemberView {
  return { id, name, email, role, disabled, createdAt };
}

async function requireWeaker(viewer: Viewer, id: string): Promise<Result<Member, Failure>> {
  const member = await composition().store.members.get(id);
  if (!member) return failed(noSuchMember);
  if (member.id === viewer.memberId || member.role === "owner" || !hasRole(viewer.role, member.role)) return failed(tooStrong);
  return ok(member);
}

const noSuchMember: Failure = { code: "NOT_FOUND", message: "There is no such member.", status: 404 };
export const tooStrong: Failure = { code: "ROLE_TOO_LOW", message: "Your role does not allow this.", status: 403 };
