// The team, for the settings page, and an invitation, for whoever was given its link.
// Guarantees: the list is for admins; the invitation is found by its token alone, and is not used up by looking at it.

import "server-only";
import { type InvitationView, type MemberView } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { hasRole } from "@/lib/contract/roles";
import { failed, ok, type Result } from "@/lib/shared/result";
import { readInvitation } from "../auth/invitations";
import { toMemberView } from "../auth/members";
import { type Viewer } from "../auth/viewer";
import { composition } from "../composition";

export async function listMembers(viewer: Viewer): Promise<Result<MemberView[], Failure>> {
  if (!hasRole(viewer.role, "admin")) return failed({ code: "ROLE_TOO_LOW", message: "This needs the role admin.", status: 403 });
  return ok((await composition().store.members.list()).map(toMemberView));
}

export async function getInvitation(token: string): Promise<InvitationView> {
  await composition().ready;
  return readInvitation(token);
}
