// The team, for the settings page, and an invitation, for the holder of its link.
// Guarantees: the lists are for admins; the invitation is found only by its token, and looking at it does not use it up.

import "server-only";
import { type InvitationItem, type InvitationView, type MemberView } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { hasRole } from "@/lib/contract/people/roles";
import { failed, ok, type Result } from "@/lib/shared/result";
import { listInvitationItems, readInvitation, roleProviderOf, toMemberView } from "../auth/members";
import { type Viewer } from "../auth/viewer";
import { composition } from "../composition";
import { readMemberMethods } from "./sign-in";

const adminOnly: Failure = { code: "ROLE_TOO_LOW", message: "This needs the role admin.", status: 403 };

export async function listInvitations(viewer: Viewer): Promise<Result<InvitationItem[], Failure>> {
  return hasRole(viewer.role, "admin") ? ok(await listInvitationItems()) : failed(adminOnly);
}

/** Undefined for a member who was removed a moment ago. */
export async function getAccount({ memberId }: Viewer): Promise<MemberView | undefined> {
  const member = await composition().store.members.get(memberId);
  return member && toMemberView(member);
}

export async function listMembers(viewer: Viewer): Promise<Result<MemberView[], Failure>> {
  if (!hasRole(viewer.role, "admin")) return failed(adminOnly);
  const { store } = composition();
  const [members, identities] = await Promise.all([store.members.list(), store.identities.list()]);
  const methodsOf = readMemberMethods(identities);
  return ok(
    members.map((member) => {
      const roleFrom = roleProviderOf(member, identities)?.label;
      return { ...toMemberView(member), ...(methodsOf && { methods: methodsOf(member) }), ...(roleFrom !== undefined && { roleFrom }) };
    }),
  );
}

export async function getInvitation(token: string): Promise<InvitationView> {
  await composition().ready;
  return readInvitation(token);
}
