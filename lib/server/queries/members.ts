// Members, invitations and personal token options.

import "server-only";
import { type InvitationItem, type MemberView } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { allOperations } from "@/lib/contract/operations";
import { hasRole } from "@/lib/contract/people/roles";
import { APPS_OPERATION, EVENTS_OPERATION } from "@/lib/contract/people/sign-in";
import { type TokenChoices, type TokenOperation } from "@/lib/contract/people/tokens";
import { failed, ok, type Result } from "@/lib/shared/result";
import { findRoleProvider, listInvitationItems, toMemberView } from "../auth/members";
import { adminOnly, type Context } from "../auth/viewer";
import { listConnectionViews } from "../connections/views";
import { createMemberMethods } from "./sign-in";

export async function listInvitations({ composition, viewer }: Context): Promise<Result<InvitationItem[], Failure>> {
  return hasRole(viewer.role, "admin") ? ok(await listInvitationItems(composition)) : failed(adminOnly);
}

export async function getAccount({ composition: { store }, viewer: { memberId } }: Context): Promise<MemberView | undefined> {
  const member = await store.members.get(memberId);
  return member && toMemberView(member);
}

export async function listMembers({ composition, viewer }: Context): Promise<Result<MemberView[], Failure>> {
  if (!hasRole(viewer.role, "admin")) return failed(adminOnly);
  const { store } = composition;
  const [members, identities] = await Promise.all([store.members.list(), store.identities.list()]);
  const getMethods = createMemberMethods(composition, identities);
  return ok(
    members.map((member) => {
      const roleFrom = findRoleProvider(composition, member, identities)?.label;
      return { ...toMemberView(member), ...(getMethods && { methods: getMethods(member) }), ...(roleFrom !== undefined && { roleFrom }) };
    }),
  );
}

export async function getTokenChoices(context: Context): Promise<TokenChoices> {
  const connections = await listConnectionViews(context);
  return { connections: connections.map(({ id, name, current }) => ({ id, name, current })), operations };
}

const operations: TokenOperation[] = [
  ...allOperations.map(({ name, method, path }) => ({ name, call: `${method} ${path}` })),
  { name: EVENTS_OPERATION, call: "GET /ws" },
  { name: APPS_OPERATION, call: "POST /api/apps/{id}/runs" },
];
