// Members, invitations and personal token options.

import "server-only";
import { type InvitationItem, type InvitationView, type MemberView } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { allOperations } from "@/lib/contract/operations";
import { hasRole } from "@/lib/contract/people/roles";
import { APPS, EVENTS } from "@/lib/contract/people/sign-in";
import { type TokenChoices, type TokenOperation } from "@/lib/contract/people/tokens";
import { failed, ok, type Result } from "@/lib/shared/result";
import { listInvitationItems, readInvitation, roleProviderOf, toMemberView } from "../auth/members";
import { type Viewer } from "../auth/viewer";
import { composition } from "../composition";
import { listConnectionViews } from "../connections/views";
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

export async function getTokenChoices(viewer: Viewer): Promise<TokenChoices> {
  const connections = await listConnectionViews(viewer);
  return { connections: connections.map(({ id, name, current }) => ({ id, name, current })), operations };
}

const operations: TokenOperation[] = [
  ...allOperations.map(({ name, method, path }) => ({ name, call: `${method} ${path}` })),
  { name: EVENTS, call: "GET /ws" },
  { name: APPS, call: "POST /api/apps/{id}/runs" },
];
