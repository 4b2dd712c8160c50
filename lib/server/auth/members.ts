// The team: changing a role, suspending, removing.
// Guarantees: a member makes no one stronger than themselves, and changes neither themselves nor the owner, so there is always an owner; a
// changed or removed member has no session any more; a role that follows groups at a provider is not changed here.

import "server-only";
import { aboutMember, type MemberChange, personLabel } from "@/lib/contract/audit/member-change";
import { type MemberView } from "@/lib/contract/console";
import { type ErrorCode, errorStatus, type Failure } from "@/lib/contract/failure";
import { hasRole, type Role } from "@/lib/contract/people/roles";
import { failed, ok, type Result } from "@/lib/shared/result";
import { composition } from "../composition";
import { type OidcProvider } from "../oidc-settings";
import { type KnownIdentity } from "../store/people/identities";
import { type Member } from "../store/people/members";
import { keepRemoved } from "./removed";
import { type Viewer } from "./viewer";

type Change = { role?: Role; disabled?: boolean };

export async function changeMember(viewer: Viewer, id: string, change: Change): Promise<Result<MemberView, Failure>> {
  const { store, now } = composition();
  const found = await requireWeaker(viewer, id);
  if (!found.ok) return found;
  const member = found.value;
  if (change.role !== undefined) {
    if (!hasRole(viewer.role, change.role)) return failed(tooStrong(viewer.role, change.role));
    const provider = roleProviderOf(member, await store.identities.list(id));
    if (provider && change.role !== member.role) return failed(roleFromGroups(member, provider));
  }
  const cause = change.disabled ? "suspended" : change.role === undefined ? "ended" : (`role ${member.role} ${change.role}` as const);
  await store.sessions.recordEndReasons(id, cause, now());
  const changed = await store.members.change(id, change);
  return changed ? ok(toMemberView(changed)) : failed(noSuchMember);
}

export async function removeMember(viewer: Viewer, id: string): Promise<Result<undefined, Failure>> {
  const { store, now } = composition();
  const found = await requireWeaker(viewer, id);
  if (!found.ok) return found;
  await keepRemoved(found.value.email);
  await store.sessions.recordEndReasons(id, "removed", now());
  return (await store.members.remove(id)) ? ok(undefined) : failed(noSuchMember);
}

/** For the audit log, before the change: the affected member and, for a change, both values and the actor. */
export async function memberFacts(viewer: Viewer, id: string, change?: Change): Promise<{ target: string; outcome?: string }> {
  const member = await composition().store.members.get(id);
  if (!member) return { target: id };
  const facts: MemberChange = {
    ...(change?.role !== undefined && { role: { from: member.role, to: change.role } }),
    ...(change?.disabled !== undefined && { disabled: change.disabled }),
    by: personLabel(viewer),
  };
  return aboutMember(member, facts);
}

export function toMemberView({ id, name, email, role, disabled, createdAt, seenAt }: Member): MemberView {
  return { id, name, email, role, disabled, createdAt, ...(seenAt !== undefined && { seenAt }) };
}

/** The provider whose groups give the member's role at each sign-in there. Undefined: admins set it. */
export function roleProviderOf({ id, role }: Member, identities: readonly KnownIdentity[]): OidcProvider | undefined {
  if (role === "owner") return undefined;
  const own = new Set(identities.filter(({ memberId }) => memberId === id).map(({ provider }) => provider));
  return composition().env.oidc.find((provider) => provider.roles && own.has(provider.id));
}

async function requireWeaker(viewer: Viewer, id: string): Promise<Result<Member, Failure>> {
  const member = await composition().store.members.get(id);
  if (!member) return failed(noSuchMember);
  if (member.role === "owner")
    return failed(
      refuse("OWNER_PROTECTED", `${member.name} is the owner. The owner's role is fixed, and no one can suspend or remove the owner.`),
    );
  if (member.id === viewer.memberId)
    return failed(refuse("OWN_MEMBERSHIP", "You cannot change your own role, suspend or remove yourself. Ask another admin."));
  if (!hasRole(viewer.role, member.role)) return failed(tooStrong(viewer.role, member.role));
  return ok(member);
}

function roleFromGroups({ name }: Member, { label }: OidcProvider): Failure {
  return refuse("ROLE_FROM_GROUPS", `The role of ${name} follows their groups at ${label}. Change the groups there.`);
}

function refuse(code: ErrorCode, message: string): Failure {
  return { code, message, status: errorStatus[code] };
}

export function tooStrong(own: Role, needed: Role): Failure {
  return refuse("ROLE_TOO_LOW", `This needs the role ${needed}. Your role is ${own}.`);
}

const noSuchMember: Failure = { code: "NOT_FOUND", message: "There is no such member.", status: 404 };
